#include "common/elf/unwind_table.hpp"

#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace atl::common {

template <class T> T TableBytes::read() {
    T value{};
    if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof value)) {
        short_ = true;
        at_ = end_;
        return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
}
template std::uint8_t TableBytes::read();
template std::uint16_t TableBytes::read();
template std::uint32_t TableBytes::read();
template std::uint64_t TableBytes::read();
template std::int8_t TableBytes::read();
template std::int16_t TableBytes::read();
template std::int32_t TableBytes::read();
template std::int64_t TableBytes::read();

std::uint64_t TableBytes::uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = read<std::uint8_t>();
        if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80) == 0) return value;
    }
}

std::int64_t TableBytes::sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
        const auto byte = read<std::uint8_t>();
        if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
        shift += 7;
        if ((byte & 0x80) != 0) continue;
        if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
    }
}

std::uintptr_t TableBytes::encoded(std::uint8_t encoding) {
    constexpr std::uint8_t omitted = 0xff, relative = 0x10, base_bits = 0x70, form_bits = 0x0f;
    if (encoding == omitted) return 0;
    const auto from = (encoding & base_bits) == relative ? reinterpret_cast<std::uintptr_t>(at_) : 0;
    switch (encoding & form_bits) {
        case 0x0:  // the width of an address
        case 0x4:
        case 0xc:
            return from + read<std::uint64_t>();
        case 0x2:
            return from + read<std::uint16_t>();
        case 0x3:
            return from + read<std::uint32_t>();
        case 0xa:
            return from + static_cast<std::uintptr_t>(read<std::int16_t>());
        case 0xb:
            return from + static_cast<std::uintptr_t>(read<std::int32_t>());
        default:
            short_ = true;
            return 0;
    }
}

TableBytes TableBytes::take(std::uint64_t bytes) {
    if (static_cast<std::uint64_t>(end_ - at_) < bytes) {
        short_ = true;
        bytes = static_cast<std::uint64_t>(end_ - at_);
    }
    const std::uint8_t* const first = at_;
    at_ += bytes;
    return {first, at_};
}

namespace {

/// struct dl_find_object of glibc, of which older headers know nothing.
struct FoundObject {
    std::uint64_t flags;
    void *begin, *end;
    void* map;
    const void* index;
    std::uint64_t reserved[16];
};
/// glibc has it from 2.35 on, and wheels are for older systems, too. Looked up before any signal.
const auto find_object =
    reinterpret_cast<int (*)(void*, FoundObject*)>(::dlsym(RTLD_DEFAULT, "_dl_find_object"));

/// Finds an object under a lock that the same thread may take again.
const std::uint8_t* index_by_iteration(std::uintptr_t address) {
    struct Search {
        std::uintptr_t address;
        const std::uint8_t* index = nullptr;
    } search{address};
    const auto find = [](dl_phdr_info* object, std::size_t, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        const std::uint8_t* index = nullptr;
        bool is_here = false;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& segment = object->dlpi_phdr[i];
            const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
            if (segment.p_type == PT_GNU_EH_FRAME) index = reinterpret_cast<const std::uint8_t*>(begin);
            is_here |= segment.p_type == PT_LOAD && wanted.address - begin < segment.p_memsz;
        }
        if (is_here) wanted.index = index;
        return is_here ? 1 : 0;
    };
    ::dl_iterate_phdr(find, &search);
    return search.index;
}

/// The index of an object's table, sorted by address: the segment PT_GNU_EH_FRAME. Null: none.
const std::uint8_t* index_of(std::uintptr_t address) {
    if (find_object == nullptr) return index_by_iteration(address);
    FoundObject found{};
    const bool is_known = find_object(reinterpret_cast<void*>(address), &found) == 0;
    return is_known ? static_cast<const std::uint8_t*>(found.index) : nullptr;
}

