// JobView: a job as its GPU memory sees it. `core` implements it.
#pragma once

#include "atoll/detail/window.hpp"
#include "bootstrap/host/hosts.hpp"
#include "common/board/board.hpp"
#include "common/settings/settings.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atl::device {
struct Watch;
}

namespace atl::gpu {

/// Properties of a job and this PE that do not change. All references outlive the device heap.
struct JobFacts {
    int pe = 0;
    int n_pes = 1;
    const common::Settings& settings;
    const bootstrap::Hosts& hosts;
    const detail::Window& window;            ///< the host heaps
    const std::vector<detail::Slot>& slots;  ///< by world PE; none: of another domain
    const common::BoardView& board;
    transport::Transport* transport;  ///< null if the window reaches every PE
    bool everything_routed;           ///< ATOLL_TRANSPORT is forced although the window reaches every PE
};

/// The calls on a job that GPU memory needs. `exchange`, `agree_on_buffer` and `wait_like_a_start` are
/// collective over the world.
class JobView {
  public:
    /// The most bytes of a message of `exchange`.
    static constexpr std::size_t message_bytes = 48;

    virtual ~JobView() = default;
    virtual const JobFacts& facts() const noexcept = 0;
    /// Passes a message to all PEs; `exchanged` then returns that of each.
    virtual void exchange(const void* message, std::size_t bytes) = 0;
    virtual const void* exchanged(int pe) const = 0;
    /// Throws Error(collective_mismatch) on all PEs unless all register buffers of one size, in the same
    /// parts.
    virtual void agree_on_buffer(std::size_t bytes, std::size_t parts, std::uint64_t hash_of_parts) = 0;
    /// Waits until `ready` returns true. ATOLL_INIT_TIMEOUT bounds the wait.
    virtual void wait_like_a_start(const std::function<bool()>& ready) = 0;
    /// Ends the job because of an error on this PE.
    virtual void abort(const std::string& text) = 0;
    /// Sets the function that waiting device functions call if they run on the host.
    virtual void set_host_check(device::Watch& watch) = 0;
};

}  // namespace atl::gpu
