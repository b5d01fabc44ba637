// Elements: the element type that a front declares for a collective, beside its byte counts.
#pragma once

#include "atoll/team.hpp"

#include "core/calls/element_codes.hpp"

namespace atl::core {

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
