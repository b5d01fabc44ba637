// Waits of the calling thread for requests of a group, and their progress as the job board shows it.
#include "collective/requests/group.hpp"
#include "collective/requests/shown_wait.hpp"
#include "common/clock.hpp"
#include "common/elf/call_site.hpp"

#include <algorithm>
#include <optional>

namespace atl::requests {

bool Group::wait_interruptibly(const RequestPtr& request, double seconds,
                               const std::function<void()>& interrupted) {
    constexpr double slice_s = 0.05;
    if (seconds < 0 || seconds > slice_s ? wait(request, slice_s) : wait(request, seconds)) return true;
    const std::uint64_t now = common::now_ns();
    double left_s = seconds - slice_s;
    ShownWait shown(*this, request, now - static_cast<std::uint64_t>(slice_s * 1e9));
    while (seconds < 0 || left_s > 0) {
        shown.show();
        if (interrupted) interrupted();
        if (wait(request, seconds < 0 ? slice_s : std::min(slice_s, left_s))) return true;
        left_s -= slice_s;
    }
    return false;
}

RequestPtr Group::run(Call call, double timeout_s, const std::function<void()>& interrupted) {
    RequestPtr request = made(std::move(call), timeout_s);
    request->is_run = true;
    begin(request);
    try {
        if (!request->is_over()) wait_interruptibly(request, -1, interrupted);
    } catch (...) {
        // The caller's memory may go, so the request must not outlive this call.
        abort(members_.me() + " was interrupted in " + request->call.text(request->bytes) + ".");
        throw;
    }
    rethrow(*request);
    return request;
}

Group::Snapshot Group::snapshot_of(const Request& request) {
    const std::lock_guard lock(mutex_);
    const Request& waited = oldest_before(request);
    Snapshot now;
    now.operation = operation_of(request.call);
    now.missing = missing(waited);
    if (request.call.is_message()) {
        now.details = messages_.details(request);
        now.moved = messages_.moved(request);
        now.tag = request.call.tag;
        now.other = messages_.other_than(request);
        // Any of several members may end it.
        if (now.missing.size() > 1) now.missing.clear();
        return now;
    }
    now.call = request.number + 1;
    now.moved = (std::uint64_t{waited.number} << 32) + waited.published + waited.consumed;
    if (request.bytes != 0) now.details = std::to_string(request.bytes) + " bytes, ";
    now.details += "call " + std::to_string(now.call);
    if (&waited != &request)
        now.details += ", behind " + std::string(operation_of(waited.call)) + " (call " +
                       std::to_string(waited.number + 1) + ")";
    return now;
}

// ---- failures, as the launcher reports them

/// Tells the launcher why the group fails. The first note of a process stays until it makes another group.
void Group::note_failure(common::FailureNote::Kind kind, std::string text) const {
    using Kind = common::FailureNote::Kind;
    const auto& own_entry = members_.membership().own_entry;
    if (!own_entry || !own_entry->is_of_this_process()) return;
    common::FailureNote& note = own_entry->entry().failure;
    if (note.kind.load(std::memory_order_relaxed) != Kind::none) return;
    if (text.ends_with('.')) text.pop_back();
    note.set(kind, text);
}

void Group::note_difference() {
    if (!members_.membership().own_entry) return;
    note_failure(common::FailureNote::Kind::own, mismatch_.sentence(*rounds_.difference(), rounds_.forms()));
}

/// Gives the place of this thread's call, for the report of a difference. Without the lock: the thread takes
/// the GIL, whose holder may wait for the lock.
void Group::publish_site(const RequestPtr& request) {
    const std::string site = request->is_run ? common::site_of_thread() : std::string();
    const std::lock_guard lock(mutex_);
    if (rounds_.difference()) mismatch_.set_site(site, *rounds_.difference());
    unsited_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace atl::requests
