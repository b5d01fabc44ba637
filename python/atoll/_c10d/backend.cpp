#include "backend.hpp"

#include "store.hpp"
#include "symmetric.hpp"
#include "window.hpp"

#include <unordered_set>

namespace atoll_c10d {

int AtollBackend::root_of(std::int64_t root, const char* operation) const {
    TORCH_CHECK_VALUE(root >= 0 && root < size_, operation, " was given root rank ", root,
                      "; the group has ranks 0 to ", size_ - 1, ".");
    return static_cast<int>(root);
}

void AtollBackend::abort() {
    const std::string reason = c10::str("rank ", name_of(rank_), " aborted the group.");
    is_aborted_.store(true);
    table->abort(group_, reason.c_str());
    for (Order& order : orders_)
        if (atoll_group* const group = order.group.load()) table->abort(group, reason.c_str());
}

/// The group that carries out a collective begun by this thread. The first callback of a depth that begins
/// one joins it, on all ranks.
atoll_group* AtollBackend::group_here(double timeout_s) {
    const auto number = static_cast<std::size_t>(Turn::await(completions_, timeout_s));
    if (number == 0) return group_;
    Order& order = orders_[number];
    if (atoll_group* const group = order.group.load()) return group;
    const WithoutGil released;
    const std::lock_guard lock(order.joining);
    if (atoll_group* const group = order.group.load()) return group;
    StoreCalls calls(*meeting_.store, c10::str(meeting_.keys, "/callbacks/", number, "/"), options_->timeout,
                     true);
    const atoll_store joining = calls.calls();
    atoll_group* const group = table->join(&joining, rank_, size_, names_.data(), label_.c_str());
    if (group == nullptr)
        throw_failure(table->last_failure(),
                      c10::str("A callback of group ", label_, " began an operation that others did not: ",
                               table->last_error(), calls.reason()));
    order.group.store(group);
    if (is_aborted_.load()) table->abort(group, "a rank aborted the group.");
    return group;
}

GpuSide& AtollBackend::gpu(c10::Device device) {
    if (table->n_hosts(group_) > 1)
        C10_THROW_ERROR(NotImplementedError,
                        "Groups of Atoll over several hosts take CPU tensors only. For CUDA tensors make the "
                        "group with another backend for them: init_process_group(\"cpu:atoll,cuda:nccl\").");
    const std::lock_guard lock(gpus_mutex_);
    auto& side = gpus_[device.index()];
    if (!side) side = std::make_unique<GpuSide>(meeting_, device);
    return *side;
}

WorkPtr AtollBackend::go(Buffers& buffers, const atoll_call& call, c10::Device device, bool async,
                         bool uneven) {
    refuse_if_destroyed();
    const std::uint64_t sequence = ++sequence_;
    Job job = profiled(buffers.take_job());
    WorkPtr work = device.is_cuda() ? gpu(device).collective(call, std::move(job), uneven, async, sequence)
                                    : go_on_cpu(std::move(job), call, async, sequence);
    if (async && coalescing_) coalesced_.push_back(work);
    return work;
}

/// Begins the range of an operation that a profiler wants to see.
Job AtollBackend::profiled(Job job) const {
    if (range_of_many)
        job.ended = [range = range_of_many] { range->operation_ended(); };
    else if (job.profiled)
        job.ended = begin_range(shown_, job.type, job.shown);
    job.shown.clear();
    return job;
}

/// Starts an operation, or carries it out if the caller waits anyway.
WorkPtr AtollBackend::go_on_cpu(Job job, const atoll_call& call, bool async, std::uint64_t sequence) {
    const bool is_message = call.kind == ATOLL_SEND || call.kind == ATOLL_RECEIVE;
    atoll_group* const group = is_message ? group_ : group_here(call.timeout_s);
    if (async) return AtollWork::start(group, call, rank_, std::move(job), sequence, completions_);
    const int result = table->run(group, &call, run_signal_handlers);
    if (result < 0) throw_failure(result, table->last_error());
    if (job.finish) job.finish();
    return AtollWork::completed(rank_, std::move(job), sequence, result);
}

void AtollBackend::startCoalescing() {
    coalescing_ = true;
    coalesced_.clear();
}

WorkPtr AtollBackend::endCoalescing() {
    coalescing_ = false;
    std::vector<WorkPtr> works = std::exchange(coalesced_, {});
    {
        const std::lock_guard lock(gpus_mutex_);
        for (const auto& [index, side] : gpus_)
            if (side->has_messages()) works.push_back(side->messages(++sequence_));
    }
    if (works.size() == 1) return works[0];
    return c10::make_intrusive<ManyWork>(rank_, OpType::COALESCED, std::move(works));
}

// ---- memory

std::shared_ptr<c10::Allocator> AtollBackend::getMemAllocator() { return symmetric_allocator(); }

/// A tensor on a GPU is an ordinary one: any memory of PyTorch's allocator is moved without a copy on the
/// host.
at::Tensor AtollBackend::allocateTensor(long size, at::TensorOptions options) {
    if (!options.device().is_cpu()) return at::empty({size}, options);
    return allocate_symmetric(size, options);
}

/// PyTorch passes a number only: -1 for CPUs, or that of a GPU.
bool AtollBackend::supportsTensorAlloc(c10::DeviceIndex device) { return device < 0 || !at::hasCUDA(); }

#ifdef C10D_BACKEND_HAS_WINDOW
/// The symmetric memory of this process, in bytes.
std::unordered_map<std::string, std::uint64_t> AtollBackend::getMemoryStats() {
    std::size_t used = 0, limit = 0;
    if (symmetric_table->usage(&used, &limit) != 0) throw_last_failure();
    return {{"symmetric.used_bytes", used}, {"symmetric.limit_bytes", limit}};
}

c10::intrusive_ptr<c10d::Window> AtollBackend::new_window(const std::optional<at::Tensor>& tensor) {
    refuse_if_destroyed();
    const std::string keys = c10::str(meeting_.keys, "/window/", windows_++);
    auto window = c10::make_intrusive<AtollWindow>(
        Ranks{meeting_.store, keys, rank_, size_, names_, label_, options_->timeout});
    if (tensor.has_value()) window->tensor_register(*tensor, true);
    return window;
}
#endif

// ---- barriers

WorkPtr AtollBackend::barrier(const c10d::BarrierOptions& opts) {
    Buffers buffers(OpType::BARRIER);
    const c10::Device device = opts.device.value_or(c10::Device(c10::kCPU));
    return go(buffers, buffers.call(ATOLL_BARRIER, limit(opts.timeout)), device, opts.asyncOp);
}

int AtollBackend::wait_for_message(int kind, int other, int tag, char* byte, Milliseconds timeout) {
    const atoll_span span{byte, 1};
    atoll_call call{};
    call.kind = kind;
    call.root = other;
    call.tag = tag;
    call.timeout_s = std::max(std::chrono::duration<double>(timeout).count(), 1e-3);
    (kind == ATOLL_SEND ? call.in : call.out) = &span;
    (kind == ATOLL_SEND ? call.n_in : call.n_out) = 1;
    return table->run(group_, &call, run_signal_handlers);
}

std::string AtollBackend::arrival_key(int rank) const { return c10::str(meeting_.keys, "/monitored/", rank); }

/// The ranks that have not come to this monitored barrier by `end`: the first one, or all. The store tells,
/// because a receive that fails makes the group unusable.
std::string AtollBackend::missing_ranks(std::chrono::steady_clock::time_point end, bool all) {
    c10d::Store& store = *meeting_.store;
    const auto is_here = [&](int rank) {
        const std::string key = arrival_key(rank);
        return store.check({key}) && store.get_to_str(key) == std::to_string(monitored_);
    };
    std::string missing;
    for (int other = 1; other < size_; ++other) {
        bool here = is_here(other);
        while (!here && std::chrono::steady_clock::now() < end) {
            if (run_signal_handlers() != 0) throw_failure(ATOLL_INTERRUPTED, "Interrupted while waiting.");
            std::this_thread::sleep_for(Milliseconds(5));
            here = is_here(other);
        }
        if (here) continue;
        missing += (missing.empty() ? "" : ", ") + name_of(other);
        if (!all) break;
    }
    return missing;
}

/// Rank 0 hears from every rank, then answers each. So it can name those that did not come.
void AtollBackend::monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) {
    refuse_if_destroyed();
    // Tags of programs are not negative.
    const int tag = -1 - ++monitored_;
    const Milliseconds timeout = limit(opts.timeout);
    const auto end = std::chrono::steady_clock::now() + timeout;
    const auto left = [&] {
        return std::chrono::duration_cast<Milliseconds>(end - std::chrono::steady_clock::now());
    };
    char byte = 0;
    if (rank_ != 0) {
        meeting_.store->set(arrival_key(rank_), std::to_string(monitored_));
        int result = wait_for_message(ATOLL_SEND, 0, tag, &byte, left());
        if (result >= 0) result = wait_for_message(ATOLL_RECEIVE, 0, tag, &byte, left());
        if (result == ATOLL_INTERRUPTED) throw_failure(result, table->last_error());
        if (result < 0)
            throw_failure(
                result, c10::str("Rank ", name_of(rank_),
                                 " successfully reached monitoredBarrier, but received errors ",
                                 "while waiting for send/recv from rank ", name_of(0),
                                 ". Please check rank 0 logs for faulty rank. (", table->last_error(), ")"));
        return;
    }
    for (const int kind : {ATOLL_RECEIVE, ATOLL_SEND})
        for (int other = 1; other < size_; ++other) {
            const int result = wait_for_message(kind, other, tag, &byte, left());
            if (result >= 0) continue;
            const std::string failure = table->last_error();
            if (result == ATOLL_INTERRUPTED) throw_failure(result, failure);
            const std::string missing = missing_ranks(end, wait_all_ranks);
            if (missing.empty()) throw_failure(result, failure);
            throw_failure(ATOLL_TIMED_OUT,
                          c10::str("[Rank ", name_of(0), "]: ", wait_all_ranks ? "Ranks " : "Rank ", missing,
                                   " failed to pass monitoredBarrier in ", timeout.count(), " ms. Rank ",
                                   name_of(0), " timed out in monitoredBarrier. (", failure, ")"));
        }
}

