// KernelTracks: the events inside a PE's kernels, a track for each block.
#pragma once

#include "common/board/board.hpp"
#include "common/recorder/kernel_log.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace atl::cli {

struct KernelSlice {
    std::string name;                    ///< name of the operation or the range
    std::uint16_t operation = 0;         ///< number in the table of events; 0: a range
    std::uint64_t began = 0, ended = 0;  ///< ns of CLOCK_MONOTONIC
    std::uint64_t bytes = 0, offset = 0, value = 0;
    std::int32_t peer = -1, gpu = -1;  ///< gpu: as the PE's process counts, -1: a CPU
    std::uint32_t block = 0, track = 0;

    bool is_range() const { return operation == 0; }
};

struct KernelTracks {
    std::vector<std::string> titles;  ///< by track
    /// By track, in the order of their begins. A slice that contains another comes before it.
    std::vector<KernelSlice> slices;
    std::uint64_t dropped = 0;
    int gpu = -1;                      ///< the GPU whose clock was compared; -1: none
    std::uint64_t clock_error_ns = 0;  ///< possible error of that clock
    bool clock_is_assumed = false;     ///< it was not read, but taken for CLOCK_REALTIME
};

/// The events in the logs of a PE's kernels.
KernelTracks kernel_tracks_of(const common::BoardView& board, int pe);
/// True for waits for other PEs, a barrier or a message.
bool is_kernel_wait(const KernelSlice& slice);
/// True for an operation that sets or increases the word at `offset` of its peer.
bool sets_kernel_word(const KernelSlice& slice);
/// True for a wait for the word at `offset`.
bool awaits_kernel_word(const KernelSlice& slice);

}  // namespace atl::cli
