#include "collective/requests/mismatch.hpp"

#include "common/clock.hpp"
#include "core/calls/call_text.hpp"

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

std::string Mismatch::text(const Rounds::Difference& difference, const Request& request) {
    const auto& [member, mine, theirs] = difference;
    if (!members_.membership().is_team)
        return members_.name(member) + " called " + theirs.text() + number_text(theirs, members_) + ", but " +
               members_.me() + " called " + mine.text() + number_text(mine, members_) +
               ". All members must make the same calls in the same order, with equal sizes, types, operators "
               "and roots.";
    if (until_ns_ == 0) {
        until_ns_ = common::now_ns() + patience_ns;
        publish(site_ = request.place.name(), mine.number);
    }
    const bool is_known = is_sited(difference);
    if (!is_known && common::now_ns() < until_ns_) return {};
    const auto call_of = [&](int of, const Announcement& call, std::string site) {
        return core::CallOf{members_.number(of), call.record(members_.n()), std::move(site)};
    };
    core::CallOf one = call_of(members_.rank(), mine, site_);
    core::CallOf other = call_of(member, theirs, is_known ? members_.area(member).head().state.site : "");
    if (other.pe < one.pe) std::swap(one, other);
    return core::mismatch_text(members_.membership().name, one, other);
}

}  // namespace atl::requests
