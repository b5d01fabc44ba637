// Operations of the device heap; selects copy engine or kernel.
#include "gpu/cuda/cuda_executor.hpp"

#include "atoll/error.hpp"
#include "common/text.hpp"

namespace atl::cuda {

namespace {

/// From this size on copies use a copy engine, below a kernel: docs/measurements/2026-11-24-constants.md,
/// copies on a stream, has the times.
constexpr std::uint64_t engine_from_bytes = std::uint64_t{4} << 20;
/// Up to this size a put with signal is one kernel of one block. Larger ones are two kernels, of which the
/// first has many blocks.
constexpr std::uint64_t one_block_bytes = std::uint64_t{32} << 10;

}  // namespace

CudaExecutor::CudaExecutor(CudaDevice& device, const CudaPinning& pinning)
    : device_(device), pinning_(pinning) {
    const PrimaryContext::Current current(device_.context);
    stream_ = static_cast<CUstream>(make_stream());
    kernels_.emplace(device_.driver, device_.number);
    device.facts.resident_blocks = kernels_->resident_blocks();
    void* word = nullptr;
    device_.driver.check(device_.driver.allocate_pinned(&word, sizeof *word_, 0),
                         "pin " + common::bytes_text(sizeof *word_) + " of the host's memory");
    word_ = static_cast<std::uint64_t*>(word);
}

CudaExecutor::~CudaExecutor() {
    const PrimaryContext::Ending current(device_.context);
    device_.driver.free_pinned(word_);
    for (CUstream stream : streams_) device_.driver.destroy_stream(stream);
    kernels_.reset();
}

void CudaExecutor::finish_copy(CUresult started, const char* doing, const void* dst,
                               std::size_t bytes) const {
    const CUresult result = started == CUDA_SUCCESS ? device_.driver.synchronize(stream_) : started;
    if (result != CUDA_SUCCESS) [[unlikely]]
        device_.driver.fail(result, std::string(doing) + " " + common::bytes_text(bytes) + " to " +
                                        common::address_text(dst));
}

void CudaExecutor::copy(void* dst, const void* src, std::size_t bytes) {
    const PrimaryContext::Current current(device_.context);
    finish_copy(device_.driver.copy(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src),
                                    bytes, stream_),
                "copy", dst, bytes);
}

void CudaExecutor::begin_copy(void* dst, const void* src, std::size_t bytes, gpu::StreamHandle stream) {
    const PrimaryContext::Current current(device_.context);
    device_.driver.check(
        device_.driver.copy(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src), bytes,
                            static_cast<CUstream>(stream)),
        "copy " + common::bytes_text(bytes));
}

void CudaExecutor::fill(void* dst, unsigned char value, std::size_t bytes) {
    const PrimaryContext::Current current(device_.context);
    finish_copy(device_.driver.fill(reinterpret_cast<CUdeviceptr>(dst), value, bytes, stream_), "fill", dst,
                bytes);
}

gpu::StreamHandle CudaExecutor::make_stream() {
    const PrimaryContext::Current current(device_.context);
    CUstream stream = nullptr;
    device_.driver.check(device_.driver.create_stream(&stream, CU_STREAM_NON_BLOCKING), "make a stream");
    const std::lock_guard lock(streams_mutex_);
    streams_.push_back(stream);
    return stream;
}

void CudaExecutor::check_stream(gpu::StreamHandle stream) const {
    if (stream && stream == known_stream_.load(std::memory_order_relaxed)) return;
    std::optional<PrimaryContext::Current> current;
    // The legacy stream and CUDA's stream of each thread (handles 0, 1, 2) belong to the current context.
    if (reinterpret_cast<std::uintptr_t>(stream) <= 2) current.emplace(device_.context);
    CUcontext context = nullptr;
    const CUresult result = device_.driver.stream_context(static_cast<CUstream>(stream), &context);
    if (Driver::is_lost(result)) device_.driver.fail(result, "say whose the stream is");
    if (result != CUDA_SUCCESS || device_.context.get() != context)
        throw Error(ErrorCode::invalid_argument,
                    "The stream is not of GPU " + std::to_string(device_.number) + " (" + device_.facts.name +
                        "), which this PE's device heap is on" +
                        (result == CUDA_SUCCESS ? "" : ": " + device_.driver.text(result)) +
                        "; make it with that GPU current (cudaSetDevice).");
    known_stream_.store(stream, std::memory_order_relaxed);
}

