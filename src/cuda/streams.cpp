// What the device heap does in the order of a stream: who moves bytes, copy engines or kernels.
#include "atoll/error.hpp"
#include "common/text.hpp"
#include "cuda/heap.hpp"

namespace atl::cuda {

namespace {

/// Below, a kernel is sooner done than a copy engine (1.8 us at 256 KiB against 2.8, 13.3 at 4 MiB
/// against 13.6 on two H200); above, engines reach what the link gives (394 GB/s against 315).
constexpr std::uint64_t engine_from_bytes = std::uint64_t{4} << 20;

}  // namespace

bool Heap::in_window(const void* address) const noexcept {
    return reinterpret_cast<CUdeviceptr>(address) - window_ <
           stride_bytes * static_cast<std::size_t>(n_slots_);
}

/// Ordinary host memory would stop the host, or the kernel.
void Heap::check_local(const void* address) const {
    if (in_window(address)) return;
    CUmemorytype type{};
    const CUresult result = driver_.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                      reinterpret_cast<CUdeviceptr>(address));
    if (result != CUDA_SUCCESS)
        throw Error(
            ErrorCode::invalid_argument,
            "Operations on a stream need local memory that the GPU reaches by itself: the device heap, "
            "cudaMalloc, or pinned host memory (cudaMallocHost); " +
                common::address_text(address) + " is none of them.");
}

void Heap::check_stream(heap::StreamHandle stream) const {
    if (stream && stream == known_stream_.load(std::memory_order_relaxed)) return;
    std::optional<PrimaryContext::Current> current;
    if (!stream) current.emplace(context_);  // the legacy stream is the current context's
    CUcontext context = nullptr;
    const CUresult result = driver_.stream_context(static_cast<CUstream>(stream), &context);
    if (result != CUDA_SUCCESS || context_.get() != context)
        throw Error(ErrorCode::invalid_argument,
                    "The stream is not of GPU " + std::to_string(device_) + " (" + facts_.name +
                        "), which this PE's device heap is on" +
                        (result == CUDA_SUCCESS ? "" : ": " + driver_.text(result)) +
                        "; make it with that GPU current (cudaSetDevice).");
    known_stream_.store(stream, std::memory_order_relaxed);
}

void Heap::copy_on(const heap::CopyCall& call, CUstream stream) {
    check_local(call.dst);
    check_local(call.src);
    if (call.bytes < engine_from_bytes || call.bytes == 0) return kernels_->launch(call, stream);
    driver_.check(driver_.copy(reinterpret_cast<CUdeviceptr>(call.dst),
                               reinterpret_cast<CUdeviceptr>(call.src), call.bytes, stream),
                  "copy " + common::bytes_text(call.bytes) + " on the stream");
    if (!call.signal) return;
    heap::CopyCall signal = call;
    signal.bytes = 0;
    kernels_->launch(signal, stream);
}

void Heap::start(const heap::DeviceCall& call, heap::StreamHandle stream) {
    const PrimaryContext::Current current(context_);
    const auto on = static_cast<CUstream>(stream);
    if (const auto* copy = std::get_if<heap::CopyCall>(&call)) return copy_on(*copy, on);
    if (const auto* strided = std::get_if<heap::StridedCall>(&call)) {
        check_local(strided->dst);
        check_local(strided->src);
    } else if (const auto* word = std::get_if<heap::WordCall>(&call); word && word->result) {
        check_local(word->result);
    }
    std::visit(
        [&](const auto& which) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(which)>, heap::CopyCall>)
                kernels_->launch(which, on);
        },
        call);
}

void Heap::finish(heap::StreamHandle stream) {
    const PrimaryContext::Current current(context_);
    driver_.check(driver_.synchronize(static_cast<CUstream>(stream)), "finish what was begun on its stream");
}

void Heap::run(const heap::DeviceCall& call) {
    start(call, stream_);
    finish(stream_);
}

std::uint64_t Heap::run_word(heap::WordCall call) {
    const std::lock_guard lock(word_mutex_);
    *word_ = 0;
    call.result = word_;
    run(call);
    return *word_;
}

}  // namespace atl::cuda
