// Pair: the arrays `dst` and `src` of a collective. They may be any arrays.
#pragma once

#include "arrays/staging.hpp"
#include "gpu/stream_cache.hpp"
#include "pool/pool.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace atl::python {

/// The arguments `(dst, src)` or `(src,)` of a collective.
struct Pair {
    PyArrayObject* dst = nullptr;  ///< null: the result is a new array
    PyArrayObject* src = nullptr;
    Ref held;  ///< the array made for src if a number or a list was passed

    void take_src(const Spec& spec, PyObject* value, Sizes sizes) {
        if (!is_array(value) && is_values(value)) [[unlikely]] {
            held = values_for(spec, value, dst, sizes);
            value = held.get();
        }
        src = array_arg(spec, "src", value);
    }
    /// The dtype of the call, as members compare it.
    std::uint64_t elements() const { return elements_of(src != nullptr ? src : dst); }
    /// Makes a new array as dst, of src's dtype, unless one was passed. Empty if one was.
    Ref make_dst(int nd, const npy_intp* dims) {
        if (dst != nullptr) return {};
        Ref made = new_array(src, nd, dims);
        dst = made.array();
        return made;
    }
    Ref make_dst_like_src() { return make_dst(PyArray_NDIM(src), PyArray_DIMS(src)); }
    /// With GPU arrays, both arrays must be passed, symmetric and on the GPU, even on PEs that do not use one
    /// of them.
    void check_on_device(const Spec& spec, const Team& team, const Adopted& adopted, PyObject* stream) const {
        if (!is_device_call(adopted, stream)) return;
        if (src == nullptr || dst == nullptr)
            fail(ErrorCode::unsupported,
                 "%s(): with arrays of a GPU pass both, (dst, src, ...), on every PE; nothing is allocated "
                 "for "
                 "the result.",
                 spec.name);
        for (const auto& [which, array] : {std::pair{"dst", dst}, std::pair{"src", src}}) {
            if (!python::on_device(array)) fail_on_host(spec, which, array);
            const Extent extent = extent_of(array);
            // On a stream the core accepts any memory that the GPU can access, and reports other memory.
            if (given(stream) && is_ordinary_of_gpu(array, extent.low)) continue;
            check_symmetric(spec, which, array, extent.low, extent.bytes);
            check_pool_block_of_next(spec, which, extent.low, team);
        }
        const Extent to = extent_of(dst);
        check_use(spec, team, to.low, extent_of(src).low, to.bytes);
        if (!given(stream)) finish_current(adopted);
    }
    /// Converts a new array for the caller: to a number if a number was passed.
    PyObject* result(Ref made) const {
        if (!made) return none();
        return held ? PyArray_Return(reinterpret_cast<PyArrayObject*>(made.release())) : made.release();
    }
};

/// Memory of an array that a collective uses; null if it uses none.
struct Bytes {
    char* data = nullptr;
    std::size_t size = 0;
};

/// The contiguous memory of the arrays of a Pair that are not null.
class Stages {
  public:
    Stages(const Spec& spec, const Pair& pair) {
        if (pair.src != nullptr) source_.emplace(spec, "src", pair.src);
        if (pair.dst != nullptr) target_.emplace(spec, "dst", pair.dst);
    }
    Bytes source() const { return source_ ? Bytes{source_->data(), source_->bytes()} : Bytes{}; }
    Bytes target() const { return target_ ? Bytes{target_->data(), target_->bytes()} : Bytes{}; }
    std::size_t bytes() const { return std::max(source().size, target().size); }
    /// The array that is read: src, or its contiguous copy. Null if src is not used.
    PyObject* read() const { return source_ ? reinterpret_cast<PyObject*>(source_->array()) : nullptr; }
    /// Copies the results to a strided dst.
    void finish() {
        if (target_) target_->finish();
    }

  private:
    std::optional<SourceStage> source_;
    std::optional<TargetStage> target_;
};

/// Calls `call(team)` with the team, or with the team's collectives on a stream, which have the same members.
/// On the host, large moves release the GIL.
template <class Call>
void on_team(const Spec& spec, const Team& team, PyObject* stream, const Adopted& adopted, std::size_t bytes,
             Call&& call) {
    if (given(stream)) [[unlikely]]
        return call(stream_team(team, stream_of(spec, stream, adopted)));
    ReleaseGil released(bytes >= release_gil_bytes);
    call(team);
}

inline Pair pair_of(const Spec& spec, PyObject* first, PyObject* second, Sizes sizes) {
    Pair pair;
    if (given(second)) pair.dst = array_arg(spec, "dst", first);
    pair.take_src(spec, given(second) ? second : first, sizes);
    return pair;
}

}  // namespace atl::python
