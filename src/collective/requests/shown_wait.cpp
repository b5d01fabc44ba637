#include "collective/requests/shown_wait.hpp"

#include "common/clock.hpp"
#include "common/elf/call_site.hpp"
#include "common/settings/settings.hpp"
#include "common/text.hpp"
#include "core/hang/hang_watch.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace atl::requests {
namespace {

/// Without a launcher of ours the waiting members check for a standstill of all.
void check_standstill(const bootstrap::OwnEntry* own_entry) {
    if (own_entry == nullptr || !own_entry->is_of_group() || !own_entry->is_of_this_process()) return;
    static core::HangWatch& watch = *new core::HangWatch;  // threads may wait while the process ends
    static const double limit_s = common::read_settings().stall_warn_s;
    watch.check(nullptr, own_entry->board(), limit_s);
}

}  // namespace

void ShownWait::show() {
    check_standstill(group_.members().membership().own_entry.get());
    if (!wait_.claim()) return;
    if (has_site_ && !std::exchange(is_site_final_, true))
        site_ = common::file_name(common::site_of_thread());
    const Membership& of = group_.members().membership();
    const Group::Snapshot snapshot = group_.snapshot_of(*request_);
    common::WaitCopy values;
    common::copy_text(snapshot.operation, values.operation);
    common::copy_text(snapshot.details, values.name);
    common::copy_text(of.label, values.group);
    common::copy_text(site_, values.site);
    values.team = common::team_number(of.label);
    values.found = snapshot.moved;  // not shown as a value: a change is progress
    values.since_ns = since_ns_;
    values.team_id = of.identity;
    values.call = snapshot.call;
    values.tag = snapshot.tag;
    values.other = snapshot.other;
    if (values.other.from >= 0) values.other.from = of.pes[std::size_t(values.other.from)];
    int n = 0;
    for (const int member : snapshot.missing)
        if (n < common::WaitRecord::most_missing) values.missing[n++] = of.pes[std::size_t(member)];
    if (n < common::WaitRecord::most_missing) values.missing[n] = -1;
    values.peer = values.missing[0];
    wait_.write(values);
}

void ShownPending::show() {
    constexpr std::uint64_t long_ns = 50'000'000;
    const std::uint64_t now = common::now_ns();
    if (RequestPtr oldest = group_.pending(); oldest != request_) {
        shown_.reset();
        request_ = std::move(oldest);
        since_ns_ = now;
    }
    if (!request_ || now - since_ns_ < long_ns) return;
    if (!shown_) shown_.emplace(group_, request_, since_ns_, common::HostWait::pending);
    shown_->show();
}

}  // namespace atl::requests
