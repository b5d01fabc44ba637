// The algorithms of barriers and exchanges. A strategy's file defines them, and its row in `Meetings`.
#pragma once

#include "core/team/meetings.hpp"

namespace atl::core {

/// One line that two members write (pair.cpp).
struct Meetings::Pair {
    static bool sync(Meetings& m, Arrival mine);
    static bool exchange(Meetings& m, Arrival mine, Data data);

  private:
    static bool meet(Meetings& m, PairLine& line, std::uint32_t epoch, Arrival mine);
    static void wait(Meetings& m, detail::Flag& flag, std::uint32_t epoch, Arrival mine);
    static void clear_line_of_old(Meetings& m, std::uint32_t parity) noexcept;
};

/// Barriers in rounds of growing distance (dissemination.cpp).
struct Meetings::Dissemination {
    static bool sync(Meetings& m, Arrival mine);
};

/// Exchanges in which every member reads the lines of all (lines.cpp).
struct Meetings::Lines {
    static bool exchange(Meetings& m, Arrival mine, Data data);
};

/// Counters per core, for more PEs than cores (oversubscribed.cpp).
struct Meetings::Oversubscribed {
    static bool sync(Meetings& m, Arrival mine);
    static bool exchange(Meetings& m, Arrival mine, Data data);

  private:
    /// A meeting of groups, one for each core.
    struct GroupMeeting {
        std::atomic<std::uint64_t> GroupLine::*in_group;
        std::atomic<std::uint32_t> GroupsLine::*in_team;
        detail::Flag& release;
        std::uint32_t& call;  ///< fingerprint of all of them, or Called::differing; beside `release`
        detail::Flag& (*arrived)(MemberBlock& member, std::uint32_t epoch);  ///< the flag that a member sets
                                                                             ///< itself
        Missing missing;
        bool carries = false;  ///< data, packed into the line of groups
    };
    static bool meet(Meetings& m, std::uint32_t epoch, Arrival mine, const GroupMeeting& meeting);
    static void gather_group(Meetings& m, int group);
    static void regroup(Meetings& m);
    static void note_core(Meetings& m) noexcept;
    static int missing_at_sync(const void* waiting, int* pes, int most);
    static int missing_at_exchange(const void* waiting, int* pes, int most);
};

/// Parts of several hosts, which meet by the transport (far.cpp, spread.cpp).
struct Meetings::Far {
    static bool sync(Meetings& m, Arrival mine);
    static bool exchange(Meetings& m, Arrival mine, Data data);
};

}  // namespace atl::core
