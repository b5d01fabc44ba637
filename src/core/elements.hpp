// What a front says of the elements that a collective moves, beside how many bytes they have.
#pragma once

#include "atoll/team.hpp"

#include <cstdint>

namespace atl::core {

/// Of elements: the letter of NumPy's kind ("f", "i", "V"), and their bytes. 0: not told.
constexpr std::uint64_t elements_of(char kind, std::uint32_t bytes) {
    return std::uint64_t{static_cast<unsigned char>(kind)} << 32 | bytes;
}

/// Within its life, collectives of `team` by this thread move such elements. Members compare it where all PEs
/// of the job tell (WaitHooks::names_dtypes).
class ATOLL_API Elements {
  public:
    Elements(const Team& team, std::uint64_t elements);
    ~Elements();
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;

  private:
    TeamState* team_;  ///< null where nobody compares
};

}  // namespace atl::core
