#include "arrays/special_types.hpp"

#include <cstring>

namespace atl::python {
namespace {

/// Reads a NumPy scalar or 0-d array into `into`; it must have the target's dtype. False for other objects.
bool numpy_scalar(const ValueName& name, PyObject* value, void* into, std::size_t bytes) {
    if (!PyArray_CheckScalar(value)) return false;
    Ref array(PyArray_FromAny(value, nullptr, 0, 0, 0, nullptr));
    auto* want = reinterpret_cast<PyArray_Descr*>(name.descr);
    if (!PyArray_EquivTypes(PyArray_DESCR(array.array()), want) &&
        !same_special(PyArray_DESCR(array.array()), want)) {
        if (special_type(want) != nullptr)
            fail(ErrorCode::dtype_mismatch,
                 "%s(): %s has dtype %S, but the target has %S; nothing is cast: pass a Python number, "
                 "float(%s).",
                 name.spec.name, name.which, dtype_name(array.array()).get(), dtype_name(want).get(),
                 name.which);
        fail(ErrorCode::dtype_mismatch,
             "%s(): %s has dtype %S, but the target has %S; nothing is cast, so convert it first: "
             "np.%S(%s), or pass a Python number.",
             name.spec.name, name.which, dtype_name(array.array()).get(), dtype_name(want).get(), name.descr,
             name.which);
    }
    std::memcpy(into, PyArray_DATA(array.array()), bytes);
    return true;
}

[[noreturn]] void fail_range(const ValueName& name, PyObject* value) {
    PyErr_Clear();
    fail(ErrorCode::invalid_argument, "%s(): %s is %R, which does not fit %S.", name.spec.name, name.which,
         value, dtype_name(reinterpret_cast<PyArray_Descr*>(name.descr)).get());
}

template <class T> void write_as(const ValueName& name, PyObject* value, void* element) {
    const T converted = value_as<T>(name, value);
    std::memcpy(element, &converted, sizeof(T));
}

template <class Float> void write_complex(const ValueName& name, PyObject* value, void* element) {
    if (numpy_scalar(name, value, element, 2 * sizeof(Float))) return;
    if (!PyComplex_Check(value) && !PyFloat_Check(value) && !PyLong_Check(value)) fail_value(name, value);
    const Float parts[2] = {static_cast<Float>(PyComplex_RealAsDouble(value)),
                            static_cast<Float>(PyComplex_ImagAsDouble(value))};
    if (PyErr_Occurred()) throw Raised{};
    std::memcpy(element, parts, sizeof parts);
}

/// Rounds to nearest, ties to even; a NaN stays a NaN.
std::uint16_t bfloat16_bits(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (value != value) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Types without a fast path: structured dtypes, dates, float16, long double.
void write_by_numpy(const ValueName& name, PyObject* value, void* element) {
    auto* descr = reinterpret_cast<PyArray_Descr*>(name.descr);
    const auto bytes = static_cast<std::size_t>(PyDataType_ELSIZE(descr));
    if (numpy_scalar(name, value, element, bytes)) return;
    if (const SpecialType* special = special_type(descr)) {
        const double number = floating_slow(name, value, sizeof(float));
        if (special->type != DType::bfloat16) {
            *static_cast<std::uint8_t*>(element) = float8_code(*special, number);
            return;
        }
        const std::uint16_t bits = bfloat16_bits(static_cast<float>(number));
        std::memcpy(element, &bits, sizeof bits);
        return;
    }
    if (row_of(descr->type_num).plain && !PyFloat_Check(value) && !PyLong_Check(value) &&
        !PyComplex_Check(value))
        fail_value(name, value);
    Py_INCREF(name.descr);
    Ref array(PyArray_FromAny(value, descr, 0, 0, NPY_ARRAY_CARRAY, nullptr));
    if (PyArray_SIZE(array.array()) != 1) fail_value(name, value);
    std::memcpy(element, PyArray_DATA(array.array()), bytes);
}

}  // namespace

void fail_value(const ValueName& name, PyObject* value) {
    fail(ErrorCode::dtype_mismatch,
         "%s(): %s is %R, which dtype %S cannot hold; values are not cast, so convert it first.",
         name.spec.name, name.which, value, dtype_name(reinterpret_cast<PyArray_Descr*>(name.descr)).get());
}

long long signed_slow(const ValueName& name, PyObject* value, int bytes) {
    long long found = 0;
    if (PyArray_CheckScalar(value)) {
        char element[8];
        numpy_scalar(name, value, element, static_cast<std::size_t>(bytes));
        switch (bytes) {
            case 1:
                return *reinterpret_cast<std::int8_t*>(element);
            case 2:
                std::int16_t two;
                std::memcpy(&two, element, 2);
                return two;
            case 4:
                std::int32_t four;
                std::memcpy(&four, element, 4);
                return four;
            default:
                std::memcpy(&found, element, 8);
                return found;
        }
    }
    if (!PyLong_Check(value)) fail_value(name, value);
    found = PyLong_AsLongLong(value);
    const int shift = 64 - 8 * bytes;
    if ((found == -1 && PyErr_Occurred()) ||
        (static_cast<long long>(static_cast<unsigned long long>(found) << shift) >> shift) != found)
        fail_range(name, value);
    return found;
}

unsigned long long unsigned_slow(const ValueName& name, PyObject* value, int bytes) {
    unsigned long long found = 0;
    if (PyArray_CheckScalar(value)) {
        // the low bytes, as on all little-endian platforms
        numpy_scalar(name, value, &found, static_cast<std::size_t>(bytes));
        return found;
    }
    if (!PyLong_Check(value)) fail_value(name, value);
    found = PyLong_AsUnsignedLongLong(value);
    if ((found == ~0ULL && PyErr_Occurred()) || (bytes < 8 && found >> (8 * bytes) != 0))
        fail_range(name, value);
    return found;
}

double floating_slow(const ValueName& name, PyObject* value, int bytes) {
    if (PyArray_CheckScalar(value)) {
        double eight = 0;
        float four = 0;
        numpy_scalar(name, value, bytes == 8 ? static_cast<void*>(&eight) : &four,
                     static_cast<std::size_t>(bytes));
        return bytes == 8 ? eight : static_cast<double>(four);
    }
    if (!PyFloat_Check(value) && !PyLong_Check(value)) fail_value(name, value);
    const double found = PyFloat_AsDouble(value);
    if (found == -1 && PyErr_Occurred()) fail_range(name, value);
    return found;
}

void write_element(const ValueName& name, PyObject* value, void* element) {
    const DTypeRow& row = row_of(reinterpret_cast<PyArray_Descr*>(name.descr)->type_num);
    if (!row.known) return write_by_numpy(name, value, element);
    switch (row.type) {
        case DType::float32:
            return write_as<float>(name, value, element);
        case DType::float64:
            return write_as<double>(name, value, element);
        case DType::complex64:
            return write_complex<float>(name, value, element);
        case DType::complex128:
            return write_complex<double>(name, value, element);
        case DType::boolean: {
            if (numpy_scalar(name, value, element, 1)) return;
            if (!PyBool_Check(value)) fail_value(name, value);
            *static_cast<bool*>(element) = value == Py_True;
            return;
        }
        case DType::long_double:
            return write_by_numpy(name, value, element);
        default:
            break;
    }
    visit_integer(
        row.type, [&]<class T>(T*) { write_as<T>(name, value, element); }, [] {});
}

PyObject* read_element(const void* element, PyArray_Descr* descr) {
    const DTypeRow& row = row_of(descr->type_num);
    const auto load = [&]<class T>(T) {
        T value;
        std::memcpy(&value, element, sizeof(T));
        return value;
    };
    if (row.known) {
        switch (row.type) {
            case DType::float32:
                return PyFloat_FromDouble(static_cast<double>(load(float{})));
            case DType::float64:
                return PyFloat_FromDouble(load(double{}));
            case DType::boolean:
                return PyBool_FromLong(*static_cast<const char*>(element) != 0);
            case DType::complex64: {
                const auto z = load(std::complex<float>{});
                return PyComplex_FromDoubles(static_cast<double>(z.real()), static_cast<double>(z.imag()));
            }
            case DType::complex128: {
                const auto z = load(std::complex<double>{});
                return PyComplex_FromDoubles(z.real(), z.imag());
            }
            case DType::long_double:
                break;
            default:
                return visit_integer(
                    row.type, [&]<class T>(T*) { return to_python(load(T{})); },
                    []() -> PyObject* { return nullptr; });
        }
    }
    if (const SpecialType* special = special_type(descr)) {
        if (special->type != DType::bfloat16)
            return PyFloat_FromDouble(float8_number(*special, load(std::uint8_t{})));
        const std::uint32_t bits = static_cast<std::uint32_t>(load(std::uint16_t{})) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return PyFloat_FromDouble(static_cast<double>(value));
    }
    return PyArray_Scalar(const_cast<void*>(element), descr, nullptr);
}

bool is_scalar(PyObject* value) {
    return PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value) ||
           PyArray_CheckScalar(value) || PyTuple_Check(value) || PyBytes_Check(value) ||
           PyUnicode_Check(value);
}

}  // namespace atl::python