// ---- one tensor for all

WorkPtr AtollBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
    const char* const operation = "broadcast";
    const at::Tensor& tensor = single(tensors, operation);
    Buffers buffers(OpType::BROADCAST);
    const int root = root_of(opts.rootRank, operation);
    if (root == rank_) {
        buffers.input(tensor);
        buffers.result(tensor);
    } else {
        buffers.output(tensor);
    }
    atoll_call call = buffers.call(ATOLL_BROADCAST, limit(opts.timeout));
    call.root = root;
    return go(buffers, call, tensor.device(), opts.asyncOp);
}

WorkPtr AtollBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
    const char* const operation = "all_reduce";
    if (tensors.size() == 1 && tensors[0].layout() == at::kSparse) return allreduce_sparse(tensors, opts);
    const at::Tensor& tensor = single(tensors, operation);
    return reduce_all(tensor, tensor, opts);
}

WorkPtr AtollBackend::reduce_all(const at::Tensor& from, const at::Tensor& tensor,
                                 const c10d::AllreduceOptions& opts) {
    const at::Tensor source = multiplied(from, opts.reduceOp, "all_reduce");
    Buffers buffers(OpType::ALLREDUCE, true);
    if (source.is_same(tensor)) {
        buffers.both(tensor);
    } else {
        buffers.input(source);
        buffers.output(tensor);
    }
    atoll_call call = buffers.call(ATOLL_ALL_REDUCE, limit(opts.timeout));
    set_op(call, opts.reduceOp, tensor, "all_reduce");
    return go(buffers, call, tensor.device(), opts.asyncOp);
}

