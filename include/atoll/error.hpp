// Error: the one exception class of Atoll, with a code for programs and a human-readable sentence.
#pragma once

#include "atoll/export.hpp"

#include <stdexcept>
#include <string>

namespace atl {

enum class ErrorCode : int {
    not_initialized = 1,  ///< a call before init or after finalize
    pe,                   ///< a PE outside 0 … n_pes-1 of the team
    not_symmetric,        ///< an address outside the symmetric heap, or a range that leaves it
    shape_mismatch,       ///< sizes that do not fit each other
    dtype_mismatch,       ///< element types that do not fit each other or the operation
    use_after_free,       ///< memory or an object that was freed or destroyed
    collective_mismatch,  ///< PEs called a collective differently
    timeout,              ///< a bounded wait ran out
    pe_died,              ///< a PE that this call needs has ended
    out_of_memory,        ///< the symmetric heap, or the system, has no room
    unsupported,          ///< not available here
    invalid_argument,     ///< any other invalid value
    settings,             ///< an ATOLL_* or SHMEM_* variable that cannot be read
    bootstrap,            ///< the PEs could not find each other
    system,               ///< a system call failed
    interrupted,          ///< a signal handler asked to stop waiting (Ctrl-C in Python)
    kernel,               ///< the GPU stopped a kernel of this process, whose GPU context is lost
};

/// The exception of every C++ call. `what()` names the passed value, the expected value and the remedy. After
/// it the heap, the teams and the job stay usable, with two exceptions. After `pe_died` the job is over;
/// after `kernel` the GPU part is lost.
class ATOLL_API Error : public std::runtime_error {
  public:
    Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
    ErrorCode code() const noexcept { return code_; }

  private:
    ErrorCode code_;
};

}  // namespace atl
