// walk_stack: the stack of a thread that a signal interrupted, for the handler of the signal.
//
// backtrace() of the C library may allocate and take locks there. If the thread was in malloc, or threw an
// exception, the process would hang (docs/decisions/0061-stacks-without-locks.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace atl::common {

/// Writes the interrupted instruction and then return addresses, the innermost first, and returns their
/// number. `context` is the third argument of a handler with SA_SIGINFO. The walk ends early at code without
/// unwind tables, such as code that was compiled at run time. Allocates nothing, takes no lock, and survives
/// a damaged stack.
std::size_t walk_stack(const void* context, std::uintptr_t* addresses, std::size_t most) noexcept;

/// The same from the caller of a function that does not exist, after a jump to an address without code.
std::size_t walk_stack_of_caller(const void* context, std::uintptr_t* addresses, std::size_t most) noexcept;

}  // namespace atl::common
