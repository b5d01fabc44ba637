// Collectives that move data: broadcast, collect, fcollect, alltoall, alltoalls, gather, scatter.
#include "calls/registry.hpp"
#include "operations/pair.hpp"
#include "operations/requests.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace atl::python {
namespace {

Spec broadcast_spec, collect_spec, fcollect_spec, alltoall_spec, alltoalls_spec, gather_spec, scatter_spec;

void check_dtypes(const Spec& spec, const Pair& pair) {
    if (!same_dtype(pair.dst, pair.src)) [[unlikely]]
        fail_dtypes(spec, "dst", pair.dst, "src", pair.src);
}

[[noreturn, gnu::cold]] void fail_size(const Spec& spec, std::size_t dst, std::size_t needed,
                                       const char* why) {
    fail(ErrorCode::shape_mismatch, "%s(): dst has %zu elements, but %s are %zu.", spec.name, dst, why,
         needed);
}

/// Makes a new dst of shape (n, *src.shape), unless one was passed.
Ref make_stacked(Pair& pair, npy_intp n) {
    npy_intp dims[NPY_MAXDIMS + 1];
    dims[0] = n;
    std::copy_n(PyArray_DIMS(pair.src), PyArray_NDIM(pair.src), dims + 1);
    return pair.make_dst(PyArray_NDIM(pair.src) + 1, dims);
}

/// Checks the size of dst, where every member passes src.
void check_gathered(const Spec& spec, const Pair& pair, int n) {
    check_dtypes(spec, pair);
    const std::size_t needed = size_of(pair.src) * static_cast<std::size_t>(n);
    if (size_of(pair.dst) != needed) fail_size(spec, size_of(pair.dst), needed, "n_pes times src's elements");
}

/// The arguments (dst, src, root) or (src, root): if the second of two is an integer, it is the root.
struct Rooted {
    Pair pair;
    int root = 0;

