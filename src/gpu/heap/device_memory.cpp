// Opens the device heap, one GPU per PE; its blocks and addresses.
#include "gpu/heap/device_memory.hpp"

#include "atoll/device/control.hpp"
#include "common/error_of.hpp"
#include "common/log.hpp"
#include "common/text.hpp"
#include "gpu/device_server.hpp"
#include "gpu/kernel_watch.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace atl::gpu {

namespace {

struct Hello {
    common::FdChannel::Address fd_channel;
    DeviceUuid uuid;
    std::int32_t code;                   ///< the error that kept this PE from opening its GPU; 0: none
                                         ///< occurred
    std::uint32_t resident_blocks : 31;  ///< DeviceFacts
    std::uint32_t takes_turns : 1;       ///< DeviceFacts
    std::uint32_t process;               ///< GpuUse
    std::uint32_t stride_gib;            ///< device_stride() of its GPU
};
static_assert(sizeof(Hello) <= JobView::message_bytes);

int code_of(const std::exception_ptr& error) {
    if (!error) return 0;
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return static_cast<int>(e.code());
    } catch (...) {
        return static_cast<int>(ErrorCode::system);
    }
}

/// Teams in collectives on streams at the same time, if PEs share a GPU. Programs have groups for data,
/// tensor and pipeline parallelism, and one for all ranks.
constexpr int teams_at_once = 4;

/// The GPU choice of this PE. LOCAL_RANK counts the processes of a host; otherwise the PEs of one machine are
/// counted, across simulated hosts.
DeviceChoice choice(const JobFacts& job) {
    const common::Settings& settings = job.settings;
    return {settings.device < 0 ? job.hosts.machine_index : settings.device, settings.device_exact};
}

}  // namespace

DeviceMemory::DeviceMemory(JobView& job, const OpenDevice& open, std::size_t control_bytes)
    : view_(job), job_(job.facts()), me_(job_.pe), control_bytes_(control_bytes) {
    const std::exception_ptr mine = common::error_of([&] {
        fd_channel_.emplace();
        gpu_ = open(choice(job_));
    });
    Hello hello{};
    if (fd_channel_) hello.fd_channel = fd_channel_->address();
    hello.code = code_of(mine);
    hello.process = GpuUse::this_process();
    if (gpu_) {
        hello.uuid = gpu_->facts().uuid;
        hello.resident_blocks = gpu_->facts().resident_blocks & 0x7FFFFFFFu;
        hello.takes_turns = gpu_->facts().takes_turns;
        hello.stride_gib = static_cast<std::uint32_t>(device_stride(gpu_->facts().memory_bytes) >> 30);
    }
    view_.exchange(&hello, sizeof hello);
    std::vector<Hello> hellos(static_cast<std::size_t>(job_.n_pes));
    for (int pe = 0; pe < job_.n_pes; ++pe)
        std::memcpy(&hellos[static_cast<std::size_t>(pe)], view_.exchanged(pe), sizeof hello);
    settle("open its GPU", mine);
    for (const Hello& other : hellos) fd_channels_.push_back(other.fd_channel);
    settle("reach another PE's GPU", common::error_of([&] {
               std::vector<GpuUse> uses;
               std::vector<unsigned> blocks;
               std::size_t stride_gib = 0;  // one for all, since views have the same offsets on all PEs
               for (int pe = 0; pe < job_.n_pes; ++pe) {
                   const Hello& other = hellos[static_cast<std::size_t>(pe)];
                   if (slot_of(pe).is_near()) gpu_->check_peer(other.uuid);
                   uses.push_back({other.uuid, other.process, other.takes_turns != 0});
                   blocks.push_back(other.resident_blocks);
                   stride_gib = std::max<std::size_t>(stride_gib, other.stride_gib);
               }
               share_gpu(uses, blocks);
               window_ = gpu_->memory().reserve(job_.window.n_slots, slot_of(me_).number(), stride_gib << 30);
               pinned_ =
                   std::make_unique<PinnedHeap>(gpu_->pinning(), job_.window.mine, job_.window.heap_bytes);
               lanes_ = std::make_unique<Lanes>(*gpu_);
               local_ = std::make_unique<LocalMemory>(*this, *gpu_, *pinned_);
               copies_ = std::make_unique<DeviceCopies>(*this, *gpu_, *pinned_);
               serve_others();
               far_ = std::make_unique<DeviceFar>(*this, *gpu_, job_, server_ && job_.everything_routed);
               blocks_ = std::make_unique<memory::Allocator>(views_offset());
               views_ = std::make_unique<memory::Allocator>(views_bytes());
           }));
    if (control_bytes_ != 0) open_control();
    streams_ = std::make_unique<DeviceStreams>(*gpu_, watch_.get(), seen_watch_, sharing_, trace_.get());
}

