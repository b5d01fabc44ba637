// DeviceHeap: the core's interface to a PE's GPU and to the window of all PEs' GPU memory. The plug-in
// libatoll_cuda.so implements it and is loaded when a GPU is first used. So the core contains no CUDA.
#pragma once

#include "atoll/error.hpp"
#include "atoll/version.hpp"
#include "common/descriptors/fd.hpp"
#include "common/text.hpp"
#include "gpu/device_calls.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace atl::gpu {

/// Identifies a GPU to every process, however each of them numbers its visible GPUs.
using DeviceUuid = std::array<unsigned char, 16>;

/// The GPU that a PE takes, among those that its process sees.
struct DeviceChoice {
    int number = 0;
    bool exact = false;  ///< else modulo their number
};

struct DeviceFacts {
    int number = -1;  ///< among those that this process sees
    std::string name;
    DeviceUuid uuid{};
    std::size_t granularity_bytes = 0;  ///< chunks are multiples of it
    unsigned resident_blocks = 0;       ///< of the library's collective kernels, at once
    bool is_gpu_memory = true;          ///< the host cannot load and store it
    /// Processes time-slice the GPU, since MPS is not running. False if that is unknown.
    bool takes_turns = false;
    /// Networks can read and write its memory, and their writes can be made visible to every PE.
    bool admits_networks = false;
};

/// Alignment of slots.
inline constexpr std::size_t device_alignment = std::size_t{2} << 20;

struct DeviceRange {
    const char* begin = nullptr;
    std::size_t bytes = 0;
};

/// A PE's GPU and its window. All calls are local, and complete on return. A slot is filled from its start by
/// chunks of physical memory, with the same sizes in the same order on all PEs. Throws Error: unsupported,
/// out_of_memory, system.
class DeviceHeap {
  public:
    virtual ~DeviceHeap() = default;
    virtual const DeviceFacts& facts() const noexcept = 0;
    /// Throws Error(unsupported) if this GPU is known to be unable to reach that one.
    virtual void check_peer(const DeviceUuid& peer) const = 0;

    /// Sets the most blocks that collectives on streams launch, the same on all PEs.
    virtual void limit_blocks(unsigned blocks) = 0;

    /// Reserves addresses for all slots, without memory.
    virtual void reserve(int n_slots, int my_slot) = 0;
    /// Distance between slots, which is also the capacity of a slot.
    virtual std::size_t stride() const noexcept = 0;
    virtual char* slot(int i) const noexcept = 0;
    /// Adds a chunk to this PE's slot; the result lets the others map it.
    virtual common::Fd extend(std::size_t bytes) = 0;
    /// Maps the last chunk of another PE's slot.
    virtual void map_peer(int slot, const common::Fd& chunk) = 0;
    /// Removes the last chunk, as far as it was mapped.
    virtual void withdraw() noexcept = 0;

    /// The adjacent allocations that contain a range, all of them whole. Throws Error(invalid_argument) for
    /// memory that `adopt` would not accept.
    virtual DeviceRange enclosing(const void* memory, std::size_t bytes) const {
        return {static_cast<const char*>(memory), bytes};
    }
    /// The sizes of the allocations of a range.
    virtual std::vector<std::size_t> parts(const void*, std::size_t bytes) const { return {bytes}; }
    /// Maps existing memory of this GPU, a whole allocation, also at `offset` of this PE's slot. By the
    /// returned descriptor other PEs can map it. Also throws Error(invalid_argument) for memory that cannot
    /// be shared.
    virtual common::Fd adopt(std::size_t offset, const void* memory, std::size_t bytes) = 0;
    /// Maps memory that another PE adopted, in its slot.
    virtual void map_view(int slot, std::size_t offset, std::size_t bytes, const common::Fd& memory) = 0;
    /// Unmaps a view from all slots, as far as it was mapped.
    virtual void unmap_view(std::size_t offset) noexcept = 0;

    /// Maps whole pages of the host on this GPU, for the lifetime of this object. Returns their address for
    /// kernels.
    virtual void* show(void* pages, std::size_t bytes) = 0;
    /// Undoes `show`. May wait for kernels.
    virtual void hide(void* pages) noexcept = 0;

    /// Copies between any two of: the window, other memory of GPUs, memory of the host.
    virtual void copy(void* dst, const void* src, std::size_t bytes) = 0;
    virtual void fill(void* dst, unsigned char value, std::size_t bytes) = 0;
    /// Begins a copy by an engine; kernels that fill the GPU do not delay it.
    virtual void begin_copy(void* dst, const void* src, std::size_t bytes, StreamHandle stream) {
        static_cast<void>(stream);
        copy(dst, src, bytes);
    }

    // ---- in stream order: these do not wait, allocate or load. The effects of one call are visible to every
    // PE before the next of its stream begins. Also throws Error(invalid_argument) for memory that this GPU
    // cannot access by itself.
    //
    /// Throws Error(invalid_argument) unless `stream` is a stream of this GPU.
    virtual void check_stream(StreamHandle stream) const = 0;
    /// True while the stream is captured in a CUDA graph.
    virtual bool is_capturing(StreamHandle stream) const = 0;
    virtual void start(const DeviceCall& call, StreamHandle stream) = 0;
    /// Runs on a stream of this object, complete on return. Returns the word's previous value.
    virtual std::uint64_t run_word(WordCall call) = 0;
    /// Returns a stream that waits for no other, nor any for it. It lives as long as this object.
    virtual StreamHandle make_stream() = 0;
    /// Waits until all work of the stream is done.
    virtual void finish(StreamHandle stream) = 0;
    /// Allocates host memory that kernels can access, for the lifetime of this object.
    virtual void* pin(std::size_t bytes) = 0;
    /// Makes earlier writes of networks to this memory visible to every PE.
    virtual void show_network_puts() {}
    /// Makes this GPU the calling thread's current one, for libraries that use that.
    virtual void make_current() const {}

    /// False for ordinary memory of the host. Throws Error(invalid_argument) for memory of another GPU.
    virtual bool reaches(const void* address) const = 0;
    /// True for memory of this or another GPU that the host cannot load and store.
    virtual bool is_on_gpu(const void* address) const = 0;
    /// Throws Error(invalid_argument) for ordinary host memory: it would stop the host, or the kernel.
    void check_local(const void* address) const {
        if (!reaches(address))
            throw Error(
                ErrorCode::invalid_argument,
                "Operations on a stream need local memory that the GPU reaches by itself: the device heap, "
                "cudaMalloc, or pinned host memory (cudaMallocHost, Job::pin); " +
                    common::address_text(address) + " is other memory.");
    }
};

/// The symbol `device_plugin_symbol` of libatoll_cuda.so. Both sides must be of one release: the interface
/// between them is not stable.
struct DevicePlugin {
    const char* release;  ///< ATOLL_VERSION
    std::unique_ptr<DeviceHeap> (*open)(const DeviceChoice& choice);
    const char* built;  ///< for people: "CUDA 13.0, kernels for sm_90"
};
inline constexpr const char* device_plugin_symbol = "atoll_device_plugin";

}  // namespace atl::gpu