    Rooted(const Spec& spec, const Team& team, PyObject* first, PyObject* second, PyObject* root_object,
           Sizes sizes) {
        if (root_object == nullptr && given(second) && !is_array(second) && PyIndex_Check(second)) {
            root_object = second;
            second = nullptr;
        }
        if (second == nullptr) {
            pair.take_src(spec, first, sizes);
        } else {
            // A PE other than the root may pass None for arguments that only the root uses.
            if (given(first)) pair.dst = array_arg(spec, "dst", first);
            if (given(second)) pair.take_src(spec, second, sizes);
        }
        if (given(root_object)) root = pe_within(spec, root_object, team.n_pes(), "root");
    }
};

/// Runs a collective on the arrays of `pair` that are not null. Calls `call(team, dst, src)`; team may be a
/// team's collectives on a stream.
template <class Call>
void run(const Spec& spec, const Team& team, PyObject* stream, const Adopted& adopted, const Pair& pair,
         Call&& call) {
    Stages stages(spec, pair);
    const core::Elements elements(team, pair.elements());
    on_team(spec, team, stream, adopted, stages.bytes(),
            [&](const auto& on) { call(on, stages.target(), stages.source()); });
    stages.finish();
}

/// Runs a collective, or starts it. The result is `made`, the call's new array, if there is one.
template <class Call>
PyObject* perform(const Spec& spec, const Team& team, PyObject* stream, const Adopted& adopted, Pair& pair,
                  Ref made, bool starts, Call&& call) {
    if (starts) return start_request(spec, team, adopted, pair, std::move(made), call);
    run(spec, team, stream, adopted, pair, call);
    return pair.result(std::move(made));
}

PyObject* broadcast_body(const Arguments<6>& a) {
    const Spec& spec = broadcast_spec;
    const Team& team = team_of(spec, a[3]);
    const bool starts = only_starts(spec, a[5], a[4]);
    Rooted r(spec, team, a[0], a[1], a[2], Sizes::equal);
    if (r.pair.src == nullptr) fail_not_array(spec, "src", nullptr);
    r.pair.check_on_device(spec, team, a.adopted, a[4]);
    Ref made = r.pair.make_dst_like_src();
    check_dtypes(spec, r.pair);
    if (!same_shape(r.pair.dst, r.pair.src)) fail_shapes(spec, "dst", r.pair.dst, "src", r.pair.src);
    return perform(spec, team, a[4], a.adopted, r.pair, std::move(made), starts,
                   [&](const auto& on, Bytes dst, Bytes src) {
                       on.broadcast_bytes(dst.data, dst.size, src.data, src.size, r.root);
                   });
}

PyObject* fcollect_body(const Arguments<5>& a) {
    const Spec& spec = fcollect_spec;
    const Team& team = team_of(spec, a[2]);
    const bool starts = only_starts(spec, a[4], a[3]);
    Pair pair = pair_of(spec, a[0], a[1], Sizes::differ);
    pair.check_on_device(spec, team, a.adopted, a[3]);
    Ref made = make_stacked(pair, team.n_pes());
    check_gathered(spec, pair, team.n_pes());
    return perform(spec, team, a[3], a.adopted, pair, std::move(made), starts,
                   [](const auto& on, Bytes dst, Bytes src) {
                       on.fcollect_bytes(dst.data, dst.size, src.data, src.size);
                   });
}

/// A number for the lengths of an array's axes but the first. Sums of 32768 of them do not overflow.
std::int64_t number_of_row_shape(PyArrayObject* array) {
    constexpr int unused_bits = 16;
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (int i = 1; i < PyArray_NDIM(array); ++i)
        hash = (hash ^ static_cast<std::uint64_t>(PyArray_DIM(array, i))) * 1099511628211u;
    return static_cast<std::int64_t>(hash >> unused_bits);
}

/// Raises on the PEs of a team whose arrays differ beyond the first axis. Collective.
[[noreturn]] void raise_row_shapes_differ(const Team& team, PyArrayObject* array, std::int64_t mine) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(team.n_pes()));
    team.fcollect_bytes(all.data(), all.size() * sizeof mine, &mine, sizeof mine);
    const auto other = std::find_if(all.begin(), all.end(), [&](std::int64_t one) { return one != mine; });
    fail(ErrorCode::shape_mismatch,
         "%s(): src has shape %S here, and PE %d of the team passes an array that differs beyond the first "
         "axis. "
         "Arrays may differ in their first length only.",
         collect_spec.name, shape_of(array).get(), static_cast<int>(other - all.begin()));
}

/// The number of elements that all PEs together contribute. Collective, and refuses arrays of different rows.
std::size_t total_of(const Team& team, PyArrayObject* src) {
    const std::int64_t rows = number_of_row_shape(src);
    const std::int64_t mine[] = {static_cast<std::int64_t>(size_of(src)), rows};
    std::int64_t sums[2];
    team.reduce_erased(sums, mine, 2, DType::int64, ReduceOp::sum);
    if (sums[1] != rows * team.n_pes()) raise_row_shapes_differ(team, src, rows);
    return static_cast<std::size_t>(sums[0]);
}

PyObject* collect_body(const Arguments<4>& a) {
    const Spec& spec = collect_spec;
    const Team& team = team_of(spec, a[2]);
    Pair pair = pair_of(spec, a[0], a[1], Sizes::differ);
    pair.check_on_device(spec, team, a.adopted, a[3]);
    const std::size_t item = item_bytes(pair.src);
    if (pair.dst != nullptr) {
        check_dtypes(spec, pair);
        std::size_t bytes = 0;
        run(spec, team, a[3], a.adopted, pair, [&](const auto& on, Bytes dst, Bytes src) {
            if constexpr (std::is_same_v<decltype(on), const Team&>)
                bytes = on.collect_bytes(dst.data, dst.size, src.data, src.size);
            else
                on.collect_bytes(dst.data, dst.size, src.data, src.size);
        });
        return given(a[3]) ? none() : PyLong_FromSize_t(bytes / item);
    }
    npy_intp dims[NPY_MAXDIMS];
    const int nd = std::max(PyArray_NDIM(pair.src), 1);
    dims[0] = 0;
    std::copy_n(PyArray_DIMS(pair.src), PyArray_NDIM(pair.src), dims);
    std::size_t row = 1;
    for (int i = 1; i < nd; ++i) row *= static_cast<std::size_t>(dims[i]);
    const std::size_t total = total_of(team, pair.src);
    dims[0] = static_cast<npy_intp>(row ? total / row : 0);
    Ref made = new_array(pair.src, nd, dims);
    pair.dst = made.array();
    const SourceStage from(spec, "src", pair.src);
    TargetStage to(spec, "dst", pair.dst);
    {
        const core::Elements elements(team, elements_of(pair.src));
        ReleaseGil released(to.bytes() >= release_gil_bytes);
        team.collect_bytes(to.data(), total * item, from.data(), from.bytes());
    }
    return made.release();
}

