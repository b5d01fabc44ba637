#include "arrays/elements.hpp"

#include "arrays/special_types.hpp"

namespace atl::python {
namespace {

MessageElements time_elements(PyArray_Descr* descr) {
    const auto* data = reinterpret_cast<const PyArray_DatetimeDTypeMetaData*>(PyDataType_C_METADATA(descr));
    const core::TimeUnit unit{static_cast<std::uint32_t>(data->meta.base),
                              static_cast<std::uint32_t>(data->meta.num)};
    return {descr->kind, unit.encoded()};
}

}  // namespace

MessageElements special_elements_of(PyArray_Descr* descr) {
    if (descr->kind != 'V') return time_elements(descr);
    const bool is_raw = descr->type_num == NPY_VOID && PyDataType_NAMES(descr) == nullptr &&
                        PyDataType_SUBARRAY(descr) == nullptr;
    if (is_raw) return {'V', static_cast<std::uint32_t>(PyDataType_ELSIZE(descr))};
    // The text of a large dtype is long to make, and calls often repeat. NumPy keeps a descriptor alive for
    // its arrays, so the last one is held.
    thread_local PyArray_Descr* last = nullptr;
    thread_local std::uint32_t number = 0;
    if (last != descr) {
        const Ref name = dtype_name(descr);
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(name.get(), &size);
        if (text == nullptr) throw Raised{};
        number = core::record_number({text, static_cast<std::size_t>(size)});
        Py_XDECREF(reinterpret_cast<PyObject*>(last));
        Py_INCREF(reinterpret_cast<PyObject*>(descr));
        last = descr;
    }
    return {core::record_kind, number};
}

}  // namespace atl::python