/// Divides the GPU. Kernels of collectives on streams have one grid on all PEs. If PEs share a GPU, it must
/// fit the grids of several teams of each PE at once. A grid that does not fit keeps all PEs waiting for it.
void DeviceMemory::share_gpu(const std::vector<GpuUse>& uses, const std::vector<unsigned>& resident_blocks) {
    const std::vector<GpuSharing> sharing = sharing_of(uses);
    unsigned blocks = UINT_MAX;
    for (std::size_t pe = 0; pe < sharing.size(); ++pe) {
        const int at_once = sharing[pe].at_once;
        const unsigned share = share_of(resident_blocks[pe], at_once == 1 ? 1 : teams_at_once * at_once);
        blocks = std::min(blocks, std::max(share, 1u));
    }
    if (const unsigned most = job_.settings.stream_blocks; most != 0) blocks = std::min(blocks, most);
    gpu_->executor().limit_blocks(blocks);
    sharing_ = sharing[static_cast<std::size_t>(me_)];
    shared_gpu_.emplace(gpu_->facts().number, sharing_.at_once);
    const auto first =
        std::find_if(sharing.begin(), sharing.end(), [](const GpuSharing& gpu) { return gpu.takes_turns(); });
    if (first != sharing.end() && first - sharing.begin() == me_)
        common::say(turns_text(sharing_, gpu_->facts()));
}

DeviceMemory::~DeviceMemory() {
    if (server_) job_.transport->serve_device_heap(nullptr);
}

detail::Slot DeviceMemory::slot_of(int pe) const noexcept { return job_.slots[static_cast<std::size_t>(pe)]; }

/// Must run before any PE has memory there.
void DeviceMemory::serve_others() {
    lanes_->release(lanes_->take_pinned());  // now, since later pinning may wait for kernels that wait
    transport::Transport* const transport = job_.transport;
    if (!transport || !transport->carries_device_heaps()) return;
    server_ = std::make_unique<DeviceServer>(*gpu_, mine(), window_.stride);
    transport->serve_device_heap(server_.get());
}

void DeviceMemory::open_control() {
    blocks_->allocate(control_bytes_, device_alignment);
    grow_to(control_bytes_);
    settle("prepare its GPU for kernels", common::error_of([&] {
               gpu_->executor().fill(mine(), 0, control_bytes_);
               watch_ = std::make_unique<KernelWatch>(view_);
               seen_watch_ = static_cast<const device::Watch*>(
                   gpu_->pinning().show(&watch_->words(), KernelWatch::bytes));
           }));
    open_trace();
}

/// The program runs without a trace of its kernels if the log's memory cannot be pinned.
void DeviceMemory::open_trace() {
    if (!job_.board.header().traces_kernels()) return;
    try {
        trace_ = std::make_unique<KernelTrace>(*gpu_, job_.board.kernel_log(job_.pe, common::Processor::gpu));
    } catch (const Error& error) {
        common::say("PE " + std::to_string(job_.pe) + " does not trace its GPU's kernels: " + error.what());
    }
}

/// Meets, and returns the first PE that failed, or -1.
int DeviceMemory::first_failed(const std::exception_ptr& mine, ErrorCode& code) const {
    const std::int32_t my_code = code_of(mine);
    view_.exchange(&my_code, sizeof my_code);
    for (int pe = 0; pe < job_.n_pes; ++pe) {
        std::int32_t theirs = 0;
        std::memcpy(&theirs, view_.exchanged(pe), sizeof theirs);
        code = static_cast<ErrorCode>(theirs);
        if (theirs != 0) return pe;
    }
    return -1;
}