PyObject* alltoall_body(const Arguments<5>& a) {
    const Spec& spec = alltoall_spec;
    const Team& team = team_of(spec, a[2]);
    const bool starts = only_starts(spec, a[4], a[3]);
    Pair pair = pair_of(spec, a[0], a[1], Sizes::differ);
    pair.check_on_device(spec, team, a.adopted, a[3]);
    const auto n = static_cast<std::size_t>(team.n_pes());
    Ref made = pair.make_dst_like_src();
    check_dtypes(spec, pair);
    if (size_of(pair.src) % n != 0)
        fail(ErrorCode::shape_mismatch,
             "alltoall(): src has %zu elements, which do not divide into n_pes = %zu equal blocks.",
             size_of(pair.src), n);
    if (size_of(pair.dst) != size_of(pair.src))
        fail_size(spec, size_of(pair.dst), size_of(pair.src), "those of src");
    return perform(spec, team, a[3], a.adopted, pair, std::move(made), starts,
                   [](const auto& on, Bytes dst, Bytes src) {
                       on.alltoall_bytes(dst.data, dst.size, src.data, src.size);
                   });
}

/// The arguments (dst, src, dst_stride, src_stride, nelems, team, stream); strides in elements of contiguous
/// arrays.
PyObject* alltoalls_body(const Arguments<7>& a) {
    const Spec& spec = alltoalls_spec;
    const Team& team = team_of(spec, a[5]);
    Pair pair;
    pair.dst = array_arg(spec, "dst", a[0]);
    pair.src = array_arg(spec, "src", a[1]);
    check_dtypes(spec, pair);
    check_writeable(spec, "dst", pair.dst);
    check_readable(spec, "src", pair.src);
    const Py_ssize_t to = integer(spec, "dst_stride", a[2]);
    const Py_ssize_t from = integer(spec, "src_stride", a[3]);
    const Py_ssize_t count = integer(spec, "nelems", a[4]);
    if (to < 1 || from < 1 || count < 0)
        fail(ErrorCode::invalid_argument,
             "alltoalls(): strides must be at least 1 and nelems at least 0 (%zd, %zd, %zd).", to, from,
             count);
    if (!c_contiguous(pair.dst) || !c_contiguous(pair.src))
        fail(ErrorCode::invalid_argument,
             "alltoalls(): dst and src must be contiguous; for other views use alltoall.");
    const auto check_reach = [&](const char* which, PyArrayObject* array, Py_ssize_t stride) {
        const auto blocks = static_cast<Py_ssize_t>(team.n_pes());
        const auto size = static_cast<Py_ssize_t>(size_of(array));
        if (count > 0 && (count > size || stride > size || (blocks * count - 1) * stride >= size))
            fail(ErrorCode::shape_mismatch,
                 "alltoalls(): %zd elements %zd apart reach past the %zd elements of %s.", blocks * count,
                 stride, size, which);
    };
    check_reach("dst", pair.dst, to);
    check_reach("src", pair.src, from);
    pair.check_on_device(spec, team, a.adopted, a[6]);
    const core::Elements elements(team, elements_of(pair.src));
    on_team(spec, team, a[6], a.adopted, size_of(pair.dst) * item_bytes(pair.dst), [&](const auto& on) {
        on.alltoalls_bytes(PyArray_DATA(pair.dst), PyArray_DATA(pair.src), to, from,
                           static_cast<std::size_t>(count), item_bytes(pair.src));
    });
    return none();
}

