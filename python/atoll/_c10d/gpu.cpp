#include "gpu.hpp"

#include "store.hpp"

#include <algorithm>

namespace atoll_c10d {
namespace {

void throw_if_failed(int result) {
    if (result < 0) throw_failure(result, table->last_error());
}

std::size_t total_of(const atoll_span* spans, std::size_t n) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += spans[i].bytes;
    return total;
}

bool are_equal(const atoll_span* spans, std::size_t n) {
    return std::all_of(spans, spans + n,
                       [&](const atoll_span& span) { return span.bytes == spans[0].bytes; });
}

bool are_adjacent(const atoll_span* spans, std::size_t n) {
    for (std::size_t i = 1; i < n; ++i)
        if (spans[i].data != static_cast<char*>(spans[i - 1].data) + spans[i - 1].bytes) return false;
    return true;
}

at::Tensor bytes_at(const atoll_span& span, c10::Device device) {
    return at::from_blob(span.data, {static_cast<std::int64_t>(span.bytes)},
                         at::TensorOptions().dtype(at::kByte).device(device));
}

}  // namespace

// ---- Line

Line::~Line() {
    try {
        own_.synchronize();
        if (last_) last_->synchronize();
    } catch (const std::exception&) {
        // A kernel was stopped, or the stream is captured or gone. There is nothing left to wait for.
    }
}

c10::Stream Line::begin(bool async) {
    const c10::Stream current = impl_.getStream(device_);
    const c10::Stream stream = async ? own_ : current;
    order_after(stream, current);
    // Work of a captured graph is ordered with other work only by the graph's launches.
    const bool is_captured = is_capturing(stream);
    std::optional<c10::Stream>& last = is_captured ? last_captured_ : last_;
    if (last && *last != stream && (!is_captured || is_capturing(*last))) order_after(stream, *last);
    last = stream;
    return stream;
}

void Line::start(const std::vector<atoll_call>& calls, const c10::Stream& stream) const {
    throw_if_failed(device_table->start(group_.get(), calls.data(), calls.size(), stream.native_handle()));
}

// ---- GpuSide

DeviceGroup GpuSide::join(const std::string& keys, int rank, int size, bool for_messages) const {
    StoreCalls calls(*meeting_.store, meeting_.keys + keys,
                     Milliseconds(static_cast<std::int64_t>(meeting_.timeout_s * 1e3)));
    const atoll_store store = calls.calls();
    const atoll_device_options options{rank, size, device_.index(), for_messages ? 1 : 0, meeting_.timeout_s,
                                       0};
    atoll_device_group* group = device_table->join(&store, &options);
    if (group == nullptr) {
        if (calls.error()) std::rethrow_exception(calls.error());
        throw_last_failure();
    }
    return DeviceGroup(group, [](atoll_device_group* of) { device_table->leave(of); });
}

Line& GpuSide::collectives() {
    if (!all_) all_ = std::make_unique<Line>(join("/gpu/", meeting_.rank, meeting_.size, false), device_);
    return *all_;
}

Line& GpuSide::messages_with(int peer, bool is_send) {
    Pair& pair = pairs_[peer];
    if (!pair.sends) {
        const int first = std::min(peer, meeting_.rank), second = std::max(peer, meeting_.rank);
        const std::string keys = c10::str("/gpu/", first, "-", second, "/");
        const DeviceGroup group = join(keys, meeting_.rank == first ? 0 : 1, 2, true);
        pair.sends = std::make_unique<Line>(group, device_);
        pair.receives = std::make_unique<Line>(group, device_);
    }
    return is_send ? *pair.sends : *pair.receives;
}

/// Runs the last step of an operation, and keeps its tensors until its stream has used them.
WorkPtr GpuSide::finish(Job job, const c10::Stream& stream, bool async, std::uint64_t sequence) const {
    if (job.finish) {
        const OnStream on(stream);
        job.finish();
    }
    if (job.ended) job.ended();
    if (async) {
        for (const at::Tensor& tensor : job.kept) tensor.record_stream(stream);
        for (const at::Tensor& tensor : job.results) tensor.record_stream(stream);
    }
    return c10::make_intrusive<GpuWork>(meeting_.rank, job.type, std::move(job.results), stream, async,
                                        sequence);
}

WorkPtr GpuSide::collective(const atoll_call& call, Job job, bool uneven, bool async,
                            std::uint64_t sequence) {
    const std::lock_guard lock(mutex_);
    Line& line = collectives();
    const c10::Stream stream = line.begin(async);
    run(line, call, stream, uneven);
    return finish(std::move(job), stream, async, sequence);
}

/// Enqueues an operation. The pieces of all members are adjacent in its tensors, as the library requires.
void GpuSide::run(const Line& line, atoll_call call, const c10::Stream& stream, bool uneven) const {
    if (call.kind == ATOLL_ALL_TO_ALL && uneven) return line.start({call}, stream);
    const atoll_span in{call.n_in == 0 ? nullptr : call.in[0].data, total_of(call.in, call.n_in)};
    const atoll_span out{call.n_out == 0 ? nullptr : call.out[0].data, total_of(call.out, call.n_out)};
    if (!are_equal(call.in, call.n_in) || !are_equal(call.out, call.n_out))
        return run_by_member(line, call, stream);
    if (!are_adjacent(call.in, call.n_in) || !are_adjacent(call.out, call.n_out))
        return run_packed(line, call, stream);
    if (call.n_in != 0) call.in = &in;
    if (call.n_out != 0) call.out = &out;
    call.n_in = std::min<std::size_t>(call.n_in, 1);
    call.n_out = std::min<std::size_t>(call.n_out, 1);
    line.start({call}, stream);
}