/// A tensor may be in the list several times, and is then reduced once. The repeats are reduced from copies,
/// so that the calls do not depend on which tensors a rank repeats.
WorkPtr AtollBackend::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) {
    TORCH_CHECK_VALUE(!tensors.empty(), "all_reduce_coalesced requires a non-empty tensor list.");
    std::unordered_set<const void*> seen;
    Tensors sources;
    for (const at::Tensor& tensor : tensors) {
        check_device(tensor, "all_reduce_coalesced");
        const bool again = tensor.nbytes() != 0 && !seen.insert(tensor.data_ptr()).second;
        sources.push_back(again ? tensor.clone() : tensor);
    }
    return many(OpType::ALLREDUCE_COALESCED, tensors,
                [&](std::size_t i) { return reduce_all(sources[i], tensors[i], opts); });
}

WorkPtr AtollBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
    const char* const operation = "reduce";
    const at::Tensor& tensor = single(tensors, operation);
    const int root = root_of(opts.rootRank, operation);
    const at::Tensor source = multiplied(tensor, opts.reduceOp, operation);
    Buffers buffers(OpType::REDUCE, true);
    if (root != rank_) {
        buffers.input(source);
        buffers.result(tensor);
    } else if (source.is_same(tensor)) {
        buffers.both(tensor);
    } else {
        buffers.input(source);
        buffers.output(tensor);
    }
    atoll_call call = buffers.call(ATOLL_REDUCE, limit(opts.timeout));
    call.root = root;
    set_op(call, opts.reduceOp, tensor, operation);
    return go(buffers, call, tensor.device(), opts.asyncOp);
}