/// The entry of the last function that begins at or before the address; null: none.
const std::uint8_t* entry_of(const std::uint8_t* index, std::uintptr_t address) {
    constexpr std::size_t head = 4;
    // Version 1, and the encodings that all linkers use: only these can be searched.
    if (index[0] != 1 || index[2] != 0x03 || index[3] != 0x3b) return nullptr;
    TableBytes bytes(index + head, index + head + 16);
    bytes.encoded(index[1]);
    const auto count = bytes.read<std::uint32_t>();
    struct Row {
        std::int32_t function, entry;
    };
    const std::uint8_t* const rows = bytes.at();
    const auto row = [&](std::uint32_t i) {
        Row value;
        std::memcpy(&value, rows + i * sizeof value, sizeof value);
        return value;
    };
    const auto base = reinterpret_cast<std::uintptr_t>(index);
    std::uint32_t first = 0, end = count;
    while (first < end) {
        const std::uint32_t middle = first + (end - first) / 2;
        if (base + static_cast<std::uintptr_t>(row(middle).function) <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return first == 0 ? nullptr : index + row(first - 1).entry;
}

/// One entry of .eh_frame, after its length; the length of an empty one is 0.
TableBytes body_of(const std::uint8_t* entry) {
    std::uint32_t length = 0;
    std::memcpy(&length, entry, sizeof length);
    constexpr std::uint32_t is_long = 0xffffffff;
    if (length == is_long) length = 0;  // above 4 GiB: no linker writes one
    return {entry + sizeof length, entry + sizeof length + length};
}

/// The common part of several functions' entries (CIE).
struct Common {
    std::uint64_t code_unit = 1;
    std::int64_t data_unit = 1;
    std::uint8_t address_encoding = 0;
    bool has_augmentation = false;
    TableBytes instructions{};
};

bool read_common(const std::uint8_t* entry, Common& common) {
    TableBytes bytes = body_of(entry);
    if (bytes.read<std::uint32_t>() != 0) return false;
    const auto version = bytes.read<std::uint8_t>();
    char augmentation[8] = {};
    for (char& letter : augmentation)
        if ((letter = static_cast<char>(bytes.read<std::uint8_t>())) == '\0') break;
    if (augmentation[sizeof augmentation - 1] != '\0') return false;
    common.code_unit = bytes.uleb();
    common.data_unit = bytes.sleb();
    const std::uint64_t returns = version == 1 ? bytes.read<std::uint8_t>() : bytes.uleb();
    if (returns != return_register) return false;
    common.has_augmentation = augmentation[0] == 'z';
    bool is_short = false;
    if (common.has_augmentation) {
        TableBytes data = bytes.take(bytes.uleb());
        for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
            if (*letter == 'R') common.address_encoding = data.read<std::uint8_t>();
            if (*letter == 'L') data.read<std::uint8_t>();
            if (*letter == 'P') data.encoded(data.read<std::uint8_t>());
        }
        is_short = data.is_short();
    }
    common.instructions = bytes;
    return !bytes.is_short() && !is_short;
}

/// Carries out the instructions of a table up to an address.
class RowProgram {
  public:
    RowProgram(const Common& common, std::uintptr_t begin, std::uintptr_t address)
        : common_(common), at_(begin), address_(address) {}

    /// False: an instruction is unknown.
    bool run(UnwindRow& row) {
        if (!run(row, common_.instructions)) return false;
        initial_ = row;
        return true;
    }
    bool run(UnwindRow& row, TableBytes instructions) {
        while (!instructions.is_empty() && at_ <= address_)
            if (!step(row, instructions, instructions.read<std::uint8_t>())) return false;
        return !instructions.is_short();
    }

  private:
    using Kind = UnwindRule::Kind;

    void set(UnwindRow& row, std::uint64_t number, Kind kind, std::int64_t value,
             TableBytes expression = {}) {
        if (number < unwind_registers) row.registers[number] = {kind, value, expression};
    }
    void restore(UnwindRow& row, std::uint64_t number) {
        if (number < unwind_registers) row.registers[number] = initial_.registers[number];
    }
    /// Passes to the next row of the table, which begins `units` later.
    void advance(std::uint64_t units) { at_ += units * common_.code_unit; }

    bool step(UnwindRow& row, TableBytes& in, std::uint8_t code) {
        const std::uint8_t low = code & 0x3f;
        switch (code & 0xc0) {
            case 0x40:
                advance(low);
                return true;
            case 0x80:
                set(row, low, Kind::at_offset, static_cast<std::int64_t>(in.uleb()) * common_.data_unit);
                return true;
            case 0xc0:
                restore(row, low);
                return true;
            default:
                return code < 0x0a || code == 0x0b ? step_of_registers(row, in, code)
                                                   : step_of_frame(row, in, code);
        }
    }

    bool step_of_registers(UnwindRow& row, TableBytes& in, std::uint8_t code) {
        switch (code) {
            case 0x00:  // nothing
                return true;
            case 0x01:
                at_ = in.encoded(common_.address_encoding);
                return true;
            case 0x02:
                advance(in.read<std::uint8_t>());
                return true;
            case 0x03:
                advance(in.read<std::uint16_t>());
                return true;
            case 0x04:
                advance(in.read<std::uint32_t>());
                return true;
            default:
                break;
        }
        if (code == 0x0b) {
            if (saved_ == 0) return false;
            row = stack_[--saved_];
            return true;
        }
        const std::uint64_t number = in.uleb();
        if (code == 0x05)
            set(row, number, Kind::at_offset, static_cast<std::int64_t>(in.uleb()) * common_.data_unit);
        else if (code == 0x06)
            restore(row, number);
        else if (code == 0x09)
            set(row, number, Kind::in_register, static_cast<std::int64_t>(in.uleb()));
        else
            set(row, number, code == 0x07 ? Kind::undefined : Kind::same, 0);
        return true;
    }

    bool step_of_frame(UnwindRow& row, TableBytes& in, std::uint8_t code) {
        switch (code) {
            case 0x0a:
                if (saved_ == most_saved) return false;
                stack_[saved_++] = row;
                return true;
            case 0x0c:
            case 0x12:
                row.frame_register = in.uleb();
                row.frame_offset =
                    code == 0x0c ? static_cast<std::int64_t>(in.uleb()) : in.sleb() * common_.data_unit;
                row.frame_expression = {};
                return true;
            case 0x0d:
                row.frame_register = in.uleb();
                row.frame_expression = {};
                return true;
            case 0x0e:
                row.frame_offset = static_cast<std::int64_t>(in.uleb());
                return true;
            case 0x13:
                row.frame_offset = in.sleb() * common_.data_unit;
                return true;
            case 0x0f:
                row.frame_expression = in.take(in.uleb());
                return true;
            case 0x2c:
            case 0x2d:  // AArch64: the return address is signed from here on, or no longer; see to_caller
                return true;
            case 0x2e:  // size of arguments on the stack
                in.uleb();
                return true;
            default:
                return step_of_values(row, in, code);
        }
    }

    bool step_of_values(UnwindRow& row, TableBytes& in, std::uint8_t code) {
        const std::uint64_t number = in.uleb();
        switch (code) {
            case 0x10:
            case 0x16:
                set(row, number, code == 0x10 ? Kind::at_address : Kind::is_value, 0, in.take(in.uleb()));
                return true;
            case 0x11:
            case 0x15:
                set(row, number, code == 0x11 ? Kind::at_offset : Kind::is_offset,
                    in.sleb() * common_.data_unit);
                return true;
            case 0x14:
                set(row, number, Kind::is_offset, static_cast<std::int64_t>(in.uleb()) * common_.data_unit);
                return true;
            default:
                return false;
        }
    }

    static constexpr std::size_t most_saved = 4;
    const Common& common_;
    std::uintptr_t at_, address_;
    UnwindRow initial_{}, stack_[most_saved];
    std::size_t saved_ = 0;
};

}  // namespace

bool find_unwind_row(std::uintptr_t address, UnwindRow& row) noexcept {
    const std::uint8_t* const index = index_of(address);
    const std::uint8_t* const entry = index == nullptr ? nullptr : entry_of(index, address);
    if (entry == nullptr) return false;
    TableBytes bytes = body_of(entry);
    const std::uint8_t* const here = bytes.at();
    const auto distance = bytes.read<std::uint32_t>();
    Common common;
    if (distance == 0 || !read_common(here - distance, common)) return false;
    const std::uintptr_t begin = bytes.encoded(common.address_encoding);
    constexpr std::uint8_t form_bits = 0x0f;
    const std::uintptr_t size = bytes.encoded(common.address_encoding & form_bits);
    if (address < begin || address - begin >= size) return false;
    if (common.has_augmentation) bytes.take(bytes.uleb());
    row = {};
    RowProgram program(common, begin, address);
    return program.run(row) && program.run(row, bytes);
}

}  // namespace atl::common
