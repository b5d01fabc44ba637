// The module _atoll: everything is registered here, by topic.
#define ATOLL_IMPORTS_NUMPY
#include "array.hpp"
#include "block.hpp"
#include "registry.hpp"

namespace atl::python {
namespace {

void import_numpy() {
    if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
    g.ndarray = &PyArray_Type;
}

void register_all(nb::module_& module) {
    import_numpy();
    PyObject* m = module.ptr();
    register_wait_hooks();
    register_errors(m);
    register_block(m);
    register_enums(module);
    register_team(module);
    register_context(module);
    register_job(m);
    register_arrays(m);
    register_rma(m);
    register_strided(m);
    register_irregular(m);
    register_atomics(m);
    register_signals(m);
    register_waits(m);
    register_sync(m);
    register_messages(module);
    register_lock(module);
    register_mailbox(module);
}

}  // namespace
}  // namespace atl::python

NB_MODULE(_atoll, module) {
    try {
        atl::python::register_all(module);
    } catch (const atl::python::Raised&) {
        throw nanobind::python_error();
    }
}
