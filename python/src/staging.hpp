// What collectives take: any array. Those that are not contiguous are staged through one that is.
#pragma once

#include "core/elements.hpp"
#include "pool.hpp"
#include "stream_cache.hpp"

#include <utility>

namespace atl::python {

/// Throws for an array of a GPU, whose elements only the GPU could bring together.
inline void check_may_stage(const Spec& spec, const char* which, PyArrayObject* array) {
    if (on_device(array)) [[unlikely]]
        fail(ErrorCode::unsupported,
             "%s(): %s is a view of an array of a GPU that is not contiguous; collectives take contiguous "
             "ones: "
             "copy it into one.",
             spec.name, which);
}

/// A contiguous view of an array that a collective reads.
class SourceStage {
  public:
    SourceStage(const Spec& spec, const char* which, PyArrayObject* array) : array_(array) {
        check_readable(spec, which, array);
        check_dtype(spec, which, array);
        if (!c_contiguous(array)) [[unlikely]] {
            check_may_stage(spec, which, array);
            copy_ = Ref(PyArray_NewCopy(array, NPY_CORDER));
            array_ = copy_.array();
        }
    }
    char* data() const noexcept { return PyArray_BYTES(array_); }
    std::size_t size() const noexcept { return size_of(array_); }
    std::size_t bytes() const noexcept { return size() * item_bytes(array_); }
    PyArrayObject* array() const noexcept { return array_; }

  private:
    PyArrayObject* array_;
    Ref copy_;
};

/// Memory that a collective writes; `finish` brings it into the array where that is strided.
class TargetStage {
  public:
    TargetStage(const Spec& spec, const char* which, PyArrayObject* array) : array_(array) {
        check_writeable(spec, which, array);
        check_dtype(spec, which, array);
        if (!c_contiguous(array)) [[unlikely]] {
            check_may_stage(spec, which, array);
            copy_ = Ref(PyArray_NewLikeArray(array, NPY_CORDER, nullptr, 0));
        }
    }
    char* data() const noexcept { return PyArray_BYTES(copy_ ? copy_.array() : array_); }
    std::size_t size() const noexcept { return size_of(array_); }
    std::size_t bytes() const noexcept { return size() * item_bytes(array_); }
    void finish() {
        if (copy_ && PyArray_CopyInto(array_, copy_.array()) < 0) throw Raised{};
    }

  private:
    PyArrayObject* array_;
    Ref copy_;
};

/// A new ordinary array of `like`'s dtype.
inline Ref new_array(PyArrayObject* like, int nd, const npy_intp* dims) {
    PyArray_Descr* descr = PyArray_DESCR(like);
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
    return Ref(PyArray_NewFromDescr(g.ndarray, descr, nd, dims, nullptr, nullptr, 0, nullptr));
}

/// True for a number or a sequence of numbers, which stand for an array.
bool is_values(PyObject* value);
/// Sizes of a collective's dst and src. One number as src fills dst's shape where they are equal, else it is
/// one element.
enum class Sizes { differ, equal };
/// That array: of dst's dtype; of NumPy's choice where dst is null.
[[gnu::cold]] Ref values_for(const Spec& spec, PyObject* value, PyArrayObject* dst, Sizes sizes);

/// The arguments `(dst, src)` or `(src,)` of a collective.
struct Pair {
    PyArrayObject* dst = nullptr;  ///< null: the result is a new array
    PyArrayObject* src = nullptr;
    Ref held;  ///< src, where a number or a list was passed: the array that it stands for

    void take_src(const Spec& spec, PyObject* value, Sizes sizes) {
        if (!is_array(value) && is_values(value)) [[unlikely]] {
            held = values_for(spec, value, dst, sizes);
            value = held.get();
        }
        src = array_arg(spec, "src", value);
    }
    /// Where a GPU is concerned, both arrays are needed, symmetric and on it, also where a PE's own would not
    /// be looked at.
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
            // On a stream the core takes memory that the GPU reaches, and says where it does not.
            if (given(stream) && is_ordinary_of_gpu(array, extent.low)) continue;
            check_symmetric(spec, which, array, extent.low, extent.bytes);
            check_place_of_next(spec, which, extent.low, team);
        }
        const Extent to = extent_of(dst);
        check_use(spec, team, to.low, extent_of(src).low, to.bytes);
        if (!given(stream)) finish_current(adopted);
    }
    /// A new array as the caller gets it: a number for a number.
    PyObject* result(Ref made) const {
        if (!made) return none();
        return held ? PyArray_Return(reinterpret_cast<PyArrayObject*>(made.release())) : made.release();
    }
};
/// `call(team)` on the team, or on the team's collectives on a stream, which are spelled alike. On the host,
/// other threads run meanwhile if much is moved.
template <class Call>
void on_team(const Spec& spec, const Team& team, PyObject* stream, const Adopted& adopted, std::size_t bytes,
             Call&& call) {
    if (given(stream)) [[unlikely]]
        return call(stream_team(team, stream_of(spec, stream, adopted)));
    ReleaseGil released(bytes >= release_gil_bytes);
    call(team);
}

/// The dtype of `array`, as members of a team compare it.
inline std::uint64_t elements_of(PyArrayObject* array) {
    return core::elements_of(PyArray_DESCR(array)->kind, static_cast<std::uint32_t>(item_bytes(array)));
}

inline Pair pair_of(const Spec& spec, PyObject* first, PyObject* second, Sizes sizes) {
    Pair pair;
    if (given(second)) pair.dst = array_arg(spec, "dst", first);
    pair.take_src(spec, given(second) ? second : first, sizes);
    return pair;
}

}  // namespace atl::python
