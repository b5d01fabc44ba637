#include "operations/boxes/parts.hpp"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <utility>

namespace atl::python {

const Context& Parts::context(const Spec& spec) const {
    const auto& its = *nb::inst_ptr<PyTeam>(team.get());
    if (its.which == PyTeam::Which::made && !its.team)
        fail(ErrorCode::use_after_free,
             "%s(): the team of this distributed array was destroyed, so that only this PE's part is "
             "left, a.local. "
             "Keep a team as long as its arrays, or bring them to another team before: "
             "atoll.arrays.redistribute(a, team=t).",
             spec.name);
    return team.get() == g.world_object ? *g.context : context_slow(spec, nullptr, team.get());
}

bool is_like(const Parts& parts, PyObject* object) {
    if (Py_TYPE(object) != g.ndarray && Py_TYPE(object) != copies_of(parts)) return false;
    PyArrayObject* const array = as_array(object);
    const bool same = PyArray_DESCR(array) == PyArray_DESCR(parts.array()) ||
                      (PyArray_DESCR(array)->type_num == PyArray_DESCR(parts.array())->type_num &&
                       plain_native(array) && plain_native(parts.array()));
    if (!same || PyArray_BASE(array) == nullptr) return same;
    const Block* const its = block_of(array);
    return its == nullptr || (!its->freed && its->parent == nullptr && its->device < 0);
}

bool write_number(PyArrayObject* like, PyObject* value, char* element) {
    const bool is_float = PyFloat_CheckExact(value) || PyArray_IsScalar(value, Double);
    if (!plain_native(like) || !row_of(like).known || (!is_float && !PyLong_CheckExact(value))) return false;
    int overflow = 0;
    const long long whole = is_float ? 0 : PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) return false;
    const DType type = row_of(like).type;
    const auto write = [&]<class T>(T number) {
        std::memcpy(element, &number, sizeof number);
        return true;
    };
    if (type == DType::float64) return write(is_float ? PyFloat_AsDouble(value) : static_cast<double>(whole));
    if (type == DType::float32) {
        if (!is_float) return write(static_cast<float>(whole));
        const double number = PyFloat_AsDouble(value);
        return !(std::isfinite(number) && std::fabs(number) > FLT_MAX) && write(static_cast<float>(number));
    }
    if (is_float) return false;
    return visit_integer(
        type, [&]<class T>(T*) { return std::in_range<T>(whole) && write(static_cast<T>(whole)); },
        [] { return false; });
}

bool broadcast(PyArrayObject* array, const npy_intp* dims, int nd, npy_intp* strides) {
    const int missing = nd - PyArray_NDIM(array);
    if (missing < 0) return false;
    for (int i = 0; i < nd; ++i) {
        const npy_intp length = i < missing ? 1 : PyArray_DIMS(array)[i - missing];
        if (length != dims[i] && length != 1) return false;
        strides[i] = length == dims[i] && i >= missing ? PyArray_STRIDES(array)[i - missing] : 0;
    }
    return true;
}

}  // namespace atl::python
