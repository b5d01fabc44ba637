// Hosts: the members of a group by their hosts, and those that receive large data for all members of a host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace atl::far {

/// The members of a group by their hosts, and their numbers at the endpoint.
struct Layout {
    int rank = 0;
    std::vector<int> host_of;        ///< by member; hosts are numbered in the order of their first members
    std::vector<std::string> names;  ///< names of hosts
    std::vector<int> numbers;        ///< by member

    int n() const { return static_cast<int>(host_of.size()); }
    int host(int member) const { return host_of[std::size_t(member)]; }
    bool is_far(int member) const { return host(member) != host(rank); }
};

class Hosts {
  public:
    explicit Hosts(const Layout& layout)
        : host_of_(layout.host_of), members_(layout.names.size()), mine_(layout.host(layout.rank)) {
        for (int i = 0; i < layout.n(); ++i) {
            std::vector<int>& of_host = members_[std::size_t(host_of(i))];
            local_rank_.push_back(static_cast<int>(of_host.size()));
            of_host.push_back(i);
        }
    }

    int n() const { return static_cast<int>(members_.size()); }
    int mine() const { return mine_; }
    int host_of(int member) const { return host_of_[std::size_t(member)]; }
    /// A host's members, in rank order.
    const std::vector<int>& members(int host) const { return members_[std::size_t(host)]; }
    /// A member's place among those of its host.
    int local_rank(int member) const { return local_rank_[std::size_t(member)]; }
    int least_members() const { return size_of_host(true); }
    int most_members() const { return size_of_host(false); }
    /// True if all members of a host come before those of the next one.
    bool are_in_rank_order() const { return std::is_sorted(host_of_.begin(), host_of_.end()); }
    /// The member that receives for its host the data of a member of another host.
    int receiver(int host, int member) const {
        const std::vector<int>& there = members(host);
        return there[std::size_t(local_rank(member)) % there.size()];
    }

  private:
    int size_of_host(bool least) const {
        std::size_t size = members_[0].size();
        for (const auto& each : members_)
            size = least ? std::min(size, each.size()) : std::max(size, each.size());
        return static_cast<int>(size);
    }

    std::vector<int> host_of_, local_rank_;
    std::vector<std::vector<int>> members_;
    int mine_;
};

}  // namespace atl::far
