#include "arrays/elements.hpp"

#include "arrays/special_types.hpp"
#include "calls/gil.hpp"

#include <string>
#include <utility>

namespace atl::python {
namespace {

std::string text_of(PyObject* object) {
    const Ref text(PyObject_Str(object));
    const char* data = PyUnicode_AsUTF8AndSize(text.get(), nullptr);
    if (data == nullptr) throw Raised{};
    return data;
}

core::TimeUnit unit_of(PyArray_Descr* descr) {
    const auto* data = reinterpret_cast<const PyArray_DatetimeDTypeMetaData*>(PyDataType_C_METADATA(descr));
    return {static_cast<std::uint32_t>(data->meta.base), static_cast<std::uint32_t>(data->meta.num)};
}

/// Text that is equal for dtypes that NumPy calls equal: neither alignment nor the class of scalars is in it.
std::string form_of(PyArray_Descr* descr) {
    if (const SpecialType* special = special_type(descr)) return special->name;
    if (descr->type_num >= NPY_USERDEF) return text_of(reinterpret_cast<PyObject*>(descr));
    std::string plain = descr->kind + std::to_string(PyDataType_ELSIZE(descr));
    if (core::is_time(descr->kind)) return plain + ":" + std::to_string(unit_of(descr).encoded());
    if (const PyArray_ArrayDescr* part = PyDataType_SUBARRAY(descr))
        return form_of(part->base) + text_of(part->shape);
    PyObject* const names = PyDataType_NAMES(descr);
    if (names == nullptr) return plain;
    std::string form = plain + "{";
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
        PyObject* const name = PyTuple_GetItem(names, i);
        PyObject* const field = PyDict_GetItemWithError(PyDataType_FIELDS(descr), name);
        if (field == nullptr) throw Raised{};
        form += text_of(name) + "@" + text_of(PyTuple_GetItem(field, 1)) + ":" +
                form_of(reinterpret_cast<PyArray_Descr*>(PyTuple_GetItem(field, 0))) + ",";
    }
    return form + "}";
}

/// The code of a thread's last structured dtype, since calls often repeat and a form takes almost 1 us.
class LastCode {
  public:
    ~LastCode() {
        if (descr_ == nullptr || !Py_IsInitialized()) return;
        const EnsureGil gil;
        keep(nullptr, nullptr);
    }
    std::uint32_t of(PyArray_Descr* descr) {
        auto* const object = reinterpret_cast<PyObject*>(descr);
        PyObject* const names = PyDataType_NAMES(descr);  // programs may rename fields
        if (object != descr_ || names != names_) {
            code_ = core::record_number(form_of(descr));
            keep(object, names);
        }
        return code_;
    }

  private:
    void keep(PyObject* descr, PyObject* names) {
        Py_XINCREF(descr);
        Py_XINCREF(names);
        PyObject* const old[] = {std::exchange(descr_, descr), std::exchange(names_, names)};
        for (PyObject* object : old) Py_XDECREF(object);
    }

    PyObject *descr_ = nullptr, *names_ = nullptr;
    std::uint32_t code_ = 0;
};

}  // namespace

MessageElements special_elements_of(PyArray_Descr* descr) {
    if (core::is_time(descr->kind)) return {descr->kind, unit_of(descr).encoded()};
    const bool is_raw = descr->type_num == NPY_VOID && PyDataType_NAMES(descr) == nullptr &&
                        PyDataType_SUBARRAY(descr) == nullptr;
    if (is_raw) return {'V', static_cast<std::uint32_t>(PyDataType_ELSIZE(descr))};
    thread_local LastCode last;
    return {core::record_kind, last.of(descr)};
}

}  // namespace atl::python