/// Throws on every PE unless all succeeded: the PE's own error if it has one.
void DeviceMemory::settle(const std::string& what, const std::exception_ptr& mine) const {
    ErrorCode code{};
    const int failed = first_failed(mine, code);
    if (failed < 0) return;
    if (mine) std::rethrow_exception(mine);
    throw Error(code, "PE " + std::to_string(failed) + " could not " + what +
                          "; see that PE's message. Device memory is allocated on all PEs or on none.");
}

// ---- blocks

void* DeviceMemory::allocate(std::size_t bytes, std::size_t align, std::uint64_t serial) {
    std::size_t offset = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto block = blocks_->allocate(bytes, align);
        if (!block)
            throw Error(ErrorCode::out_of_memory, "A device heap has room for " +
                                                      common::bytes_text(views_offset()) + " a PE at most; " +
                                                      common::bytes_text(bytes) + " were asked for.");
        offset = block->offset;
    }
    try {
        grow_to(offset + bytes);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        blocks_->free(offset);
        throw;
    }
    const std::lock_guard lock(mutex_);
    serial_of_[offset] = serial;
    offset_of_serial_[serial] = offset;
    return mine() + offset;
}

void DeviceMemory::forget(std::size_t offset) {
    if (is_view(offset)) unmap_parts(offset);
    std::size_t within = offset;
    memory::Allocator& allocator = allocator_of(within);
    allocator.free(within);
    if (const auto it = serial_of_.find(offset); it != serial_of_.end()) {
        offset_of_serial_.erase(it->second);
        serial_of_.erase(it);
    }
}

void DeviceMemory::free(void* block) {
    const std::lock_guard lock(mutex_);
    forget(offset_of(block));
}

bool DeviceMemory::reclaim(std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    const auto it = offset_of_serial_.find(serial);
    if (it == offset_of_serial_.end()) return false;
    forget(it->second);
    return true;
}

void* DeviceMemory::reallocate(void* block, std::size_t bytes) {
    const std::size_t offset = offset_of(block);
    std::size_t old_bytes = 0;
    std::uint64_t serial = 0;
    bool in_place = false;
    {
        const std::lock_guard lock(mutex_);
        old_bytes = blocks_->find(offset)->bytes;
        serial = serial_of_[offset];
        in_place = blocks_->resize(offset, bytes);
    }
    if (in_place) try {
            grow_to(offset + bytes);
            return block;
        } catch (...) {
            const std::lock_guard lock(mutex_);
            blocks_->resize(offset, old_bytes);
            throw;
        }
    void* moved = allocate(bytes, 0, serial);
    try {
        settle("copy a block that grows",
               common::error_of([&] { copies_->copy(moved, block, std::min(old_bytes, bytes)); }));
    } catch (...) {
        const std::lock_guard lock(mutex_);
        forget(offset_of(moved));
        offset_of_serial_[serial] = offset;
        throw;
    }
    const std::lock_guard lock(mutex_);
    serial_of_.erase(offset);  // the new block has the serial now
    blocks_->free(offset);
    return moved;
}

void DeviceMemory::fill_on_all(void* dst, unsigned char value, std::size_t bytes) const {
    settle("fill " + common::bytes_text(bytes) + " of its GPU's memory",
           common::error_of([&] { gpu_->executor().fill(dst, value, bytes); }));
}

void DeviceMemory::reserve_group_memory() {
    const TeamRanges::Sizes sizes{job_.n_pes, job_.settings.team_bytes,
                                  1 + control_bytes_ / device::ControlLayout{1}.bytes()};
    const std::size_t bytes = TeamRanges::bytes(sizes);
    void* block = allocate(bytes, 128, 0);
    team_ranges_ = TeamRanges(static_cast<char*>(block), sizes);
    group_bytes_ = bytes;
    own_chunks_ = chunk_bytes_.size();
    fill_on_all(block, 0, bytes);
}

