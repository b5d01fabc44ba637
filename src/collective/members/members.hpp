// Members: the areas of a group as one member sees them, and the words by which members announce progress.
#pragma once

#include "atoll/error.hpp"
#include "bootstrap/launcher/own_entry.hpp"
#include "collective/members/area.hpp"
#include "collective/members/far_members.hpp"
#include "common/recorder/recorder.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atl::requests {

/// The members of a group: their shared areas, their locations, and their names in errors.
struct Membership {
    int rank = 0;
    int n = 1;
    /// Areas by rank. One that is null is looked up by `find` until that returns it.
    std::vector<char*> areas;
    std::function<char*(int)> find;
    std::shared_ptr<const void> memory;    ///< keeps the areas mapped
    std::shared_ptr<far::FarMembers> far;  ///< members of other hosts; null on one host
    bool shares_heaps = false;             ///< the members can map each other's process heaps
    std::string noun = "rank";             ///< "rank" or "PE", in errors
    std::vector<int> names;                ///< the number of each member in errors; empty: its rank
    std::string group;                     ///< part of errors, such as " of group 3"; may be empty
    std::string name;                      ///< such as "team 2", for a team
    std::string cure = "Destroy it and make a new one.";  ///< for a group that has become unusable
    /// A team of a job. Its collectives end once all members have started them, so that all find a
    /// difference. Errors name calls as those of blocking collectives do, with their places.
    bool is_team = false;
    common::Recorder* recorder = nullptr;  ///< recorder for the collectives of a team
    std::uint32_t identity = 0;            ///< the team's identity there, or the group's on the job board
    /// The place of this process on the job board, where its waits are shown; null without.
    std::shared_ptr<bootstrap::OwnEntry> own_entry;
    std::vector<int> pes;  ///< with an own entry: the number of each member in the job
    std::string label;     ///< such as "3", for "group 3"
    /// Why a member will do nothing more, such as "(process 7) ended"; empty if it may. May be null.
    std::function<std::string(int)> end_of;
    /// Throws Error if a wait must end, such as at the end of the job. Called in long waits. May be null.
    std::function<void()> check;
};

class Members {
  public:
    explicit Members(Membership membership) : m_(std::move(membership)) {
        areas_.resize(std::size_t(m_.n));
        for (int i = 0; i < m_.n; ++i)
            if (is_far(i))
                areas_[std::size_t(i)] = m_.far->copy(i);
            else if (m_.areas[std::size_t(i)])
                areas_[std::size_t(i)] = Area(m_.areas[std::size_t(i)], m_.n);
    }

    int rank() const { return m_.rank; }
    int n() const { return m_.n; }
    const Membership& membership() const { return m_; }
    const Area& mine() const { return areas_[std::size_t(m_.rank)]; }
    /// Empty while the member has not made its area.
    const Area& area(int member) {
        Area& area = areas_[std::size_t(member)];
        if (!area && m_.find)
            if (char* base = m_.find(member)) area = Area(base, m_.n);
        return area;
    }

    /// The copy of a far member's area that the members of this host share.
    Area shared(int member) const { return {m_.areas[std::size_t(member)], m_.n}; }

    /// Wakes a member that sleeps. Call it after each store that it may wait for.
    void ring(int member) {
        Bell::order_before_sleepers();
        wake_if_asleep(member);
    }
    void ring_all() {
        Bell::order_before_sleepers();
        for (int i = 0; i < m_.n; ++i)
            if (i != m_.rank) wake_if_asleep(i);
    }

    // ---- members of other hosts: each store that they may wait for is passed on to them

    far::FarMembers* far() const { return m_.far.get(); }
    bool is_far(int member) const { return m_.far && m_.far->is_far(member); }
    /// Passes on the 8 bytes at `word` to all far members, after the range (at most 4 KiB, or none).
    void pass_to_all(const void* word, const void* from = nullptr, std::size_t bytes = 0) {
        for (int i = 0; m_.far && i < m_.n; ++i)
            if (is_far(i)) m_.far->pass_word(i, from, bytes, word);
    }
    /// Sleeps until this member is rung, at most `most_ns`. `is_over` returns true if the wait is over.
    template <class IsOver> void sleep(std::uint64_t most_ns, IsOver&& is_over) {
        if (m_.far)
            m_.far->sleep(mine().head().bell, most_ns, is_over);
        else
            mine().head().bell.sleep(most_ns, is_over);
    }
    /// Wakes this member's own threads.
    void wake_own() {
        if (m_.far) return m_.far->wake();
        Bell& bell = mine().head().bell;
        bell.word.fetch_add(1, std::memory_order_seq_cst);
        common::futex_wake_all(bell.word);
    }

    int number(int member) const { return m_.names.empty() ? member : m_.names[std::size_t(member)]; }
    std::string name(int member) const { return m_.noun + " " + std::to_string(number(member)); }
    std::string me() const { return name(m_.rank); }

  private:
    void wake_if_asleep(int member) {
        const Area& of = area(member);
        if (!of) return;
        if (!m_.far)
            of.head().bell.wake_if_asleep();
        else if (of.head().bell.sleepers.load(std::memory_order_acquire) != 0)
            m_.far->ring(member);  // it sleeps on descriptors; a copy has no sleepers
    }

    Membership m_;
    std::vector<Area> areas_;
};

/// Returns a text such as "rank 1" or "ranks 1, 3".
std::string list_of(const Members& members, const std::vector<int>& ranks);

}  // namespace atl::requests
