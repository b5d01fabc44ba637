// Atomic operations on one element of a symmetric array.
#include "arrays/near_address.hpp"
#include "calls/registry.hpp"
#include "gpu/stream_cache.hpp"
#include "operations/notes.hpp"
#include "pool/pool.hpp"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace atl::python {
namespace {

enum class Operand { none, one, value, compare_value };

struct Op {
    AtomicOp code;
    Operand operand;
    bool fetches;
    bool integers_only;
};
constexpr Op op_fetch{AtomicOp::fetch, Operand::none, true, false};
constexpr Op op_set{AtomicOp::set, Operand::value, false, false};
constexpr Op op_swap{AtomicOp::swap, Operand::value, true, false};
constexpr Op op_compare_swap{AtomicOp::compare_swap, Operand::compare_value, true, true};
constexpr Op op_inc{AtomicOp::add, Operand::one, false, false};
constexpr Op op_fetch_inc{AtomicOp::fetch_add, Operand::one, true, false};
constexpr Op op_add{AtomicOp::add, Operand::value, false, false};
constexpr Op op_fetch_add{AtomicOp::fetch_add, Operand::value, true, false};
constexpr Op op_and{AtomicOp::bit_and, Operand::value, false, true};
constexpr Op op_fetch_and{AtomicOp::fetch_and, Operand::value, true, true};
constexpr Op op_or{AtomicOp::bit_or, Operand::value, false, true};
constexpr Op op_fetch_or{AtomicOp::fetch_or, Operand::value, true, true};
constexpr Op op_xor{AtomicOp::bit_xor, Operand::value, false, true};
constexpr Op op_fetch_xor{AtomicOp::fetch_xor, Operand::value, true, true};

template <Op O, class T> T apply(const Context& ctx, T* element, T value, T compare, int pe) {
    const auto check_aligned = [&] {
        if (!atl::detail::aligned_to(element, sizeof(T))) [[unlikely]]
            atl::detail::throw_misaligned(element, sizeof(T));
    };
    if (T* const there = address_of_any(ctx, element, sizeof(T), pe)) [[likely]] {
        check_aligned();
        return atl::detail::atomic_apply(O.code, there, value, compare);
    }
    check_aligned();
    const auto word = ctx.atomic_erased(O.code, dtype<T>, element, atl::detail::to_word(value),
                                        atl::detail::to_word(compare), pe);
    return atl::detail::from_word<T>(static_cast<atl::detail::Word<T>>(word));
}

/// Enqueues the operation on a stream. The fetched value goes to the array `fetch`; null for operations
/// without a result.
template <Op O, Spec& S, class T>
void enqueue(const Context& ctx, StreamArg stream, PyArrayObject* fetch, T* element, T value, T compare,
             int pe) {
    if constexpr (O.fetches) {
        if (fetch == nullptr)
            fail(ErrorCode::unsupported,
                 "%s(): on a stream nothing can be returned; use %s_nbi(fetch, ..., stream=...), whose array "
                 "takes the value.",
                 S.name, S.name);
        if (!on_device(fetch)) fail_on_host(S, "fetch", fetch);
    }
    stream_context(ctx, stream)
        .atomic(O.code, dtype<T>, fetch != nullptr ? PyArray_DATA(fetch) : nullptr, element,
                atl::detail::to_word(value), atl::detail::to_word(compare), pe);
}

/// Runs the operation. The arguments are target, operands, pe, index, ctx, team, stream, in that order.
/// Passes the previous value to `result`.
template <Op O, Spec& S, class Result>
PyObject* run(PyObject* const* a, const Adopted& adopted, PyArrayObject* fetch, Result&& result) {
    constexpr int operands = O.operand == Operand::compare_value ? 2 : O.operand == Operand::value ? 1 : 0;
    const Context& ctx = context_of(S, a[operands + 3], a[operands + 4]);
    PyArrayObject* dst = array_arg(S, "dst", a[0]);
    const int pe = pe_of(S, a[operands + 1]);
    check_dtype(S, "dst", dst);
    char* element = symmetric_element(S, "dst", dst, a[operands + 2], O.code != AtomicOp::fetch);
    check_pool_block(S, "dst", element, ctx, pe);
    if constexpr (O.code != AtomicOp::fetch) use_atomics_on(block_of(dst));
    const DTypeRow& row = row_of(dst);
    const auto refuse = [&]() -> PyObject* { fail_atomic_dtype(S, dst, O.integers_only); };
    if (!row.known) [[unlikely]]
        return refuse();
    return visit_atomic(
        row.type,
        [&]<class T>(T*) -> PyObject* {
            if constexpr (O.integers_only && std::is_floating_point_v<T>) {
                return refuse();
            } else {
                auto* descr = reinterpret_cast<PyObject*>(PyArray_DESCR(dst));
                T value = O.operand == Operand::one ? T{1} : T{};
                T compare{};
                if constexpr (operands == 1) value = value_as<T>({S, "value", descr}, a[1]);
                if constexpr (operands == 2) {
                    compare = value_as<T>({S, "expected", descr}, a[1]);
                    value = value_as<T>({S, "value", descr}, a[2]);
                }
                if (given(a[operands + 5])) [[unlikely]] {
                    enqueue<O, S>(ctx, stream_of(S, a[operands + 5], adopted), fetch,
                                  reinterpret_cast<T*>(element), value, compare, pe);
                    return none();
                }
                auto* const word = reinterpret_cast<T*>(element);
                const T before = apply<O>(ctx, word, value, compare, pe);
                if (O.code != AtomicOp::fetch && (O.code != AtomicOp::compare_swap || before == compare))
                    note_atomic(ctx, O.code, word, value, pe);
                if constexpr (constexpr auto* loop = core::loop_of(O.code); loop != nullptr)
                    note_poll(ctx, loop, word, before, pe);
                return result(before, dst);
            }
        },
        refuse);
}

template <Op O, Spec& S, int N> PyObject* body(const Arguments<N>& a) {
    return run<O, S>(a.value, a.adopted, nullptr, []<class T>(T before, PyArrayObject*) -> PyObject* {
        if constexpr (O.fetches)
            return to_python(before);
        else
            return none();
    });
}

/// The non-blocking form: the first argument receives the previous value.
template <Op O, Spec& S, int N> PyObject* nbi_body(const Arguments<N>& a) {
    PyArrayObject* fetch = array_arg(S, "fetch", a[0]);
    check_writeable(S, "fetch", fetch);
    if (size_of(fetch) == 0) fail_index(S, "fetch", fetch, 0);
    if (is_array(a[1]) && !same_dtype(as_array(a[1]), fetch))
        fail_output_dtype(S, "dst", as_array(a[1]), "fetch", fetch);
    return run<O, S>(a.value + 1, a.adopted, fetch, [&]<class T>(T before, PyArrayObject*) -> PyObject* {
        if (on_device(fetch)) [[unlikely]] {
            check_symmetric(S, "fetch", fetch, PyArray_BYTES(fetch), sizeof(T));
            const Context& own = *g.context;
            own.put_bytes(PyArray_DATA(fetch), &before, sizeof(T), own.my_pe());
        } else {
            atl::detail::copy(PyArray_DATA(fetch), &before, sizeof(T));
        }
        return none();
    });
}

/// One for each operation and form.
template <Op O, bool Nbi> Spec spec_of;

constexpr int operands_of(const Op& op) {
    return op.operand == Operand::compare_value ? 2 : op.operand == Operand::value ? 1 : 0;
}

template <Op O, bool Nbi>
constexpr ConstantText<256> signature_of = [] {
    ConstantText<256> text;
    text += Nbi                         ? "(fetch: AnyArray, dst: AnyArray, "
            : O.code == AtomicOp::fetch ? "(src: AnyArray, "
                                        : "(dst: AnyArray, ";
    if (O.operand == Operand::compare_value) text += "expected: Value, ";
    if (operands_of(O) > 0) text += "value: Value, ";
    text +=
        "pe: int, index: int | None = None, *, ctx: Context | None = None, team: Team | None = None, "
        "stream: Stream = None) -> ";
    text += Nbi || !O.fetches ? "None" : O.integers_only ? "int" : "Any";
    return text;
}();

/// An example with one element on PE 0.
std::string example_of(const Op& op, const std::string& name) {
    constexpr const char* operands[] = {"", "1, ", "0, 1, "};
    return "\n\nExamples\n--------\n>>> " + std::string(op.fetches ? "previous = " : "") + "atoll.atomic_" +
           name + "(counter, " + operands[operands_of(op)] + "pe=0)";
}

std::string document_of(const Op& op, bool nbi, const std::string& name, const char* what) {
    const std::string target = op.code == AtomicOp::fetch && !nbi ? "src" : "dst";
    std::string text = what;
    text +=
        "\n\nLocal, not collective. Atomic to all other atomic operations, signals and waits on the "
        "element,\n"
        "and ordered (acquire and release) if PE pe is on this host.";
    if (nbi || !op.fetches) text += " Complete after quiet().";
    text += "\n\nParameters\n----------\n";
    if (nbi)
        text +=
            "fetch\n    A local array of the same dtype. Its first element holds the previous value after "
            "quiet().\n";
    text += target + "\n    A symmetric array or view of 32- or 64-bit integers" +
            (op.integers_only ? ".\n" : ", float32 or float64.\n");
    if (operands_of(op) == 2)
        text += "expected\n    The value that the element must have to be set; a number as `value`.\n";
    if (operands_of(op) > 0)
        text += "value\n    A Python number that fits the dtype, or a NumPy scalar of it.\n";
    text +=
        "pe\n    The PE of the element, 0 to n_pes()-1; within `team`, or the context's team, if given.\n"
        "index\n    The element in C order; negative numbers count from the end. It may be left out if there "
        "is one\n    element (ShapeMismatch otherwise).";
    if (op.fetches && !nbi) text += "\n\nReturns\n-------\nvalue\n    The previous value, a Python number.";
    return text +
           "\n\nRaises\n------\n"
           "DtypeMismatch, ShapeMismatch, NotSymmetric, PeError, IndexError, InvalidArgument, "
           "UseAfterFree\n\n"
           "Notes\n-----\n"
           "Source: OpenSHMEM 1.6, section 9.7 (shmem_atomic_*" +
           (nbi ? "_nbi" : "") + ")." + (nbi ? "" : example_of(op, name));
}

template <Op O, bool Nbi> void add(ComposedFunctions& made, const char* name, const char* what) {
    constexpr int n = operands_of(O) + 6 + (Nbi ? 1 : 0);
    constexpr auto call = [] {
        if constexpr (Nbi)
            return entry<n, spec_of<O, Nbi>, nbi_body<O, spec_of<O, Nbi>, n>>;
        else
            return entry<n, spec_of<O, Nbi>, body<O, spec_of<O, Nbi>, n>>;
    }();
    made.add({made.keep(std::string("atomic_") + name + (Nbi ? "_nbi" : "")), call, signature_of<O, Nbi>.data,
              made.keep(document_of(O, Nbi, name, what))});
}

template <Op O>
void add_both(ComposedFunctions& made, const char* name, const char* what, const char* what_nbi) {
    add<O, false>(made, name, what);
    add<O, true>(made, name, what_nbi);
}

}  // namespace

