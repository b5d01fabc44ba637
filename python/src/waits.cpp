// Waiting for, and looking at, this PE's own symmetric words.
#include "device.hpp"
#include "enums.hpp"
#include "registry.hpp"
#include "staging.hpp"
#include "stream_cache.hpp"

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

/// `status`: words whose entry is not 0 are left out.
class Status {
  public:
    Status(const Spec& spec, PyObject* status, std::size_t n) {
        if (!given(status)) return;
        held_ = Ref(
            PyArray_FromAny(status, PyArray_DescrFromType(NPY_INT32), 0, 0, NPY_ARRAY_CARRAY_RO, nullptr));
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

/// (ivars, cmp, value or values, status[, timeout])
template <Form F> PyObject* many_body(const Arguments<5>& a) {
    const Spec& spec = spec_of<F>;
    const Context& ctx = context_of(spec, nullptr, nullptr);
    const Words w = words_of(spec, a[0]);
    const Compare cmp = compare_of(spec, a[1]);
    const Status status(spec, a[3], w.n);
    const double timeout = timeout_of(spec, a[4]);
    Ref values;
    if constexpr (F.vector) {
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
                value =
                    value_as<T>({spec, "value", reinterpret_cast<PyObject*>(PyArray_DESCR(w.array))}, a[2]);
            return many<F, T>(ctx, w, status.data(), cmp, value, each, timeout);
        },
        [&]() -> PyObject* { fail_type(spec, w.array); });
}

/// wait_until(ivar, cmp, value, timeout, index) and test(ivar, cmp, value, index)
template <Form F> PyObject* one_body(const Arguments<6>& a) {
    const Spec& spec = spec_of<F>;
    const Context& ctx = context_of(spec, nullptr, nullptr);
    PyArrayObject* array = array_arg(spec, "ivar", a[0]);
    check_dtype(spec, "ivar", array);
    const char* word = symmetric_element(spec, "ivar", array, F.waits ? a[4] : a[3], false);
    const Compare cmp = compare_of(spec, a[1]);
    const DTypeRow& row = row_of(array);
    if (!row.known) fail_type(spec, array);
    return visit_integer(
        row.type,
        [&]<class T>(T*) {
            const T value =
                value_as<T>({spec, "value", reinterpret_cast<PyObject*>(PyArray_DESCR(array))}, a[2]);
            const T* p = reinterpret_cast<const T*>(word);
            if (F.waits && given(a[5])) [[unlikely]] {
                if (given(a[3]))
                    fail(ErrorCode::unsupported,
                         "%s(): a wait on a stream has no timeout of its own; ATOLL_WAIT_TIMEOUT bounds it.",
                         spec.name);
                stream_context(ctx, stream_of(spec, a[5], a.adopted)).wait_until(p, cmp, value);
                return none();
            }
            if constexpr (F.waits)
                return to_python(ctx.wait_until(p, cmp, value, timeout_of(spec, a[3])));
            else
                return PyBool_FromLong(ctx.test(p, cmp, value));
        },
        [&]() -> PyObject* { fail_type(spec, array); });
}

constexpr const char* wait_tail =
    "\nAcquires: what the updating PEs had ordered before their updates is visible on return. Other "
    "threads\n"
    "run meanwhile and Ctrl-C is answered. Raises Timeout (naming the wait), PeDied, NotSymmetric,\n"
    "DtypeMismatch, ShapeMismatch, UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.";
constexpr const char* test_tail =
    "\nNever waits; acquires where it answers yes. Raises NotSymmetric, DtypeMismatch, ShapeMismatch,\n"
    "UseAfterFree. Source: OpenSHMEM 1.6, section 9.12.";
constexpr const char* word_doc =
    "\n\nivar:    a symmetric array of integers, or any view of one; on this PE.\n";
constexpr const char* words_doc =
    "\n\nivars:   a contiguous symmetric array (or view) of integers, on this PE.\n";
constexpr const char* compare_doc =
    "cmp:     \"==\", \"!=\", \">\", \">=\", \"<\" or \"<=\" (or atoll.EQ and so on): found `cmp` value.\n";
constexpr const char* value_doc = "value:   an integer that ivar's dtype holds.\n";
constexpr const char* index_doc =
    "index:   which element of ivar, in C order, negative ones from the end; None: the only one.\n";
constexpr const char* status_doc =
    "status:  one integer for each word; words whose entry is not 0 are left out. None: none is.\n";
constexpr const char* timeout_doc =
    "timeout: seconds; None: ATOLL_WAIT_TIMEOUT, where 0 is for ever. 0 looks once.\n";

struct Made {
    std::vector<Function> functions;
    std::deque<std::string> texts;

