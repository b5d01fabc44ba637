// Stream-ordered operations of the device heap; selects copy engine or kernel.
#include "atoll/error.hpp"
#include "common/text.hpp"
#include "gpu/cuda/cuda_gpu.hpp"

namespace atl::cuda {

namespace {

/// From this size on copies use a copy engine, below a kernel: docs/measurements/2026-11-24-constants.md,
/// copies on a stream, has the times.
constexpr std::uint64_t engine_from_bytes = std::uint64_t{4} << 20;
/// Up to this size a put with signal is one kernel of one block. Larger ones are two kernels, of which the
/// first has many blocks.
constexpr std::uint64_t one_block_bytes = std::uint64_t{32} << 10;

}  // namespace

bool CudaGpu::in_window(const void* address) const noexcept {
    return reinterpret_cast<CUdeviceptr>(address) - window_ <
           stride_bytes * static_cast<std::size_t>(n_slots_);
}

bool CudaGpu::reaches(const void* address) const {
    if (in_window(address)) return true;
    const auto at = reinterpret_cast<CUdeviceptr>(address);
    // Queried together: then an unknown address is not an error, which tools would report.
    unsigned type = 0;
    int owner = device_;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void* found[] = {&type, &owner};
    if (driver_.pointer_attributes(2, wanted, found, at) != CUDA_SUCCESS || type == 0) return false;
    if (type == CU_MEMORYTYPE_DEVICE && owner != device_)
        throw Error(ErrorCode::invalid_argument,
                    "The memory at " + common::address_text(address) + " is of GPU " + std::to_string(owner) +
                        ", this PE's device heap is on GPU " + std::to_string(device_) + " (" + facts_.name +
                        "); allocate with that GPU current (cudaSetDevice).");
    return true;
}

bool CudaGpu::is_on_gpu(const void* address) const {
    if (in_window(address)) return true;
    unsigned type = 0;
    unsigned managed = 0;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* found[] = {&type, &managed};
    const auto at = reinterpret_cast<CUdeviceptr>(address);
    return driver_.pointer_attributes(2, wanted, found, at) == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE &&
           managed == 0;
}

void CudaGpu::check_stream(gpu::StreamHandle stream) const {
    if (stream && stream == known_stream_.load(std::memory_order_relaxed)) return;
    std::optional<PrimaryContext::Current> current;
    // The legacy stream and CUDA's stream of each thread (handles 0, 1, 2) belong to the current context.
    if (reinterpret_cast<std::uintptr_t>(stream) <= 2) current.emplace(context_);
    CUcontext context = nullptr;
    const CUresult result = driver_.stream_context(static_cast<CUstream>(stream), &context);
    if (Driver::is_lost(result)) driver_.fail(result, "say whose the stream is");
    if (result != CUDA_SUCCESS || context_.get() != context)
        throw Error(ErrorCode::invalid_argument,
                    "The stream is not of GPU " + std::to_string(device_) + " (" + facts_.name +
                        "), which this PE's device heap is on" +
                        (result == CUDA_SUCCESS ? "" : ": " + driver_.text(result)) +
                        "; make it with that GPU current (cudaSetDevice).");
    known_stream_.store(stream, std::memory_order_relaxed);
}

bool CudaGpu::is_capturing(gpu::StreamHandle stream) const {
    const PrimaryContext::Current current(context_);
    CUstreamCaptureStatus status{};
    return stream && driver_.is_capturing(static_cast<CUstream>(stream), &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void CudaGpu::copy_on(const gpu::CopyCall& call, CUstream stream) {
    check_local(call.dst);
    check_local(call.src);
    if (call.bytes <= one_block_bytes || (call.bytes < engine_from_bytes && !call.signal))
        return kernels_->launch(call, stream);
    if (call.bytes < engine_from_bytes) {
        gpu::CopyCall data = call;
        data.signal = nullptr;
        kernels_->launch(data, stream);
    } else {
        driver_.check(driver_.copy(reinterpret_cast<CUdeviceptr>(call.dst),
                                   reinterpret_cast<CUdeviceptr>(call.src), call.bytes, stream),
                      "copy " + common::bytes_text(call.bytes) + " on the stream");
    }
    if (!call.signal) return;
    gpu::CopyCall signal = call;
    signal.bytes = 0;
    kernels_->launch(signal, stream);
}

/// Starts any operation of a stream. The calls come from src/stream. kernels.cpp selects kernel and grid, and
/// kernels/*.cu has the kernels.
void CudaGpu::start(const gpu::DeviceCall& call, gpu::StreamHandle stream) {
    const PrimaryContext::Current current(context_);
    const auto on = static_cast<CUstream>(stream);
    if (const auto* copy = std::get_if<gpu::CopyCall>(&call)) return copy_on(*copy, on);
    if (const auto* strided = std::get_if<gpu::StridedCall>(&call)) {
        check_local(strided->dst);
        check_local(strided->src);
    } else if (const auto* word = std::get_if<gpu::WordCall>(&call); word && word->result) {
        check_local(word->result);
    } else if (const auto* far = std::get_if<gpu::FarCall>(&call); far && far->request.here) {
        check_local(far->request.here);
    } else if (const auto* elements = std::get_if<gpu::ElementsCall>(&call)) {
        for (const void* local :
             {elements->index.each, elements->pe.each, static_cast<const void*>(elements->values)})
            if (local) check_local(local);
    } else if (const auto* many = std::get_if<gpu::WaitManyCall>(&call)) {
        for (const void* local : {static_cast<const void*>(many->asked.status), many->asked.values,
                                  static_cast<const void*>(many->asked.out)})
            if (local) check_local(local);
    } else if (const auto* messages = std::get_if<gpu::MessagesCall>(&call)) {
        for (int i = 0; i < messages->count; ++i)
            if (messages->messages[i].bytes != 0) check_local(messages->messages[i].data);
    } else if (const auto* mailbox = std::get_if<gpu::MailboxCall>(&call)) {
        if (mailbox->bytes != 0) check_local(mailbox->data);
        if (mailbox->arrived) check_local(mailbox->arrived);
    }
    std::visit(
        [&](const auto& which) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(which)>, gpu::CopyCall>)
                kernels_->launch(which, on);
        },
        call);
}

gpu::StreamHandle CudaGpu::make_stream() {
    const PrimaryContext::Current current(context_);
    CUstream stream = nullptr;
    driver_.check(driver_.create_stream(&stream, CU_STREAM_NON_BLOCKING), "make a stream");
    const std::lock_guard lock(made_mutex_);
    streams_.push_back(stream);
    return stream;
}

void CudaGpu::finish(gpu::StreamHandle stream) {
    const PrimaryContext::Current current(context_);
    driver_.check(driver_.synchronize(static_cast<CUstream>(stream)), "finish what was begun on its stream");
}

void* CudaGpu::pin(std::size_t bytes) {
    const PrimaryContext::Current current(context_);
    void* memory = nullptr;
    driver_.check(driver_.allocate_pinned(&memory, bytes, 0),
                  "pin " + common::bytes_text(bytes) + " of the host's memory");
    const std::lock_guard lock(made_mutex_);
    pinned_.push_back(memory);
    return memory;
}

std::uint64_t CudaGpu::run_word(gpu::WordCall call) {
    const std::lock_guard lock(word_mutex_);
    *word_ = 0;
    call.result = word_;
    start(call, stream_);
    finish(stream_);
    return *word_;
}

}  // namespace atl::cuda
