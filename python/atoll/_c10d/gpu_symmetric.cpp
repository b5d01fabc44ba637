#include "gpu_symmetric.hpp"

namespace atoll_c10d {
namespace {

namespace symm_mem = c10d::symmetric_memory;

/// Waits for this process's work on a GPU.
void finish_work(c10::Device device) {
    const WithoutGil released;
    try {
        c10::impl::VirtualGuardImpl(c10::kCUDA).synchronizeDevice(device.index());
    } catch (const std::exception&) {
        // A kernel was stopped, a stream is captured, or CUDA has ended. There is nothing to wait for.
    }
}

std::optional<atoll_device_block> block_at(const void* address) {
    atoll_device_block block{};
    if (device_memory_table->find(address, &block) != 1) return {};
    return block;
}

}  // namespace

// ---- JoinedGpuBlocks

JoinedGpuBlocks::~JoinedGpuBlocks() { finish_work(device()); }

std::shared_ptr<JoinedGpuBlocks> JoinedGpuBlocks::join(const Ranks& ranks, const atoll_device_block& block) {
    char text[ATOLL_OFFER_ROOM] = "-";
    const bool is_there = device_memory_table->describe(block.data, text, sizeof text) == 0;
    const std::string reason = is_there ? "" : table->last_error();
    const double timeout_s = std::chrono::duration<double>(ranks.timeout).count();
    std::shared_ptr<JoinedGpuBlocks> made(
        new JoinedGpuBlocks(JoinedBlocks::join(ranks, block.twin, reason, text), block, timeout_s));
    Ranks second = ranks;
    second.keys += "/mapped";
    try {
        made->map(ranks);
    } catch (const std::exception& error) {
        ranks.store->set(c10::str(second.keys, "/", ranks.rank), refused + std::string(error.what()));
        throw;
    }
    exchanged(second, "mapped");
    return made;
}

void JoinedGpuBlocks::map(const Ranks& ranks) {
    std::vector<const char*> texts;
    for (const std::string& word : twins_->words()) texts.push_back(word.c_str());
    const atoll_meeting meeting{texts.data(),        ranks.rank,
                                ranks.size,          ranks.names.empty() ? nullptr : ranks.names.data(),
                                ranks.label.c_str(), timeout_s_,
                                run_signal_handlers};
    data_.resize(texts.size());
    if (device_memory_table->reach(block_.data, &meeting, data_.data()) != 0) throw_last_failure();
    const std::ptrdiff_t distance = static_cast<char*>(block_.data) - static_cast<char*>(block_.pad);
    std::vector<std::int64_t> both;
    for (void* const data : data_) pads_.push_back(static_cast<char*>(data) - distance);
    for (const auto* list : {&data_, &pads_})
        for (void* const pointer : *list) both.push_back(reinterpret_cast<std::intptr_t>(pointer));
    tables_ = at::tensor(both, at::TensorOptions().dtype(at::kLong)).to(device());
}

void JoinedGpuBlocks::exchange(int at, int channel, int from, unsigned before, unsigned after,
                               std::size_t timeout_ms, const char* operation) const {
    const auto n = static_cast<std::size_t>(size());
    const std::size_t channels = block_.pad_bytes / sizeof(std::uint32_t) / n;
    TORCH_CHECK_VALUE(channel >= 0 && static_cast<std::size_t>(channel) < channels, operation, " on channel ",
                      channel, ": a signal pad of ", block_.pad_bytes, " bytes has the channels 0 to ",
                      static_cast<std::int64_t>(channels) - 1, " for ", n,
                      " ranks. Raise it by set_signal_pad_size before the tensor is made.");
    TORCH_CHECK_VALUE(std::min(at, from) >= 0 && std::max(at, from) < size(), operation, " with rank ",
                      at == rank() ? from : at, " of a group of ", n, " ranks.");
    auto* const word = static_cast<std::uint32_t*>(pads_[static_cast<std::size_t>(at)]) +
                       static_cast<std::size_t>(channel) * n + static_cast<std::size_t>(from);
    const double limit_s = timeout_ms == 0 ? timeout_s_ : static_cast<double>(timeout_ms) / 1e3;
    const c10::Stream stream = c10::impl::VirtualGuardImpl(c10::kCUDA).getStream(device());
    if (device_memory_table->exchange(block_.data, word, before, after, limit_s, stream.native_handle()) != 0)
        throw_last_failure();
}

// ---- GpuSymmetricMemory

void GpuSymmetricMemory::barrier(int channel, std::size_t timeout_ms) {
    constexpr const char* operation = "barrier";
    group_.check(operation);
    const int me = get_rank(), n = get_world_size();
    // Each rank begins with the next one, so that not all poll one pad.
    for (int i = 1; i < n; ++i) blocks_->exchange((me + i) % n, channel, me, 0, 1, timeout_ms, operation);
    for (int i = 1; i < n; ++i) blocks_->exchange(me, channel, (me + i) % n, 1, 0, timeout_ms, operation);
}

void GpuSymmetricMemory::put_signal(int dst_rank, int channel, std::size_t timeout_ms) {
    group_.check("put_signal");
    blocks_->exchange(dst_rank, channel, get_rank(), 0, 1, timeout_ms, "put_signal");
}

void GpuSymmetricMemory::wait_signal(int src_rank, int channel, std::size_t timeout_ms) {
    group_.check("wait_signal");
    blocks_->exchange(get_rank(), channel, src_rank, 1, 0, timeout_ms, "wait_signal");
}

// ---- GpuSymmetricAllocator

void* GpuSymmetricAllocator::alloc(std::size_t size, int device, const std::optional<std::string>& group) {
    void* const data = device_memory_table->allocate(device, size, symm_mem::get_signal_pad_size());
    if (data == nullptr) TORCH_CHECK_WITH(OutOfMemoryError, false, table->last_error());
    rendezvous_.add(data, group);
    return data;
}

void GpuSymmetricAllocator::free(void* data) {
    const auto block = block_at(data);
    if (!block) return;
    finish_work(c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(block->device)));
    rendezvous_.remove(data);
    device_memory_table->free(data);
}

std::size_t GpuSymmetricAllocator::get_alloc_size(void* data) {
    const auto block = block_at(data);
    TORCH_CHECK_VALUE(block.has_value(), "The memory is not of symm_mem.empty.");
    return block->bytes;
}

bool GpuSymmetricAllocator::has_allocation(void* address) { return block_at(address).has_value(); }

c10::intrusive_ptr<symm_mem::SymmetricMemory> GpuSymmetricAllocator::rendezvous(
    void* address, const std::optional<std::string>& group) {
    const auto block = block_at(address);
    if (!block) return {};  // PyTorch's operators then copy to a workspace
    const auto met = rendezvous_.meet(
        block->data, group, [&](const Ranks& ranks) { return JoinedGpuBlocks::join(ranks, *block); });
    auto blocks = std::static_pointer_cast<JoinedGpuBlocks>(met.blocks);
    const auto offset =
        static_cast<std::size_t>(static_cast<char*>(address) - static_cast<char*>(blocks->block().data));
    return c10::make_intrusive<GpuSymmetricMemory>(std::move(blocks), offset, met.group);
}

c10::intrusive_ptr<symm_mem::SymmetricMemoryAllocator> gpu_symmetric_allocator() {
    // Never destroyed: tensors may outlive static objects.
    static const auto& made =
        *new c10::intrusive_ptr<GpuSymmetricAllocator>(c10::make_intrusive<GpuSymmetricAllocator>());
    return made;
}

}  // namespace atoll_c10d