// ---- gathers and scatters

WorkPtr AtollBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                const c10d::AllgatherOptions& opts) {
    const char* const operation = "all_gather";
    const at::Tensor& input = single(inputs, operation);
    TORCH_CHECK_VALUE(outputs.size() == 1 && outputs[0].size() == static_cast<std::size_t>(size_), operation,
                      " takes an output tensor for each of the ", size_, " ranks; it was given ",
                      outputs.size() == 1 ? outputs[0].size() : outputs.size(), ".");
    Buffers buffers(OpType::ALLGATHER);
    buffers.input(input);
    for (const at::Tensor& output : outputs[0]) {
        check_alike(output, input, operation);
        buffers.output(output);
    }
    return go(buffers, buffers.call(ATOLL_ALL_GATHER, limit(opts.timeout)), input.device(), opts.asyncOp);
}

WorkPtr AtollBackend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& opts) {
    TORCH_CHECK_VALUE(outputs.size() == static_cast<std::size_t>(size_),
                      "all_gather_coalesced takes a list for each of the ", size_, " ranks; it was given ",
                      outputs.size(), ".");
    return many(OpType::ALLGATHER_COALESCED, inputs, [&](std::size_t i) {
        std::vector<Tensors> out(1);
        for (const Tensors& of_rank : outputs) {
            TORCH_CHECK_VALUE(of_rank.size() == inputs.size(),
                              "all_gather_coalesced takes equally many outputs of each rank and inputs.");
            out[0].push_back(of_rank[i]);
        }
        Tensors one{inputs[i]};
        return allgather(out, one, opts);
    });
}

WorkPtr AtollBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                      const c10d::AllgatherOptions& opts) {
    const char* const operation = "all_gather_single";
    check_device(input, operation);
    check_alike(output, input, operation);
    TORCH_CHECK_VALUE(output.numel() == input.numel() * size_, operation, ": the output has ", output.numel(),
                      " elements; ", size_, " inputs of ", input.numel(), " make ", input.numel() * size_,
                      ".");
    Buffers buffers(OpType::_ALLGATHER_BASE);
    buffers.input(input);
    buffers.output_pieces(output, std::vector<std::size_t>(static_cast<std::size_t>(size_), input.nbytes()));
    return go(buffers, buffers.call(ATOLL_ALL_GATHER, limit(opts.timeout)), input.device(), opts.asyncOp);
}

WorkPtr AtollBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                      const c10d::AllgatherOptions& opts) {
    TORCH_CHECK_VALUE(outputs.size() == inputs.size(),
                      "all_gather_single_coalesced takes an output for each input.");
    return many(OpType::COALESCED, inputs,
                [&](std::size_t i) { return _allgather_base(outputs[i], inputs[i], opts); });
}

WorkPtr AtollBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                             const c10d::GatherOptions& opts) {
    const char* const operation = "gather";
    const at::Tensor& input = single(inputs, operation);
    const int root = root_of(opts.rootRank, operation);
    Buffers buffers(OpType::GATHER);
    buffers.input(input);
    if (root == rank_) {
        TORCH_CHECK_VALUE(outputs.size() == 1 && outputs[0].size() == static_cast<std::size_t>(size_),
                          operation, " takes an output tensor for each of the ", size_,
                          " ranks on its root.");
        for (const at::Tensor& output : outputs[0]) {
            check_alike(output, input, operation);
            buffers.output(output);
        }
    } else {
        TORCH_CHECK_VALUE(outputs.empty(), operation, " takes outputs on its root only.");
    }
    atoll_call call = buffers.call(ATOLL_GATHER, limit(opts.timeout));
    call.root = root;
    return go(buffers, call, input.device(), opts.asyncOp);
}

WorkPtr AtollBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                              const c10d::ScatterOptions& opts) {
    const char* const operation = "scatter";
    const at::Tensor& output = single(outputs, operation);
    const int root = root_of(opts.rootRank, operation);
    Buffers buffers(OpType::SCATTER);
    if (root == rank_) {
        TORCH_CHECK_VALUE(inputs.size() == 1 && inputs[0].size() == static_cast<std::size_t>(size_),
                          operation, " takes an input tensor for each of the ", size_, " ranks on its root.");
        for (const at::Tensor& input : inputs[0]) {
            check_alike(input, output, operation);
            TORCH_CHECK_VALUE(input.numel() == output.numel(), operation,
                              " takes inputs of the output's size, ", output.numel(), " elements; one has ",
                              input.numel(), ".");
            buffers.input(input);
        }
    } else {
        TORCH_CHECK_VALUE(inputs.empty(), operation, " takes inputs on its root only.");
    }
    buffers.output(output);
    atoll_call call = buffers.call(ATOLL_SCATTER, limit(opts.timeout));
    call.root = root;
    return go(buffers, call, output.device(), opts.asyncOp);
}

