#include "collective/requests/group.hpp"

#include "atoll/detail/memory_ops.hpp"
#include "bootstrap/deadline.hpp"
#include "collective/requests/request_wait.hpp"
#include "collective/requests/shown_wait.hpp"
#include "common/clock.hpp"
#include "common/machine.hpp"
#include "common/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace atl::requests {
namespace {

// A waiter spins for some tens of microseconds, then sleeps. It does not yield: on a busy machine that takes
// as long as the other programs run, while a sleeper is woken at once.
constexpr int many_spins = 400, few_spins = 10;
constexpr std::uint64_t longest_nap_ns = 20'000'000;  // bounds the detection of deaths and time-outs
constexpr std::uint64_t check_interval_ns = 20'000'000;
/// The group's thread starts to work on a request only after this time, since its caller may soon wait for
/// it.
constexpr std::uint64_t grace_ns = 50'000;

/// Counts a waiter. While there is one, the group's thread leaves the work to it.
class CountedWaiter {
  public:
    explicit CountedWaiter(std::atomic<int>& count) : count_(count) { ++count_; }
    ~CountedWaiter() { --count_; }
    CountedWaiter(const CountedWaiter&) = delete;
    CountedWaiter& operator=(const CountedWaiter&) = delete;

  private:
    std::atomic<int>& count_;
};

}  // namespace

Group::Group(Membership membership)
    : members_(std::move(membership)), process_(::getpid()), rounds_(members_), messages_(members_) {
    spins_ = members_.n() > common::usable_cpus() ? few_spins : many_spins;
    MemberState& state = members_.mine().head().state;
    state.process = process_;
    state.stage.store(static_cast<std::uint32_t>(Stage::joined), std::memory_order_release);
    if (const auto& own_entry = members_.membership().own_entry)
        own_entry->entry().failure.kind.store(common::FailureNote::Kind::none, std::memory_order_relaxed);
}

Group::~Group() {
    if (::getpid() != process_) return;  // a forked child has neither the thread nor the membership
    Done done;
    {
        std::lock_guard lock(mutex_);
        if (!is_idle())
            break_up(ErrorCode::pe_died,
                     members_.me() + " destroyed its part" + members_.membership().group +
                         " with operations in flight.",
                     done);
    }
    notify(done);
    {
        std::lock_guard lock(thread_mutex_);
        ending_ = true;
        thread_call_.notify_all();
    }
    members_.wake_own();
    thread_.reset();
    auto joined = static_cast<std::uint32_t>(Stage::joined);
    members_.mine().head().state.stage.compare_exchange_strong(joined,
                                                               static_cast<std::uint32_t>(Stage::left));
    const auto has_left = [this](int member) {
        return members_.area(member).head().state.stage.load() == static_cast<std::uint32_t>(Stage::left);
    };
    for (int i = 0; members_.far() && i < n(); ++i)
        if (members_.is_far(i) && !has_left(i))
            members_.far()->pass_last(i, &members_.mine().head().state.stage);
    members_.ring_all();
}

// ---- starting

void Group::refuse_if_broken() const {
    if (::getpid() != process_)
        throw Error(ErrorCode::unsupported,
                    "This process was forked after its parent had made the communicator" +
                        members_.membership().group +
                        "; only the parent can use it. Start new processes instead.");
    if (!broken_.empty())
        throw Error(broken_code_, "The communicator" + members_.membership().group +
                                      " is unusable: " + broken_ + " " + members_.membership().cure);
}

RequestPtr Group::made(Call&& call, double timeout_s) {
    auto request = std::make_shared<Request>();
    if (call.is_message()) {
        const bool any = call.kind == Kind::receive && call.root == any_source;
        if (!any && (call.root < 0 || call.root >= n() || call.root == rank()))
            throw Error(ErrorCode::pe, std::string(name_of(call.kind)) + " with member " +
                                           std::to_string(call.root) + ": the group has the members 0 to " +
                                           std::to_string(n() - 1) + ", and this is member " +
                                           std::to_string(rank()) + ".");
    } else {
        Rounds::check(call, members_);
        if (call.folds()) request->folding = Folding(call.type, call.op);
    }
    request->call = std::move(call);
    request->timeout_s = timeout_s;
    if (timeout_s > 0) request->deadline_ns = common::now_ns() + common::timeout_ns(timeout_s);
    return request;
}

void Group::begin(const RequestPtr& request) {
    Done done;
    {
        std::lock_guard lock(mutex_);
        refuse_if_broken();
        if (request->call.is_message()) {
            messages_.post(request);
        } else {
            rounds_.plan(*request);
            record(*request);
            collectives_.push_back(request);
        }
        move(done);
    }
    notify(done);
}

