// Writes and reads the wire format of Protocol Buffers: fields of numbers, texts and messages.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace atl::cli {

/// A message under construction.
class ProtoMessage {
  public:
    ProtoMessage& number(unsigned field, std::uint64_t value) {
        tag(field, 0);
        varint(value);
        return *this;
    }
    ProtoMessage& fixed64(unsigned field, std::uint64_t value) {
        tag(field, 1);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    ProtoMessage& text(unsigned field, std::string_view value) {
        tag(field, 2);
        varint(value.size());
        bytes_.append(value);
        return *this;
    }
    ProtoMessage& message(unsigned field, const ProtoMessage& value) { return text(field, value.bytes_); }
    const std::string& bytes() const { return bytes_; }

  private:
    void tag(unsigned field, unsigned type) { varint(std::uint64_t{field} << 3 | type); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

/// A field of a message that is read.
struct ProtoField {
    unsigned number = 0;
    std::uint64_t value = 0;  ///< value of a number
    std::string_view bytes;   ///< bytes of a text or message
};

/// Reads the fields of a message one by one.
class ProtoReader {
  public:
    explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

    /// Nothing at the end, or where the bytes are no message: see `is_cut`.
    std::optional<ProtoField> next() {
        if (rest_.empty()) return std::nullopt;
        ProtoField field;
        const std::uint64_t tag = varint();
        field.number = static_cast<unsigned>(tag >> 3);
        switch (tag & 7) {
            case 0:
                field.value = varint();
                break;
            case 1:
                field.value = fixed(8);
                break;
            case 2:
                field.bytes = take(varint());
                break;
            case 5:
                field.value = fixed(4);
                break;
            default:
                is_cut_ = true;
        }
        if (is_cut_) return std::nullopt;
        return field;
    }
    /// True once the bytes ended within a field, or were no field.
    bool is_cut() const { return is_cut_; }

  private:
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) break;
            const auto byte = static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80) == 0) return value;
        }
        is_cut_ = true;
        return 0;
    }
    std::string_view take(std::uint64_t size) {
        if (size > rest_.size()) {
            is_cut_ = true;
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::uint64_t fixed(std::size_t size) {
        std::uint64_t value = 0;
        const std::string_view taken = take(size);
        if (is_cut_) return 0;
        std::memcpy(&value, taken.data(), taken.size());
        return value;
    }

    std::string_view rest_;
    bool is_cut_ = false;
};

}  // namespace atl::cli
