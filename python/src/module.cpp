// The module _atoll: everything is registered here, by topic.
#define ATOLL_IMPORTS_NUMPY
#include "calls/registry.hpp"
#include "gpu/device.hpp"

#include <stdexcept>

namespace atl::python {
namespace {

void import_numpy() {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
    g.ndarray = &PyArray_Type;
}

/// Rejects sub-interpreters: the job, the hooks of the GIL and NumPy belong to the process and would be
/// shared.
void refuse_sub_interpreter() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return;
    throw std::runtime_error(
        "Atoll cannot be used in a sub-interpreter: a PE is a process. Import it in the main interpreter "
        "only, or start more PEs.");
}

void register_all(nb::module_& module) {
    refuse_sub_interpreter();
    import_numpy();
#ifdef NDEBUG
    // Objects that daemon threads or cycles keep alive at the end of the process are not leaks of the
    // program.
    nb::set_leak_warnings(false);
#endif
    PyObject* m = module.ptr();
    register_wait_hooks();
    register_errors(m);
    register_block(m);
    register_device_array(m);
    register_enums(module);
    register_team(module);
    register_context(module);
    register_job(m);
    register_tasks(m);
    register_arrays(m);
    register_rma(m);
    register_strided(m);
    register_irregular(m);
    register_blocks(m);
    register_boxes(m);
    register_halos(m);
    register_sparse(m);
    register_atomics(m);
    register_signals(m);
    register_waits(m);
    register_sync(m);
    register_collectives(m);
    register_reductions(m);
    register_pool(m);
    register_messages(module);
    register_requests(module);
    register_lock(module);
    register_mailbox(module);
    register_kernels(module);
    register_shmem(m);
}

PyObject* signature_of(PyObject* method, void*) {
    const nb::object module = nb::steal(PyImport_ImportModule("atoll._names.signatures"));
    if (!module.is_valid()) return nullptr;
    return PyObject_CallMethod(module.ptr(), "signature", "O", method);
}

/// Adds __signature__, which inspect.signature reads, to nanobind's types of methods and bound methods.
/// setattr cannot add it to these immutable types. NB_DOMAIN makes them private to this module
/// (cmake/AtollPython.cmake).
void set_signatures(const nb::module_& module) {
    static PyGetSetDef getter{"__signature__", signature_of, nullptr, nullptr, nullptr};
    const Ref name(PyUnicode_InternFromString(getter.name));
    const nb::object method = module.attr("Lock").attr("acquire");
    for (const nb::object& kind : {method, nb::object(method.attr("__get__")(module))}) {
        PyTypeObject* type = Py_TYPE(kind.ptr());
        const Ref descriptor(PyDescr_NewGetSet(type, &getter));
        if (PyObject_GenericSetAttr(reinterpret_cast<PyObject*>(type), name.get(), descriptor.get()) < 0)
            throw Raised{};
        PyType_Modified(type);
    }
}

/// A second import, after sys.modules lost the module, returns the first registration: classes and exceptions
/// exist once in a process.
void fill(nb::module_& module) {
    static PyObject* first = nullptr;
    if (first != nullptr) {
        if (PyDict_Merge(PyModule_GetDict(module.ptr()), PyModule_GetDict(first), 0) < 0) throw Raised{};
        return;
    }
    register_all(module);
    set_signatures(module);
    explain_methods(module);
    first = module.ptr();
    Py_INCREF(first);
}

}  // namespace
}  // namespace atl::python

NB_MODULE(_atoll, module) {
    try {
        atl::python::fill(module);
    } catch (const atl::python::Raised&) {
        throw nanobind::python_error();
    }
}
