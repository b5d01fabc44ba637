// A thread that writes the tasks of event loops when the launcher asks for stacks. A handler of a signal
// cannot, as it would need the GIL.
#include "operations/tasks.hpp"

#include "calls/call.hpp"
#include "calls/registry.hpp"
#include "common/quiet_thread.hpp"
#include "common/recorder/stack_area.hpp"

#include <atomic>
#include <cerrno>
#include <semaphore.h>
#include <string>
#include <unistd.h>

namespace atl::python {
namespace {

Spec offer_tasks_spec;

sem_t asked;
std::atomic<bool> runs{false};

/// The tasks as text, by the Python function `write`. Empty if it fails.
std::string tasks_by(PyObject* write) {
    const EnsureGil held;
    const nb::object text = nb::steal(PyObject_CallNoArgs(write));
    const char* const found = text.is_valid() && PyUnicode_Check(text.ptr())
                                  ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr)
                                  : nullptr;
    PyErr_Clear();
    return found == nullptr ? "" : found;
}

void serve(PyObject* write) {
    for (;;) {
        if (::sem_wait(&asked) != 0 && errno == EINTR) continue;
        const std::string text = tasks_by(write);
        common::StackArea* const area = common::offered_stacks();
        if (area == nullptr) continue;
        const int fd = area->python.load(std::memory_order_acquire) - 1;
        if (fd >= 0) static_cast<void>(!::write(fd, text.data(), text.size()));
        area->task_answers.fetch_add(1, std::memory_order_acq_rel);
    }
}

PyObject* offer_tasks_body(const Arguments<1>& a) {
    common::StackArea* const area = common::offered_stacks();
    if (area == nullptr || area->python.load(std::memory_order_acquire) == 0) return none();
    if (!runs.load(std::memory_order_acquire)) {
        Py_INCREF(a[0]);
        ::sem_init(&asked, 0, 0);
        // It lives as long as the process. EnsureGil lets it sleep when the interpreter ends.
        static_cast<void>(new common::QuietThread([write = a[0]] { serve(write); }));
        runs.store(true, std::memory_order_release);
    }
    area->has_tasks.store(1, std::memory_order_release);
    return none();
}

const Function tasks_functions[] = {
    {"_offer_tasks", entry<1, offer_tasks_spec, offer_tasks_body>, "(write: Callable[[], str]) -> None",
     "Let a thread write the text of `write` behind Python's stacks when the launcher asks for them."},
};

}  // namespace

void ask_for_tasks() noexcept {
    if (runs.load(std::memory_order_acquire)) ::sem_post(&asked);
}

void register_tasks(PyObject* module) { register_functions(module, tasks_functions); }

}  // namespace atl::python
