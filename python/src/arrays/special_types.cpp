// Element types of GPUs that NumPy does not have.
#include "arrays/special_types.hpp"

#include <string_view>

namespace atl::python {
namespace {

// The codes are DLPack's.
constexpr SpecialType special_types[] = {
    {"bfloat16", 2, 4, true, DType::bfloat16},       {"float8_e4m3fn", 1, 10, false, DType::uint8},
    {"float8_e4m3fnuz", 1, 11, false, DType::uint8}, {"float8_e5m2", 1, 12, false, DType::uint8},
    {"float8_e5m2fnuz", 1, 13, false, DType::uint8}, {"float8_e8m0fnu", 1, 14, false, DType::uint8},
};

}  // namespace

const SpecialType* special_type(PyArray_Descr* descr) noexcept {
    if (descr->type_num != NPY_VOID) return nullptr;
    PyObject* names = PyDataType_NAMES(descr);
    if (names == nullptr || !PyTuple_Check(names) || PyTuple_Size(names) != 1) return nullptr;
    const char* name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, 0), nullptr);
    if (name == nullptr) PyErr_Clear();
    for (const SpecialType& type : special_types)
        if (name != nullptr && std::string_view(name) == type.name && PyDataType_ELSIZE(descr) == type.bytes)
            return &type;
    return nullptr;
}

Ref dtype_name(PyArray_Descr* descr) {
    if (const SpecialType* special = special_type(descr)) return Ref(PyUnicode_FromString(special->name));
    return Ref(PyObject_Str(reinterpret_cast<PyObject*>(descr)));
}

bool same_special(PyArray_Descr* a, PyArray_Descr* b) {
    const SpecialType* special = special_type(a);
    PyArray_Descr* other = special != nullptr ? b : a;
    if (special == nullptr) special = special_type(b);
    if (special == nullptr || other->type_num < NPY_USERDEF) return false;
    const Ref name(PyObject_Str(reinterpret_cast<PyObject*>(other)));
    return PyDataType_ELSIZE(other) == special->bytes &&
           PyUnicode_CompareWithASCIIString(name.get(), special->name) == 0;
}

std::uint8_t float8_code(const SpecialType& type, double number) {
    const Ref module(PyImport_ImportModule("atoll._narrow"));
    const Ref code(PyObject_CallMethod(module.get(), "code_of", "sd", type.name, number));
    return static_cast<std::uint8_t>(PyLong_AsLong(code.get()));
}

double float8_number(const SpecialType& type, std::uint8_t code) {
    const Ref module(PyImport_ImportModule("atoll._narrow"));
    const Ref number(PyObject_CallMethod(module.get(), "number_of", "si", type.name, static_cast<int>(code)));
    return PyFloat_AsDouble(number.get());
}

DTypeRow device_row_of(PyArrayObject* array) noexcept {
    PyArray_Descr* descr = PyArray_DESCR(array);
    if (descr->type_num == NPY_HALF) return {true, true, DType::float16};
    const SpecialType* special = special_type(descr);
    if (special != nullptr && special->reducible) return {false, true, special->type};
    return row_of(array);
}

}  // namespace atl::python