PyObject* gather_body(const Arguments<6>& a) {
    const Spec& spec = gather_spec;
    const Team& team = team_of(spec, a[3]);
    const bool starts = only_starts(spec, a[5], a[4]);
    Rooted r(spec, team, a[0], a[1], a[2], Sizes::differ);
    if (r.pair.src == nullptr) fail_not_array(spec, "src", nullptr);
    r.pair.check_on_device(spec, team, a.adopted, a[4]);
    Ref made;
    if (team.my_pe() != r.root && !is_device_call(a.adopted, a[4])) {
        r.pair.dst = nullptr;
    } else {
        made = make_stacked(r.pair, team.n_pes());
        check_gathered(spec, r.pair, team.n_pes());
    }
    return perform(spec, team, a[4], a.adopted, r.pair, std::move(made), starts,
                   [&](const auto& on, Bytes dst, Bytes src) {
                       on.gather_bytes(dst.data, dst.size, src.data, src.size, r.root);
                   });
}

PyObject* scatter_body(const Arguments<6>& a) {
    const Spec& spec = scatter_spec;
    const Team& team = team_of(spec, a[3]);
    const bool starts = only_starts(spec, a[5], a[4]);
    Rooted r(spec, team, a[0], a[1], a[2], Sizes::differ);
    r.pair.check_on_device(spec, team, a.adopted, a[4]);
    const npy_intp n = team.n_pes();
    Ref made;
    if (r.pair.dst == nullptr) {
        if (r.pair.src == nullptr) fail_not_array(spec, "dst", nullptr);
        if (PyArray_NDIM(r.pair.src) == 0 || PyArray_DIMS(r.pair.src)[0] != n)
            fail(ErrorCode::shape_mismatch,
                 "scatter(): the first axis of src must have length n_pes = %zd, a row for each PE, on every "
                 "PE; or pass dst. (Its contents count on the root only.)",
                 n);
        made = r.pair.make_dst(PyArray_NDIM(r.pair.src) - 1, PyArray_DIMS(r.pair.src) + 1);
    }
    if (team.my_pe() != r.root && !is_device_call(a.adopted, a[4])) {
        r.pair.src = nullptr;
    } else {
        if (r.pair.src == nullptr) fail_not_array(spec, "src", nullptr);
        check_dtypes(spec, r.pair);
        const std::size_t needed = size_of(r.pair.dst) * static_cast<std::size_t>(n);
        if (size_of(r.pair.src) != needed)
            fail(ErrorCode::shape_mismatch, "scatter(): src has %zu elements, but n_pes times dst's are %zu.",
                 size_of(r.pair.src), needed);
    }
    return perform(spec, team, a[4], a.adopted, r.pair, std::move(made), starts,
                   [&](const auto& on, Bytes dst, Bytes src) {
                       on.scatter_bytes(dst.data, dst.size, src.data, src.size, r.root);
                   });
}

#define ATOLL_STARTED_PAIR                                                                             \
    "(dst: AnyArray | ArrayLike, src: AnySource | None = None, *, team: Team | None = None, "          \
    "stream: Stream = None, blocking: bool = True) "                                                   \
    "-> Array | Request | None\n"                                                                      \
    "(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream = None) -> None\n"    \
    "(src: ArrayLike, *, team: Team | None = None) -> Array\n"                                         \
    "(dst: AnyArray, src: AnySource, *, team: Team | None = None, blocking: NotBlocking) -> Request\n" \
    "(src: ArrayLike, *, team: Team | None = None, blocking: NotBlocking) -> Request"

#define ATOLL_STARTED_RETURNS                                                                             \
    "Returns\n-------\nArray, number or Request\n    The new array of the form without dst. None if dst " \
    "was passed,\n    and a Request with blocking=False.\n\n"