RequestPtr Group::start(Call call, double timeout_s, std::function<void()> finish,
                        std::function<void(const Request&)> notify_after) {
    RequestPtr request = made(std::move(call), timeout_s);
    request->finish = std::move(finish);
    request->notify = std::move(notify_after);
    begin(request);
    if (!request->is_over()) call_thread();
    return request;
}

RequestPtr Group::start_at(common::CallSite site, Call call, double timeout_s) {
    RequestPtr request = made(std::move(call), timeout_s);
    request->site = std::move(site);
    begin(request);
    if (!request->is_over()) call_thread();
    return request;
}

void Group::rethrow(const Request& request) {
    if (request.status.load(std::memory_order_acquire) == Status::failed)
        throw Error(request.code, request.error);
}

// ---- moving

bool Group::advance(Done& done) {
    if (members_.far()) members_.far()->progress();
    std::unique_lock lock(mutex_, std::try_to_lock);
    return lock && move(done);
}

bool Group::move(Done& done) {
    if (!broken_.empty()) return false;
    try {
        bool moved = false;
        while (!collectives_.empty()) {
            const RequestPtr& head = collectives_.front();
            moved |= rounds_.advance(*head);
            if (rounds_.difference()) {
                const std::string text = mismatch_.text(*rounds_.difference(), *head, rounds_.forms());
                if (!text.empty()) {
                    note_difference();
                    throw Error(ErrorCode::collective_mismatch, text);
                }
                unsited_.store(mismatch_.lacks_site() ? head.get() : nullptr, std::memory_order_relaxed);
            }
            if (!Rounds::is_complete(*head)) break;
            const RequestPtr request = head;
            collectives_.pop_front();
            settle(request, done);
        }
        std::vector<RequestPtr> complete;
        moved |= messages_.advance(complete);
        for (const RequestPtr& request : complete) settle(request, done);
        if (members_.far() && members_.far()->take_shared()) members_.ring_all();
        return moved;
    } catch (const Error& error) {
        note_failure(common::FailureNote::Kind::own, error.what());
        break_up(error.code(), error.what(), done);
        return true;
    }
}

void Group::settle(const RequestPtr& request, Done& done) {
    try {
        if (request->finish) request->finish();
    } catch (const std::exception& error) {
        fail(request, ErrorCode::system, error.what(), done);
        return;
    }
    request->set_status(Status::done);
    done.push_back(request);
}

void Group::fail(const RequestPtr& request, ErrorCode code, const std::string& text, Done& done) {
    if (request->is_over()) return;
    request->code = code;
    request->error = text;
    common::Recorder* const recorder = members_.membership().recorder;
    if (recorder != nullptr && request->event.event != nullptr) {  // a report names the line that started it
        const std::string site(common::file_name(request->site.name()));
        recorder->set_delay(request->event, 0, 0, site.c_str());
    }
    request->set_status(Status::failed);
    done.push_back(request);
}

void Group::notify(Done& done) {
    for (const RequestPtr& request : done) {
        auto after = std::move(request->notify);
        request->notify = nullptr;
        request->finish = nullptr;
        if (after) after(*request);
    }
    done.clear();
}

bool Group::test(const RequestPtr& request) {
    if (request->is_over()) return true;
    Done done;
    advance(done);
    notify(done);
    return request->is_over();
}

bool Group::is_bulk(const Request& request) {
    const std::lock_guard lock(mutex_);
    return request.rounds > n_slots;
}

bool Group::wait(const RequestPtr& request, double seconds) {
    const CountedWaiter counted(waiters_);
    const std::uint64_t end = seconds < 0 ? 0 : common::now_ns() + common::timeout_ns(seconds);
    Done done;
    int idle = 0;
    // A poll of the network is a system call, and much data leaves the core to who moves it.
    const int spins = members_.far() && is_bulk(*request) ? few_spins : spins_;
    while (!request->is_over()) {
        const bool moved = advance(done);
        notify(done);
        if (request->is_over()) break;
        if (moved) {
            idle = 0;
        } else if (unsited_.load(std::memory_order_relaxed) == request.get()) {
            publish_site(request);
        } else if (++idle <= spins) {
            detail::cpu_pause();
        } else {
            const std::uint64_t now = common::now_ns();
            if (end != 0 && now >= end) return false;
            check(done);
            notify(done);
            sleep_on_bell(end == 0 ? longest_nap_ns : std::min(longest_nap_ns, end - now), request.get());
        }
    }
    return true;
}

