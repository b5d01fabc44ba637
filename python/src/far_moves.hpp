// Arrays of any strides in symmetric memory that this process does not load and store: GPUs', other hosts'.
// Each call of the library takes microseconds, whatever it moves, so few calls move all.
#pragma once

#include "stream_cache.hpp"
#include "transfer.hpp"

namespace atl::python {

/// Between symmetric memory of `pe` and local memory; strides in bytes, any sign; a source's stride of 0
/// repeats.
struct FarTransfer {
    char* far;
    const npy_intp* far_strides;
    char* near;
    const npy_intp* near_strides;
    const npy_intp* dims;
    int nd;
    std::size_t item;
    int pe;
    bool put;
    bool near_on_host;
};
/// All of `far`; `near_strides` are those through its shape.
FarTransfer whole(PyArrayObject* far, char* near, const npy_intp* near_strides, int pe, bool put,
                  bool near_on_host) noexcept;
/// Returns as put and get of the context do. Gives the GIL away for large ones.
void move_far(const Context& ctx, const FarTransfer& t);
/// The same where `far` is any address in the window of device heaps: of this PE's slot, of another's or,
/// along an axis, of several. `ctx` is the default one, and the near memory the host's.
void move_in_window(const Context& ctx, const FarTransfer& t);
/// Enqueued; near memory is the GPU's, or pinned.
void move_on_stream(const StreamContext& stream, const FarTransfer& t);
std::size_t bytes_of(const FarTransfer& t) noexcept;

}  // namespace atl::python