#define ATOLL_TAIL_OF(equal, parameters, compared, returns)                                              \
    "\n\nCollective over the team, with equal " equal                                                    \
    " on all PEs. On return dst is\ncomplete here and src may be changed. Completes no puts.\n\n"        \
    "Parameters\n----------\n"                                                                           \
    "dst, src\n    Symmetric (faster) or ordinary arrays of any strides. Arrays of a GPU are symmetric " \
    "and\n"                                                                                              \
    "    contiguous, both, on every PE.\n" parameters                                                    \
    "team\n    The PEs that take part; None: all.\n\n" returns                                           \
    "Raises\n------\nShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree\n"                      \
    "CollectiveMismatch\n    The PEs' " compared                                                         \
    " differ. They are compared unless ATOLL_CHECK=none;\n    dtypes, too, if all PEs are Python.\n\n"   \
    "Notes\n-----\nSource: OpenSHMEM 1.6, section 9.11"
#define ATOLL_COLLECT_RETURNS                                                                        \
    "Returns\n-------\nArray or int\n    The new array of the form without dst, else the number of " \
    "elements "                                                                                      \
    "in dst.\n    None on a stream.\n\n"
#define ATOLL_TAIL ATOLL_TAIL_OF("sizes and dtypes", "", "sizes", ATOLL_STARTED_RETURNS)
#define ATOLL_ROOTED_TAIL                                                                                   \
    ATOLL_TAIL_OF("sizes, dtypes and roots", "root\n    A PE number within the team.\n", "sizes and roots", \
                  ATOLL_STARTED_RETURNS)
#define ATOLL_STRIDED_TAIL                                                                   \
    ATOLL_TAIL_OF("sizes and dtypes",                                                        \
                  "dst_stride, src_stride\n    Elements from one to the next, at least 1.\n" \
                  "nelems\n    Elements of a block.\n",                                      \
                  "sizes", "")

