// PEs of other hosts, by UCX.
//
// All is active messages, numbered by their sender for each PE and carried out by the PE that owns the
// memory, in that order. So every word has one owner: the process in whose slot it stands. Atomics from other
// hosts are done there with the same CPU instructions as those of its own host, and are atomic with them. One
// number that comes back, "carried out up to here", is what quiet of any context waits for.
#pragma once

#include "transport/transport.hpp"

#include <functional>
#include <memory>
#include <string>

namespace atl::transport {

/// Who carries out large puts and gets: UCX's own remote memory access, or messages.
enum class UcxRma : std::uint8_t {
    automatic,  ///< UCX's own to those PEs whose network does it without the target's CPU
    on,         ///< UCX's own; UCX itself sends messages where the network does not do it
    device,     ///< the same, and device heaps where the network reaches GPUs' memory (GPUDirect RDMA)
    off,
};

struct UcxOptions {
    int pe = 0;
    int n_pes = 1;
    char* base = nullptr;                ///< this PE's slot, which offsets count from
    std::size_t bytes = 0;               ///< of the slot
    std::shared_ptr<const void> memory;  ///< keeps the slot mapped, may be null
    std::string library;                 ///< path of libucp.so.0; empty: as library.hpp says
    bool progress_thread = true;
    UcxRma rma = UcxRma::automatic;
    std::size_t rma_bytes = std::size_t{8} << 10;  ///< from this size on; what a message copies never does
    /// Whether operations on `pe` go by this transport, so that connect_all connects to it; null: all do.
    std::function<bool(int pe)> carries;

    /// Makes this PE's address known, and finds another's, waiting until it is known.
    std::function<void(const std::string& address)> publish;
    std::function<std::string(int pe)> find;
    /// Waits slowly until `ready()`, which makes progress itself; throws when the wait is to end.
    std::function<void(const char* operation, int pe, const std::function<bool()>& ready)> wait;
    /// Whether the job has ended by an error, so that its end waits for nobody; null: it has not.
    std::function<bool()> is_over;
    /// The connection to `pe` is gone, and nobody has explained it for a second.
    std::function<void(int pe, const std::string& sentence)> lost;
};

/// Local. Throws Error(unsupported) naming what was looked for where there is no UCX, Error(system) where UCX
/// cannot use a network.
std::unique_ptr<Transport> create_ucx(UcxOptions options);

/// The UCX that a job would use, for people: "UCX 1.13.1 (/usr/lib/…/libucp.so.0)". Throws as create_ucx
/// does.
std::string describe_ucx(const std::string& library);

}  // namespace atl::transport
