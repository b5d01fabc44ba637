#include "calls/enums.hpp"

#include "calls/registry.hpp"

#include <string>

namespace atl::python {
namespace {

/// One value and its names. `objects` are the member and its texts, interned, to be compared by address.
struct Name {
    const char* member;
    int value;
    const char* texts[3];
    PyObject* objects[4];
};

template <int N> struct Choice {
    const char* what;
    Name names[N];

    /// Gives the enumeration its values, which become names of the module, too.
    template <class E> void bind(nb::enum_<E>& members) {
        for (const Name& name : names) members.value(name.member, static_cast<E>(name.value));
        members.export_values();
        PyObject* const enumeration = members.ptr();
        for (Name& name : names) {
            name.objects[0] = PyObject_GetAttrString(enumeration, name.member);
            for (int i = 0; i < 3 && name.texts[i]; ++i)
                name.objects[i + 1] = PyUnicode_InternFromString(name.texts[i]);
        }
    }
    int of(const Spec& spec, PyObject* value) const {
        for (const Name& name : names)
            for (PyObject* object : name.objects)
                if (object == value) [[likely]]
                    return name.value;
        return slow(spec, value);
    }
    int slow(const Spec& spec, PyObject* value) const {
        // Python interns only identifiers: texts such as ">=" may be another object at each call.
        if (value != nullptr && PyUnicode_Check(value))
            for (const Name& name : names)
                for (PyObject* object : name.objects)
                    if (object && PyUnicode_Check(object) && PyUnicode_Compare(object, value) == 0)
                        return name.value;
        std::string all;
        for (const Name& name : names) all += std::string(all.empty() ? "'" : ", '") + name.texts[0] + "'";
        fail(ErrorCode::invalid_argument, "%s(): %s is %R; pass one of %s, or the constant of that name.",
             spec.name, what, value ? value : Py_None, all.c_str());
    }
};

Choice<6> comparisons{"cmp",
                      {
                          {"EQ", static_cast<int>(Compare::eq), {"==", "eq"}, {}},
                          {"NE", static_cast<int>(Compare::ne), {"!=", "ne"}, {}},
                          {"GT", static_cast<int>(Compare::gt), {">", "gt"}, {}},
                          {"GE", static_cast<int>(Compare::ge), {">=", "ge"}, {}},
                          {"LT", static_cast<int>(Compare::lt), {"<", "lt"}, {}},
                          {"LE", static_cast<int>(Compare::le), {"<=", "le"}, {}},
                      }};
Choice<reduce_op_count> reductions{"op",
                                   {
                                       {"SUM", static_cast<int>(ReduceOp::sum), {"sum", "+"}, {}},
                                       {"PROD", static_cast<int>(ReduceOp::prod), {"prod", "*"}, {}},
                                       {"MIN", static_cast<int>(ReduceOp::min), {"min"}, {}},
                                       {"MAX", static_cast<int>(ReduceOp::max), {"max"}, {}},
                                       {"AVG", static_cast<int>(ReduceOp::avg), {"avg", "mean"}, {}},
                                       {"AND", static_cast<int>(ReduceOp::bit_and), {"and", "&"}, {}},
                                       {"OR", static_cast<int>(ReduceOp::bit_or), {"or", "|"}, {}},
                                       {"XOR", static_cast<int>(ReduceOp::bit_xor), {"xor", "^"}, {}},
                                   }};
Choice<2> signals{"op",
                  {
                      {"SIGNAL_SET", static_cast<int>(SignalOp::set), {"set"}, {}},
                      {"SIGNAL_ADD", static_cast<int>(SignalOp::add), {"add"}, {}},
                  }};

}  // namespace

Compare compare_of(const Spec& spec, PyObject* value) {
    return static_cast<Compare>(comparisons.of(spec, value));
}
ReduceOp reduce_op_of(const Spec& spec, PyObject* value) {
    return static_cast<ReduceOp>(reductions.of(spec, value));
}
SignalOp signal_op_of(const Spec& spec, PyObject* value) {
    return static_cast<SignalOp>(signals.of(spec, value));
}

void register_enums(nb::module_& module) {
    nb::enum_<Compare> compare(module, "Compare", "The comparison of a wait or test: found `cmp` value.");
    comparisons.bind(compare);
    nb::enum_<ReduceOp> reduce(module, "ReduceOp",
                               "The operator of a reduction; and, or, xor are bitwise, on bool logical.");
    reductions.bind(reduce);
    nb::enum_<SignalOp> signal(module, "SignalOp", "The operation of put_signal on the signal word.");
    signals.bind(signal);
}

}  // namespace atl::python
