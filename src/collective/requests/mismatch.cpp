#include "collective/requests/mismatch.hpp"

#include "common/clock.hpp"
#include "common/pe_ranges.hpp"
#include "common/text.hpp"
#include "core/calls/call_text.hpp"

#include <algorithm>
#include <utility>

namespace atl::requests {
namespace {

/// Longest wait for the place of the other member's call. It reads debug information, and may be descheduled.
constexpr std::uint64_t patience_ns = 500'000'000;

std::string number_text(const Announcement& call, const Members& members) {
    return " (its call " + std::to_string(call.number + 1) + members.membership().group + ")";
}

}  // namespace

void Mismatch::publish(const std::string& site, std::uint32_t number) {
    MemberState& state = members_.mine().head().state;
    // The end of a long path says more than its beginning.
    const std::size_t length = std::min(site.size(), call_site_bytes - 1);
    state.site[site.copy(state.site, length, site.size() - length)] = '\0';
    state.sited.store(number + 1, std::memory_order_release);
    members_.ring_all();
}

bool Mismatch::is_sited(const Rounds::Difference& difference) const {
    const MemberState& theirs = members_.area(difference.member).head().state;
    return theirs.sited.load(std::memory_order_acquire) == difference.theirs.number + 1;
}

std::string Mismatch::their_site(const Rounds::Difference& difference) const {
    return is_sited(difference) ? members_.area(difference.member).head().state.site : "";
}

void Mismatch::set_site(const std::string& site, const Rounds::Difference& difference) {
    if (is_placed_) return;
    publish(site_ = site, difference.mine.number);
    is_placed_ = true;
}

std::string Mismatch::text_of_group(const Rounds::Difference& difference) const {
    const auto& [member, mine, theirs] = difference;
    return members_.name(member) + " called " + core::placed_text(theirs.text(), their_site(difference)) +
           number_text(theirs, members_) + ", but " + members_.me() + " called " +
           core::placed_text(mine.text(), site_) + number_text(mine, members_) +
           ". All members must make the same calls in the same order, with equal sizes, types, operators "
           "and roots.";
}

std::string Mismatch::text(const Rounds::Difference& difference, const Request& request) {
    const auto& [member, mine, theirs] = difference;
    const bool is_team = members_.membership().is_team;
    if (until_ns_ == 0) {
        until_ns_ = common::now_ns() + patience_ns;
        // In a group only the thread that waits in its call knows the place.
        if (is_team || !request.is_run) set_site(is_team ? request.place.name() : std::string(), difference);
    }
    const bool is_known = is_placed_ && is_sited(difference);
    if (!is_known && common::now_ns() < until_ns_) return {};
    if (!is_team) return text_of_group(difference);
    const auto call_of = [&](int of, const Announcement& call, std::string site) {
        return core::CallOf{members_.number(of), call.record(members_.n()), std::move(site)};
    };
    core::CallOf one = call_of(members_.rank(), mine, site_);
    core::CallOf other = call_of(member, theirs, their_site(difference));
    if (other.pe < one.pe) std::swap(one, other);
    return core::mismatch_text(members_.membership().name, one, other);
}

std::string Mismatch::sentence(const Rounds::Difference& difference, const std::vector<int>& like_mine,
                               const std::vector<int>& like_theirs) const {
    const auto text_of = [&](const std::vector<int>& made_by, const Announcement& call,
                             const std::string& site) {
        std::vector<int> pes;
        for (const int i : made_by) pes.push_back(members_.membership().pes[std::size_t(i)]);
        std::sort(pes.begin(), pes.end());
        return "PE " + common::pe_ranges(pes) + " called " +
               core::placed_text(call.text(), common::file_name(site));
    };
    std::string odd = text_of(like_mine, difference.mine, site_);
    std::string usual = text_of(like_theirs, difference.theirs, their_site(difference));
    const bool mine_is_odd = like_mine.size() != like_theirs.size() ? like_mine.size() < like_theirs.size()
                                                                    : like_mine > like_theirs;
    if (!mine_is_odd) std::swap(odd, usual);
    return odd + " as call " + std::to_string(difference.mine.number + 1) + members_.membership().group +
           ", where " + usual + std::string(core::calls_differ);
}

}  // namespace atl::requests
