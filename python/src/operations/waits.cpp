// Waits for and tests of this PE's own symmetric words.
#include "calls/enums.hpp"
#include "calls/registry.hpp"
#include "gpu/device.hpp"
#include "gpu/stream_cache.hpp"
#include "gpu/stream_results.hpp"
#include "operations/notes.hpp"

#include <deque>
#include <string>
#include <vector>

namespace atl::python {
namespace {

enum class Kind { one, all, any, some };

struct Form {
    Kind kind;
    bool waits;
    bool vector;
};

template <Form F> Spec spec_of;

/// True if the call has a result, which goes to `out=` on a stream.
constexpr bool finds(Form f) { return !f.waits || f.kind != Kind::all; }
// ivar, cmp, value; index of one word, status of many; timeout; out; stream
constexpr int timeout_at = 4;
constexpr int out_at(Form f) { return f.waits ? 5 : 4; }
constexpr int stream_at(Form f) { return out_at(f) + (finds(f) ? 1 : 0); }
constexpr int arguments_of(Form f) { return stream_at(f) + 1; }

struct Words {
    PyArrayObject* array;
    char* data;
    std::size_t n;
    DType type;
};

[[noreturn, gnu::cold]] void fail_type(const Spec& spec, PyArrayObject* array) {
    fail(ErrorCode::dtype_mismatch, "%s(): dtype %S cannot be waited for; use integers.", spec.name,
         dtype_name(array).get());
}

Words words_of(const Spec& spec, PyObject* object) {
    PyArrayObject* array = array_arg(spec, "ivars", object);
    const Extent extent = symmetric_arg(spec, "ivars", array, false);
    if (!c_contiguous(array))
        fail(ErrorCode::invalid_argument,
             "%s(): ivars must be contiguous; pass a slice without steps, and `status` to leave words out.",
             spec.name);
    const DTypeRow& row = row_of(array);
    if (!row.known) fail_type(spec, array);
    return {array, extent.low, size_of(array), row.type};
}

[[noreturn, gnu::cold]] void fail_on_gpu(const Spec& spec, const char* which) {
    fail(
        ErrorCode::invalid_argument,
        "%s(): %s is in the memory of a GPU, where only a call on a stream looks for it; pass %s.numpy(), or "
        "stream=.",
        spec.name, which, which);
}

/// The argument `status`: words with a nonzero entry are skipped.
class Status {
  public:
    Status(const Spec& spec, PyObject* status, std::size_t n) {
        if (!given(status)) return;
        if (is_array(status) && on_device(as_array(status))) fail_on_gpu(spec, "status");
        const Ref loose(PyArray_FromAny(status, nullptr, 0, 0, 0, nullptr));
        const char kind = PyArray_DESCR(loose.array())->kind;
        if (kind != 'b' && kind != 'i' && kind != 'u' && size_of(loose.array()) != 0)
            fail(ErrorCode::dtype_mismatch, "%s(): status has dtype %S; pass one integer for each word.",
                 spec.name, dtype_name(loose.array()).get());
        // Convert to bool first: 2**32 is nonzero, but 0 as int32.
        const Ref left_out(PyArray_FromAny(loose.get(), PyArray_DescrFromType(NPY_BOOL), 0, 0,
                                           NPY_ARRAY_FORCECAST, nullptr));
        held_ = Ref(PyArray_FromAny(left_out.get(), PyArray_DescrFromType(NPY_INT32), 0, 0,
                                    NPY_ARRAY_CARRAY_RO, nullptr));
        if (size_of(held_.array()) != n)
            fail(ErrorCode::shape_mismatch, "%s(): status has %zu entries for %zu words; pass one for each.",
                 spec.name, size_of(held_.array()), n);
    }
    const int* data() const { return held_ ? static_cast<const int*>(PyArray_DATA(held_.array())) : nullptr; }

