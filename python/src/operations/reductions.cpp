// Reductions and scans over the PEs of a team.
#include "calls/enums.hpp"
#include "calls/registry.hpp"
#include "operations/pair.hpp"
#include "operations/requests.hpp"

#include <utility>

namespace atl::python {
namespace {

template <ReduceOp O> Spec reduce_spec;
template <bool Inclusive> Spec scan_spec;
Spec any_spec, reduce_scatter_spec, scaled_spec, scaled_scatter_spec;

[[noreturn, gnu::cold]] void fail_type(const Spec& spec, PyArrayObject* array, const char* takes) {
    if (const SpecialType* special = special_type(PyArray_DESCR(array)))
        fail(ErrorCode::dtype_mismatch, "%s(): src has dtype %s; this takes %s.", spec.name, special->name,
             takes);
    fail(ErrorCode::dtype_mismatch, "%s(): src has dtype %S; this takes %s.", spec.name,
         reinterpret_cast<PyObject*>(PyArray_DESCR(array)), takes);
}

constexpr const char* averaged_types = "float16, float32, float64 and long double; on a GPU bfloat16, too";

/// The element type; throws if the operator is undefined for it.
DType type_for(const Spec& spec, PyArrayObject* array, ReduceOp op) {
    const bool on_gpu = on_device(array);
    const DTypeRow row = device_row_of(array);
    const char kind = row.type == DType::bfloat16 && row.known ? 'f' : PyArray_DESCR(array)->kind;
    if (op == ReduceOp::sum || op == ReduceOp::prod) {
        if (!row.known || kind == 'b') [[unlikely]]
            fail_type(
                spec, array,
                on_gpu
                    ? "integers, float16, bfloat16, float32, float64, complex64 and complex128"
                    : "integers, float16, float32, float64, long double, complex64 and complex128 (for bool: "
                      "and, or, xor)");
    } else if (op == ReduceOp::min || op == ReduceOp::max) {
        if (!row.known || kind == 'b' || kind == 'c') [[unlikely]]
            fail_type(spec, array,
                      on_gpu
                          ? "integers, float16, bfloat16, float32 and float64"
                          : "integers, float16, float32, float64 and long double (for bool: and, or, xor)");
    } else if (op == ReduceOp::avg) {
        if (!row.known || kind != 'f') [[unlikely]]
            fail_type(spec, array, averaged_types);
    } else if (!row.known || kind == 'f' || kind == 'c') [[unlikely]] {
        fail_type(spec, array, "integers and bool");
    }
    return row.type;
}

void check_pair(const Spec& spec, const Pair& pair) {
    if (!same_dtype(pair.dst, pair.src)) [[unlikely]]
        fail_dtypes(spec, "dst", pair.dst, "src", pair.src);
    if (!same_shape(pair.dst, pair.src)) [[unlikely]]
        fail_shapes(spec, "dst", pair.dst, "src", pair.src);
}

/// Runs `call(dst, src, count, type)` on contiguous memory of the host; the result is dst, or a new array.
template <class Call> PyObject* elementwise(const Spec& spec, Pair pair, ReduceOp op, Call&& call) {
    const DType type = type_for(spec, pair.src, op);
    Ref made = pair.make_dst_like_src();
    if (!made) check_pair(spec, pair);
    const SourceStage src(spec, "src", pair.src);
    TargetStage dst(spec, "dst", pair.dst);
    {
        ReleaseGil released(src.bytes() >= release_gil_bytes);
        call(dst.data(), src.data(), src.size(), type);
    }
    dst.finish();
    return pair.result(std::move(made));
}

/// A reduction on GPU arrays.
PyObject* reduce_on_device(const Spec& spec, const Team& team, const Pair& pair, ReduceOp op,
                           PyObject* stream, const Adopted& adopted, double factor = 1) {
    pair.check_on_device(spec, team, adopted, stream);
    check_pair(spec, pair);
    const DType type = type_for(spec, pair.src, op);
    const SourceStage src(spec, "src", pair.src);
    TargetStage dst(spec, "dst", pair.dst);
    if (given(stream)) {
        stream_team(team, stream_of(spec, stream, adopted))
            .reduce_scaled_erased(dst.data(), dst.size(), src.data(), src.size(), type, op, factor);
    } else {
        ReleaseGil released(src.bytes() >= release_gil_bytes);
        team.reduce_scaled_erased(dst.data(), src.data(), src.size(), type, op, factor);
    }
    return none();
}

/// Starts a reduction to every member, or to `root`.
PyObject* start_reduction(const Spec& spec, const Team& team, const Adopted& adopted, Pair pair, ReduceOp op,
                          int root = -1) {
    const DType type = type_for(spec, pair.src, op);
    Ref made;
    if (root >= 0 && team.my_pe() != root) {
        pair.dst = nullptr;
    } else {
        made = pair.make_dst_like_src();
        if (!made) check_pair(spec, pair);
    }
    const std::size_t item = item_bytes(pair.src);
    return start_request(spec, team, adopted, pair, std::move(made),
                         [&](const Requests& to, Bytes dst, Bytes src) {
                             const std::size_t n_dst = dst.size / item, n_src = src.size / item;
                             if (root < 0)
                                 to.reduce_erased(dst.data, n_dst, src.data, n_src, type, op);
                             else
                                 to.reduce_to_erased(dst.data, n_dst, src.data, n_src, type, op, root);
                         });
}

template <ReduceOp O> PyObject* reduce_body(const Arguments<5>& a) {
    const Spec& spec = reduce_spec<O>;
    const Team& team = team_of(spec, a[2]);
    if (only_starts(spec, a[4], a[3])) [[unlikely]]
        return start_reduction(spec, team, a.adopted, pair_of(spec, a[0], a[1], Sizes::equal), O);
    if (is_device_call(a.adopted, a[3])) [[unlikely]]
        return reduce_on_device(spec, team, pair_of(spec, a[0], a[1], Sizes::equal), O, a[3], a.adopted);
    return elementwise(spec, pair_of(spec, a[0], a[1], Sizes::equal), O,
                       [&](char* dst, const char* src, std::size_t n, DType type) {
                           team.reduce_erased(dst, src, n, type, O);
                       });
}

double factor_of(const Spec& spec, PyObject* value) {
    if (!PyFloat_Check(value) && !PyLong_Check(value))
        fail(ErrorCode::invalid_argument, "%s(): factor is %R; pass a number.", spec.name, value);
    const double factor = PyFloat_AsDouble(value);
    if (factor == -1 && PyErr_Occurred()) throw nb::python_error();
    return factor;
}

PyObject* scaled_body(const Arguments<5>& a) {
    const Team& team = team_of(scaled_spec, a[3]);
    const double factor = factor_of(scaled_spec, a[2]);
    Pair pair = pair_of(scaled_spec, a[0], a[1], Sizes::equal);
    if (is_device_call(a.adopted, a[4])) [[unlikely]] {
        // check the type: a factor needs one that has an average
        type_for(scaled_spec, pair.src, ReduceOp::avg);
        return reduce_on_device(scaled_spec, team, pair, ReduceOp::sum, a[4], a.adopted, factor);
    }
    return elementwise(scaled_spec, std::move(pair), ReduceOp::avg,
                       [&](char* dst, const char* src, std::size_t n, DType type) {
                           team.reduce_scaled_erased(dst, src, n, type, ReduceOp::sum, factor);
                       });
}

/// A scan, or a reduction to one PE, on GPU arrays: calls `call(team, dst, src, type)`.
template <class Call>
PyObject* on_gpu(const Spec& spec, const Team& team, const Pair& pair, ReduceOp op, PyObject* stream,
                 const Adopted& adopted, Call&& call) {
    pair.check_on_device(spec, team, adopted, stream);
    check_pair(spec, pair);
    const DType type = type_for(spec, pair.src, op);
    const SourceStage src(spec, "src", pair.src);
    TargetStage dst(spec, "dst", pair.dst);
    on_team(spec, team, stream, adopted, src.bytes(), [&](const auto& on) { call(on, dst, src, type); });
    return none();
}

template <bool Inclusive> PyObject* scan_body(const Arguments<4>& a) {
    const Spec& spec = scan_spec<Inclusive>;
    const Team& team = team_of(spec, a[2]);
    if (is_device_call(a.adopted, a[3])) [[unlikely]]
        return on_gpu(spec, team, pair_of(spec, a[0], a[1], Sizes::equal), ReduceOp::sum, a[3], a.adopted,
                      [](const auto& on, TargetStage& dst, const SourceStage& src, DType type) {
                          on.scan_erased(dst.data(), src.data(), src.size(), type, ReduceOp::sum, Inclusive);
                      });
    return elementwise(spec, pair_of(spec, a[0], a[1], Sizes::equal), ReduceOp::sum,
                       [&](char* dst, const char* src, std::size_t n, DType type) {
                           team.scan_erased(dst, src, n, type, ReduceOp::sum, Inclusive);
                       });
}

/// True for a source rather than an operator, which is a text or an atoll.ReduceOp.
bool is_list_or_number(PyObject* value) {
    if (PyUnicode_Check(value) || PyBytes_Check(value)) return false;
    return PyList_Check(value) || PyTuple_Check(value) || is_scalar(value);
}

/// The arguments (dst, src, op, root) or (src, op, root). Shifts the short form to the positions of the long
/// one.
struct Operands {
    PyObject* first;
    PyObject* second;
    PyObject* op;
    PyObject* root;
    Operands(PyObject* a, PyObject* b, PyObject* c, PyObject* d) : first(a), second(b), op(c), root(d) {
        if (second == nullptr || is_array(second) || is_list_or_number(second)) return;
        // Keywords fill op and root by name, so `second` was passed by position.
        if (op != nullptr) root = op;
        op = second;
        second = nullptr;
    }
};

PyObject* reduce_to(const Spec& spec, const Team& team, Pair pair, ReduceOp op, int root) {
    const DType type = type_for(spec, pair.src, op);
    const bool mine = team.my_pe() == root;
    Ref made;
    if (mine) {
        made = pair.make_dst_like_src();
        if (!made) check_pair(spec, pair);
    }
    const SourceStage src(spec, "src", pair.src);
    if (!mine) {
        ReleaseGil released(src.bytes() >= release_gil_bytes);
        team.reduce_to_erased(nullptr, 0, src.data(), src.size(), type, op, root);
    } else {
        TargetStage dst(spec, "dst", pair.dst);
        {
            ReleaseGil released(src.bytes() >= release_gil_bytes);
            team.reduce_to_erased(dst.data(), dst.size(), src.data(), src.size(), type, op, root);
        }
        dst.finish();
    }
    return pair.result(std::move(made));
}

PyObject* any_body(const Arguments<7>& a) {
    const Team& team = team_of(any_spec, a[4]);
    const Operands o(a[0], a[1], a[2], a[3]);
    const ReduceOp op = reduce_op_of(any_spec, o.op);
    Pair pair = pair_of(any_spec, o.first, o.second, Sizes::equal);
    if (only_starts(any_spec, a[6], a[5])) [[unlikely]]
        return start_reduction(any_spec, team, a.adopted, std::move(pair), op,
                               given(o.root) ? pe_within(any_spec, o.root, team.n_pes(), "root") : -1);
    if (is_device_call(a.adopted, a[5])) [[unlikely]] {
        if (!given(o.root)) return reduce_on_device(any_spec, team, pair, op, a[5], a.adopted);
        const int root = pe_within(any_spec, o.root, team.n_pes(), "root");
        return on_gpu(any_spec, team, pair, op, a[5], a.adopted,
                      [&](const auto& on, TargetStage& dst, const SourceStage& src, DType type) {
                          on.reduce_to_erased(dst.data(), dst.size(), src.data(), src.size(), type, op, root);
                      });
    }
    if (given(o.root))
        return reduce_to(any_spec, team, std::move(pair), op,
                         pe_within(any_spec, o.root, team.n_pes(), "root"));
    return elementwise(any_spec, std::move(pair), op,
                       [&](char* dst, const char* src, std::size_t n, DType type) {
                           team.reduce_erased(dst, src, n, type, op);
                       });
}

/// `starts`: starts the reduction without waiting; `factor` must then be 1.
template <int N>
PyObject* scatter(const Spec& spec, const Arguments<N>& a, Pair pair, ReduceOp op, double factor,
                  bool starts = false) {
    const Team& team = team_of(spec, a[3]);
    pair.check_on_device(spec, team, a.adopted, a[4]);
    const DType type = type_for(spec, pair.src, op);
    const npy_intp n = team.n_pes();
    Ref made;
    if (pair.dst == nullptr) {
        if (PyArray_NDIM(pair.src) == 0 || PyArray_DIMS(pair.src)[0] != n)
            fail(ErrorCode::shape_mismatch,
                 "%s(): the first axis of src must have length n_pes = %zd, a block for "
                 "each PE; use src.reshape(%zd, -1), or pass dst.",
                 spec.name, n, n);
        made = pair.make_dst(PyArray_NDIM(pair.src) - 1, PyArray_DIMS(pair.src) + 1);
    }
    if (!same_dtype(pair.dst, pair.src)) fail_dtypes(spec, "dst", pair.dst, "src", pair.src);
    if (starts)
        return start_request(spec, team, a.adopted, pair, std::move(made),
                             [&, item = item_bytes(pair.src)](const Requests& to, Bytes dst, Bytes src) {
                                 to.reduce_scatter_erased(dst.data, dst.size / item, src.data,
                                                          src.size / item, type, op);
                             });
    const SourceStage src(spec, "src", pair.src);
    TargetStage dst(spec, "dst", pair.dst);
    if (src.size() != dst.size() * static_cast<std::size_t>(n))
        fail(ErrorCode::shape_mismatch,
             "%s(): src has %zu elements, but n_pes = %zd blocks of dst's %zu are %zu.", spec.name,
             src.size(), n, dst.size(), dst.size() * static_cast<std::size_t>(n));
    on_team(spec, team, a[4], a.adopted, src.bytes(), [&](const auto& on) {
        on.reduce_scatter_scaled_erased(dst.data(), dst.size(), src.data(), src.size(), type, op, factor);
    });
    dst.finish();
    return pair.result(std::move(made));
}

PyObject* reduce_scatter_body(const Arguments<6>& a) {
    const Operands o(a[0], a[1], a[2], nullptr);
    const ReduceOp op = given(o.op) ? reduce_op_of(reduce_scatter_spec, o.op) : ReduceOp::sum;
    return scatter(reduce_scatter_spec, a, pair_of(reduce_scatter_spec, o.first, o.second, Sizes::differ), op,
                   1, only_starts(reduce_scatter_spec, a[5], a[4]));
}

PyObject* scaled_scatter_body(const Arguments<5>& a) {
    const double factor = factor_of(scaled_scatter_spec, a[2]);
    Pair pair = pair_of(scaled_scatter_spec, a[0], a[1], Sizes::differ);
    type_for(scaled_scatter_spec, pair.src, ReduceOp::avg);
    return scatter(scaled_scatter_spec, a, std::move(pair), ReduceOp::sum, factor);
}

#define ATOLL_REDUCE_SIGNATURE                                                                      \
    "(dst: AnyArray | ArrayLike, src: AnySource | None = None, *, team: Team | None = None, "       \
    "stream: Stream = None) "                                                                       \
    "-> Array | None\n"                                                                             \
    "(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None\n" \
    "(src: Array, *, team: Team | None = None) -> Array\n"                                          \
    "(src: ArrayLike, *, team: Team | None = None) -> Any"

#define ATOLL_STARTED_SIGNATURE                                                                        \
    "(dst: AnyArray | ArrayLike, src: AnySource | None = None, *, team: Team | None = None, "          \
    "stream: Stream = None, blocking: bool = True) "                                                   \
    "-> Array | Request | None\n"                                                                      \
    "(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None\n"    \
    "(src: Array, *, team: Team | None = None) -> Array\n"                                             \
    "(src: ArrayLike, *, team: Team | None = None) -> Any\n"                                           \
    "(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request\n" \
    "(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request"

#define ATOLL_SCALED_SIGNATURE                                                                            \
    "(dst: AnyArray, src: AnySource, factor: float, *, team: Team | None = None, stream: Stream = None) " \
    "-> None"

#define ATOLL_REDUCE_RETURNS                                                                              \
    "Returns\n-------\nArray, number or Request\n    The result of (src). None if dst was passed, and a " \
    "Request with blocking=False.\n\n"
#define ATOLL_SCAN_RETURNS \
    "Returns\n-------\nArray or number\n    The result of (src); None if dst was passed.\n\n"
#define ATOLL_REDUCE_DOC(what, types) ATOLL_REDUCE_TEXT(what, types, "", ATOLL_REDUCE_RETURNS)
#define ATOLL_SCAN_DOC(what, types) ATOLL_REDUCE_TEXT(what, types, "", ATOLL_SCAN_RETURNS)
#define ATOLL_REDUCE_TEXT(what, types, parameters, returns)                                                \
    what "\n\n"                                                                                            \
         "With (dst, src) the result is written into dst. With (src) it is returned as a new ordinary "    \
         "array,\n"                                                                                        \
         "or as a number if src is one. Collective over the team; on return dst is complete here and src " \
         "may\n"                                                                                           \
         "be changed. Completes no puts.\n\n"                                                              \
         "Parameters\n----------\n"                                                                        \
         "dst\n    Like src; it may be src itself.\n"                                                      \
         "src\n    An array of " types                                                                     \
         ".\n"                                                                                             \
         "    Any strides, symmetric (faster) or not; equal shape and dtype on all PEs.\n"                 \
         "team\n    The PEs that take part; None: all." parameters "\n\n" returns                          \
         "Raises\n------\n"                                                                                \
         "DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree\n"                                            \
         "CollectiveMismatch\n    Sizes or dtypes of the PEs differ; they are compared unless "            \
         "ATOLL_CHECK=none.\n\n"                                                                           \
         "Notes\n-----\n"                                                                                  \
         "Elements are combined in PE order, so that all PEs and all runs get the same bits. Halves are\n" \
         "combined in float32 and rounded once. Arrays of a GPU are symmetric and contiguous.\n\n"         \
         "Source: OpenSHMEM 1.6, section 9.11 (reductions)."

#define ATOLL_EXAMPLE(text) "\n\nExamples\n--------\n>>> " text

template <ReduceOp O> constexpr Function reduction(const char* name, const char* doc) {
    return {name, entry<5, reduce_spec<O>, reduce_body<O>>, ATOLL_STARTED_SIGNATURE, doc};
}

#define ATOLL_SUM_TYPES "integers, float16, float32, float64, long double or complex (on a GPU bfloat16, too)"
#define ATOLL_AVERAGED_TYPES "float16, float32, float64 or long double (on a GPU bfloat16, too)"
#define ATOLL_ORDERED_TYPES "integers, float16, float32, float64 or long double (on a GPU bfloat16, too)"

const Function reductions_functions[] = {
    reduction<ReduceOp::sum>("sum_reduce",
                             ATOLL_REDUCE_DOC("Sum over PEs, on every PE.", ATOLL_SUM_TYPES)
                                 ATOLL_EXAMPLE("bool(atoll.sum_reduce(1) == atoll.n_pes())\nTrue")),
    reduction<ReduceOp::prod>("prod_reduce",
                              ATOLL_REDUCE_DOC("Product over PEs, on every PE.", ATOLL_SUM_TYPES)),
    reduction<ReduceOp::min>("min_reduce",
                             ATOLL_REDUCE_DOC("Minimum over PEs, on every PE.", ATOLL_ORDERED_TYPES)),
    reduction<ReduceOp::max>(
        "max_reduce", ATOLL_REDUCE_DOC("Maximum over PEs, on every PE.", ATOLL_ORDERED_TYPES)
                          ATOLL_EXAMPLE("bool(atoll.max_reduce(atoll.my_pe()) == atoll.n_pes() - 1)\nTrue")),
    reduction<ReduceOp::avg>(
        "avg_reduce", ATOLL_REDUCE_DOC("Average over PEs, on every PE: the sum, divided by their number. "
                                       "An extension.",
                                       ATOLL_AVERAGED_TYPES)),
    {"premul_sum_reduce", entry<5, scaled_spec, scaled_body>, ATOLL_SCALED_SIGNATURE,
     ATOLL_REDUCE_TEXT("Sum over PEs of factor times each element, on every PE. An extension.",
                       ATOLL_AVERAGED_TYPES, "\nfactor\n    A number, equal on all PEs.", "")},
    {"premul_sum_reduce_scatter", entry<5, scaled_scatter_spec, scaled_scatter_body>, ATOLL_SCALED_SIGNATURE,
     R"(Sum over PEs of factor times each element; each PE gets its own block of the result. An extension.

dst gets block my_pe; src has n_pes times its elements. Arrays in host memory need a scaled copy of
src.

Parameters
----------
dst, src, factor, team
    As for premul_sum_reduce.

Raises
------
DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
CollectiveMismatch
    Sizes or dtypes of the PEs differ; they are compared unless ATOLL_CHECK=none.)"},
    reduction<ReduceOp::bit_and>(
        "and_reduce",
        ATOLL_REDUCE_DOC("Bitwise (bool: logical) and over PEs, on every PE.", "integers or bool")),
    reduction<ReduceOp::bit_or>(
        "or_reduce",
        ATOLL_REDUCE_DOC("Bitwise (bool: logical) or over PEs, on every PE.", "integers or bool")),
    reduction<ReduceOp::bit_xor>(
        "xor_reduce",
        ATOLL_REDUCE_DOC("Bitwise (bool: logical) exclusive or over PEs, on every PE.", "integers or bool")),
    {"reduce", entry<7, any_spec, any_body>,
     "(dst: AnyArray, src: Any = None, op: Any = None, root: int | None = None, *, team: Team | None = None, "
     "stream: Stream = None, blocking: bool = True) -> Array | Request | None\n"
     "(dst: AnyArray, src: AnySource, op: ReduceName, root: int | None = None, *, team: Team | None = None, "
     "stream: Stream = None) -> None\n"
     "(src: Array, op: ReduceName, *, team: Team | None = None) -> Array\n"
     "(src: Array, op: ReduceName, root: int, *, team: Team | None = None) -> Array | None\n"
     "(src: ArrayLike, op: ReduceName, root: int | None = None, *, team: Team | None = None) -> Any\n"
     "(dst: AnyArray, src: AnySource, op: ReduceName, root: int | None = None, *, team: Team | None = None, "
     "blocking: NotBlocking) -> Request\n"
     "(src: ArrayLike, op: ReduceName, root: int | None = None, *, team: Team | None = None, "
     "blocking: NotBlocking) -> Request",
     R"(Reduce over PEs with an operator, on every PE or on one.

reduce(dst, src, op, root=None) writes the result into dst. reduce(src, op, root=None) returns it as
a new ordinary array.

Parameters
----------
dst, src, team
    As for sum_reduce.
op
    "sum", "prod", "min", "max", "avg", "and", "or", "xor", or atoll.SUM and so on.
root
    The PE that gets the result; None: every PE. Other PEs leave dst unchanged, and get None. Arrays
    of a GPU are passed on every PE.

Returns
-------
Array, number or Request
    As for sum_reduce; None on PEs that are not the root.

Raises
------
InvalidArgument
    op is wrong.
PeError
    root is wrong.
DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
CollectiveMismatch
    Sizes, dtypes, op or root of the PEs differ; they are compared unless ATOLL_CHECK=none.)"},
    {"reduce_scatter", entry<6, reduce_scatter_spec, reduce_scatter_body>,
     "(dst: AnyArray, src: Any = None, op: Any = 'sum', *, team: Team | None = None, stream: Stream = None, "
     "blocking: bool = True) -> Array | Request | None\n"
     "(dst: AnyArray, src: AnyArray, op: ReduceName = 'sum', *, team: Team | None = None, stream: Stream = "
     "None) -> None\n"
     "(src: Array, op: ReduceName = 'sum', *, team: Team | None = None) -> Array\n"
     "(dst: AnyArray, src: AnyArray, op: ReduceName = 'sum', *, team: Team | None = None, "
     "blocking: NotBlocking) -> Request\n"
     "(src: Array, op: ReduceName = 'sum', *, team: Team | None = None, blocking: NotBlocking) -> Request",
     R"(Reduce over PEs; each PE gets its own block of the result.

reduce_scatter(dst, src, op) writes block my_pe into dst; src has n_pes times dst's elements.
`reduce_scatter(src, op)` takes src of shape (n_pes, ...) and returns row my_pe of the reduction.

Parameters
----------
dst, src, team
    As for sum_reduce, apart from the sizes.
op
    "sum" (default), "prod", "min", "max", "avg", "and", "or", "xor".

Returns
-------
Array or Request
    Row my_pe of the reduction. None if dst was passed, and a Request with blocking=False.

Raises
------
InvalidArgument
    op is wrong.
DtypeMismatch, ShapeMismatch, PeDied, UseAfterFree
CollectiveMismatch
    Sizes, dtypes or op of the PEs differ; they are compared unless ATOLL_CHECK=none.)"},
    {"sum_inscan", entry<4, scan_spec<true>, scan_body<true>>, ATOLL_REDUCE_SIGNATURE,
     ATOLL_SCAN_DOC("Sum over PEs 0 to my_pe, this PE included.", ATOLL_SUM_TYPES)},
    {"sum_exscan", entry<4, scan_spec<false>, scan_body<false>>, ATOLL_REDUCE_SIGNATURE,
     ATOLL_SCAN_DOC("Sum over PEs 0 to my_pe - 1, this PE not included; 0 on the first.", ATOLL_SUM_TYPES)},
};

}  // namespace

void register_reductions(PyObject* module) { register_functions(module, reductions_functions); }

}  // namespace atl::python