void Group::sleep_on_bell(std::uint64_t most_ns, const Request* request) {
    Done done;
    // Polls once more: the others ring only for sleepers that they see.
    members_.sleep(most_ns, [&] {
        const bool moved = advance(done);
        const bool over = request != nullptr && request->is_over();
        return moved || !done.empty() || over || ending_.load();
    });
    // Another thread of this member may sleep on a request that has just ended.
    if (!done.empty()) members_.wake_own();
    notify(done);
}

// ---- ends

std::vector<int> Group::missing(const Request& request) {
    return request.call.is_message() ? messages_.missing(request) : rounds_.missing(request);
}

/// The collective that holds up a pending request: the oldest one, or the request itself.
const Request& Group::oldest_before(const Request& request) const {
    const bool is_queued = !request.call.is_message() && !request.started && !collectives_.empty();
    return is_queued ? *collectives_.front() : request;
}

std::vector<int> Group::awaited(const Request& request) {
    const std::lock_guard lock(mutex_);
    return missing(oldest_before(request));
}

RequestPtr Group::pending() {
    const std::lock_guard lock(mutex_);
    return collectives_.empty() ? nullptr : collectives_.front();
}

/// Writes the start of a team's collective to the flight recorder.
void Group::record(Request& request) const {
    const Membership& of = members_.membership();
    if (of.recorder == nullptr) return;
    if (const common::EventLog* log = of.recorder->log) {
        request.clock = log->clock();
        request.began_ticks = request.clock.now();
    }
    request.event = of.recorder->begin(common::EventKind::request,
                                       common::operation_number(team_name_of(request.call.kind)), of.identity,
                                       request.number + 1);
    const core::CallRecord values = request.announcement(request.bytes).record(members_.n());
    common::Recorder::set_arguments(request.event, values.a, values.b, values.c, values.d);
}

std::string Group::late_text(const Request& request, double seconds) {
    std::string text = "Timed out after " + bootstrap::seconds_text(seconds) + " in " +
                       request.call.text(request.bytes) + members_.membership().group + " on " +
                       members_.me();
    const Request& waited = oldest_before(request);
    if (&waited != &request) text += ", behind " + waited.call.text(waited.bytes);
    const std::vector<int> late = missing(waited);
    if (!late.empty()) text += "; waiting for " + list_of(members_, late);
    return text + ".";
}

void Group::throw_late(const Request& request, double seconds) {
    std::string text;
    {
        std::lock_guard lock(mutex_);
        text = late_text(request, seconds);
    }
    throw Error(ErrorCode::timeout, text);
}

void Group::check(Done& done) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !broken_.empty()) return;
    // Under the lock: end_with_job() takes it before the job's memory goes.
    if (members_.membership().check) {
        try {
            members_.membership().check();
        } catch (const Error& error) {
            break_up(ErrorCode::pe_died, error.what(), done);
            return;
        }
    }
    const std::uint64_t now = common::now_ns();
    if (now - last_check_ns_ < check_interval_ns) return;
    last_check_ns_ = now;
    expire(done);
    for (int i = 0; i < n() && broken_.empty(); ++i)
        if (i != rank()) check_member(i, done);
}

/// Ends the requests that wait for a member that does nothing more.
void Group::check_member(int member, Done& done) {
    const Area& area = members_.area(member);
    if (!area) return;
    const MemberState& state = area.head().state;
    // Before the stage: a member tells its stage, then ends.
    const auto& end_of = members_.membership().end_of;
    std::string end = end_of ? end_of(member) : "";
    const auto stage = static_cast<Stage>(state.stage.load(std::memory_order_acquire));
    if (stage == Stage::broken) {
        const auto code = static_cast<ErrorCode>(state.code);
        // A member in finalize ends its requests; this PE comes there, too.
        if (code == ErrorCode::not_initialized) return;
        const std::string reason = state.reason;
        // A reason that was passed on already names its origin; different calls name both members.
        const bool is_whole =
            code == ErrorCode::collective_mismatch || reason.find(" reported: ") != std::string::npos;
        note_failure(common::FailureNote::Kind::of_others, reason);
        break_up(code == ErrorCode::collective_mismatch ? code : ErrorCode::pe_died,
                 is_whole ? reason : members_.name(member) + " reported: " + reason, done);
        return;
    }
    if (stage == Stage::left) end = "has left the communicator";
    if (end.empty() && members_.is_far(member) && waiter_for(member)) members_.far()->greet(member);
    // The member's last data may have arrived before its end.
    if (end.empty() || move(done)) return;
    if (const Request* request = waiter_for(member)) {
        const std::string text = members_.name(member) + " " + end + members_.membership().group + ", so " +
                                 request->call.text(request->bytes) + " on " + members_.me() + " cannot end.";
        note_failure(common::FailureNote::Kind::own, text);
        break_up(ErrorCode::pe_died, text, done);
    }
}

