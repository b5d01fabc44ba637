#include "gpu/cuda/kernels.hpp"

#include "atoll/error.hpp"
#include "gpu/staged_rounds.hpp"

#include <algorithm>
#include <cstring>

namespace atl::cuda {

namespace {

using gpu::Group;
using gpu::GroupCall;
using gpu::GroupMemory;
using gpu::StagedRounds;

/// Blocks have 256 threads if a PE's part has at least this many bytes, else 512. The times are in
/// docs/measurements/2026-11-24-constants.md, all-reduce. With 256, the grids of two teams are resident
/// together on a GPU with 132 multiprocessors. Neither then waits for the other to end.
constexpr std::uint64_t fewer_threads_from_bytes = std::uint64_t{512} << 10;
constexpr unsigned most_threads = 512;

using Grid = Kernels::Grid;

unsigned blocks_for(std::uint64_t items, unsigned threads, unsigned most) {
    const std::uint64_t blocks = (items + threads - 1) / threads;
    return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, most));
}

/// Kernels that a newer major version of CUDA compiled do not load.
void check_driver(const Driver& driver) {
    int version = 0;
    driver.check(driver.driver_version(&version), "tell its version");
    if (version / 1000 >= CUDA_VERSION / 1000) return;
    throw Error(ErrorCode::unsupported,
                "The driver of the GPU is of CUDA " + version_text(version) +
                    ", but Atoll's kernels were compiled by CUDA " + version_text(CUDA_VERSION) +
                    ". Install a newer driver (nvidia-smi shows it), or build Atoll with that CUDA.");
}

bool folds(Group kind) {
    return kind == Group::reduce || kind == Group::reduce_scatter || kind == Group::reduce_part ||
           is_ranged(kind);
}
/// True for sums of the types that GPU programs add most.
bool is_common(const GroupCall& call) {
    const bool is_common_type = call.type == DType::float32 || call.type == DType::float64 ||
                                call.type == DType::float16 || call.type == DType::bfloat16;
    return call.op == ReduceOp::sum && is_common_type;
}
bool scales(const GroupCall& call) {
    return folds(call.kind) && (call.scale != 1 || call.op == ReduceOp::avg);
}

}  // namespace

Kernels::Kernels(const Driver& driver, CUdevice device) : driver_(driver) {
    check_driver(driver);
    for (unsigned i = 0; i < embedded_kernel_files; ++i) {
        CUmodule module = nullptr;
        driver.check(driver.load_module(&module, embedded_kernels[i].fatbin),
                     "load Atoll's kernels (they are compiled for the GPUs in ATOLL_CUDA_ARCHITECTURES)");
        modules_.push_back(module);
    }
    if (modules_.empty()) return;
    Functions& f = functions_;
    load("points", f.copy, "atoll_copy");
    load("points", f.strided, "atoll_strided");
    load("points", f.word, "atoll_word");
    load("points", f.clock, "atoll_clock");
    load("points", f.wait, "atoll_wait");
    load("points", f.far, "atoll_far");
    load("elements", f.elements, "atoll_elements");
    load("waits", f.wait_many, "atoll_wait_many");
    load("groups", f.sync, "atoll_sync");
    load("groups", f.exchange, "atoll_exchange");
    load("groups", f.pull, "atoll_pull");
    load("groups", f.fold, "atoll_fold");
    load("groups", f.exchange_scaled, "atoll_exchange_scaled");
    load("groups", f.fold_scaled, "atoll_fold_scaled");
    load("ranged", f.exchange_ranged, "atoll_exchange_ranged");
    load("ranged", f.fold_ranged, "atoll_fold_ranged");
    load("collect", f.collect, "atoll_collect");
    load("staged", f.staged, "atoll_staged");
    load("staged", f.staged_fold, "atoll_staged_fold");
    load("staged", f.staged_sum, "atoll_staged_sum");
    load("staged", f.staged_sum_scaled, "atoll_staged_sum_scaled");
    load("messages", f.messages, "atoll_messages");
    load("mailbox", f.mailbox, "atoll_mailbox");
    count_resident_blocks(device);
}

Kernels::~Kernels() {
    for (CUmodule module : modules_) driver_.unload_module(module);
}

