// The parts of put_signal that halos share: the word of a signal, and the put of a checked array of the host.
#pragma once

#include "arrays/array_arguments.hpp"
#include "arrays/special_types.hpp"
#include "arrays/transfer.hpp"
#include "core/context/update_notes.hpp"
#include "core/team/context_state.hpp"

#include <cstdint>

namespace atl::python {

/// The word of signals that an argument and `index=` name; checked.
inline std::uint64_t* signal_word(const Spec& spec, PyObject* object, PyObject* index) {
    PyArrayObject* array = array_arg(spec, "sig", object);
    const DTypeRow& row = row_of(array);
    if (!row.known || row.type != DType::uint64)
        fail(ErrorCode::dtype_mismatch,
             "%s(): sig has dtype %S; signals are uint64 words, as atoll.signal() makes them.", spec.name,
             dtype_name(array).get());
    check_dtype(spec, "sig", array);
    return reinterpret_cast<std::uint64_t*>(symmetric_element(spec, "sig", array, index, true));
}

/// One change of a signal word on a PE of the context's team.
struct SignalUpdate {
    std::uint64_t* word;
    std::uint64_t value;
    SignalOp op;
    int pe;
};

/// Copies src, of dst's shape and dtype, to dst on the PE of the update, then updates the signal. `extent` is
/// dst's.
template <bool blocking>
void put_with_signal(const Context& ctx, PyArrayObject* dst, const Extent& extent, PyArrayObject* src,
                     const SignalUpdate& s) {
    if (c_contiguous(dst) && c_contiguous(src)) {
        ReleaseGil released(extent.bytes >= release_gil_bytes);
        ctx.put_signal_bytes<blocking>(extent.low, PyArray_BYTES(src), extent.bytes, s.word, s.value, s.op,
                                       s.pe);
        core::note_signal(ctx.state(), s.word, s.value, s.op == SignalOp::add, s.pe);
        return;
    }
    const Strides near = strides_as(src, dst);
    ctx.check_pe(s.pe);
    atl::detail::Measured measured =
        measure_move(ctx, blocking ? "put_signal" : "put_signal_nbi", size_of(dst) * item_bytes(dst), s.pe);
    measured.set_subject(s.word, s.value);
    if (!blocking) core::note_context(measured, ctx.state());
    put_strided(ctx, {dst, extent, PyArray_BYTES(src), near.of, s.pe});
    ctx.fence();
    ctx.put_signal_bytes(nullptr, nullptr, 0, s.word, s.value, s.op, s.pe);
    core::note_signal(ctx.state(), s.word, s.value, s.op == SignalOp::add, s.pe);
}

}  // namespace atl::python
