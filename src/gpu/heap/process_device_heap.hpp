// ProcessDeviceHeap: GPU memory of one process, which other processes of its host map chunk by chunk. Its
// owner allocates and frees alone, as in memory::ProcessHeap. Both are for tensors that no job allocates.
#pragma once

#include "common/descriptors/fd_channel.hpp"
#include "gpu/gpu.hpp"
#include "memory/allocator.hpp"
#include "memory/process_heap.hpp"
#include "memory/round_up.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace atl::gpu {

class ProcessDeviceHeap {
  public:
    struct Block {
        char* data = nullptr;
        std::size_t bytes = 0, pad_bytes = 0;
        /// Data of a block in the process's host heap. Processes that hold that block hold this one too.
        char* twin = nullptr;

        /// In front of the data; its words are 0 when the block is allocated.
        char* pad() const { return data - pad_distance(pad_bytes); }
    };
    static constexpr std::size_t alignment = 512;
    static constexpr std::size_t pad_distance(std::size_t pad_bytes) {
        return memory::round_up(pad_bytes, alignment);
    }
    /// The most processes whose memory one process maps, itself included.
    static constexpr int most_processes = 32;
    /// More than the memory of any GPU, since the GPUs of other processes may be larger.
    static constexpr std::size_t stride_bytes = std::size_t{1} << 39;

    /// The heap of this process on a GPU, opened at the first call. Throws Error: unsupported, system.
    static ProcessDeviceHeap& on(int device);
    /// The opened heap that contains an address, or null.
    static ProcessDeviceHeap* containing(const void* address);

    explicit ProcessDeviceHeap(std::unique_ptr<Gpu> gpu);

    /// Throws Error(out_of_memory).
    Block allocate(std::size_t bytes, std::size_t pad_bytes);
    /// The work of this process on the block is done. It is used again when no process holds its twin.
    void free(const void* data);
    /// The block whose data contain the address.
    std::optional<Block> find(const void* address);
    int device() const { return gpu_->facts().number; }

    /// A text without spaces with which other processes find a block.
    std::string describe(const Block& block);

    /// A block of any process, as its text describes it.
    struct BlockAddress {
        common::FdChannel::Address fd_channel;
        DeviceUuid uuid{};
        std::size_t offset = 0, bytes = 0, pad_bytes = 0, chunks = 0;
    };

    /// Maps the memory of other processes, which do the same, each with the texts of all.
    class Reach {
      public:
        /// `texts` are those of all processes; `rank` is the place of this one. Throws Error: shape_mismatch,
        /// unsupported.
        Reach(ProcessDeviceHeap& heap, const std::vector<std::string>& texts, int rank);
        /// Sends and maps what it can, and never waits. True: all blocks are accessible. Throws Error.
        bool advance();
        /// A process whose memory is missing, or that has not taken this one's; -1: none.
        int missing() const { return missing_; }
        /// Every process's data, as addresses of this process.
        std::vector<char*> data() const;

      private:
        bool is_own(const BlockAddress& address) const;

        ProcessDeviceHeap& heap_;
        std::vector<BlockAddress> addresses_;
        std::size_t rank_;
        int missing_ = -1;
    };

    /// Allocates what `exchange` with this bound needs. Calls can then be captured in CUDA graphs.
    void prepare(std::uint64_t bound_ns) { control(bound_ns); }
    /// Enqueues a wait until a word of 32 bits is `from`, and then sets it to `to`. The word is in memory
    /// that this heap has or reaches. `bound_ns`: the kernel ends the process's work on the GPU after so
    /// long; 0: never. Throws Error(kernel) after that has happened.
    void exchange(void* word, std::uint32_t from, std::uint32_t to, std::uint64_t bound_ns,
                  StreamHandle stream);

  private:
    struct Chunk {
        std::size_t bytes;
        common::Fd fd;
    };
    struct Received {
        std::uint64_t tag;
        common::Fd fd;
    };
    /// Another process, by the address of its channel.
    struct Peer {
        int slot;
        std::size_t sent = 0, mapped = 0;  ///< chunks of this process's heap, and of the other's
        std::size_t mapped_bytes = 0;
        std::deque<Received> arrived;
    };

    static int sender_number(std::uint64_t name) { return static_cast<int>(name & 0x7fffffff); }
    void grow_to(std::size_t end);
    void extend(std::size_t bytes);
    void sweep();
    void receive();
    Peer& peer(const BlockAddress& address);
    bool send_to(Peer& peer, const BlockAddress& address, std::size_t chunks);
    void map_arrived(Peer& peer);
    device::Control* control(std::uint64_t bound_ns);
    void refuse_if_stopped() const;

    std::unique_ptr<Gpu> gpu_;
    DeviceWindow window_;
    common::FdChannel fd_channel_;
    std::mutex mutex_;
    memory::Allocator allocator_;
    std::size_t taken_bytes_ = 0;
    std::vector<Chunk> chunks_;
    std::map<char*, Block> blocks_;  ///< by their data
    std::vector<Block> leaving_;     ///< freed, but other processes hold them
    std::map<std::uint64_t, Peer> peers_;
    std::map<int, std::deque<Received>> unclaimed_;  ///< from processes that this one has not met yet
    std::map<std::uint64_t, device::Control*> controls_;
    device::Watch* watch_ = nullptr;
};

}  // namespace atl::gpu
