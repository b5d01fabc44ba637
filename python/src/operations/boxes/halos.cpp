// The exchange of halos on hosts: all signals and puts of one exchange in one call.
#include "calls/registry.hpp"
#include "operations/signal_puts.hpp"

namespace atl::python {
namespace {

Spec start_spec, finish_spec;

/// A neighbour of atoll.arrays._halo: (pe, here, there, source, target).
struct Neighbour {
    PyObject *pe, *here, *there, *source, *target;

    explicit Neighbour(PyObject* row)
        : pe(PyTuple_GetItem(row, 0)),
          here(PyTuple_GetItem(row, 1)),
          there(PyTuple_GetItem(row, 2)),
          source(PyTuple_GetItem(row, 3)),
          target(PyTuple_GetItem(row, 4)) {
        if (PyErr_Occurred()) throw Raised{};
    }
};

/// Calls `visit` with each neighbour of a list.
template <class Visit> void for_each_neighbour(PyObject* list, Visit&& visit) {
    const Py_ssize_t n = PyList_Size(list);
    if (n < 0) throw Raised{};
    for (Py_ssize_t i = 0; i < n; ++i) visit(Neighbour(PyList_GetItem(list, i)));
}

std::uint64_t count_of(const Spec& spec, PyObject* count) {
    return static_cast<std::uint64_t>(integer(spec, "count", count));
}

/// (neighbours, ready, arrived, count, ctx)
PyObject* start_body(const Arguments<5>& a) {
    const Context& ctx = context_of(start_spec, a[4], nullptr);
    const std::uint64_t count = count_of(start_spec, a[3]);
    for_each_neighbour(a[0], [&](const Neighbour& neighbour) {
        const int pe = pe_of(start_spec, neighbour.pe);
        std::uint64_t* const word = signal_word(start_spec, a[1], neighbour.there);
        ctx.signal_add(word, 1, pe);
        core::note_signal(ctx.state(), word, 1, true, pe);
    });
    for_each_neighbour(a[0], [&](const Neighbour& neighbour) {
        ctx.signal_wait_until(signal_word(start_spec, a[1], neighbour.here), Compare::ge, count);
        PyArrayObject* const target = array_arg(start_spec, "target", neighbour.target);
        PyArrayObject* const source = array_arg(start_spec, "source", neighbour.source);
        const Extent extent = symmetric_arg(start_spec, "target", target, true);
        put_with_signal<true>(ctx, target, extent, source,
                              {signal_word(start_spec, a[2], neighbour.there), 1, SignalOp::add,
                               pe_of(start_spec, neighbour.pe)});
    });
    return none();
}

/// (neighbours, arrived, count)
PyObject* finish_body(const Arguments<3>& a) {
    const Context& ctx = context_of(finish_spec, nullptr, nullptr);
    const std::uint64_t count = count_of(finish_spec, a[2]);
    for_each_neighbour(a[0], [&](const Neighbour& neighbour) {
        ctx.signal_wait_until(signal_word(finish_spec, a[1], neighbour.here), Compare::ge, count);
    });
    return none();
}

const Function halo_functions[] = {
    {"_start_halo", entry<5, start_spec, start_body>,
     "(neighbours: Any, ready: Array, arrived: Array, count: int, ctx: Context | None) -> None",
     R"(Tell the neighbours that this PE's halo may be overwritten, and put the rims that they get.

Parameters
----------
neighbours
    A list of atoll.arrays._halo.Neighbour.
ready, arrived
    Signals, a word for each direction.
count
    The number of this exchange, from 1.
ctx
    A context of the array's team; None: the world's.)"},
    {"_finish_halo", entry<3, finish_spec, finish_body>,
     "(neighbours: Any, arrived: Array, count: int) -> None",
     R"(Wait for the rims that the neighbours put.

Parameters
----------
neighbours, arrived, count
    As for _start_halo.)"},
};

}  // namespace

void register_halos(PyObject* module) { register_functions(module, halo_functions); }

}  // namespace atl::python