  private:
    Ref held_;
};

PyObject* index_or_none(std::size_t i) { return i == atl::none ? python::none() : PyLong_FromSize_t(i); }

PyObject* index_array(const std::vector<std::size_t>& indices, std::size_t n) {
    const npy_intp dim = static_cast<npy_intp>(n);
    Ref made(PyArray_SimpleNew(1, &dim, NPY_INTP));
    auto* out = static_cast<npy_intp*>(PyArray_DATA(made.array()));
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<npy_intp>(indices[i]);
    return made.release();
}

template <Form F, class T>
PyObject* many(const Context& ctx, const Words& w, const int* status, Compare cmp, T value, const T* values,
               double timeout) {
    const T* p = reinterpret_cast<const T*>(w.data);
    if constexpr (F.kind == Kind::all) {
        if constexpr (F.waits && F.vector)
            ctx.wait_until_all_vector(p, w.n, status, cmp, values, timeout);
        else if constexpr (F.waits)
            ctx.wait_until_all(p, w.n, status, cmp, value, timeout);
        else if constexpr (F.vector)
            return PyBool_FromLong(ctx.test_all_vector(p, w.n, status, cmp, values));
        else
            return PyBool_FromLong(ctx.test_all(p, w.n, status, cmp, value));
        return python::none();
    } else if constexpr (F.kind == Kind::any) {
        if constexpr (F.waits && F.vector)
            return index_or_none(ctx.wait_until_any_vector(p, w.n, status, cmp, values, timeout));
        else if constexpr (F.waits)
            return index_or_none(ctx.wait_until_any(p, w.n, status, cmp, value, timeout));
        else if constexpr (F.vector)
            return index_or_none(ctx.test_any_vector(p, w.n, status, cmp, values));
        else
            return index_or_none(ctx.test_any(p, w.n, status, cmp, value));
    } else {
        std::vector<std::size_t> found(w.n + 1);
        std::size_t n = 0;
        if constexpr (F.waits && F.vector)
            n = ctx.wait_until_some_vector(p, w.n, found.data(), status, cmp, values, timeout);
        else if constexpr (F.waits)
            n = ctx.wait_until_some(p, w.n, found.data(), status, cmp, value, timeout);
        else if constexpr (F.vector)
            n = ctx.test_some_vector(p, w.n, found.data(), status, cmp, values);
        else
            n = ctx.test_some(p, w.n, found.data(), status, cmp, value);
        return index_array(found, n);
    }
}

template <class T> T value_like(const Spec& spec, PyArrayObject* words, PyObject* value) {
    return value_as<T>({spec, "value", reinterpret_cast<PyObject*>(PyArray_DESCR(words))}, value);
}

/// Widens to 64 bits, sign-extended if signed.
std::uint64_t wide_value(const Spec& spec, const Words& w, PyObject* value) {
    return visit_integer(
        w.type,
        [&]<class T>(T*) {
            // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number, and sign-extends
            return static_cast<std::uint64_t>(value_like<T>(spec, w.array, value));
        },
        [&]() -> std::uint64_t { fail_type(spec, w.array); });
}

template <Form F> PyObject* many_on_stream(const Arguments<arguments_of(F)>& a, const Words& w, Compare cmp) {
    const Spec& spec = spec_of<F>;
    if constexpr (F.waits) refuse_timeout(spec, a[timeout_at]);
    atl::detail::ManyWords asked;
    asked.words = w.data;
    asked.n = w.n;
    asked.type = w.type;
    asked.compare = cmp;
    asked.kind = F.kind == Kind::any    ? atl::detail::Many::any
                 : F.kind == Kind::some ? atl::detail::Many::some
                                        : atl::detail::Many::all;
    asked.waits = F.waits;
    if (given(a[3])) asked.status = stream_array<std::int32_t>(spec, "status", a[3], w.n);
    if constexpr (F.vector) {
        PyArrayObject* values = array_arg(spec, "values", a[2]);
        if (!same_dtype(w.array, values)) fail_dtypes(spec, "ivars", w.array, "values", values);
        asked.values = stream_elements(spec, "values", a[2], w.n);
    } else {
        asked.value = wide_value(spec, w, a[2]);
    }
    if constexpr (finds(F)) asked.out = out_of(spec, a[out_at(F)], F.kind == Kind::some ? w.n + 1 : 1);
    stream_context(context_of(spec, nullptr, nullptr), stream_of(spec, a[stream_at(F)], a.adopted))
        .many(asked);
    return none();
}

/// (ivars, cmp, value or values, status[, timeout][, out], stream)
template <Form F> PyObject* many_body(const Arguments<arguments_of(F)>& a) {
    const Spec& spec = spec_of<F>;
    const Context& ctx = context_of(spec, nullptr, nullptr);
    const Words w = words_of(spec, a[0]);
    const Compare cmp = compare_of(spec, a[1]);
    if (given(a[stream_at(F)])) [[unlikely]]
        return many_on_stream<F>(a, w, cmp);
    if constexpr (finds(F)) refuse_out(spec, a[out_at(F)]);
    const Status status(spec, a[3], w.n);
    const double timeout = F.waits ? timeout_of(spec, a[timeout_at]) : 0;
    Ref values;
    if constexpr (F.vector) {
        if (is_array(a[2]) && on_device(as_array(a[2]))) fail_on_gpu(spec, "values");
        values = source_like(spec, "values", a[2], "ivars", w.array);
        if (size_of(values.array()) != w.n)
            fail(ErrorCode::shape_mismatch, "%s(): %zu values for %zu words; pass one for each.", spec.name,
                 size_of(values.array()), w.n);
    }
    return visit_integer(
        w.type,
        [&]<class T>(T*) {
            T value{};
            const T* each = nullptr;
            if constexpr (F.vector)
                each = static_cast<const T*>(PyArray_DATA(values.array()));
            else
                value = value_like<T>(spec, w.array, a[2]);
            return many<F, T>(ctx, w, status.data(), cmp, value, each, timeout);
        },
        [&]() -> PyObject* { fail_type(spec, w.array); });
}

/// Parses the arguments for one word and calls `visit(T value, const T* word)`.
template <class Visit>
PyObject* one_word(const Spec& spec, PyObject* const* a, PyObject* index, Visit&& visit) {
    PyArrayObject* array = array_arg(spec, "ivar", a[0]);
    check_dtype(spec, "ivar", array);
    const char* word = symmetric_element(spec, "ivar", array, index, false);
    const DTypeRow& row = row_of(array);
    if (!row.known) fail_type(spec, array);
    return visit_integer(
        row.type,
        [&]<class T>(T*) {
            return visit(value_like<T>(spec, array, a[2]), reinterpret_cast<const T*>(word));
        },
        [&]() -> PyObject* { fail_type(spec, array); });
}

Spec wait_spec, test_spec;

/// (ivar, cmp, value, timeout, index, stream)
PyObject* wait_body(const Arguments<6>& a) {
    const Context& ctx = context_of(wait_spec, nullptr, nullptr);
    const Compare cmp = compare_of(wait_spec, a[1]);
    return one_word(wait_spec, a.value, a[4], [&]<class T>(T value, const T* word) {
        if (given(a[5])) [[unlikely]] {
            refuse_timeout(wait_spec, a[3]);
            stream_context(ctx, stream_of(wait_spec, a[5], a.adopted)).wait_until(word, cmp, value);
            return none();
        }
        return to_python(ctx.wait_until(word, cmp, value, timeout_of(wait_spec, a[3])));
    });
}

/// (ivar, cmp, value, index, out, stream)
PyObject* test_body(const Arguments<6>& a) {
    const Context& ctx = context_of(test_spec, nullptr, nullptr);
    const Compare cmp = compare_of(test_spec, a[1]);
    return one_word(test_spec, a.value, a[3], [&]<class T>(T value, const T* word) {
        if (given(a[5])) [[unlikely]] {
            std::int64_t* out = out_of(test_spec, a[4], 1);
            stream_context(ctx, stream_of(test_spec, a[5], a.adopted)).test(word, out, cmp, value);
            return none();
        }
        refuse_out(test_spec, a[4]);
        const bool is_so = ctx.test(word, cmp, value);
        if (!is_so) core::note_test(ctx, word);
        return PyBool_FromLong(is_so);
    });
}

constexpr const char* wait_tail =
    "\nRaises\n------\n"
    "Timeout\n    The error names the wait.\n"
    "PeDied, NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree\n\n"
    "Notes\n-----\n"
    "Acquires: stores that the updating PEs ordered before their updates are visible on return. Other\n"
    "threads run meanwhile, and Ctrl-C interrupts the wait.\n\n"
    "Source: OpenSHMEM 1.6, section 9.12.";
constexpr const char* test_tail =
    "\nRaises\n------\n"
    "NotSymmetric, DtypeMismatch, ShapeMismatch, UseAfterFree\n\n"
    "Notes\n-----\n"
    "Never waits; a test that succeeds acquires.\n\n"
    "Source: OpenSHMEM 1.6, section 9.12.";
/// The section between the parameters and the errors.
std::string returns_doc(const std::string& type, const char* text) {
    return "\nReturns\n-------\n" + type + "\n    " + text + "\n";
}
constexpr const char* parameters = "\n\nParameters\n----------\n";
constexpr const char* word_doc = "ivar\n    A symmetric array of integers, or any view of one, on this PE.\n";
constexpr const char* words_doc =
    "ivars\n    A contiguous symmetric array (or view) of integers, on this PE.\n";
constexpr const char* compare_doc =
    "cmp\n    \"==\", \"!=\", \">\", \">=\", \"<\" or \"<=\" (or atoll.EQ and so on).\n";
constexpr const char* value_doc = "value\n    An integer that ivar's dtype holds.\n";
constexpr const char* index_doc =
    "index\n    The element of ivar in C order; negative numbers count from the end. It may be left out if\n"
    "    ivar has one element (ShapeMismatch otherwise).\n";
constexpr const char* status_doc =
    "status\n    One integer for each word; words with a nonzero entry are skipped. None: all words count.\n";
constexpr const char* timeout_doc =
    "timeout\n    Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.\n";

/// The documentation of `out`, which only calls on a stream have.
std::string out_doc(const char* out) {
    return out[0] == '\0' ? "" : std::string("out\n    Only with stream=: an int64 array for ") + out + ".\n";
}
/// The last paragraph of the documentation: arrays of a call on a stream.
std::string stream_doc(bool has_values, bool has_out) {
    std::string text =
        "\n\nOn a stream, status is an array of int32 in memory of the GPU or pinned, with an entry for "
        "each\n"
        "word.";
    if (has_values) text += " The array values is in such memory, too, in ivars' dtype.";
    if (has_out) text += " The array out is in such memory, too, and may be larger.";
    return text + "\nThe stream reads them when it reaches the call, and again in each replay of a graph.";
}

/// The type of a call's result on the host.
constexpr const char* result_of(Form f) {
    switch (f.kind) {
        case Kind::any:
            return "int | None";
        case Kind::some:
            return "IndexArray";
        default:
            return f.waits ? "None" : "bool";
    }
}

/// The description of a call's result; empty if it has none.
constexpr const char* returned(Form f) {
    switch (f.kind) {
        case Kind::any:
            return "An index of ivars in C order. On a stream None.";
        case Kind::some:
            return "Indices of ivars in C order. On a stream None.";
        default:
            return f.waits ? "" : "On a stream None.";
    }
}

template <Form F>
constexpr ConstantText<768> signature_of = [] {
    const char* value = F.vector ? "values: AnySource" : "value: Value";
    const char* words = "(ivars: AnyArray, cmp: CompareName, ";
    const char* status = ", status: AnySource | None = None";
    const char* timeout = F.waits ? ", timeout: float | None = None" : "";
    ConstantText<768> text;
    const auto begin = [&] { text += words, text += value, text += status, text += timeout; };
    begin();
    if (!finds(F)) {
        text += ", *, stream: Stream = None) -> None";
        return text;
    }
    text += ", *, out: AnyArray | None = None, stream: Stream = None) -> ", text += result_of(F);
    text += std::string_view(result_of(F)).ends_with("None") ? "\n" : " | None\n";
    begin();
    text += ", *, out: None = None, stream: None = None) -> ", text += result_of(F), text += "\n";
    text += words, text += F.vector ? "values: AnyArray" : value;
    text += ", status: AnyArray | None = None";
    text += F.waits ? ", timeout: None = None" : "";
    text += ", *, out: AnyArray, stream: GivenStream) -> None";
    return text;
}();

/// `out` describes the results on a stream.
template <Form F>
void add_many(ComposedFunctions& made, const char* name, const char* out, const std::string& what) {
    std::string text = what + parameters + words_doc + compare_doc;
    text += F.vector ? "values\n    One for each word, of ivars' dtype, or a list of Python numbers.\n"
                     : "value\n    An integer that ivars' dtype holds.\n";
    text += status_doc;
    if (F.waits) text += timeout_doc;
    if (finds(F)) text += out_doc(out);
    if (const char* found = returned(F); found[0] != '\0') text += returns_doc(result_of(F), found);
    text += F.waits ? wait_tail : test_tail;
    text += stream_doc(F.vector, finds(F));
    made.add({name, entry<arguments_of(F), spec_of<F>, many_body<F>>, signature_of<F>.data,
              made.keep(std::move(text))});
}

template <Kind K>
void add_kind(ComposedFunctions& made, const char* const (&names)[4], const char* wait, const char* test,
              const std::string& waits, const std::string& tests) {
    add_many<Form{K, true, false}>(made, names[0], wait, waits);
    add_many<Form{K, true, true}>(made, names[1], wait, waits + " Each word has a separate value.");
    add_many<Form{K, false, false}>(made, names[2], test, tests);
    add_many<Form{K, false, true}>(made, names[3], test, tests + " Each word has a separate value.");
}

}  // namespace

void register_waits(PyObject* module) {
    static ComposedFunctions made;
    constexpr const char* yes_or_no = "1 or 0";
    constexpr const char* one_index = "the lowest such index, or -1 for None";
    constexpr const char* indices = "their number, followed by the indices: n + 1 elements for n words";
    made.add(
        {"wait_until", entry<6, wait_spec, wait_body>,
         "(ivar: AnyArray, cmp: CompareName, value: Value, timeout: float | None = None, index: int | None = "
         "None, stream: Stream = None) -> int | None\n"
         "(ivar: AnyArray, cmp: CompareName, value: Value, timeout: float | None = None, index: int | None = "
         "None, stream: None = None) -> int\n"
         "(ivar: AnyArray, cmp: CompareName, value: Value, timeout: None = None, index: int | None = None, "
         "*, "
         "stream: GivenStream) -> None",
         made.keep(
             std::string("Wait until `ivar[index] cmp value` is true on this PE; return the value found.") +
             parameters + word_doc + compare_doc + value_doc + timeout_doc + index_doc +
             returns_doc("int", "The value found. On a stream None.") + wait_tail +
             "\n\nExamples\n--------\n"
             ">>> atoll.p(counter, 1, pe=right)\n"
             ">>> atoll.wait_until(counter, \">=\", 1)  # the left PE has stored it\n1")});
    made.add(
        {"test", entry<6, test_spec, test_body>,
         "(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = None, *, out: AnyArray | None "
         "= "
         "None, stream: Stream = None) -> bool | None\n"
         "(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = None, *, out: None = None, "
         "stream: None = None) -> bool\n"
         "(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = None, *, out: AnyArray, "
         "stream: "
         "GivenStream) -> None",
         made.keep(std::string("True if `ivar[index] cmp value` is true on this PE.") + parameters +
                   word_doc + compare_doc + value_doc + index_doc + out_doc(yes_or_no) +
                   returns_doc("bool", "On a stream None.") + test_tail)});
    add_kind<Kind::all>(made, {"wait_until_all", "wait_until_all_vector", "test_all", "test_all_vector"}, "",
                        yes_or_no,
                        "Wait until the comparison has been true for every word, at any time of the wait.",
                        "True if the comparison is true for every word.");
    add_kind<Kind::any>(made, {"wait_until_any", "wait_until_any_vector", "test_any", "test_any_vector"},
                        one_index, one_index,
                        "Wait until the comparison is true for a word; return its index, or None if all "
                        "words are skipped.\n\n"
                        "Calls return one after another of several such words.",
                        "Return the index of a word for which the comparison is true, or None.\n\n"
                        "Calls return one after another of several such words.");
    add_kind<Kind::some>(
        made, {"wait_until_some", "wait_until_some_vector", "test_some", "test_some_vector"}, indices,
        indices,
        "Wait until the comparison is true for a word; return the indices of all such words.\n\n"
        "The result is an integer array, empty if all words are skipped.",
        "Return the indices of all words for which the comparison is true.\n\n"
        "The result is an integer array.");
    register_functions(module, made.functions);
}

}  // namespace atl::python