void Kernels::count_resident_blocks(CUdevice device) {
    int multiprocessors = 0;
    driver_.check(
        driver_.device_attribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
        "say how many multiprocessors it has");
    const auto of = [&](CUfunction function, unsigned threads) {
        int each = 0;
        driver_.check(driver_.resident_blocks(&each, function, static_cast<int>(threads), 0),
                      "say how many blocks a multiprocessor holds");
        return static_cast<unsigned>(each * multiprocessors);
    };
    resident_blocks_ = std::min(
        {of(functions_.pull, most_threads), of(functions_.fold, most_threads),
         of(functions_.fold_scaled, most_threads), of(functions_.fold_ranged, most_threads),
         of(functions_.collect, most_threads), of(functions_.messages, most_threads),
         of(functions_.staged, StagedRounds::threads), of(functions_.staged_fold, StagedRounds::threads),
         of(functions_.staged_sum, StagedRounds::threads),
         of(functions_.staged_sum_scaled, StagedRounds::threads)});
}

/// The grid of a large collective. It must be the same on all PEs, because their blocks wait for each other.
/// So it depends only on arguments and limits that are equal on all PEs.
Kernels::Grid Kernels::large_grid(const GroupCall& call) const {
    const bool shared_out =
        call.kind != Group::reduce_scatter && (folds(call.kind) || call.kind == Group::broadcast);
    const std::uint64_t bytes = shared_out ? call.bytes / static_cast<unsigned>(call.team.n_pes) : call.bytes;
    const unsigned threads = bytes > fewer_threads_from_bytes ? 256 : most_threads;
    const unsigned most = std::min(most_blocks_, GroupMemory::most_blocks);
    return {blocks_for(bytes / GroupMemory::unit_bytes, threads, most), threads};
}

/// Loads one kernel at once; by default CUDA would load it at the first launch.
void Kernels::load(const char* source, CUfunction& function, const char* name) const {
    unsigned i = 0;
    while (i < modules_.size() && std::strcmp(embedded_kernels[i].source, source) != 0) ++i;
    if (i == modules_.size())
        throw Error(ErrorCode::system,
                    std::string("libatoll_cuda.so has no kernels of ") + source + ".cu; build it again.");
    driver_.check(driver_.get_function(&function, modules_[i], name), std::string("find ") + name);
    int registers = 0;
    driver_.check(driver_.load_function
                      ? driver_.load_function(function)
                      : driver_.function_attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
                  std::string("load ") + name);
}

void Kernels::fail(CUresult result) const {
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT)
        throw Error(ErrorCode::invalid_argument,
                    "The stream was destroyed, or is not of this PE's GPU (Job::device_heap_use().number); "
                    "make it with that GPU current.");
    driver_.fail(result, "start one of Atoll's kernels on the stream");
}

template <class Call>
void Kernels::launch_on(CUfunction function, Grid grid, const Call& call, CUstream stream) const {
    if (!function)
        throw Error(ErrorCode::unsupported,
                    "This build of libatoll_cuda.so has no kernels, which atomics, signals, waits, strided "
                    "copies and collectives on GPUs need; build Atoll where nvcc is.");
    void* arguments[] = {const_cast<Call*>(&call)};
    const CUresult result =
        driver_.launch(function, grid.blocks, 1, 1, grid.threads, 1, 1, 0, stream, arguments, nullptr);
    if (result != CUDA_SUCCESS) [[unlikely]]
        fail(result);
}

void Kernels::launch(const gpu::CopyCall& call, CUstream stream) const {
    const std::uint64_t units = call.bytes / GroupMemory::unit_bytes + 1;
    const Grid grid = call.signal ? Grid{1, units <= 32 ? 32u : 1024u}
                                  : Grid{blocks_for(units, 256, 64), units <= 32 ? 32u : 256u};
    launch_on(functions_.copy, grid, call, stream);
}

void Kernels::launch(const gpu::StridedCall& call, CUstream stream) const {
    const std::uint64_t elements =
        call.count * std::max<std::uint64_t>(call.block_bytes / GroupMemory::unit_bytes, 1);
    launch_on(functions_.strided, {blocks_for(elements, 256, 64), 256}, call, stream);
}

void Kernels::launch(const gpu::WordCall& call, CUstream stream) const {
    launch_on(functions_.word, {1, 1}, call, stream);
}

