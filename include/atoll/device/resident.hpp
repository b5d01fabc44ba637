// What one PE may take of a GPU that several PEs use at once, by the number of the GPU within this process.
// Defined in libatoll.so.
#pragma once

namespace atl::detail {

/// PEs of the job that run on this GPU at once; 1 before the first allocation of device memory.
int pes_at_once(int gpu) noexcept;
/// Of `blocks` that the GPU can run at once, those that this PE's kernels may have. 0: not even one.
int resident_share(int gpu, int blocks) noexcept;
/// Says on standard error why a grid of `blocks` is refused; the GPU can run `whole` such blocks at once.
void say_grid_refused(int gpu, unsigned long long blocks, unsigned threads, int whole);

}  // namespace atl::detail
