// Elements: the element type that a front declares for a collective, beside its byte counts.
#pragma once

#include "atoll/team.hpp"

#include <cstdint>

namespace atl::core {

/// Encodes an element type: the letter of NumPy's kind ("f", "i", "V"), and its size. 0: unknown.
constexpr std::uint64_t elements_of(char kind, std::uint32_t bytes) {
    return std::uint64_t{static_cast<unsigned char>(kind)} << 32 | bytes;
}

/// Declares the element type of `team`'s collectives by this thread, for its lifetime. Members compare it if
/// all PEs of the job declare it (WaitHooks::names_dtypes).
class ATOLL_API Elements {
  public:
    Elements(const Team& team, std::uint64_t elements);
    ~Elements();
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;

  private:
    TeamState* team_;  ///< null if it is not compared
};

}  // namespace atl::core
