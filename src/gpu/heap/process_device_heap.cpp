#include "gpu/heap/process_device_heap.hpp"

#include "atoll/device/control.hpp"
#include "atoll/error.hpp"
#include "common/text.hpp"
#include "gpu/device_plugin.hpp"
#include "gpu/heap/growth.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace atl::gpu {
namespace {

/// The tag of a chunk's descriptor: its number in the lower half, its size in granules above.
constexpr unsigned tag_shift = 32;
constexpr std::size_t twin_bytes = 8;

std::mutex heaps_mutex;
std::map<int, std::unique_ptr<ProcessDeviceHeap>>& heaps() {
    // Never destroyed: tensors may outlive static objects, and the driver may have ended before them.
    static auto& all = *new std::map<int, std::unique_ptr<ProcessDeviceHeap>>;
    return all;
}

std::string hex(const DeviceUuid& uuid) {
    std::string text;
    char digits[3];
    for (const unsigned char byte : uuid) {
        std::snprintf(digits, sizeof digits, "%02x", byte);
        text += digits;
    }
    return text;
}

ProcessDeviceHeap::BlockAddress parse_block_address(const std::string& text) {
    ProcessDeviceHeap::BlockAddress address;
    std::string line = text, uuid;
    std::replace(line.begin(), line.end(), '/', ' ');
    std::istringstream in(line);
    in >> address.fd_channel.name >> address.fd_channel.token >> uuid >> address.offset >> address.bytes >>
        address.pad_bytes >> address.chunks;
    if (!in || uuid.size() != 2 * address.uuid.size())
        throw Error(ErrorCode::bootstrap, "\"" + text + "\" does not describe a block of a GPU's memory.");
    for (std::size_t i = 0; i < address.uuid.size(); ++i)
        address.uuid[i] = static_cast<unsigned char>(std::stoi(uuid.substr(2 * i, 2), nullptr, 16));
    return address;
}

}  // namespace

// ---- the heaps of the process

ProcessDeviceHeap& ProcessDeviceHeap::on(int device) {
    const std::lock_guard lock(heaps_mutex);
    std::unique_ptr<ProcessDeviceHeap>& heap = heaps()[device];
    if (!heap)
        heap = std::make_unique<ProcessDeviceHeap>(device_plugin().open({.number = device, .exact = true}));
    return *heap;
}

ProcessDeviceHeap* ProcessDeviceHeap::containing(const void* address) {
    const std::lock_guard lock(heaps_mutex);
    for (const auto& [device, heap] : heaps())
        if (heap && reinterpret_cast<std::uintptr_t>(address) -
                            reinterpret_cast<std::uintptr_t>(heap->window_.begin) <
                        heap->window_.stride)
            return heap.get();
    return nullptr;
}

ProcessDeviceHeap::ProcessDeviceHeap(std::unique_ptr<Gpu> gpu)
    : gpu_(std::move(gpu)),
      window_(gpu_->memory().reserve(most_processes, 0, stride_bytes)),
      allocator_(window_.stride) {}

// ---- blocks

ProcessDeviceHeap::Block ProcessDeviceHeap::allocate(std::size_t bytes, std::size_t pad_bytes) {
    const std::lock_guard lock(mutex_);
    sweep();
    const std::size_t front = pad_distance(pad_bytes);
    // The size may have been computed from a negative number.
    const auto found = bytes < window_.stride
                           ? allocator_.allocate(front + std::max<std::size_t>(bytes, 1), alignment)
                           : std::nullopt;
    if (!found)
        throw Error(ErrorCode::out_of_memory,
                    "No GPU has room for a symmetric tensor of " + common::bytes_text(bytes) + ".");
    try {
        grow_to(found->offset + front + bytes);
        char* const begin = window_.slot(0) + found->offset;
        if (front != 0) gpu_->executor().fill(begin, 0, front);
        memory::ProcessHeap& host = memory::ProcessHeap::mine();
        const Block block{begin + front, bytes, pad_bytes, host.at(host.allocate(twin_bytes, 0).offset)};
        blocks_.emplace(block.data, block);
        return block;
    } catch (...) {
        allocator_.free(found->offset);
        throw;
    }
}

void ProcessDeviceHeap::free(const void* data) {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(static_cast<char*>(const_cast<void*>(data)));
    if (it == blocks_.end()) return;
    leaving_.push_back(it->second);
    blocks_.erase(it);
    sweep();
}

