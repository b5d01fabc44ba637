// The operands of take, put_at and add_at: numbers of elements and PEs, of any shapes that broadcast
// together.
#pragma once

#include "gpu/device.hpp"
#include "pool/pool.hpp"

namespace atl::python {

/// Elements that are prefetched before their turn. An atomic addition waits for its cache line, and so would
/// the next one (docs/measurements/2026-11-27-arrays-on-hosts.md).
constexpr std::size_t prefetched_ahead = 24;

/// Calls of so many elements release the GIL.
constexpr std::size_t releases_gil_from = 16 * 1024;

/// One operand: an array of 64-bit integers, or one number for all elements.
struct Integers {
    Ref held;
    const npy_int64* data = nullptr;  ///< null: `scalar` for all
    npy_int64 scalar = 0;

    npy_int64 operator[](std::size_t i) const noexcept { return data ? data[i] : scalar; }
};

/// The broadcast shape of several operands; expands each to it.
class Broadcast {
  public:
    void join(PyArrayObject* array);
    bool fits() const noexcept { return fits_; }
    int nd() const noexcept { return nd_; }
    const npy_intp* dims() const noexcept { return dims_; }
    std::size_t size() const noexcept;
    bool is_shape_of(PyArrayObject* array) const noexcept;
    /// `array` itself if it is contiguous and of this shape, else a contiguous copy expanded to it.
    Ref spread(Ref array) const;

  private:
    int nd_ = 0;
    npy_intp dims_[NPY_MAXDIMS] = {};
    bool fits_ = true;
};

/// An operand as an int64 array; throws for other types than integers.
Ref integer_array(const Spec& spec, const char* which, PyObject* value);
/// Expands an operand to `shape.size()` elements, more than 0.
Integers integers_of(const Broadcast& shape, Ref array);
[[noreturn, gnu::cold]] void fail_broadcast(const Spec& spec, PyArrayObject* index, PyArrayObject* pe,
                                            PyArrayObject* values);
/// Throws IndexError unless all are elements of the array.
void check_indices(const Spec& spec, const char* which, PyArrayObject* array, const Integers& index,
                   std::size_t n);
/// Throws PeError unless all are PEs of the team; returns the lowest number.
npy_int64 check_pes(const Spec& spec, const Context& ctx, const Integers& pe, std::size_t n);
/// The values of put_at and add_at: an array of the target's dtype, or one number.
Ref values_of(const Spec& spec, PyArrayObject* dst, PyObject* value);

// ---- with a GPU: the functions check all arguments
PyObject* take_on_device(const Spec& spec, const Context& ctx, const Arguments<7>& a);
/// put_at, or add_at of elements of `type`.
void scatter_on_device(const Spec& spec, const Context& ctx, const Arguments<7>& a, bool adds, DType type);

}  // namespace atl::python
