// Moves arrays of any strides in symmetric memory that this process cannot load and store: memory of GPUs and
// of other hosts. Each call of the library costs microseconds at any size, so few calls move everything.
#pragma once

#include "atoll/stream.hpp"

#include "arrays/transfer.hpp"

namespace atl::python {

/// A move between symmetric memory of `pe` and local memory. Strides are in bytes, of any sign; a source's
/// stride of 0 repeats.
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
/// A move of all of `far`; `near_strides` are the local strides for its shape.
FarTransfer whole(PyArrayObject* far, char* near, const npy_intp* near_strides, int pe, bool put,
                  bool near_on_host) noexcept;
/// Moves like put and get of the context. Releases the GIL for large moves.
void move_far(const Context& ctx, const FarTransfer& t);
/// Like move_far, but `far` may be at any address in the window of device heaps. It may be in this PE's slot,
/// in another's or, along an axis, in several. `ctx` must be the default context, and the near memory the
/// host's.
void move_in_window(const Context& ctx, const FarTransfer& t);
/// Enqueues the move; near memory is the GPU's, or pinned.
void move_on_stream(const StreamContext& stream, const FarTransfer& t);
std::size_t bytes_of(const FarTransfer& t) noexcept;

}  // namespace atl::python
