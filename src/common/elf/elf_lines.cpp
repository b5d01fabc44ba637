#include "common/elf/elf_lines.hpp"

#include "common/elf/elf_file.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace atl::common {

namespace {

/// Larger tables would delay the error: the caller then names only the function.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

using Bytes = std::vector<std::uint8_t>;

/// Reads numbers one after the other; behind the end all are 0.
class Reader {
  public:
    Reader(const std::uint8_t* from, const std::uint8_t* end) : at_(from), end_(end) {}

    bool at_end() const { return at_ >= end_; }
    const std::uint8_t* at() const { return at_; }
    const std::uint8_t* end() const { return end_; }
    void skip(std::uint64_t bytes) { at_ += std::min<std::uint64_t>(bytes, left()); }

    template <class T> T number() {
        T value{};
        if (left() < sizeof value)
            at_ = end_;
        else {
            std::memcpy(&value, at_, sizeof value);
            at_ += sizeof value;
        }
        return value;
    }
    std::uint8_t byte() { return number<std::uint8_t>(); }
    std::uint64_t unsigned_number(std::size_t bytes) {
        switch (bytes) {
            case 1:
                return byte();
            case 2:
                return number<std::uint16_t>();
            case 4:
                return number<std::uint32_t>();
            case 8:
                return number<std::uint64_t>();
            default:
                skip(bytes);
                return 0;
        }
    }
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; !at_end(); shift += 7) {
            const std::uint8_t part = byte();
            if (shift < 64) value |= std::uint64_t{part & 0x7fU} << shift;
            if ((part & 0x80) == 0) break;
        }
        return value;
    }
    std::int64_t sleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; !at_end();) {
            const std::uint8_t part = byte();
            if (shift < 64) value |= std::uint64_t{part & 0x7fU} << shift;
            shift += 7;
            if ((part & 0x80) != 0) continue;
            if ((part & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
            break;
        }
        return static_cast<std::int64_t>(value);
    }
    std::string_view text() {
        const auto* const from = reinterpret_cast<const char*>(at_);
        const std::size_t length = strnlen(from, left());
        skip(length + 1);
        return {from, length};
    }
    /// The next `bytes`, as a reader of their own.
    Reader part(std::uint64_t bytes) {
        const std::uint8_t* const from = at_;
        skip(bytes);
        return {from, at_};
    }

  private:
    std::size_t left() const { return at_ < end_ ? static_cast<std::size_t>(end_ - at_) : 0; }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

struct Source {
    std::string_view name;
    std::uint64_t directory = 0;
};

/// One compilation unit's line program.
class Unit {
  public:
    Unit(Reader reader, bool wide, const Bytes& strings)
        : program_(reader), offset_bytes_(wide ? 8 : 4), strings_(strings) {
        valid_ = read_header();
    }

    bool valid() const { return valid_; }
    const Source& source(std::uint64_t file) const {
        static const Source unknown;
        return file < sources_.size() ? sources_[file] : unknown;
    }
    std::string_view directory(const Source& source) const {
        return source.directory < directories_.size() ? directories_[source.directory] : std::string_view();
    }
    /// Calls `row(address, file, line, ends)` for each row of the table.
    template <class Row> void each(const Row& row);

  private:
    bool read_header() {
        version_ = program_.number<std::uint16_t>();
        if (version_ < 2 || version_ > 5) return false;
        if (version_ == 5) program_.skip(2);  // the sizes of addresses and segments
        Reader header = program_.part(program_.unsigned_number(offset_bytes_));
        min_length_ = header.byte();
        if (version_ >= 4) header.skip(1);  // operations of one instruction
        header.skip(1);                     // default_is_stmt
        line_base_ = static_cast<std::int8_t>(header.byte());
        line_range_ = header.byte();
        opcode_base_ = header.byte();
        if (line_range_ == 0 || opcode_base_ == 0) return false;
        for (int i = 1; i < opcode_base_; ++i) lengths_[static_cast<std::size_t>(i)] = header.byte();
        if (version_ == 5)
            read_tables(header);
        else
            read_old_tables(header);
        return true;
    }
    void read_old_tables(Reader& header) {
        directories_.emplace_back();  // the compiler's working directory
        for (std::string_view name = header.text(); !name.empty(); name = header.text())
            directories_.push_back(name);
        sources_.emplace_back();
        for (std::string_view name = header.text(); !name.empty(); name = header.text()) {
            sources_.push_back({name, header.uleb()});
            header.uleb();
            header.uleb();
        }
    }
    void read_tables(Reader& header) {
        for (Source& directory : entries(header)) directories_.push_back(directory.name);
        sources_ = entries(header);
    }
    std::vector<Source> entries(Reader& header) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> formats(header.byte());
        for (auto& [content, form] : formats) {
            content = header.uleb();
            form = header.uleb();
        }
        std::vector<Source> all;
        for (std::uint64_t left = formats.empty() ? 0 : header.uleb(); left > 0 && !header.at_end(); --left) {
            Source entry;
            for (const auto& [content, form] : formats) read_field(header, content, form, entry);
            all.push_back(entry);
        }
        if (formats.empty()) header.uleb();
        return all;
    }
    void read_field(Reader& header, std::uint64_t content, std::uint64_t form, Source& entry) const {
        constexpr std::uint64_t path = 1, directory = 2;  // DW_LNCT_*
        std::string_view text;
        std::uint64_t number = 0;
        switch (form) {  // DW_FORM_*
            case 0x08:   // string
                text = header.text();
                break;
            case 0x1f:  // line_strp
                text = shared_text(header.unsigned_number(offset_bytes_));
                break;
            case 0x0e:  // strp, which compilers do not use here
                header.skip(offset_bytes_);
                break;
            case 0x0b:  // data1
                number = header.byte();
                break;
            case 0x05:  // data2
                number = header.number<std::uint16_t>();
                break;
            case 0x06:  // data4
                number = header.number<std::uint32_t>();
                break;
            case 0x07:  // data8
                number = header.number<std::uint64_t>();
                break;
            case 0x0f:  // udata
                number = header.uleb();
                break;
            case 0x1e:  // data16, a checksum
                header.skip(16);
                break;
            default:  // its length is unknown: the rest cannot be read
                header.skip(~std::uint64_t{0});
        }
        if (content == path) entry.name = text;
        if (content == directory) entry.directory = number;
    }
    std::string_view shared_text(std::uint64_t offset) const {
        if (offset >= strings_.size()) return {};
        return Reader(strings_.data() + offset, strings_.data() + strings_.size()).text();
    }

    Reader program_;
    std::size_t offset_bytes_;
    const Bytes& strings_;  ///< .debug_line_str
    bool valid_ = false;
    std::uint16_t version_ = 0;
    std::uint8_t min_length_ = 1, line_range_ = 1, opcode_base_ = 1;
    std::int8_t line_base_ = 0;
    std::array<std::uint8_t, 256> lengths_{};
    std::vector<std::string_view> directories_;
    std::vector<Source> sources_;
};

