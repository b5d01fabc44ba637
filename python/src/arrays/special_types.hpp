// Element types that NumPy does not have: a structured dtype with one field that has the type's name.
#pragma once

#include "arrays/array_arguments.hpp"

#include <cstdint>

namespace atl::python {

struct SpecialType {
    const char* name;
    int bytes;
    int dlpack_code;
    bool reducible;
    DType type;
};
/// Returns the row of a special type; null for all other dtypes.
const SpecialType* special_type(PyArray_Descr* descr) noexcept;
/// A dtype as errors show it; special types by their names.
Ref dtype_name(PyArray_Descr* descr);
inline Ref dtype_name(PyArrayObject* array) { return dtype_name(PyArray_DESCR(array)); }
/// True if one is such a type and the other the ml_dtypes type of that name: their bits are the same.
bool same_special(PyArray_Descr* a, PyArray_Descr* b);
/// Converts a number to an element of such a type, of 8 bits, and back (atoll/_narrow.py).
std::uint8_t float8_code(const SpecialType& type, double number);
double float8_number(const SpecialType& type, std::uint8_t code);
/// The reductions on a GPU of a dtype.
DTypeRow device_row_of(PyArrayObject* array) noexcept;

}  // namespace atl::python
