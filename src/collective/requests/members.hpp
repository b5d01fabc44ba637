// Members: the areas of a group as one member sees them, and the words by which members announce progress.
#pragma once

#include "atoll/error.hpp"
#include "collective/requests/area.hpp"
#include "common/futex.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace atl::requests {

/// The places and names of a group's members.
struct Membership {
    int rank = 0;
    int n = 1;
    /// Areas by rank. One that is null is looked up by `find` until that returns it.
    std::vector<char*> areas;
    std::function<char*(int)> find;
    std::shared_ptr<const void> memory;  ///< keeps the areas mapped
    std::string noun = "rank";           ///< "rank" or "PE", in errors
    std::vector<int> names;              ///< the number of each member in errors; empty: its rank
    std::string group;                   ///< " of group 3", in errors; may be empty
    std::string cure = "Destroy it and make a new one.";  ///< for a group that has become unusable
    /// Why a member will do nothing more, such as "(process 7) ended"; empty if it may. May be null.
    std::function<std::string(int)> end_of;
    /// Throws Error if a wait must end, such as at the end of the job. Called in long waits. May be null.
    std::function<void()> look;
};

class Members {
  public:
    explicit Members(Membership membership) : m_(std::move(membership)) {
        areas_.resize(std::size_t(m_.n));
        for (int i = 0; i < m_.n; ++i)
            if (m_.areas[std::size_t(i)]) areas_[std::size_t(i)] = Area(m_.areas[std::size_t(i)], m_.n);
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

    /// Wakes a member that sleeps. Call it after each store that it may wait for.
    void ring(int member) {
        order_before_sleepers();
        wake_if_asleep(member);
    }
    void ring_all() {
        order_before_sleepers();
        for (int i = 0; i < m_.n; ++i)
            if (i != m_.rank) wake_if_asleep(i);
    }

    std::string name(int member) const {
        const int number = m_.names.empty() ? member : m_.names[std::size_t(member)];
        return m_.noun + " " + std::to_string(number);
    }
    std::string me() const { return name(m_.rank); }

  private:
    /// A member that goes to sleep is counted, then looks at the words once more. So either it sees the store
    /// before this, or this thread sees its count.
    static void order_before_sleepers() {
#if !defined( \
    __SANITIZE_THREAD__)  // which does not know fences; the count is read by an atomic operation there
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    }
    void wake_if_asleep(int member) {
        const Area& of = area(member);
        if (!of) return;
        Bell& bell = of.head().bell;
#if defined(__SANITIZE_THREAD__)
        const std::uint32_t sleepers = bell.sleepers.fetch_add(0, std::memory_order_seq_cst);
#else
        const std::uint32_t sleepers = bell.sleepers.load(std::memory_order_relaxed);
#endif
        if (sleepers == 0) return;
        bell.word.fetch_add(1, std::memory_order_seq_cst);
        common::futex_wake_all(bell.word);
    }

    Membership m_;
    std::vector<Area> areas_;
};

/// "rank 1" or "ranks 1, 3".
std::string list_of(const Members& members, const std::vector<int>& ranks);

}  // namespace atl::requests