void register_atomics(PyObject* module) {
    static ComposedFunctions made;
    add<op_set, false>(made, "set", "Set one element to value.");
    add<op_inc, false>(made, "inc", "Add 1 to one element; integers wrap.");
    add<op_add, false>(made, "add", "Add value to one element; integers wrap.");
    add<op_and, false>(made, "and", "Bitwise and of one element with value.");
    add<op_or, false>(made, "or", "Bitwise or of one element with value.");
    add<op_xor, false>(made, "xor", "Bitwise exclusive or of one element with value.");
    add_both<op_fetch>(made, "fetch", "Return one element.", "Read one element into fetch.");
    add_both<op_swap>(made, "swap", "Set one element to value; return the previous value.",
                      "Set one element to value; the previous value goes to fetch.");
    add_both<op_compare_swap>(
        made, "compare_swap", "Set one element to value if it equals expected; return the previous value.",
        "Set one element to value if it equals expected; the previous value goes to fetch.");
    add_both<op_fetch_inc>(made, "fetch_inc", "Add 1 to one element; return the previous value.",
                           "Add 1 to one element; the previous value goes to fetch.");
    add_both<op_fetch_add>(made, "fetch_add",
                           "Add value to one element, integers wrapping; return the previous value.",
                           "Add value to one element, integers wrapping; the previous value goes to fetch.");
    add_both<op_fetch_and>(made, "fetch_and",
                           "Bitwise and of one element with value; return the previous value.",
                           "Bitwise and of one element with value; the previous value goes to fetch.");
    add_both<op_fetch_or>(made, "fetch_or",
                          "Bitwise or of one element with value; return the previous value.",
                          "Bitwise or of one element with value; the previous value goes to fetch.");
    add_both<op_fetch_xor>(
        made, "fetch_xor", "Bitwise exclusive or of one element with value; return the previous value.",
        "Bitwise exclusive or of one element with value; the previous value goes to fetch.");
    register_functions(module, made.functions);
}

}  // namespace atl::python
