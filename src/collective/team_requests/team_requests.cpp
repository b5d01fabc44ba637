// Requests: from arguments to the calls of a group.
#include "atoll/requests.hpp"

#include "atoll/detail/measured.hpp"

#include "collective/arguments.hpp"
#include "collective/requests/request_wait.hpp"
#include "collective/team_requests/team_group.hpp"
#include "common/clock.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace atl {

using collective::check_size;
using collective::times;
using requests::Call;
using requests::Kind;
using requests::RequestPtr;
using requests::Span;
using requests::Status;

namespace {

constexpr double slice_s = 0.05;  ///< interval of the checks for Ctrl-C

Span span_of(const void* data, std::size_t bytes) {
    return {static_cast<char*>(const_cast<void*>(data)), bytes};
}

/// `n` equal pieces.
std::vector<Span> pieces_of(const void* data, std::size_t bytes, int n) {
    std::vector<Span> pieces;
    for (int i = 0; i < n; ++i)
        pieces.push_back(
            span_of(static_cast<const char*>(data) + bytes * static_cast<std::size_t>(i), bytes));
    return pieces;
}

/// Bytes that this member contributes; if it contributes none, bytes that it receives.
std::size_t bytes_of(const Call& call) {
    std::size_t bytes = 0;
    for (const Span& span : call.in.empty() ? call.out : call.in) bytes += span.bytes;
    return bytes;
}

}  // namespace

struct Requests::State {
    explicit State(const Team& of)
        : team(of), group(requests::TeamGroup::of(of.state())), polls(of.state(), *group) {}

    int me() const { return team.my_pe(); }
    int n() const { return team.n_pes(); }
    void start(Call call) {
        check_job(call.kind);
        for (const Span& span : call.in) check_given(call.kind, "src", span);
        for (const Span& span : call.out) check_given(call.kind, "dst", span);
        team.state().check_alive();
        const core::TeamState& of = team.state();
        const detail::Measured measured =
            measure(detail::Measured::Kind::call, team_name_of(call.kind), bytes_of(call));
        if (of.job().compares_dtypes()) call.elements = of.elements;
        latest =
            group->start_at(common::CallSite::here(), std::move(call), of.job().settings().wait_timeout_s);
        started.push_back(latest);
    }
    void fold(Kind kind, DType type, ReduceOp op, int root, std::vector<Span> in, std::vector<Span> out) {
        start({.kind = kind,
               .root = root,
               .type = static_cast<int>(type),
               .op = op,
               .in = std::move(in),
               .out = std::move(out)});
    }
    void check_job(Kind kind) const {
        if (group->is_job_over()) [[unlikely]]
            throw Error(ErrorCode::not_initialized, "The job of this team has been finalized; it starts no " +
                                                        std::string(team_name_of(kind)) + ".");
    }
    void check_given(Kind kind, const char* argument, const Span& span) const {
        check_job(kind);
        collective::check_given(team.state().job(), name_of(kind), argument, span.data, span.bytes);
    }
    void check_root(int root) const { collective::check_root(n(), root); }
    /// Drops what is done. Throws the error of what failed.
    void sweep() {
        RequestPtr failed;
        std::erase_if(started, [&](const RequestPtr& request) {
            if (!request->is_over()) return false;
            if (!failed && request->status.load() == Status::failed) failed = request;
            if (request->began_ticks != 0 && !group->is_job_over()) write(*request);
            return true;
        });
        if (failed) requests::Group::rethrow(*failed);
    }

    detail::Measured measure(detail::Measured::Kind kind, const char* operation,
                             std::size_t bytes = 0) const {
        core::JobState& job = team.state().job();
        return {job, job.window().counts, kind, operation, bytes};
    }
    /// Adds a finished collective to the PE's log.
    void write(const requests::Request& request) const {
        common::EventLog& log = *team.state().job().recorder->log;
        common::LoggedEvent event;
        event.kind = common::EventKind::request;
        event.state =
            request.status.load() == Status::failed ? common::EventState::failed : common::EventState::ended;
        event.operation = common::operation_number(team_name_of(request.call.kind));
        event.team = team.state().meetings().recorded.team();
        event.call = request.number + 1;
        event.bytes = bytes_of(request.call);
        event.site = log.number_of_site(request.site.text);
        event.began = request.began_ticks;
        event.ended = request.ended_ticks;
        log.add(event);
    }

    Team team;
    std::shared_ptr<requests::Group> group;
    std::vector<RequestPtr> started;
    RequestPtr latest;  ///< the last one that was started; null: none
    requests::Polls polls;
};

Requests::Requests(const Team& team) : state_(std::make_unique<State>(team)) {}
Requests::Requests(Requests&&) noexcept = default;
Requests& Requests::operator=(Requests&&) noexcept = default;

Requests::~Requests() {
    if (!state_) return;
    for (const RequestPtr& request : state_->started) {
        if (state_->group->test(request)) continue;
        const requests::Members& members = state_->group->members();
        state_->group->abort(members.me() + " destroyed its requests before " +
                             request->call.text(request->bytes) + " was done.");
        return;
    }
}