/// Gives back the freed blocks that no process holds any more.
void ProcessDeviceHeap::sweep() {
    memory::ProcessHeap& host = memory::ProcessHeap::mine();
    std::erase_if(leaving_, [&](const Block& block) {
        if (memory::head_of(block.twin).holders.load(std::memory_order_acquire) != 0) return false;
        host.free(host.view()->offset_of(block.twin));
        allocator_.free(static_cast<std::size_t>(block.pad() - window_.slot(0)));
        return true;
    });
}

std::optional<ProcessDeviceHeap::Block> ProcessDeviceHeap::find(const void* address) {
    char* const at = static_cast<char*>(const_cast<void*>(address));
    const std::lock_guard lock(mutex_);
    auto it = blocks_.upper_bound(at);
    if (it == blocks_.begin()) return {};
    const Block& block = (--it)->second;
    if (at != block.data && at >= block.data + block.bytes) return {};
    return block;
}

void ProcessDeviceHeap::grow_to(std::size_t end) {
    if (end <= taken_bytes_) return;
    const std::size_t granule = gpu_->facts().granularity_bytes;
    const std::size_t need = memory::round_up(end - taken_bytes_, granule);
    const std::size_t ahead = ahead_of_need(taken_bytes_, granule);
    try {
        extend(std::max(need, ahead));
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || ahead <= need) throw;
        extend(need);
    }
}

void ProcessDeviceHeap::extend(std::size_t bytes) {
    chunks_.push_back({bytes, gpu_->memory().extend(bytes)});
    taken_bytes_ += bytes;
}

// ---- other processes

std::string ProcessDeviceHeap::describe(const Block& block) {
    const std::lock_guard lock(mutex_);
    std::ostringstream text;
    text << fd_channel_.address().name << '/' << fd_channel_.address().token << '/' << hex(gpu_->facts().uuid)
         << '/' << block.data - window_.slot(0) << '/' << block.bytes << '/' << block.pad_bytes << '/'
         << chunks_.size();
    return text.str();
}

ProcessDeviceHeap::Peer& ProcessDeviceHeap::peer(const BlockAddress& address) {
    const auto known = peers_.find(address.fd_channel.name);
    if (known != peers_.end()) return known->second;
    gpu_->check_peer(address.uuid);
    const int slot = static_cast<int>(peers_.size()) + 1;
    if (slot >= most_processes)
        throw Error(
            ErrorCode::unsupported,
            "A process reaches symmetric memory on GPUs of " + std::to_string(most_processes - 1) +
                " other processes; there were more, some of which may have ended. Start new processes.");
    Peer& made = peers_[address.fd_channel.name];
    made.slot = slot;
    made.arrived = std::move(unclaimed_[sender_number(address.fd_channel.name)]);
    return made;
}

bool ProcessDeviceHeap::send_to(Peer& peer, const BlockAddress& address, std::size_t chunks) {
    const std::size_t granule = gpu_->facts().granularity_bytes;
    for (; peer.sent < chunks; ++peer.sent) {
        const Chunk& chunk = chunks_[peer.sent];
        const std::uint64_t tag = std::uint64_t{chunk.bytes / granule} << tag_shift | peer.sent;
        if (!fd_channel_.send(address.fd_channel, sender_number(fd_channel_.address().name), tag, chunk.fd))
            return false;
    }
    return true;
}

void ProcessDeviceHeap::receive() {
    while (auto received = fd_channel_.receive()) {
        const auto sender = std::find_if(peers_.begin(), peers_.end(), [&](const auto& entry) {
            return sender_number(entry.first) == received->sender;
        });
        auto& arrived = sender != peers_.end() ? sender->second.arrived : unclaimed_[received->sender];
        arrived.push_back({received->tag, std::move(received->fd)});
    }
}

/// Maps chunks in the order of their numbers, in which they were sent.
void ProcessDeviceHeap::map_arrived(Peer& peer) {
    const std::size_t granule = gpu_->facts().granularity_bytes;
    while (!peer.arrived.empty()) {
        const Received& received = peer.arrived.front();
        const std::size_t bytes = (received.tag >> tag_shift) * granule;
        gpu_->memory().map_chunk(peer.slot, peer.mapped_bytes, bytes, received.fd);
        peer.mapped_bytes += bytes;
        ++peer.mapped;
        peer.arrived.pop_front();
    }
}