WorkPtr AtollBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                     const c10d::ReduceScatterOptions& opts) {
    const char* const operation = "reduce_scatter";
    const at::Tensor& output = single(outputs, operation);
    TORCH_CHECK_VALUE(inputs.size() == 1 && inputs[0].size() == static_cast<std::size_t>(size_), operation,
                      " takes an input tensor for each of the ", size_, " ranks.");
    Buffers buffers(OpType::REDUCE_SCATTER, true);
    for (const at::Tensor& input : inputs[0]) {
        check_alike(input, output, operation);
        buffers.input(multiplied(input, opts.reduceOp, operation));
    }
    buffers.output(output);
    atoll_call call = buffers.call(ATOLL_REDUCE_SCATTER, limit(opts.timeout));
    set_op(call, opts.reduceOp, output, operation);
    return go(buffers, call, output.device(), opts.asyncOp);
}

WorkPtr AtollBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                           const c10d::ReduceScatterOptions& opts) {
    const char* const operation = "reduce_scatter_single";
    check_device(input, operation);
    check_alike(output, input, operation);
    TORCH_CHECK_VALUE(input.numel() == output.numel() * size_, operation, ": the input has ", input.numel(),
                      " elements; ", size_, " outputs of ", output.numel(), " make ", output.numel() * size_,
                      ".");
    Buffers buffers(OpType::_REDUCE_SCATTER_BASE, true);
    buffers.input_pieces(multiplied(input, opts.reduceOp, operation), static_cast<std::size_t>(size_));
    buffers.output(output);
    atoll_call call = buffers.call(ATOLL_REDUCE_SCATTER, limit(opts.timeout));
    set_op(call, opts.reduceOp, output, operation);
    return go(buffers, call, output.device(), opts.asyncOp);
}

WorkPtr AtollBackend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                      const c10d::ReduceScatterOptions& opts) {
    TORCH_CHECK_VALUE(outputs.size() == inputs.size(),
                      "reduce_scatter_single_coalesced takes an output for each input.");
    return many(OpType::COALESCED, inputs,
                [&](std::size_t i) { return _reduce_scatter_base(outputs[i], inputs[i], opts); });
}

WorkPtr AtollBackend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) {
    const char* const operation = "all_to_all";
    const auto n = static_cast<std::size_t>(size_);
    TORCH_CHECK_VALUE(inputs.size() == n && outputs.size() == n, operation, " takes ", n,
                      " input and output tensors, one for each rank; it was given ", inputs.size(), " and ",
                      outputs.size(), ".");
    Buffers buffers(OpType::ALLTOALL);
    for (const at::Tensor& input : inputs) {
        check_alike(input, inputs[0], operation);
        buffers.input(input);
    }
    for (const at::Tensor& output : outputs) {
        check_alike(output, inputs[0], operation);
        buffers.output(output);
    }
    return go(buffers, buffers.call(ATOLL_ALL_TO_ALL, limit(opts.timeout)), inputs[0].device(), opts.asyncOp,
              true);
}

WorkPtr AtollBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                    std::vector<std::int64_t>& output_splits,
                                    std::vector<std::int64_t>& input_splits,
                                    const c10d::AllToAllOptions& opts) {
    const char* const operation = "all_to_all_single";
    check_device(input, operation);
    check_alike(output, input, operation);
    TORCH_CHECK_VALUE(input.is_contiguous() && output.is_contiguous(), operation,
                      ": Tensors must be contiguous, as with gloo and NCCL.");
    Buffers buffers(OpType::ALLTOALL_BASE);
    buffers.input_pieces(input, split_bytes(input, input_splits, size_, operation, "input"));
    buffers.output_pieces(output, split_bytes(output, output_splits, size_, operation, "output"));
    return go(buffers, buffers.call(ATOLL_ALL_TO_ALL, limit(opts.timeout)), input.device(), opts.asyncOp,
              !input_splits.empty() || !output_splits.empty());
}

// ---- messages

