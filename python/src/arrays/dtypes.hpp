// A table from NumPy's type numbers to Atoll's element types, generated from the C++ types; and conversions
// of Python scalars.
#pragma once

#include "atoll/types.hpp"

#include "calls/state.hpp"

#include <array>
#include <complex>
#include <optional>

namespace atl::python {

struct DTypeRow {
    bool plain = false;  ///< no metadata, no references: equal type numbers mean equal types
    bool known = false;  ///< `type` is valid: atomics and reductions may accept it
    DType type = DType::int8;
};

namespace detail {
template <class T> constexpr void set_row(std::array<DTypeRow, NPY_NTYPES_LEGACY>& rows, int number) {
    rows[static_cast<std::size_t>(number)] = {true, true, dtype<T>};
}
consteval std::array<DTypeRow, NPY_NTYPES_LEGACY> make_dtype_table() {
    std::array<DTypeRow, NPY_NTYPES_LEGACY> rows{};
    set_row<bool>(rows, NPY_BOOL);
    set_row<npy_byte>(rows, NPY_BYTE);
    set_row<npy_ubyte>(rows, NPY_UBYTE);
    set_row<npy_short>(rows, NPY_SHORT);
    set_row<npy_ushort>(rows, NPY_USHORT);
    set_row<npy_int>(rows, NPY_INT);
    set_row<npy_uint>(rows, NPY_UINT);
    set_row<npy_long>(rows, NPY_LONG);
    set_row<npy_ulong>(rows, NPY_ULONG);
    set_row<npy_longlong>(rows, NPY_LONGLONG);
    set_row<npy_ulonglong>(rows, NPY_ULONGLONG);
    set_row<float>(rows, NPY_FLOAT);
    set_row<double>(rows, NPY_DOUBLE);
    set_row<long double>(rows, NPY_LONGDOUBLE);
    set_row<std::complex<float>>(rows, NPY_CFLOAT);
    set_row<std::complex<double>>(rows, NPY_CDOUBLE);
    rows[NPY_CLONGDOUBLE].plain = true;
    rows[NPY_HALF].plain = true;
    return rows;
}
}  // namespace detail

/// Indexed by type number. A table rather than a switch, because long and long long are two NumPy types but
/// one of ours.
inline constexpr auto dtype_table = detail::make_dtype_table();

inline const DTypeRow& row_of(int type_num) noexcept {
    static constexpr DTypeRow unknown{};
    return static_cast<unsigned>(type_num) < dtype_table.size()
               ? dtype_table[static_cast<std::size_t>(type_num)]
               : unknown;
}

/// Calls `f(T*)` with a null pointer of the type's C++ type.
template <class F> decltype(auto) visit_atomic(DType type, F&& f, auto&& otherwise) {
    switch (type) {
        case DType::int32:
            return f(static_cast<std::int32_t*>(nullptr));
        case DType::int64:
            return f(static_cast<std::int64_t*>(nullptr));
        case DType::uint32:
            return f(static_cast<std::uint32_t*>(nullptr));
        case DType::uint64:
            return f(static_cast<std::uint64_t*>(nullptr));
        case DType::float32:
            return f(static_cast<float*>(nullptr));
        case DType::float64:
            return f(static_cast<double*>(nullptr));
        default:
            return otherwise();
    }
}
template <class F> decltype(auto) visit_integer(DType type, F&& f, auto&& otherwise) {
    switch (type) {
        case DType::int8:
            return f(static_cast<std::int8_t*>(nullptr));
        case DType::int16:
            return f(static_cast<std::int16_t*>(nullptr));
        case DType::int32:
            return f(static_cast<std::int32_t*>(nullptr));
        case DType::int64:
            return f(static_cast<std::int64_t*>(nullptr));
        case DType::uint8:
            return f(static_cast<std::uint8_t*>(nullptr));
        case DType::uint16:
            return f(static_cast<std::uint16_t*>(nullptr));
        case DType::uint32:
            return f(static_cast<std::uint32_t*>(nullptr));
        case DType::uint64:
            return f(static_cast<std::uint64_t*>(nullptr));
        default:
            return otherwise();
    }
}

/// The name of a value in errors, and the dtype to which it is converted.
struct ValueName {
    const Spec& spec;
    const char* which;
    PyObject* descr;  ///< borrowed
};
[[noreturn, gnu::cold]] void fail_value(const ValueName& name, PyObject* value);
[[gnu::cold]] long long signed_slow(const ValueName& name, PyObject* value, int bytes);
[[gnu::cold]] unsigned long long unsigned_slow(const ValueName& name, PyObject* value, int bytes);
[[gnu::cold]] double floating_slow(const ValueName& name, PyObject* value, int bytes);

/// Converts a Python number, or a NumPy scalar of the same dtype, to T. Only floats are rounded silently, to
/// float32.
template <class T> T value_as(const ValueName& name, PyObject* value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (PyFloat_CheckExact(value)) [[likely]]
            return static_cast<T>(PyFloat_AsDouble(value));
        return static_cast<T>(floating_slow(name, value, sizeof(T)));
    } else if constexpr (std::is_signed_v<T>) {
        if (PyLong_CheckExact(value)) [[likely]] {
            int overflow = 0;
            const long long v = PyLong_AsLongLongAndOverflow(value, &overflow);
            if (overflow == 0 && v == static_cast<T>(v)) [[likely]]
                return static_cast<T>(v);
        }
        return static_cast<T>(signed_slow(name, value, sizeof(T)));
    } else {
        if (PyLong_CheckExact(value)) [[likely]] {
            int overflow = 0;
            const long long v = PyLong_AsLongLongAndOverflow(value, &overflow);
            if (overflow == 0 && v >= 0 && static_cast<unsigned long long>(v) == static_cast<T>(v)) [[likely]]
                return static_cast<T>(v);
        }
        return static_cast<T>(unsigned_slow(name, value, sizeof(T)));
    }
}

template <class T> PyObject* to_python(T value) {
    if constexpr (std::is_floating_point_v<T>)
        return PyFloat_FromDouble(value);
    else if constexpr (std::is_signed_v<T>)
        return PyLong_FromLongLong(value);
    else
        return PyLong_FromUnsignedLongLong(value);
}

/// Writes one element of `descr` from a Python scalar, a NumPy scalar of that dtype, or any value that a
/// structured dtype accepts.
void write_element(const ValueName& name, PyObject* value, void* element);
/// Returns one element as a Python number if that is exact, else as a NumPy scalar.
PyObject* read_element(const void* element, PyArray_Descr* descr);
/// True for single values: numbers, NumPy scalars, 0-d arrays, tuples (for structured types), bytes, text.
bool is_scalar(PyObject* value);
/// True for Python's booleans and NumPy's.
inline bool is_bool(PyObject* value) { return PyBool_Check(value) || PyArray_IsScalar(value, Bool); }

}  // namespace atl::python