/// The library's own blocks were allocated first, so they get their old offsets again.
void DeviceMemory::reset() {
    const std::lock_guard lock(mutex_);
    for (const auto& [offset, serial] : serial_of_)
        if (is_view(offset)) unmap_parts(offset);
    blocks_ = std::make_unique<memory::Allocator>(views_offset());
    views_ = std::make_unique<memory::Allocator>(views_bytes());
    if (control_bytes_ != 0) blocks_->allocate(control_bytes_, device_alignment);
    if (group_bytes_ != 0) blocks_->allocate(group_bytes_, 128);
    serial_of_.clear();
    offset_of_serial_.clear();
    for (; chunk_bytes_.size() > own_chunks_; chunk_bytes_.pop_back()) {
        gpu_->memory().withdraw();
        taken_bytes_ -= chunk_bytes_.back();
    }
}

// ---- addresses

void* DeviceMemory::at(const void* local, int pe) const noexcept {
    const detail::Slot slot = slot_of(pe);
    return slot.is_near() ? window_.slot(slot.number()) + offset_of(local) : nullptr;
}

std::size_t DeviceMemory::offset_of(const void* address) const noexcept {
    const auto offset = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) -
                                                 reinterpret_cast<std::uintptr_t>(mine()));
    return offset < window_.stride ? offset : SIZE_MAX;
}

bool DeviceMemory::in_window(const void* address) const noexcept {
    const auto distance =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(window_.begin);
    return distance < window_.stride * static_cast<std::size_t>(job_.window.n_slots);
}

/// The allocator for an offset in the slot. Changes `offset` to that allocator's.
memory::Allocator& DeviceMemory::allocator_of(std::size_t& offset) const {
    if (offset == SIZE_MAX || !is_view(offset)) return *blocks_;
    offset -= views_offset();
    return *views_;
}

bool DeviceMemory::is_allocated(const void* address, std::size_t bytes) const {
    std::size_t offset = offset_of(address);
    const std::lock_guard lock(mutex_);
    return offset != SIZE_MAX && allocator_of(offset).holds(offset, bytes);
}

void DeviceMemory::check(const void* address, std::size_t bytes) const {
    std::size_t offset = offset_of(address);
    const std::lock_guard lock(mutex_);
    memory::Allocator& blocks = allocator_of(offset);
    if (offset != SIZE_MAX && blocks.holds(offset, bytes)) [[likely]]
        return;  // before any text is built
    blocks.check(offset, bytes, common::bytes_text(bytes) + " at " + common::address_text(address),
                 "device heap");
}

std::size_t DeviceMemory::checked_block(const void* block, const char* operation) const {
    const std::size_t offset = offset_of(block);
    const std::lock_guard lock(mutex_);
    std::size_t within = offset;
    const memory::Allocator& allocator = allocator_of(within);
    if (is_view(offset) && offset != SIZE_MAX && std::strcmp(operation, "realloc") == 0)
        throw Error(ErrorCode::invalid_argument,
                    "The block at " + common::address_text(block) +
                        " is a registered buffer, which cannot be resized; free it, and register another.");
    if (allocator.is_block(within)) return offset;
    const std::string what = std::string(operation) + " needs the start of a block of the device heap; " +
                             common::address_text(block) + " is ";
    if (offset == SIZE_MAX)
        throw Error(ErrorCode::not_symmetric, what + "in another PE's, seen through the window.");
    if (const auto inside = allocator.find(within))
        throw Error(ErrorCode::not_symmetric,
                    what + "inside a block of " + common::bytes_text(inside->bytes) + " that starts " +
                        common::bytes_text(within - inside->offset) + " before it.");
    throw Error(ErrorCode::use_after_free, what + "in no block that is allocated now; it was freed already.");
}

DeviceHeapUse DeviceMemory::use() const {
    const DeviceFacts& facts = gpu_->facts();
    const std::lock_guard lock(mutex_);
    const std::size_t own = (control_bytes_ == 0 ? 0u : 1u) + (group_bytes_ == 0 ? 0u : 1u);
    return {facts.number,
            facts.name,
            taken_bytes_,
            blocks_->used_bytes() - control_bytes_ - group_bytes_,
            blocks_->blocks() - own,
            views_->used_bytes(),
            sharing_.n_pes,
            sharing_.takes_turns()};
}

}  // namespace atl::gpu
