// Transport: access to PEs outside the window, by bytes, offsets and (operation, type). A few virtual
// functions of each role serve all operations of the API.
#pragma once

#include "transport/atomics.hpp"
#include "transport/contexts.hpp"
#include "transport/device_heaps.hpp"
#include "transport/movement.hpp"
#include "transport/progress.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace atl::transport {

/// All roles of a route to other PEs, its capabilities and its lifetime. Thread-safe. A permanent failure
/// throws Error(pe_died) that names the PE.
class Transport : public Contexts, public Movement, public Atomics, public Progress, public DeviceHeaps {
  public:
    virtual std::string_view name() const = 0;
    virtual bool reaches(int pe) const = 0;
    /// A human-readable description; may be empty.
    virtual std::string note() const { return {}; }

    /// By default a put, a fence and an atomic.
    void put_signal(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
                    const Signal& signal, Completion) override;
    /// Gives pages of this PE's own slot back to the system. Calls `release_pages(begin, end)` for ranges
    /// that no device accesses without the page tables, and prevents such access during the call. Other
    /// ranges keep their pages.
    virtual void release(std::uint64_t begin, std::uint64_t end,
                         const std::function<void(std::uint64_t, std::uint64_t)>& release_pages) {
        release_pages(begin, end);
    }
    /// Connects to all PEs now rather than at first use. Throws Error(bootstrap, pe_died).
    virtual void connect_all() {}
    /// Call before the last collective: from now on the end of a PE's connection is not its death.
    virtual void expect_end() {}
    /// Call after the last collective, or instead of it. Sends pending messages within bounded time and stops
    /// serving other PEs. Later operations throw Error(not_initialized).
    virtual void close() noexcept {}
};

}  // namespace atl::transport