    const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

template <Form F> void add_many(Made& made, const char* name, const char* returns, const std::string& what) {
    const std::string value = F.vector ? "values: ArrayLike" : "value: Value";
    std::string text = what + words_doc + compare_doc;
    text += F.vector ? "values:  one for each word, of ivars' dtype, or a list of Python numbers.\n"
                     : "value:   an integer that ivars' dtype holds.\n";
    text += status_doc;
    text += F.waits ? std::string(timeout_doc) + wait_tail : test_tail;
    made.functions.push_back(
        {name, entry<5, spec_of<F>, many_body<F>>, &spec_of<F>,
         made.keep("(ivars: Array, cmp: CompareName, " + value + ", status: ArrayLike | None = None" +
                   (F.waits ? ", timeout: float | None = None" : "") + ") -> " + returns),
         made.keep(text)});
}

template <Kind K>
void add_kind(Made& made, const char* const (&names)[4], const char* waits_return, const char* test_return,
              const std::string& waits, const std::string& tests) {
    add_many<Form{K, true, false}>(made, names[0], waits_return, waits);
    add_many<Form{K, true, true}>(made, names[1], waits_return, waits + " Each word has its own value.");
    add_many<Form{K, false, false}>(made, names[2], test_return, tests);
    add_many<Form{K, false, true}>(made, names[3], test_return, tests + " Each word has its own value.");
}

}  // namespace

void register_waits(PyObject* module) {
    static Made made;
    constexpr Form wait_form{Kind::one, true, false};
    constexpr Form test_form{Kind::one, false, false};
    made.functions.push_back(
        {"wait_until", entry<6, spec_of<wait_form>, one_body<wait_form>>, &spec_of<wait_form>,
         "(ivar: AnyArray, cmp: CompareName, value: Value, timeout: float | None = None, index: int | None = "
         "0, stream: Stream = None) -> int | None\n"
         "(ivar: AnyArray, cmp: CompareName, value: Value, timeout: float | None = None, index: int | None = "
         "0, stream: None = None) -> int\n"
         "(ivar: AnyArray, cmp: CompareName, value: Value, timeout: None = None, index: int | None = 0, *, "
         "stream: GivenStream) -> None",
         made.keep(std::string("Wait until this PE's own symmetric word number `index` of ivar compares; "
                               "return the value that did.") +
                   word_doc + compare_doc + value_doc + timeout_doc + index_doc + wait_tail)});
    made.functions.push_back(
        {"test", entry<6, spec_of<test_form>, one_body<test_form>>, &spec_of<test_form>,
         "(ivar: AnyArray, cmp: CompareName, value: Value, index: int | None = 0) -> bool",
         made.keep(std::string("True if this PE's own symmetric word number `index` of ivar compares.") +
                   word_doc + compare_doc + value_doc + index_doc + test_tail)});
    add_kind<Kind::all>(made, {"wait_until_all", "wait_until_all_vector", "test_all", "test_all_vector"},
                        "None", "bool", "Wait until every word has compared; one that did once counts.",
                        "True if every word compares.");
    add_kind<Kind::any>(
        made, {"wait_until_any", "wait_until_any_vector", "test_any", "test_any_vector"}, "int | None",
        "int | None",
        "Wait until some word compares; return its index, in turn among several; None if no word is left in.",
        "Return the index of a word that compares, in turn among several; None if there is none.");
    add_kind<Kind::some>(made, {"wait_until_some", "wait_until_some_vector", "test_some", "test_some_vector"},
                         "IndexArray", "IndexArray",
                         "Wait until some word compares; return the indices of all that do, as an integer "
                         "array (empty if no word is left in).",
                         "Return the indices of all words that compare, as an integer array.");
    register_functions(module, made.functions);
}

}  // namespace atl::python
