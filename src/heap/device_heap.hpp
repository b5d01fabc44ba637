// A PE's GPU and the window of all PEs' GPU memory, as the core sees them. libatoll_cuda.so implements it,
// and is loaded when a GPU is first used: the core knows no CUDA.
#pragma once

#include "atoll/error.hpp"
#include "atoll/version.hpp"
#include "common/fd.hpp"
#include "common/text.hpp"
#include "heap/device_calls.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace atl::heap {

/// What names a GPU to every process, however each of them numbers those that it sees.
using DeviceUuid = std::array<unsigned char, 16>;

/// Which GPU a PE takes: one of those that its process sees.
struct DeviceChoice {
    int number = 0;
    bool exact = false;  ///< else modulo how many there are
};

struct DeviceFacts {
    int number = -1;  ///< among those that this process sees
    std::string name;
    DeviceUuid uuid{};
    std::size_t granularity_bytes = 0;  ///< chunks are multiples of it
    unsigned resident_blocks = 0;       ///< of the library's collective kernels, at once
    bool is_gpu_memory = true;          ///< what the host cannot load and store
    /// Processes run on it one after another, as no MPS is at work. False where that is unknown.
    bool takes_turns = false;
    /// Networks can read and write its memory, and what they wrote can be made visible to everybody.
    bool admits_networks = false;
};

/// What slots start at a multiple of.
inline constexpr std::size_t device_alignment = std::size_t{2} << 20;

struct DeviceRange {
    const char* begin = nullptr;
    std::size_t bytes = 0;
};

/// All calls are local, and complete on return. A slot is filled from its start by chunks of physical memory,
/// the same sizes in the same order on all PEs. Throws Error: unsupported, out_of_memory, system.
class DeviceHeap {
  public:
    virtual ~DeviceHeap() = default;
    virtual const DeviceFacts& facts() const noexcept = 0;
    /// Throws Error(unsupported) if this GPU is known to be unable to reach that one.
    virtual void check_peer(const DeviceUuid& peer) const = 0;

    /// Collectives on streams launch no more blocks than this, the same on all PEs.
    virtual void limit_blocks(unsigned blocks) = 0;

    /// Addresses for all slots; no memory yet.
    virtual void reserve(int n_slots, int my_slot) = 0;
    /// From slot to slot, which is as much as a slot can hold.
    virtual std::size_t stride() const noexcept = 0;
    virtual char* slot(int i) const noexcept = 0;
    /// One more chunk in this PE's slot; what is returned lets the others map it.
    virtual common::Fd extend(std::size_t bytes) = 0;
    /// The last chunk, of another PE's slot.
    virtual void map_peer(int slot, const common::Fd& chunk) = 0;
    /// Takes the last chunk back, as far as it was mapped.
    virtual void withdraw() noexcept = 0;

    /// The allocations side by side that a range lies in, all of them whole. Throws Error(invalid_argument)
    /// where it does not lie in such as `adopt` takes.
    virtual DeviceRange enclosing(const void* memory, std::size_t bytes) const {
        return {static_cast<const char*>(memory), bytes};
    }
    /// The sizes of the allocations that a range consists of.
    virtual std::vector<std::size_t> parts(const void*, std::size_t bytes) const { return {bytes}; }
    /// Memory of this GPU that exists already, a whole allocation, at `offset` of this PE's slot too; what is
    /// returned lets the others map it. Throws also Error(invalid_argument) for memory that cannot be shared
    /// so.
    virtual common::Fd adopt(std::size_t offset, const void* memory, std::size_t bytes) = 0;
    /// What another PE adopted, in its slot.
    virtual void map_view(int slot, std::size_t offset, std::size_t bytes, const common::Fd& memory) = 0;
    /// Takes a view out of all slots, as far as it was mapped.
    virtual void unmap_view(std::size_t offset) noexcept = 0;

    /// Makes whole pages of the host visible to this GPU, as long as this object lives; returns where kernels
    /// find them.
    virtual void* show(void* pages, std::size_t bytes) = 0;
    /// The end of that. May wait for kernels.
    virtual void hide(void* pages) noexcept = 0;

    /// Between any two of: the window, other memory of GPUs, memory of the host.
    virtual void copy(void* dst, const void* src, std::size_t bytes) = 0;
    virtual void fill(void* dst, unsigned char value, std::size_t bytes) = 0;
    /// Begins a copy by an engine, which kernels that fill the GPU do not hold up.
    virtual void begin_copy(void* dst, const void* src, std::size_t bytes, StreamHandle stream) {
        static_cast<void>(stream);
        copy(dst, src, bytes);
    }

    // ---- in the order of a stream: nothing is waited for, allocated or loaded. What one call did is visible
    // to every PE before the next of its stream begins. Throws also Error(invalid_argument) for memory that
    // this GPU cannot reach by itself.
    /// Throws Error(invalid_argument) unless it is a stream of this GPU.
    virtual void check_stream(StreamHandle stream) const = 0;
    /// It is being captured in a CUDA graph.
    virtual bool is_capturing(StreamHandle stream) const = 0;
    virtual void start(const DeviceCall& call, StreamHandle stream) = 0;
    /// On a stream of this object's own, and complete on return: what stood in the word before.
    virtual std::uint64_t run_word(WordCall call) = 0;
    /// A stream that waits for no other, nor any for it, as long as this object lives.
    virtual StreamHandle make_stream() = 0;
    /// What was started on it is done.
    virtual void finish(StreamHandle stream) = 0;
    /// Memory of the host that kernels reach, as long as this object lives.
    virtual void* pin(std::size_t bytes) = 0;
    /// What networks wrote into this memory before is visible to everybody.
    virtual void show_network_puts() {}
    /// For libraries that look for the calling thread's current GPU: it is this one from now on.
    virtual void make_current() const {}

    /// False for ordinary memory of the host. Throws Error(invalid_argument) for memory of another GPU.
    virtual bool reaches(const void* address) const = 0;
    /// Memory of this or another GPU that the host cannot load and store.
    virtual bool is_on_gpu(const void* address) const = 0;
    /// Throws Error(invalid_argument): ordinary host memory would stop the host, or the kernel.
    void check_local(const void* address) const {
        if (!reaches(address))
            throw Error(
                ErrorCode::invalid_argument,
                "Operations on a stream need local memory that the GPU reaches by itself: the device heap, "
                "cudaMalloc, or pinned host memory (cudaMallocHost, Job::pin); " +
                    common::address_text(address) + " is none of them.");
    }
};

/// What libatoll_cuda.so shows, under `device_plugin_symbol`. Both sides must be of one release: no interface
/// is promised between them.
struct DevicePlugin {
    const char* release;  ///< ATOLL_VERSION
    std::unique_ptr<DeviceHeap> (*open)(const DeviceChoice& choice);
    const char* built;  ///< for people: "CUDA 13.0, kernels for sm_90"
};
inline constexpr const char* device_plugin_symbol = "atoll_device_plugin";

}  // namespace atl::heap