bool Requests::test() {
    for (const RequestPtr& request : state_->started) state_->group->test(request);
    state_->sweep();
    if (!state_->started.empty()) {
        state_->polls.count(state_->started.front());
        return false;
    }
    state_->polls.stop();
    return true;
}

void Requests::wait(double timeout_s) {
    if (state_->group->is_job_over()) {
        test();  // all have ended
        return;
    }
    const detail::Measured measured =
        state_->measure(detail::Measured::Kind::wait, requests::operation_of(false));
    if (test()) return;
    state_->polls.stop();
    requests::RequestWait shown(state_->team.state(), *state_->group, false);
    constexpr double no_limit_s = 1e9;  // limits are those of this loop and of the group
    detail::SlowWait slow(state_->team.state().job(), shown.reason(), no_limit_s);
    const std::uint64_t begin = common::now_ns();
    while (!state_->started.empty()) {
        const RequestPtr request = state_->started.front();
        const double waited_s = static_cast<double>(common::now_ns() - begin) * 1e-9;
        if (timeout_s > 0 && waited_s >= timeout_s) state_->group->throw_late(*request, timeout_s);
        const double rest_s = timeout_s > 0 ? timeout_s - waited_s : slice_s;
        const bool over = state_->group->wait(request, std::min(rest_s, slice_s));
        if (over) {
            state_->sweep();
            continue;
        }
        shown.set(request);
        if (slow.show())
            throw Error(ErrorCode::interrupted,
                        "Interrupted while waiting for " + request->call.text(request->bytes) + ".");
    }
}

std::string Requests::latest() const {
    const RequestPtr& latest = state_->latest;
    return latest ? requests::text_of(*latest, state_->group->members().membership().group) : std::string();
}

void Requests::sync() const { state_->start({.kind = Kind::barrier}); }

void Requests::broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                               int root) const {
    state_->check_root(root);
    Call call{.kind = Kind::broadcast, .root = root};
    if (state_->me() == root) {
        check_size("broadcast", "src", src_bytes, dst_bytes);
        call.in = {span_of(src, src_bytes)};
        state_->check_given(Kind::broadcast, "src", call.in[0]);
        state_->check_given(Kind::broadcast, "dst", span_of(dst, dst_bytes));
        if (dst_bytes != 0 && dst != src) std::memmove(dst, src, dst_bytes);
    } else {
        call.out = {span_of(dst, dst_bytes)};
    }
    state_->start(std::move(call));
}

void Requests::fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src,
                              std::size_t src_bytes) const {
    check_size("fcollect", "dst", dst_bytes, times(src_bytes, state_->n()));
    state_->start({.kind = Kind::all_gather,
                   .in = {span_of(src, src_bytes)},
                   .out = pieces_of(dst, src_bytes, state_->n())});
}

void Requests::alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src,
                              std::size_t src_bytes) const {
    check_size("alltoall", "dst", dst_bytes, src_bytes);
    const std::size_t block = src_bytes / static_cast<std::size_t>(state_->n());
    check_size("alltoall", "src", src_bytes, times(block, state_->n()));
    state_->start({.kind = Kind::all_to_all,
                   .in = pieces_of(src, block, state_->n()),
                   .out = pieces_of(dst, block, state_->n()),
                   .equal_pieces = true});
}

void Requests::gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                            int root) const {
    state_->check_root(root);
    Call call{.kind = Kind::gather, .root = root, .in = {span_of(src, src_bytes)}};
    if (state_->me() == root) {
        check_size("gather", "dst", dst_bytes, times(src_bytes, state_->n()));
        call.out = pieces_of(dst, src_bytes, state_->n());
    }
    state_->start(std::move(call));
}

void Requests::scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                             int root) const {
    state_->check_root(root);
    Call call{.kind = Kind::scatter, .root = root, .out = {span_of(dst, dst_bytes)}};
    if (state_->me() == root) {
        check_size("scatter", "src", src_bytes, times(dst_bytes, state_->n()));
        call.in = pieces_of(src, dst_bytes, state_->n());
    }
    state_->start(std::move(call));
}

void Requests::reduce_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                             DType type, ReduceOp op) const {
    check_size("reduce", "dst", dst_count, src_count, "elements");
    const std::size_t bytes = src_count * size_of(type);
    state_->fold(Kind::all_reduce, type, op, 0, {span_of(src, bytes)}, {span_of(dst, bytes)});
}

void Requests::reduce_to_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                                DType type, ReduceOp op, int root) const {
    state_->check_root(root);
    const std::size_t bytes = src_count * size_of(type);
    std::vector<Span> out;
    if (state_->me() == root) {
        check_size("reduce_to", "dst", dst_count, src_count, "elements");
        out.push_back(span_of(dst, bytes));
    }
    state_->fold(Kind::reduce, type, op, root, {span_of(src, bytes)}, std::move(out));
}

void Requests::reduce_scatter_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                                     DType type, ReduceOp op) const {
    check_size("reduce_scatter", "src", src_count, times(dst_count, state_->n()), "elements");
    const std::size_t bytes = dst_count * size_of(type);
    state_->fold(Kind::reduce_scatter, type, op, 0, pieces_of(src, bytes, state_->n()),
                 {span_of(dst, bytes)});
}

}  // namespace atl