WorkPtr AtollBackend::message(Buffers& buffers, int kind, const at::Tensor& tensor, int other, int tag) {
    TORCH_CHECK_VALUE(tag >= 0, kind == ATOLL_SEND ? "send" : "recv", " was given the tag ", tag,
                      "; tags are 0 or more.");
    atoll_call call = buffers.call(kind, options_->timeout);
    call.root = other;
    call.tag = tag;
    if (tensor.device().is_cpu()) return go(buffers, call, tensor.device(), true);
    refuse_if_destroyed();
    GpuSide& side = gpu(tensor.device());
    Job job = profiled(buffers.take_job());
    if (!coalescing_) return side.message(call, std::move(job), ++sequence_);
    side.add(call, std::move(job));
    return c10::make_intrusive<ManyWork>(rank_, OpType::COALESCED, std::vector<WorkPtr>{});
}

WorkPtr AtollBackend::send(Tensors& tensors, int to, int tag) {
    const at::Tensor& tensor = single(tensors, "send");
    Buffers buffers(OpType::SEND);
    buffers.input(tensor);
    return message(buffers, ATOLL_SEND, tensor, to, tag);
}

WorkPtr AtollBackend::recv(Tensors& tensors, int from, int tag) {
    const at::Tensor& tensor = single(tensors, "recv");
    TORCH_CHECK_VALUE(from != ATOLL_ANY_SOURCE, "recv was given the source ", from, ".");
    Buffers buffers(OpType::RECV);
    buffers.output(tensor);
    return message(buffers, ATOLL_RECEIVE, tensor, from, tag);
}

WorkPtr AtollBackend::recvAnysource(Tensors& tensors, int tag) {
    const at::Tensor& tensor = single(tensors, "recv");
    if (tensor.device().is_cuda())
        C10_THROW_ERROR(NotImplementedError,
                        "recv from any rank is for CPU tensors, as with NCCL; name the source.");
    Buffers buffers(OpType::RECVANYSOURCE);
    buffers.output(tensor);
    return message(buffers, ATOLL_RECEIVE, tensor, ATOLL_ANY_SOURCE, tag);
}

// ---- sparse tensors

/// The tensor of each rank, which has `rows[rank]` rows.
Tensors AtollBackend::gather_all(const at::Tensor& tensor, const std::vector<std::int64_t>& rows,
                                 Milliseconds timeout) {
    std::vector<Tensors> outputs(1);
    for (const std::int64_t n : rows) {
        auto sizes = tensor.sizes().vec();
        sizes[0] = n;
        outputs[0].push_back(at::empty(sizes, tensor.options()));
    }
    Tensors input{tensor};
    c10d::AllgatherOptions opts;
    opts.timeout = timeout;
    opts.asyncOp = false;
    allgather(outputs, input, opts);
    return outputs[0];
}

WorkPtr AtollBackend::sum_sparse(at::Tensor& tensor, const c10d::AllreduceOptions& opts) {
    const at::Tensor mine = tensor.coalesce();
    const at::Tensor counts = at::full({1}, mine._nnz(), at::kLong);
    std::vector<std::int64_t> rows;
    for (const at::Tensor& count :
         gather_all(counts, std::vector<std::int64_t>(std::size_t(size_), 1), opts.timeout))
        rows.push_back(count.item<std::int64_t>());
    // Transposed, so that each element's indices are one row: gather_all gathers rows.
    const Tensors indices = gather_all(mine.indices().t().contiguous(), rows, opts.timeout);
    const Tensors values = gather_all(mine.values().contiguous(), rows, opts.timeout);
    const at::Tensor all =
        at::sparse_coo_tensor(at::cat(indices).t(), at::cat(values), tensor.sizes(), tensor.options());
    tensor.copy_(all.coalesce());
    Job job;
    job.type = OpType::_ALLREDUCE_SPARSE;
    job.results = {tensor};
    return AtollWork::completed(rank_, std::move(job), ++sequence_, 0);
}

WorkPtr AtollBackend::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) {
    TORCH_CHECK_VALUE(
        tensors.size() == 1 && tensors[0].layout() == at::kSparse && tensors[0].device().is_cpu(),
        "A sparse all_reduce takes one sparse CPU tensor (COO) a rank.");
    TORCH_CHECK_VALUE(opts.reduceOp == c10d::ReduceOp::SUM,
                      "A sparse all_reduce takes the operator SUM only.");
    const at::NoGradGuard no_grad;
    return sum_sparse(tensors[0], opts);
}

}  // namespace atoll_c10d