ProcessDeviceHeap::Reach::Reach(ProcessDeviceHeap& heap, const std::vector<std::string>& texts, int rank)
    : heap_(heap), rank_(static_cast<std::size_t>(rank)) {
    for (const std::string& text : texts) addresses_.push_back(parse_block_address(text));
    for (std::size_t i = 0; i < addresses_.size(); ++i)
        if (addresses_[i].bytes != addresses_[0].bytes || addresses_[i].pad_bytes != addresses_[0].pad_bytes)
            throw Error(ErrorCode::shape_mismatch,
                        "The symmetric tensors of a rendezvous must have equal sizes. Rank 0 has " +
                            std::to_string(addresses_[0].bytes) + " bytes and a signal pad of " +
                            std::to_string(addresses_[0].pad_bytes) + ", rank " + std::to_string(i) +
                            " has " + std::to_string(addresses_[i].bytes) + " and " +
                            std::to_string(addresses_[i].pad_bytes) + ". Allocate alike on all ranks.");
}

bool ProcessDeviceHeap::Reach::is_own(const BlockAddress& address) const {
    return address.fd_channel.name == heap_.fd_channel_.address().name;
}

bool ProcessDeviceHeap::Reach::advance() {
    const std::lock_guard lock(heap_.mutex_);
    missing_ = -1;
    heap_.receive();
    for (std::size_t i = 0; i < addresses_.size(); ++i)
        if (!is_own(addresses_[i]) &&
            !heap_.send_to(heap_.peer(addresses_[i]), addresses_[i], addresses_[rank_].chunks))
            missing_ = static_cast<int>(i);
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
        if (is_own(addresses_[i])) continue;
        Peer& peer = heap_.peer(addresses_[i]);
        heap_.map_arrived(peer);
        if (peer.mapped < addresses_[i].chunks) missing_ = static_cast<int>(i);
    }
    return missing_ < 0;
}

std::vector<char*> ProcessDeviceHeap::Reach::data() const {
    const std::lock_guard lock(heap_.mutex_);
    std::vector<char*> all;
    for (const BlockAddress& address : addresses_)
        all.push_back(heap_.window_.slot(is_own(address) ? 0 : heap_.peer(address).slot) + address.offset);
    return all;
}

// ---- words

/// The bound of a kernel's wait, in memory of the GPU.
device::Control* ProcessDeviceHeap::control(std::uint64_t bound_ns) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = controls_.find(bound_ns); known != controls_.end()) return known->second;
        if (!watch_) {
            watch_ = static_cast<device::Watch*>(gpu_->pinning().pin(sizeof(device::Watch)));
            std::memset(static_cast<void*>(watch_), 0, sizeof(device::Watch));
        }
    }
    device::Control made{};
    made.version = device::control_version;
    made.bound_ns = bound_ns;
    made.watch = watch_;
    auto* const control = reinterpret_cast<device::Control*>(allocate(sizeof made, 0).data);
    gpu_->executor().copy(control, &made, sizeof made);
    const std::lock_guard lock(mutex_);
    return controls_.emplace(bound_ns, control).first->second;
}

void ProcessDeviceHeap::refuse_if_stopped() const {
    if (!watch_ || watch_->report.state < 2) return;
    const device::Report& report = watch_->report;
    char address[24];
    std::snprintf(address, sizeof address, "0x%llx", report.address);
    throw Error(ErrorCode::kernel,
                std::string("A kernel waited longer than its limit for the signal at ") + address +
                    " of symmetric memory, which was " + std::to_string(report.found) +
                    " and should become " + std::to_string(report.expected) +
                    ". CUDA has ended this process's work on the GPU; start a new process.");
}

void ProcessDeviceHeap::exchange(void* word, std::uint32_t from, std::uint32_t to, std::uint64_t bound_ns,
                                 StreamHandle stream) {
    refuse_if_stopped();
    device::Team team{};
    team.n_pes = 1;
    team.window = window_.begin;
    team.stride = static_cast<long long>(window_.stride);
    team.step = 1;
    team.control = control(bound_ns);
    gpu_->executor().start(WaitCall{team, word, from, Compare::eq, DType::uint32,
                                    device::Operation::wait_until, device::Values::unsigned_word},
                           stream);
    gpu_->executor().start(WordCall{word, nullptr, to, 0, AtomicOp::set, DType::uint32}, stream);
}

}  // namespace atl::gpu
