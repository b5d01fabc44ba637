// One registration function for each topic.
#pragma once

#include "calls/py.hpp"

namespace atl::python {

void register_job(PyObject* module);
void register_tasks(PyObject* module);
void register_arrays(PyObject* module);
void register_rma(PyObject* module);
void register_shmem(PyObject* module);
void register_strided(PyObject* module);
void register_irregular(PyObject* module);
void register_blocks(PyObject* module);
void register_boxes(PyObject* module);
void register_halos(PyObject* module);
void register_sparse(PyObject* module);
void register_atomics(PyObject* module);
void register_signals(PyObject* module);
void register_waits(PyObject* module);
void register_sync(PyObject* module);
void register_collectives(PyObject* module);
void register_reductions(PyObject* module);
void register_pool(PyObject* module);
void register_messages(nb::module_& module);
void register_requests(nb::module_& module);
void register_enums(nb::module_& module);
void register_team(nb::module_& module);
void register_context(nb::module_& module);
void register_lock(nb::module_& module);
void register_mailbox(nb::module_& module);
void register_kernels(nb::module_& module);
void register_wait_hooks();

/// Lets methods of the module's classes name a wrong argument. After the registration of all classes.
void explain_methods(const nb::module_& module);

}  // namespace atl::python
