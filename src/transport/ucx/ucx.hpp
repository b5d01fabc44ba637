// The transport to PEs of other hosts, over UCX.
//
// All operations are active messages. Their sender numbers them for each PE; the owner of the memory carries
// them out in that order. Every word is thus accessed by one process, the owner of its slot. That process
// carries out remote atomics by the same CPU instructions as local ones, so both are atomic to each other.
// Acknowledgements carry one number, "carried out up to here"; quiet of any context waits for it.
#pragma once

#include "common/settings/settings.hpp"
#include "transport/transport.hpp"

#include <functional>
#include <memory>
#include <string>

namespace atl::transport {

using common::UcxRma;

/// Memory of several parts that come and go, in place of a PE's slot. Only puts reach it.
class Parts {
  public:
    virtual ~Parts() = default;
    /// Carries out a put of another PE, then sets the word at `signal` (null: none). Called by one thread at
    /// a time. Ignores a part that is gone: messages to it may arrive late.
    virtual void put(std::uint64_t offset, const char* data, std::size_t bytes, const Signal* signal) = 0;
};

struct UcxOptions {
    int pe = 0;
    int n_pes = 1;
    char* base = nullptr;                ///< this PE's slot, which offsets count from
    std::size_t bytes = 0;               ///< size of the slot
    std::shared_ptr<const void> memory;  ///< keeps the slot mapped, may be null
    Parts* parts = nullptr;              ///< in place of the slot, without RMA; outlives the transport
    std::string library;                 ///< path of libucp.so.0; empty: as library.hpp says
    bool progress_thread = true;
    UcxRma rma = UcxRma::automatic;
    std::size_t rma_bytes = std::size_t{8} << 10;  ///< smallest transfer by RMA
    /// True if operations on `pe` use this transport, so that connect_all connects to it. Null: all do.
    std::function<bool(int pe)> carries;

    /// Publishes this PE's address, and finds that of another PE, for which it may wait.
    std::function<void(const std::string& address)> publish;
    std::function<std::string(int pe)> find;
    /// Waits, with sleeps, until `ready()`, which makes progress itself. Throws when the wait is to end.
    std::function<void(const char* operation, int pe, const std::function<bool()>& ready)> wait;
    /// True if the job has ended by an error; then its end does not wait for other PEs. Null: it has not.
    std::function<bool()> is_over;
    /// Called if the connection to `pe` is lost and no explanation came within `explain_ns`. With `parts`
    /// also called when that PE closes its transport, because no job tells its end.
    std::function<void(int pe, const std::string& sentence)> lost;
    std::uint64_t explain_ns = 1'000'000'000;  ///< gives a monitor of the PEs time for a better error
};

/// Creates the transport. Local. Throws Error(unsupported) with the attempts if there is no UCX, and
/// Error(system) if UCX cannot use a network.
std::unique_ptr<Transport> create_ucx(UcxOptions options);

/// A description of the UCX that a job would use: "UCX 1.13.1 (/usr/lib/…/libucp.so.0)". Throws as create_ucx
/// does.
std::string describe_ucx(const std::string& library);

}  // namespace atl::transport
