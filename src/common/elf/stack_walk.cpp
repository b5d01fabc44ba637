#include "common/elf/stack_walk.hpp"

#include "common/elf/unwind_table.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

namespace atl::common {

namespace {

/// True if the kernel can read the word. It reads a signal mask before it refuses what to do with it.
bool is_readable(std::uintptr_t address) {
    constexpr int nothing = -1;
    constexpr std::size_t bytes = 8;
    return ::syscall(SYS_rt_sigprocmask, nothing, address & ~(bytes - 1), nullptr, bytes) == 0 ||
           errno != EFAULT;
}

/// Reads a word that may lie in no mapped memory. Some kernels and sandboxes refuse the first way.
bool read_word(std::uintptr_t address, std::uintptr_t& word) {
    const int saved = errno;
    iovec to{&word, sizeof word}, from{reinterpret_cast<void*>(address), sizeof word};
    const ssize_t n = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    bool is_read = n == static_cast<ssize_t>(sizeof word);
    if (n < 0 && errno != EFAULT && is_readable(address) && is_readable(address + sizeof word - 1)) {
        std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
        is_read = true;
    }
    errno = saved;
    return is_read;
}

/// Values of the registers in one frame of the stack.
struct Registers {
    std::uintptr_t all[unwind_registers] = {};
    std::uintptr_t at = 0;  ///< the instruction, or the return address
};

Registers registers_of(const mcontext_t& machine) {
    Registers r;
#if defined(__x86_64__)
    constexpr int by_number[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                 REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (std::size_t i = 0; i < std::size(by_number); ++i)
        r.all[i] = static_cast<std::uintptr_t>(machine.gregs[by_number[i]]);
    r.at = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    for (std::size_t i = 0; i < 31; ++i) r.all[i] = machine.regs[i];
    r.all[stack_register] = machine.sp;
    r.at = machine.pc;
#else
    static_cast<void>(machine);
#endif
    return r;
}

/// The stack of a DWARF expression.
class Expression {
  public:
    explicit Expression(const Registers& frame) : frame_(frame) {}

    void push(std::uintptr_t value) {
        if (size_ == std::size(stack_))
            ok_ = false;
        else
            stack_[size_++] = value;
    }
    std::uintptr_t pop() {
        if (size_ > 0) return stack_[--size_];
        ok_ = false;
        return 0;
    }
    bool value(TableBytes code, std::uintptr_t& result) {
        while (!code.is_empty() && ok_) step(code, code.read<std::uint8_t>());
        result = pop();
        return ok_ && !code.is_short();
    }

  private:
    void step(TableBytes& code, std::uint8_t operation) {
        if (operation >= 0x30 && operation <= 0x4f) return push(operation - 0x30U);
        if (operation >= 0x70 && operation <= 0x8f) return push_register(operation - 0x70U, code.sleb());
        switch (operation) {
            case 0x06: {
                std::uintptr_t word = 0;
                ok_ = read_word(pop(), word) && ok_;
                return push(word);
            }
            case 0x08:
                return push(code.read<std::uint8_t>());
            case 0x09:
                return push(static_cast<std::uintptr_t>(code.read<std::int8_t>()));
            case 0x0a:
                return push(code.read<std::uint16_t>());
            case 0x0b:
                return push(static_cast<std::uintptr_t>(code.read<std::int16_t>()));
            case 0x0c:
                return push(code.read<std::uint32_t>());
            case 0x0d:
                return push(static_cast<std::uintptr_t>(code.read<std::int32_t>()));
            case 0x10:
                return push(code.uleb());
            case 0x11:
                return push(static_cast<std::uintptr_t>(code.sleb()));
            case 0x23:
                return push(pop() + code.uleb());
            default:
                return combine(operation);
        }
    }

    void combine(std::uint8_t operation) {
        const std::uintptr_t right = pop(), left = pop();
        const auto a = static_cast<std::intptr_t>(left), b = static_cast<std::intptr_t>(right);
        switch (operation) {
            case 0x1a:
                return push(left & right);
            case 0x1c:
                return push(left - right);
            case 0x21:
                return push(left | right);
            case 0x22:
                return push(left + right);
            case 0x24:
                return push(right < 64 ? left << right : 0);
            case 0x25:
                return push(right < 64 ? left >> right : 0);
            case 0x29:
                return push(a == b);
            case 0x2a:
                return push(a >= b);
            case 0x2b:
                return push(a > b);
            case 0x2c:
                return push(a <= b);
            case 0x2d:
                return push(a < b);
            case 0x2e:
                return push(a != b);
            default:
                ok_ = false;  // compilers use no other in these tables
        }
    }

    void push_register(std::size_t number, std::int64_t offset) {
        ok_ = ok_ && number < unwind_registers;
        std::uintptr_t value = ok_ ? frame_.all[number] : 0;
#if defined(__x86_64__)
        if (number == return_register) value = frame_.at;  // tables of the PLT use it
#endif
        push(value + static_cast<std::uintptr_t>(offset));
    }

    const Registers& frame_;
    std::uintptr_t stack_[16] = {};
    std::size_t size_ = 0;
    bool ok_ = true;
};

bool frame_address(const Registers& frame, const UnwindRow& row, std::uintptr_t& address) {
    if (!row.frame_expression.is_empty()) return Expression(frame).value(row.frame_expression, address);
    if (row.frame_register >= unwind_registers) return false;
    address = frame.all[row.frame_register] + static_cast<std::uintptr_t>(row.frame_offset);
    return true;
}

/// The value of a register in the caller.
bool value_by(const Registers& frame, const UnwindRule& rule, std::uintptr_t base, std::uintptr_t& value) {
    using Kind = UnwindRule::Kind;
    Expression expression(frame);
    switch (rule.kind) {
        case Kind::same:
        case Kind::undefined:
            return true;
        case Kind::at_offset:
            return read_word(base + static_cast<std::uintptr_t>(rule.value), value);
        case Kind::is_offset:
            value = base + static_cast<std::uintptr_t>(rule.value);
            return true;
        case Kind::in_register:
            if (static_cast<std::uint64_t>(rule.value) >= unwind_registers) return false;
            value = frame.all[rule.value];
            return true;
        default:
            break;
    }
    expression.push(base);
    if (!expression.value(rule.expression, value)) return false;
    return rule.kind == Kind::is_value || read_word(value, value);
}

/// Replaces the registers by those of the caller.
bool to_caller(Registers& frame, bool is_exact) {
    UnwindRow row;
    std::uintptr_t base = 0;
    if (!find_unwind_row(frame.at - (is_exact ? 0 : 1), row) || !frame_address(frame, row, base))
        return false;
    const UnwindRule& returns = row.registers[return_register];
    if (returns.kind == UnwindRule::Kind::undefined) return false;  // the outermost
    Registers caller = frame;
    for (std::size_t i = 0; i < unwind_registers; ++i)
        if (!value_by(frame, row.registers[i], base, caller.all[i])) return false;
    if (row.registers[stack_register].kind == UnwindRule::Kind::same) caller.all[stack_register] = base;
    caller.at = caller.all[return_register];
#if defined(__aarch64__)
    caller.at &= (std::uintptr_t{1} << 48) - 1;  // above there may be an authentication code
#endif
    frame = caller;
    return true;
}

/// At the return from a handler the interrupted registers lie on the stack. Not inlined: its frame is large
/// on AArch64, and stacks of handlers may be small.
[[gnu::noinline]] bool to_interrupted(Registers& frame) {
#if defined(__x86_64__)
    constexpr std::uint8_t returns[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                        0,    0,    0x0f, 0x05};  // mov $15, %rax; syscall
    constexpr std::size_t before_context = 0, general_words = NGREG;
#else
    constexpr std::uint8_t returns[] = {0x68, 0x11, 0x80, 0xd2,
                                        0x01, 0x00, 0x00, 0xd4};                   // mov x8, 139; svc 0
    constexpr std::size_t before_context = sizeof(siginfo_t), general_words = 34;  // to the pc
#endif
    std::uintptr_t words[2] = {};
    if (!read_word(frame.at, words[0]) || !read_word(frame.at + sizeof words[0], words[1])) return false;
    if (std::memcmp(words, returns, sizeof returns) != 0) return false;
    std::uintptr_t copy[general_words] = {};
    const std::uintptr_t from =
        frame.all[stack_register] + before_context + offsetof(ucontext_t, uc_mcontext);
    for (std::size_t i = 0; i < general_words; ++i)
        if (!read_word(from + i * sizeof copy[i], copy[i])) return false;
    mcontext_t machine{};
    std::memcpy(&machine, copy, sizeof copy);
    frame = registers_of(machine);
    return true;
}

std::size_t walk(Registers frame, std::uintptr_t* addresses, std::size_t most, bool is_exact) {
    std::size_t n = 0;
    while (n < most && frame.at != 0) {
        addresses[n++] = frame.at;
        if (!is_exact && to_interrupted(frame)) {
            is_exact = true;
            continue;
        }
        const std::uintptr_t stack = frame.all[stack_register];
        if (!to_caller(frame, is_exact)) break;
        // A leaf of AArch64 may have no frame. Elsewhere a stack that does not grow would be walked forever.
        if (frame.all[stack_register] < stack || (!is_exact && frame.all[stack_register] == stack)) break;
        is_exact = false;
    }
    return n;
}

}  // namespace

std::size_t walk_stack(const void* context, std::uintptr_t* addresses, std::size_t most) noexcept {
    return walk(registers_of(static_cast<const ucontext_t*>(context)->uc_mcontext), addresses, most, true);
}

std::size_t walk_stack_of_caller(const void* context, std::uintptr_t* addresses, std::size_t most) noexcept {
    Registers frame = registers_of(static_cast<const ucontext_t*>(context)->uc_mcontext);
#if defined(__x86_64__)
    if (!read_word(frame.all[stack_register], frame.at)) return 0;
    frame.all[stack_register] += sizeof frame.at;
#else
    frame.at = frame.all[return_register];
#endif
    return walk(frame, addresses, most, false);
}

}  // namespace atl::common
