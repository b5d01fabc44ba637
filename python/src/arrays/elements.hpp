// A dtype, encoded for the comparison between PEs.
#pragma once

#include "arrays/array_arguments.hpp"
#include "core/team/elements.hpp"

namespace atl::python {

/// Elements of times, and of structured and special dtypes: sizes alone do not tell these apart.
[[gnu::cold]] MessageElements special_elements_of(PyArray_Descr* descr);

inline MessageElements message_elements_of(PyArray_Descr* descr) {
    const char kind = descr->kind;
    if (core::is_time(kind) || kind == 'V' || descr->type_num >= NPY_USERDEF) [[unlikely]]
        return special_elements_of(descr);
    return {kind, static_cast<std::uint32_t>(PyDataType_ELSIZE(descr))};
}
inline MessageElements message_elements_of(PyArrayObject* array) {
    return message_elements_of(PyArray_DESCR(array));
}

inline std::uint64_t elements_of(PyArray_Descr* descr) {
    return core::elements_of(message_elements_of(descr));
}
inline std::uint64_t elements_of(PyArrayObject* array) { return elements_of(PyArray_DESCR(array)); }

}  // namespace atl::python