template <class Row> void Unit::each(const Row& row) {
    Reader code = program_;
    std::uint64_t address = 0, file = 1, line = 1;
    const auto advance = [&](std::uint64_t operations) { address += operations * min_length_; };
    while (!code.at_end()) {
        const std::uint8_t opcode = code.byte();
        if (opcode >= opcode_base_) {
            const int adjusted = opcode - opcode_base_;
            advance(static_cast<std::uint64_t>(adjusted / line_range_));
            line += static_cast<std::uint64_t>(line_base_ + adjusted % line_range_);
            row(address, file, line, false);
            continue;
        }
        switch (opcode) {  // DW_LNS_*
            case 0: {      // DW_LNE_*
                const std::uint64_t length = code.uleb();
                Reader extended = code.part(length);
                const std::uint8_t kind = extended.byte();
                if (kind == 1) {  // end_sequence
                    row(address, file, line, true);
                    address = 0;
                    file = line = 1;
                } else if (kind == 2 && length > 1)  // set_address
                    address = extended.unsigned_number(length - 1);
                break;
            }
            case 1:  // copy
                row(address, file, line, false);
                break;
            case 2:  // advance_pc
                advance(code.uleb());
                break;
            case 3:  // advance_line
                line += static_cast<std::uint64_t>(code.sleb());
                break;
            case 4:  // set_file
                file = code.uleb();
                break;
            case 8:  // const_add_pc
                advance(static_cast<std::uint64_t>((255 - opcode_base_) / line_range_));
                break;
            case 9:  // fixed_advance_pc
                address += code.number<std::uint16_t>();
                break;
            default:  // without meaning for file and line, or of a later version
                for (int i = 0; i < lengths_[opcode]; ++i) code.uleb();
        }
    }
}

/// The place that a row of the table gives, until the next row.
struct SourceLocation {
    std::uint64_t file = 0, line = 0;
};

std::string text_of(const Unit& unit, const SourceLocation& location) {
    const std::string_view name = unit.source(location.file).name;
    if (name.empty() || location.line == 0) return {};
    return std::string(file_name(name)) + ":" + std::to_string(location.line);
}

}  // namespace

SourceLine source_line(const char* path, std::uint64_t offset, std::uint64_t function,
                       const std::function<bool(std::string_view, std::string_view)>& skips) {
    ElfFile file(path);
    const Bytes lines = file.section(".debug_line", most_bytes);
    const Bytes strings = file.section(".debug_line_str", most_bytes);
    const std::uint64_t wanted = offset + file.base(), from = function + file.base();
    Reader reader(lines.data(), lines.data() + lines.size());
    SourceLine found;
    while (!reader.at_end() && found.text.empty()) {
        std::uint64_t bytes = reader.number<std::uint32_t>();
        const bool wide = bytes == 0xffffffff;
        if (wide) bytes = reader.number<std::uint64_t>();
        Unit unit(reader.part(bytes), wide, strings);
        if (!unit.valid()) continue;
        // Sequences that the linker dropped begin at address 0.
        std::uint64_t begin = 0, previous = 0;
        bool within = false, exact = false;
        SourceLocation usable;
        unit.each([&](std::uint64_t address, std::uint64_t row_file, std::uint64_t line, bool ends) {
            if (!within) begin = previous = address;
            if (begin != 0 && previous <= wanted && wanted < address && found.text.empty())
                found = {text_of(unit, usable), exact};
            within = !ends;
            previous = address;
            if (ends) {
                usable = {};
                return;
            }
            const Source& source = unit.source(row_file);
            exact = line != 0 && !skips(unit.directory(source), source.name);
            if (address < from)
                usable = {};
            else if (exact)
                usable = {row_file, line};
        });
    }
    return found;
}

}  // namespace atl::common
