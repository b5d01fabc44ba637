// Rules of an unwind table (.eh_frame): how the registers of a function's caller are found at an address.
// Reading them allocates nothing and takes no lock. Sources: DWARF 5, section 6.4; Linux Standard Base,
// chapter 10.
#pragma once

#include <cstddef>
#include <cstdint>

namespace atl::common {

/// A piece of a table, read from its start.
class TableBytes {
  public:
    TableBytes() = default;
    TableBytes(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

    const std::uint8_t* at() const { return at_; }
    bool is_empty() const { return at_ >= end_; }
    /// True once more was read than there is; such reads return 0.
    bool is_short() const { return short_; }
    template <class T> T read();
    std::uint64_t uleb();
    std::int64_t sleb();
    /// An address in one of the encodings that compilers use; 0 for others.
    std::uintptr_t encoded(std::uint8_t encoding);
    TableBytes take(std::uint64_t bytes);

  private:
    const std::uint8_t *at_ = nullptr, *end_ = nullptr;
    bool short_ = false;
};

/// How one register of the caller is found.
struct UnwindRule {
    enum class Kind : std::uint8_t {
        same,
        undefined,
        at_offset,
        is_offset,
        in_register,
        at_address,
        is_value
    };
    Kind kind = Kind::same;
    std::int64_t value = 0;  ///< offset from the frame's address, or number of a register
    TableBytes expression{};
};

/// DWARF's numbers of registers on this machine.
#if defined(__x86_64__)
constexpr std::size_t unwind_registers = 17, return_register = 16, stack_register = 7;
#else
constexpr std::size_t unwind_registers = 32, return_register = 30, stack_register = 31;
#endif

struct UnwindRow {
    UnwindRule registers[unwind_registers];
    /// The frame's address: a register and an offset, or an expression.
    std::uint64_t frame_register = stack_register;
    std::int64_t frame_offset = 0;
    TableBytes frame_expression{};
};

/// Finds the rules at an address of code. False: none are known, as for code that was compiled at run time.
bool find_unwind_row(std::uintptr_t address, UnwindRow& row) noexcept;

}  // namespace atl::common
