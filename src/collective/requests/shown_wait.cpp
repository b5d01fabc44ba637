#include "collective/requests/shown_wait.hpp"

#include "common/elf/call_site.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace atl::requests {
namespace {

using common::WaitCopy;

template <std::size_t bytes> void copy_text(std::string_view text, char (&to)[bytes]) {
    to[text.copy(to, bytes - 1)] = '\0';
}

/// The number by which reports tell teams apart: 0 for PyTorch's first group, which has all ranks.
int team_number(const std::string& label) {
    int number = 1;
    std::from_chars(label.data(), label.data() + label.size(), number);
    return number;
}

}  // namespace

bool ShownWait::claim() {
    if (is_shown_) return true;
    const void* none = nullptr;
    is_shown_ = bootstrap::Seat::shown.compare_exchange_strong(none, this, std::memory_order_acq_rel);
    if (!is_shown_) return false;
    group_.members().membership().seat->entry().waits.fetch_add(1, std::memory_order_relaxed);
    site_ = common::file_name(common::site_of_thread());
    return true;
}

void ShownWait::show() {
    const auto& seat = group_.members().membership().seat;
    if (seat && seat->is_of_this_process() && claim()) write();
}

void ShownWait::write() const {
    const Membership& of = group_.members().membership();
    const Group::Progress progress = group_.progress_of(*request_);
    WaitCopy values;
    values.active = static_cast<std::uint32_t>(common::HostWait::sleeps);
    copy_text(progress.operation, values.operation);
    copy_text(progress.details, values.name);
    copy_text(of.label, values.group);
    copy_text(site_, values.site);
    values.team = team_number(of.label);
    values.offset = ~std::uint64_t{0};
    values.found = progress.moved;  // not shown as a value: a change is progress
    values.since_ns = since_ns_;
    values.team_id = of.identity;
    values.call = progress.call;
    int n = 0;
    for (const int member : progress.missing)
        if (n < common::WaitRecord::most_missing) values.missing[n++] = of.pes[std::size_t(member)];
    if (n < common::WaitRecord::most_missing) values.missing[n] = -1;
    values.peer = values.missing[0];
    common::write_wait(of.seat->entry().group, values);
}

ShownWait::~ShownWait() {
    if (!is_shown_) return;
    common::WaitRecord& record = group_.members().membership().seat->entry().group;
    record.sequence.fetch_add(2, std::memory_order_release);
    record.active.store(0, std::memory_order_release);
    bootstrap::Seat::shown.store(nullptr, std::memory_order_release);
}

}  // namespace atl::requests
