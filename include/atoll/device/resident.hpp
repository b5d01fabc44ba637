// Shares of a GPU among PEs, by the GPU's number within this process. Defined in libatoll.so.
#pragma once

namespace atl::detail {

/// PEs of the job that run on this GPU at once; 1 before the first allocation of device memory.
int pes_at_once(int gpu) noexcept;
/// The part of `blocks` that this PE's kernels may use; the GPU fits `blocks` at once. 0: not even one.
int resident_share(int gpu, int blocks) noexcept;
/// Reports on standard error why a grid of `blocks` is refused. The GPU can run `whole` such blocks at once.
void say_grid_refused(int gpu, unsigned long long blocks, unsigned threads, int whole);

}  // namespace atl::detail