void Kernels::launch(const gpu::ClockCall& call, CUstream stream) const {
    launch_on(functions_.clock, {1, 1}, call, stream);
}

void Kernels::launch(const gpu::WaitCall& call, CUstream stream) const {
    launch_on(functions_.wait, {1, 1}, call, stream);
}

void Kernels::launch(const gpu::WaitManyCall& call, CUstream stream) const {
    launch_on(functions_.wait_many, {1, 32}, call, stream);
}

void Kernels::launch(const gpu::FarCall& call, CUstream stream) const {
    launch_on(functions_.far, {1, 1}, call, stream);
}

/// If a thread of the host carries out some elements, the grid is small: it leaves room for the kernels of
/// other PEs' requests.
void Kernels::launch(const gpu::ElementsCall& call, CUstream stream) const {
    launch_on(functions_.elements, {blocks_for(call.count, 256, call.has_far ? 32 : 1024), 256}, call,
              stream);
}

void Kernels::launch(const GroupCall& call, CUstream stream) const {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    if (call.kind == Group::sync) {
        launch_on(functions_.sync, {1, 32}, call, stream);
        return;
    }
    const std::uint64_t units = (call.bytes + GroupMemory::unit_bytes - 1) / GroupMemory::unit_bytes;
    const unsigned blocks = blocks_for(units, GroupMemory::exchange_threads, memory.exchange_blocks());
    const Functions& f = functions_;
    // At most 64 small blocks. The core decides by the same limit, on every GPU.
    if (call.bytes <= memory.exchange_limit_bytes()) {
        const CUfunction exchange = is_ranged(call.kind) ? f.exchange_ranged
                                    : scales(call)       ? f.exchange_scaled
                                                         : f.exchange;
        launch_on(exchange, {blocks, GroupMemory::exchange_threads}, call, stream);
    } else {
        const CUfunction fold = is_ranged(call.kind) ? f.fold_ranged : scales(call) ? f.fold_scaled : f.fold;
        launch_on(folds(call.kind) ? fold : f.pull, large_grid(call), call, stream);
    }
}

/// All PEs use the same grid, because none knows the sizes of the others.
void Kernels::launch(const gpu::CollectCall& call, CUstream stream) const {
    launch_on(functions_.collect, {std::min(most_blocks_, GroupMemory::collect_blocks), most_threads}, call,
              stream);
}

/// The grid, and with it the division of the stage, depends only on what is equal on all PEs.
void Kernels::launch(const gpu::StagedCall& call, CUstream stream) const {
    const std::uint64_t units = StagedRounds::longest(call.group) / GroupMemory::unit_bytes + 1;
    const unsigned most = std::min(most_blocks_, StagedRounds::most_blocks);
    const Functions& f = functions_;
    const CUfunction fold = scales(call.group)      ? f.staged_sum_scaled
                            : is_common(call.group) ? f.staged_sum
                                                    : f.staged_fold;
    launch_on(folds(call.group.kind) ? fold : f.staged,
              {blocks_for(units, StagedRounds::threads, most), StagedRounds::threads}, call, stream);
}

void Kernels::launch(const gpu::MessagesCall& call, CUstream stream) const {
    std::uint64_t most = 0;
    for (int i = 0; i < call.count; ++i) most = std::max(most, call.messages[i].bytes);
    const auto count = static_cast<unsigned>(call.count);
    const unsigned all = std::min(most_blocks_, GroupMemory::most_blocks);
    // More messages than blocks of 512 threads: as many smaller blocks.
    const unsigned threads = most < 4096 || count > all ? 64u : most_threads;
    const unsigned blocks = blocks_for(most / GroupMemory::unit_bytes, threads, std::max(1u, all / count));
    launch_on(functions_.messages, {count * blocks, threads}, call, stream);
}

/// One block, since a message has one sender and one receiver. One thread for each 8 bytes, up to the largest
/// block.
void Kernels::launch(const gpu::MailboxCall& call, CUstream stream) const {
    const unsigned warps = blocks_for((call.bytes + 7) / 8, 32, 32);
    launch_on(functions_.mailbox, {1, warps * 32}, call, stream);
}

}  // namespace atl::cuda
