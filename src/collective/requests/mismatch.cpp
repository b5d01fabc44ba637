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

using Forms = std::vector<Rounds::Form>;

/// The forms that an error shows: all, or those of the difference alone where members may give different
/// sizes.
Forms shown_forms(const Rounds::Difference& difference, const Forms& forms, int rank) {
    const auto has = [&](const Announcement& call) {
        return std::any_of(forms.begin(), forms.end(), [&](const auto& one) { return one.call == call; });
    };
    constexpr std::size_t most = 3;
    if (has(difference.mine) && has(difference.theirs) && forms.size() <= most) return forms;
    return {{difference.theirs, {difference.member}}, {difference.mine, {rank}}};
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

bool Mismatch::is_sited(int member, const Announcement& call) const {
    const MemberState& theirs = members_.area(member).head().state;
    return theirs.sited.load(std::memory_order_acquire) == call.number + 1;
}

std::string Mismatch::site_of(int member, const Announcement& call) const {
    if (member == members_.rank()) return site_;
    return is_sited(member, call) ? members_.area(member).head().state.site : "";
}

/// True if all members have come, and the places are known that an error shows.
bool Mismatch::are_known(const Forms& forms) const {
    std::size_t n = 0;
    for (const Rounds::Form& one : forms) {
        n += one.members.size();
        if (one.members[0] != members_.rank() && !is_sited(one.members[0], one.call)) return false;
    }
    return n == std::size_t(members_.n());
}

void Mismatch::set_site(const std::string& site, const Rounds::Difference& difference) {
    if (is_site_final_) return;
    publish(site_ = site, difference.mine.number);
    is_site_final_ = true;
}

std::string Mismatch::calls_text(const Forms& forms, const std::string& who, bool is_short,
                                 const std::function<int(int)>& number_of) const {
    std::string text;
    for (const Rounds::Form& one : forms) {
        std::vector<int> numbers;
        for (const int member : one.members) numbers.push_back(number_of(member));
        std::sort(numbers.begin(), numbers.end());
        const std::string site = site_of(one.members[0], one.call);
        const bool is_first = text.empty(), is_usual = &one == &forms.back();
        text += (is_first   ? ""
                 : is_usual ? ", where "
                            : ", ") +
                who + common::pe_ranges(numbers) + " called " +
                core::with_site(one.call.text(), is_short ? std::string(common::file_name(site)) : site);
        if (is_first) text += " as call " + std::to_string(one.call.number + 1) + members_.membership().group;
    }
    return text;
}

std::string Mismatch::text_of_group(const Forms& forms) const {
    return calls_text(forms, "rank ", false, [&](int member) { return members_.number(member); }) +
           ". All members must make the same calls in the same order, with equal sizes, types, operators "
           "and roots.";
}

std::string Mismatch::text(const Rounds::Difference& difference, const Request& request, const Forms& forms) {
    const auto& [member, mine, theirs] = difference;
    const bool is_team = members_.membership().is_team;
    if (until_ns_ == 0) {
        until_ns_ = common::now_ns() + patience_ns;
        // In a group only the thread that waits in its call knows the place.
        if (is_team || !request.is_run) set_site(is_team ? request.site.name() : std::string(), difference);
    }
    const bool is_known = is_site_final_ && (is_team ? is_sited(member, theirs) : are_known(forms));
    if (!is_known && common::now_ns() < until_ns_) return {};
    if (!is_team) return text_of_group(shown_forms(difference, forms, members_.rank()));
    const auto call_of = [&](int of, const Announcement& call, std::string site) {
        return core::CallOf{members_.number(of), call.record(members_.n()), std::move(site)};
    };
    core::CallOf one = call_of(members_.rank(), mine, site_);
    core::CallOf other = call_of(member, theirs, site_of(member, theirs));
    if (other.pe < one.pe) std::swap(one, other);
    return core::mismatch_text(members_.membership().name, one, other);
}

std::string Mismatch::sentence(const Rounds::Difference& difference, const Forms& forms) const {
    const auto pe_of = [&](int member) { return members_.membership().pes[std::size_t(member)]; };
    return calls_text(shown_forms(difference, forms, members_.rank()), "PE ", true, pe_of) +
           std::string(core::calls_differ);
}

}  // namespace atl::requests