const Function collectives_functions[] = {
    {"broadcast", entry<6, broadcast_spec, broadcast_body>,
     "(dst: AnyArray, src: Any = None, root: int = 0, *, team: Team | None = None, stream: Stream = None, "
     "blocking: bool = True) -> Array | Request | None\n"
     "(dst: AnyArray, src: AnyArray, root: int = 0, *, team: Team | None = None, stream: Stream = None) -> "
     "None\n"
     "(src: Array, root: int = 0, *, team: Team | None = None) -> Array\n"
     "(src: ArrayLike, root: int = 0, *, team: Team | None = None) -> Any\n"
     "(dst: AnyArray, src: AnyArray, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> "
     "Request\n"
     "(src: ArrayLike, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request",
     "Give every PE the root's src.\n"
     "\n"
     "broadcast(dst, src, root) writes it into dst, on the root too. `broadcast(src, root)` returns it as a\n"
     "new ordinary array. src has dst's shape and dtype on every PE; only the root's contents are "
     "used." ATOLL_ROOTED_TAIL " (shmem_broadcast)."
     "\n\nExamples\n--------\n"
     ">>> atoll.broadcast(np.full(3, atoll.my_pe()), root=1)\n"
     "array([1, 1, 1])"},
    {"fcollect", entry<5, fcollect_spec, fcollect_body>, ATOLL_STARTED_PAIR,
     "Give every PE the src of all PEs, in PE order; src has one size on all.\n"
     "\n"
     "fcollect(dst, src) fills dst, which has n_pes times src's elements. `fcollect(src)` returns a new\n"
     "ordinary array of shape (n_pes, *src.shape)." ATOLL_TAIL " (shmem_fcollect)."
     "\n\nExamples\n--------\n"
     ">>> pes = atoll.fcollect([atoll.my_pe()])\n"
     ">>> pes.ravel().tolist() == list(range(atoll.n_pes()))\n"
     "True"},
    {"collect", entry<4, collect_spec, collect_body>,
     "(dst: AnyArray, src: AnySource | None = None, *, team: Team | None = None, stream: Stream = None) -> "
     "Array | int | None\n"
     "(dst: AnyArray, src: AnySource, *, team: Team | None = None) -> int\n"
     "(dst: AnyArray, src: AnySource, *, team: Team | None = None, stream: Stream) -> int | None\n"
     "(src: ArrayLike, *, team: Team | None = None) -> Array",
     "Give every PE the src of all PEs, concatenated in PE order; sizes may differ, and may be 0.\n"
     "\n"
     "collect(dst, src) fills the beginning of dst and returns the number of elements that arrived.\n"
     "`collect(src)` returns a new ordinary array, joined along the first axis (only its length may "
     "differ).\n"
     "A dst that is too small is a ShapeMismatch, with arrays of a GPU on every PE. On a stream, None is\n"
     "returned, and a dst that is too small ends the job with a KernelError." ATOLL_TAIL_OF(
         "dtypes", "", "calls", ATOLL_COLLECT_RETURNS) " (shmem_collect)."},
    {"alltoall", entry<5, alltoall_spec, alltoall_body>, ATOLL_STARTED_PAIR,
     "Exchange blocks: block j of this PE's src becomes block my_pe of PE j's dst.\n"
     "\n"
     "src consists of n_pes equal blocks in C order, such as an array of shape (n_pes, k). `alltoall(dst, "
     "src)` fills dst, of as many elements. `alltoall(src)` returns a new ordinary array of src's "
     "shape." ATOLL_TAIL " (shmem_alltoall)."
     "\n\nExamples\n--------\n"
     ">>> blocks = np.full((atoll.n_pes(), 2), atoll.my_pe())\n"
     ">>> atoll.alltoall(blocks)[1]\n"
     "array([1, 1])"},
    {"alltoalls", entry<7, alltoalls_spec, alltoalls_body>,
     "(dst: AnyArray, src: AnyArray, dst_stride: int, src_stride: int, nelems: int, *, team: Team | None = "
     "None, stream: Stream = None) -> None",
     "alltoall of nelems elements a block, strided: element i of block j is at (j * nelems + i) * stride.\n"
     "\n"
     "dst and src are contiguous." ATOLL_STRIDED_TAIL " (shmem_alltoalls)."},
    {"gather", entry<6, gather_spec, gather_body>,
     "(dst: AnyArray | None, src: Any = None, root: int = 0, *, team: Team | None = None, stream: Stream = "
     "None, blocking: bool = True) -> Array | Request | None\n"
     "(dst: AnyArray | None, src: AnyArray, root: int = 0, *, team: Team | None = None, stream: Stream = "
     "None) -> None\n"
     "(src: ArrayLike, root: int = 0, *, team: Team | None = None) -> Array | None\n"
     "(dst: AnyArray | None, src: AnyArray, root: int = 0, *, team: Team | None = None, blocking: "
     "NotBlocking) -> "
     "Request\n"
     "(src: ArrayLike, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request",
     "Give the root the src of all PEs, in PE order; src has one size on all.\n"
     "\n"
     "gather(dst, src, root) fills the root's dst, which has n_pes times src's elements. On other PEs dst\n"
     "is not used and may be None. `gather(src, root)` returns a new ordinary array of shape (n_pes,\n"
     "*src.shape) on the root, and None elsewhere." ATOLL_ROOTED_TAIL "."
     "\n\nExamples\n--------\n"
     ">>> rows = atoll.gather(data, root=0)  # None on other PEs"},
    {"scatter", entry<6, scatter_spec, scatter_body>,
     "(dst: AnyArray, src: Any = None, root: int = 0, *, team: Team | None = None, stream: Stream = None, "
     "blocking: bool = True) -> Array | Request | None\n"
     "(dst: AnyArray, src: AnyArray | None, root: int = 0, *, team: Team | None = None, stream: Stream = "
     "None) -> None\n"
     "(src: Array, root: int = 0, *, team: Team | None = None) -> Array\n"
     "(dst: AnyArray, src: AnyArray | None, root: int = 0, *, team: Team | None = None, blocking: "
     "NotBlocking) -> "
     "Request\n"
     "(src: ArrayLike, root: int = 0, *, team: Team | None = None, blocking: NotBlocking) -> Request",
     "Give every PE its own block of the root's src.\n"
     "\n"
     "scatter(dst, src, root) fills dst; src has n_pes times dst's elements, and only the root's is used.\n"
     "`scatter(src, root)` takes src of shape (n_pes, ...) on every PE and returns row my_pe of the root's,\n"
     "as a new ordinary array." ATOLL_ROOTED_TAIL "."},
};

}  // namespace

void register_collectives(PyObject* module) { register_functions(module, collectives_functions); }

}  // namespace atl::python