bool CudaExecutor::is_capturing(gpu::StreamHandle stream) const {
    const PrimaryContext::Current current(device_.context);
    CUstreamCaptureStatus status{};
    return stream && device_.driver.is_capturing(static_cast<CUstream>(stream), &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void CudaExecutor::copy_on(const gpu::CopyCall& call, CUstream stream) {
    pinning_.check_local(call.dst);
    pinning_.check_local(call.src);
    if (call.bytes <= one_block_bytes || (call.bytes < engine_from_bytes && !call.signal))
        return kernels_->launch(call, stream);
    if (call.bytes < engine_from_bytes) {
        gpu::CopyCall data = call;
        data.signal = nullptr;
        kernels_->launch(data, stream);
    } else {
        device_.driver.check(device_.driver.copy(reinterpret_cast<CUdeviceptr>(call.dst),
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
void CudaExecutor::start(const gpu::DeviceCall& call, gpu::StreamHandle stream) {
    const PrimaryContext::Current current(device_.context);
    const auto on = static_cast<CUstream>(stream);
    if (const auto* copy = std::get_if<gpu::CopyCall>(&call)) return copy_on(*copy, on);
    if (const auto* strided = std::get_if<gpu::StridedCall>(&call)) {
        pinning_.check_local(strided->dst);
        pinning_.check_local(strided->src);
    } else if (const auto* word = std::get_if<gpu::WordCall>(&call); word && word->result) {
        pinning_.check_local(word->result);
    } else if (const auto* far = std::get_if<gpu::FarCall>(&call); far && far->request.here) {
        pinning_.check_local(far->request.here);
    } else if (const auto* elements = std::get_if<gpu::ElementsCall>(&call)) {
        for (const void* local :
             {elements->index.each, elements->pe.each, static_cast<const void*>(elements->values)})
            if (local) pinning_.check_local(local);
    } else if (const auto* many = std::get_if<gpu::WaitManyCall>(&call)) {
        for (const void* local : {static_cast<const void*>(many->asked.status), many->asked.values,
                                  static_cast<const void*>(many->asked.out)})
            if (local) pinning_.check_local(local);
    } else if (const auto* messages = std::get_if<gpu::MessagesCall>(&call)) {
        for (int i = 0; i < messages->count; ++i)
            if (messages->messages[i].bytes != 0) pinning_.check_local(messages->messages[i].data);
    } else if (const auto* mailbox = std::get_if<gpu::MailboxCall>(&call)) {
        if (mailbox->bytes != 0) pinning_.check_local(mailbox->data);
        if (mailbox->arrived) pinning_.check_local(mailbox->arrived);
    }
    std::visit(
        [&](const auto& which) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(which)>, gpu::CopyCall>)
                kernels_->launch(which, on);
        },
        call);
}

void CudaExecutor::finish(gpu::StreamHandle stream) {
    const PrimaryContext::Current current(device_.context);
    device_.driver.check(device_.driver.synchronize(static_cast<CUstream>(stream)),
                         "finish what was begun on its stream");
}

std::uint64_t CudaExecutor::run_word(gpu::WordCall call) {
    const std::lock_guard lock(word_mutex_);
    *word_ = 0;
    call.result = word_;
    start(call, stream_);
    finish(stream_);
    return *word_;
}

std::uint64_t CudaExecutor::clock_ns() {
    if (embedded_kernel_files == 0) return 0;
    const std::lock_guard lock(word_mutex_);
    const PrimaryContext::Current current(device_.context);
    *word_ = 0;
    kernels_->launch(gpu::ClockCall{word_}, stream_);
    device_.driver.check(device_.driver.synchronize(stream_), "read the clock of the GPU");
    return *word_;
}

}  // namespace atl::cuda