/// A request that waits for the member; null if none does.
const Request* Group::waiter_for(int member) {
    std::vector<RequestPtr> all(collectives_.begin(), collectives_.end());
    messages_.append_all(all);
    for (const RequestPtr& request : all) {
        const bool is_message = request->call.is_message();
        const std::vector<int> late = is_message ? messages_.missing(*request) : rounds_.relied_on(*request);
        // Another member may still send what any member may.
        const bool any = is_message && request->call.root == any_source && late.size() > 1;
        if (!any && std::find(late.begin(), late.end(), member) != late.end()) return request.get();
    }
    return nullptr;
}

void Group::expire(Done& done) {
    const std::uint64_t now = common::now_ns();
    std::vector<RequestPtr> all(collectives_.begin(), collectives_.end());
    messages_.append_all(all);
    for (const RequestPtr& request : all) {
        if (request->deadline_ns == 0 || now < request->deadline_ns || request->is_over()) continue;
        const std::string text = late_text(*request, request->timeout_s);
        if (request->call.is_message() && messages_.withdraw(*request)) {
            fail(request, ErrorCode::timeout, text, done);
            continue;
        }
        note_failure(common::FailureNote::Kind::own, text);
        break_up(ErrorCode::timeout, text, done);
        return;
    }
}

void Group::break_up(ErrorCode code, const std::string& text, Done& done) {
    if (!broken_.empty()) return;
    broken_ = text.empty() ? "its operations were aborted." : text;
    broken_code_ = code;
    std::vector<RequestPtr> all(collectives_.begin(), collectives_.end());
    messages_.append_all(all);
    for (const RequestPtr& request : all) fail(request, code, broken_, done);
    collectives_.clear();
    messages_.clear();
    MemberState& state = members_.mine().head().state;
    state.reason[broken_.copy(state.reason, reason_bytes - 1)] = '\0';
    state.code = static_cast<std::int32_t>(code);
    state.stage.store(static_cast<std::uint32_t>(Stage::broken), std::memory_order_release);
    members_.pass_to_all(&state.stage, &state.code, sizeof state.code + reason_bytes);
    members_.ring_all();
    members_.wake_own();
}

void Group::abort(const std::string& reason) {
    Done done;
    {
        std::lock_guard lock(mutex_);
        break_up(ErrorCode::pe_died, reason, done);
    }
    notify(done);
}

void Group::end_with_job() noexcept {
    job_is_over_.store(true, std::memory_order_release);
    Done done;
    {
        std::lock_guard lock(mutex_);
        std::string text = members_.me() + " has finalized its job";
        if (!collectives_.empty())
            text += ", and a collective was not done: " +
                    text_of(*collectives_.front(), members_.membership().group) +
                    ". Wait for requests before finalize";
        break_up(ErrorCode::not_initialized, text + ".", done);
    }
    notify(done);
}

// ---- the group's thread

void Group::call_thread() {
    std::lock_guard lock(thread_mutex_);
    if (!thread_) thread_ = std::make_unique<common::QuietThread>([this] { serve(); });
    if (called_) return;
    called_ = true;
    thread_call_.notify_one();
}

void Group::serve() {
    thread_id_ = std::this_thread::get_id();
    Done done;
    ShownPending shown(*this);
    std::unique_lock lock(thread_mutex_);
    while (!ending_.load()) {
        // The symbol of wait() is newer than the libstdc++ of RHEL 9, which a wheel supports; wait_for is
        // inline.
        const auto is_called = [this] { return called_ || ending_.load(); };
        while (!thread_call_.wait_for(lock, std::chrono::hours(1), is_called)) {
        }
        if (ending_.load()) return;
        lock.unlock();
        timespec grace{0, static_cast<long>(grace_ns)};
        ::nanosleep(&grace, nullptr);
        int idle = 0;
        bool pending = true;
        while (pending && !ending_.load()) {
            if (waiters_.load() > 0) {
                shown.hide();
                idle = few_spins + 1;
                ::nanosleep(&grace, nullptr);
            } else if (advance(done)) {
                idle = 0;
            } else if (++idle <= few_spins) {
                detail::cpu_pause();
            } else {
                check(done);
                notify(done);
                shown.show();
                sleep_on_bell(longest_nap_ns, nullptr);
            }
            notify(done);
            std::lock_guard state(mutex_);
            pending = !is_idle();
            if (!pending) {
                std::lock_guard call(thread_mutex_);
                called_ = false;
            }
        }
        shown.hide();
        lock.lock();
    }
}

}  // namespace atl::requests