/// Copies separate pieces to and from contiguous tensors that contain all of them.
void GpuSide::run_packed(const Line& line, atoll_call call, const c10::Stream& stream) const {
    const OnStream on(stream);
    const at::NoGradGuard no_grad;
    const auto options = at::TensorOptions().dtype(at::kByte).device(device_);
    const auto packed = [&](const atoll_span* spans, std::size_t n) {
        return at::empty({static_cast<std::int64_t>(total_of(spans, n))}, options);
    };
    const auto each = [&](const at::Tensor& whole, const atoll_span* spans, std::size_t n, auto&& move) {
        for (std::size_t i = 0; i < n; ++i) {
            const auto bytes = static_cast<std::int64_t>(spans[i].bytes);
            if (bytes != 0)
                move(whole.narrow(0, static_cast<std::int64_t>(i) * bytes, bytes),
                     bytes_at(spans[i], device_));
        }
    };
    const atoll_span *const ins = call.in, *const outs = call.out;
    const std::size_t n_in = call.n_in, n_out = call.n_out;
    const at::Tensor in = packed(ins, n_in), out = packed(outs, n_out);
    each(in, ins, n_in, [](const at::Tensor& part, const at::Tensor& from) { part.copy_(from); });
    const atoll_span in_span{in.data_ptr(), in.nbytes()}, out_span{out.data_ptr(), out.nbytes()};
    call.in = &in_span;
    call.n_in = n_in == 0 ? 0 : 1;
    call.out = &out_span;
    call.n_out = n_out == 0 ? 0 : 1;
    line.start({call}, stream);
    each(out, outs, n_out, [](const at::Tensor& part, at::Tensor to) { to.copy_(part); });
}

/// Gathers pieces of different sizes by a broadcast from each member, and scatters sums by a reduction to
/// each.
void GpuSide::run_by_member(const Line& line, const atoll_call& call, const c10::Stream& stream) const {
    TORCH_CHECK_VALUE(
        call.kind == ATOLL_ALL_GATHER || call.kind == ATOLL_REDUCE_SCATTER,
        "On GPUs gather and scatter take pieces of equal sizes; use all_gather, or send and recv.");
    const bool gathers = call.kind == ATOLL_ALL_GATHER;
    const auto me = static_cast<std::size_t>(meeting_.rank);
    for (std::size_t i = 0; i < static_cast<std::size_t>(meeting_.size); ++i) {
        atoll_call one = call;
        one.kind = gathers ? ATOLL_BROADCAST : ATOLL_REDUCE;
        one.root = static_cast<int>(i);
        one.in = gathers ? call.in : call.in + i;
        one.out = gathers ? call.out + i : call.out;
        one.n_in = gathers && i != me ? 0 : 1;
        one.n_out = !gathers && i != me ? 0 : 1;
        line.start({one}, stream);
    }
}

WorkPtr GpuSide::message(const atoll_call& call, Job job, std::uint64_t sequence) {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK_VALUE(call.root != meeting_.rank,
                      "A rank cannot send to itself, nor receive from itself, on a GPU.");
    Line& line = messages_with(call.root, call.kind == ATOLL_SEND);
    const c10::Stream stream = line.begin(true);
    line.start({call}, stream);
    return finish(std::move(job), stream, true, sequence);
}

void GpuSide::add(const atoll_call& call, Job job) {
    const std::lock_guard lock(mutex_);
    const atoll_span span = call.kind == ATOLL_SEND ? call.in[0] : call.out[0];
    pending_.push_back({call, span, std::move(job)});
}

WorkPtr GpuSide::messages(std::uint64_t sequence) {
    const std::lock_guard lock(mutex_);
    std::vector<Pending> pending = std::exchange(pending_, {});
    Job whole;
    whole.type = OpType::COALESCED;
    std::vector<std::function<void()>> last_steps;
    std::vector<atoll_call> calls;
    for (Pending& one : pending) {
        atoll_call call = one.call;
        (call.kind == ATOLL_SEND ? call.in : call.out) = &one.span;
        calls.push_back(call);
        whole.kept.insert(whole.kept.end(), one.job.kept.begin(), one.job.kept.end());
        whole.results.insert(whole.results.end(), one.job.results.begin(), one.job.results.end());
        if (one.job.finish) last_steps.push_back(std::move(one.job.finish));
    }
    whole.finish = [last_steps] {
        for (const auto& step : last_steps) step();
    };
    Line& line = collectives();
    const c10::Stream stream = line.begin(true);
    line.start(calls, stream);
    return finish(std::move(whole), stream, true, sequence);
}

}  // namespace atoll_c10d
