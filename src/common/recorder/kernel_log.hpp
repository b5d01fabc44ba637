// KernelLog: the events of a PE's kernels on the job board (atoll/device/detail/trace_log.hpp), for the host.
// They remain when the PE is killed.
#pragma once

#include "atoll/device/detail/trace_log.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace atl::common {

/// The processor of a log's kernels.
enum class Processor : std::uint8_t { cpu, gpu };
inline constexpr std::size_t kernel_log_kinds = 2;

/// An event of a kernel. Times are of CLOCK_MONOTONIC.
struct KernelEvent {
    std::string name;   ///< name of a range; empty for an operation
    int operation = 0;  ///< device::Operation
    std::uint64_t began = 0, ended = 0;
    std::uint64_t bytes = 0, offset = 0, value = 0;
    std::int32_t peer = -1;
    std::uint32_t block = 0, thread = 0;
    std::uint64_t grid = 0;
    Processor processor = Processor::cpu;
};

/// A copy of a log.
struct KernelLogCopy {
    std::vector<KernelEvent> events;  ///< in no order
    std::uint64_t dropped = 0;
    int gpu = -1;                      ///< the GPU's number in the PE's process
    std::uint64_t clock_error_ns = 0;  ///< between its clock and the host's
    bool clock_is_assumed = false;
};

/// A log in shared memory.
class KernelLog {
  public:
    KernelLog(void* memory, std::uint64_t most) : memory_(memory), most_(most) {}

    device::TraceLog& header() const { return *static_cast<device::TraceLog*>(memory_); }
    device::TraceRecord* records() const { return reinterpret_cast<device::TraceRecord*>(&header() + 1); }
    std::uint64_t most() const { return most_; }
    void* memory() const { return memory_; }
    /// Lets kernels on this process's CPU write the log, behind the records of its earlier jobs.
    void open_for_cpu() const {
        header().sink.records = records();
        header().sink.most = most_;
    }

    static constexpr std::size_t page_bytes = 65536;  ///< size of the largest pages in use
    static constexpr std::size_t whole_pages(std::size_t bytes) {
        return (bytes + page_bytes - 1) / page_bytes * page_bytes;
    }
    static constexpr std::size_t bytes(std::uint64_t most) {
        return whole_pages(sizeof(device::TraceLog) + sizeof(device::TraceRecord) * most);
    }
    /// Any process of the host may call it at any moment.
    KernelLogCopy read(Processor processor) const;

  private:
    void* memory_;
    std::uint64_t most_;
};

}  // namespace atl::common
