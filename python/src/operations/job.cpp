// The process's job: init and finalize, the number of this PE and of all, and global exit.
#include "core/job/job_state.hpp"
#include "core/job/launching.hpp"

#include "common/recorder/statistics.hpp"

#include "calls/caller.hpp"
#include "calls/names.hpp"
#include "calls/registry.hpp"
#include "calls/state.hpp"
#include "common/recorder/stack_area.hpp"
#include "operations/requests.hpp"
#include "operations/tasks.hpp"
#include "pool/pool.hpp"

#include <algorithm>
#include <csignal>
#include <dlfcn.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace atl::python {
namespace {

Spec init_spec, finalize_spec, initialized_spec, uid_spec, my_pe_spec, n_pes_spec, exit_spec, heap_spec,
    forked_spec, version_spec, store_spec, launched_spec, reason_spec, check_spec, standard_spec,
    statistics_spec, openmetrics_spec, trace_now_spec, team_id_spec, team_init_spec, trace_range_spec,
    hook_spec, ignored_spec, rejoin_spec, offer_spec, stack_spec, report_spec, step_spec, met_spec;

std::string utf8_of(PyObject* object) {
    const Ref text(PyUnicode_Check(object) ? PyUnicode_AsEncodedString(object, "utf-8", "strict")
                                           : PyObject_Bytes(object));
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(text.get(), &data, &size) < 0) throw Raised{};
    return {data, static_cast<std::size_t>(size)};
}

/// A store made of Python's callables. They live as long as the process, because the job may use them until
/// it ends.
JobOptions::Store store_of(PyObject* put, PyObject* get) {
    Py_INCREF(put);
    Py_INCREF(get);
    const auto call = [](PyObject* callable, const std::string& key, const std::string* value) {
        // init runs in this thread and has released the GIL.
        const HoldGil held(ReleaseGil::released());
        try {
            const Ref k(PyUnicode_FromStringAndSize(key.data(), static_cast<Py_ssize_t>(key.size())));
            const Ref v(value
                            ? PyBytes_FromStringAndSize(value->data(), static_cast<Py_ssize_t>(value->size()))
                            : none());
            const Ref result(value ? PyObject_CallFunctionObjArgs(callable, k.get(), v.get(), nullptr)
                                   : PyObject_CallFunctionObjArgs(callable, k.get(), nullptr));
            return value ? std::string() : utf8_of(result.get());
        } catch (const Raised&) {
            const nb::python_error error;
            throw Error(ErrorCode::bootstrap,
                        std::string("The store that should connect the PEs failed: ") + error.what());
        }
    };
    return {[=](const std::string& key, const std::string& value) { call(put, key, &value); },
            [=](const std::string& key) { return call(get, key, nullptr); }};
}

/// The job that this thread is finalizing: a signal handler that runs meanwhile may still call global_exit.
thread_local Job* ending = nullptr;

Job& current_or_ending(const char* function) { return ending != nullptr ? *ending : current(function); }

void use(Job* job) {
    g.job = job;
    g.context = job ? &job->context() : nullptr;
    g.world = job ? &job->world() : nullptr;
}

void adopt(Job& job) {
    use(&job);
    if (g.latest == &job) return;
    g.latest = &job;  // stays valid: ended jobs keep their addresses
    forget_names();   // those of the previous job
    ++g.epoch;
}

/// Call after finalize. Several threads may finalize: C++ code may hold the job too, or another thread may
/// have made the next one.
void follow_current_job() {
    if (g.finalizing > 0) return;  // another finalize is running; the last one does this
    if (atl::is_initialized()) {
        adopt(atl::current_job());
    } else {
        use(nullptr);
        forget_names();
    }
}

/// Parses pe or n_pes. Negative numbers are rejected, because -1 would mean that the argument was not passed.
int count_of(const char* which, PyObject* value) {
    static const Spec spec{"init"};
    const int number = pe_of(spec, value, which);
    if (number < 0) fail(ErrorCode::invalid_argument, "init(): %s is %d; pass at least 0.", which, number);
    return number;
}

int python_stacks =
    -1;  ///< the descriptor to which Python writes its stacks; one for all jobs of the process
const char* (*dump_threads)(int fd, void* interpreter, void* thread) = nullptr;

/// Writes as faulthandler's handler does, which answers no more after a fault. A signal may come while a
/// frame is half made: Python 3.11 has such moments in each call.
void write_python_stacks(int) {
    dump_threads(python_stacks, nullptr, nullptr);
    ask_for_tasks();
}

/// Lets Python's faulthandler write the stacks of all threads when the launcher asks for them. The job runs
/// without if that is impossible.
void offer_python_stacks() {
    common::StackArea* area = common::offered_stacks();
    if (area == nullptr || area->python.load(std::memory_order_relaxed) != 0) return;
    if (python_stacks < 0) python_stacks = ::memfd_create("atoll-stacks", MFD_CLOEXEC);
    if (python_stacks < 0) return;
    const int fd = python_stacks;
    PyObject* const module = PyImport_ImportModule("faulthandler");
    PyObject* const made = module == nullptr
                               ? nullptr
                               : PyObject_CallMethod(module, "register", "iiii",
                                                     area->signal.load(std::memory_order_acquire), fd, 1, 0);
    if (made == nullptr) PyErr_Clear();
    Py_XDECREF(module);
    if (made == nullptr) return;
    Py_DECREF(made);
    dump_threads =
        reinterpret_cast<decltype(dump_threads)>(::dlsym(RTLD_DEFAULT, "_Py_DumpTracebackThreads"));
    // Our handler marks the end of the answer, so it runs after Python's.
    common::answer_after_current_handler(dump_threads != nullptr ? &write_python_stacks : nullptr);
    common::install_crash_stack();  // faulthandler has replaced it by a small one
    area->python.store(fd + 1, std::memory_order_release);
}

PyObject* init_body(const Arguments<5>& a) {
    if (g.forked) fail_not_initialized("init");
    JobOptions options;
    options.raise_kernel_errors = true;
    options.checks_args_by_default = true;
    options.notes = JobOptions::Notes::all;
    if (given(a[0])) options.unique_id = utf8_of(a[0]);
    if (given(a[1])) options.pe = count_of("pe", a[1]);
    if (given(a[2])) options.n_pes = count_of("n_pes", a[2]);
    if (given(a[3]) && given(a[4])) options.store = store_of(a[3], a[4]);
    Job* job = nullptr;
    {
        ReleaseGil released(true);
        job = &atl::init(options);
    }
    adopt(*job);
    offer_python_stacks();
    ++g.inits;
    return none();
}

PyObject* finalize_body(const Arguments<0>&) {
    if (g.job == nullptr) {  // also during finalize
        if (g.epoch != 0 && !g.forked)
            fail(ErrorCode::not_initialized,
                 "finalize() was called more often than atoll.init(): the job has ended. Call it once for "
                 "each "
                 "init().");
        fail_not_initialized("finalize");
    }
    if (g.inits <= 1) check_requests_done();
    ending = g.job;
    const int counted = g.inits > 0 ? 1 : 0;
    g.inits -= counted;
    ++g.finalizing;
    // The last finalize: other threads run meanwhile, and must not use a job that may end at any moment.
    if (g.inits == 0) {
        use(nullptr);
        forget_pool_tables();
        // Other threads may still be in calls: without the GIL, or in a wait. They use the job until they
        // return.
        core::JobWaits& waits = atl::current_job().state().waits();
        if (ReleaseGil::any() || waits.are_left()) waits.keep();
    }
    const auto back = [] {
        ending = nullptr;
        --g.finalizing;
        follow_current_job();
    };
    try {
        ReleaseGil released(true);
        atl::finalize();
    } catch (...) {
        g.inits += counted;
        back();
        throw;
    }
    back();
    return none();
}

PyObject* step_body(const Arguments<0>&) {
    if (g.job == nullptr) return PyLong_FromLong(-2);
    const core::Meetings& meetings = g.job->world().state().meetings();
    return meetings.broken() ? PyLong_FromLong(-1) : PyLong_FromUnsignedLong(meetings.meeting());
}
PyObject* met_body(const Arguments<0>&) {
    current("_meet_elsewhere").state().met = true;
    return none();
}
PyObject* is_initialized_body(const Arguments<0>&) { return PyBool_FromLong(g.job != nullptr); }
PyObject* uid_body(const Arguments<0>&) {
    const std::string id = atl::get_unique_id();
    return PyUnicode_FromStringAndSize(id.data(), static_cast<Py_ssize_t>(id.size()));
}
PyObject* team_id_body(const Arguments<0>&) {
    return PyLong_FromUnsignedLongLong(current("get_team_unique_id").get_team_unique_id());
}
PyObject* team_init_body(const Arguments<3>& a) {
    const Job& job = current("team_init");
    const auto id = static_cast<std::uint64_t>(integer(team_init_spec, "unique_id", a[0]));
    const int n_pes = int_of(team_init_spec, "n_pes", a[1]), my_pe = int_of(team_init_spec, "my_pe", a[2]);
    return wrap(job.team_init(id, n_pes, my_pe));
}
PyObject* my_pe_body(const Arguments<1>& a) {
    return PyLong_FromLong(context_of(my_pe_spec, nullptr, a[0]).my_pe());
}
PyObject* n_pes_body(const Arguments<1>& a) {
    return PyLong_FromLong(context_of(n_pes_spec, nullptr, a[0]).n_pes());
}

PyObject* check_body(const Arguments<1>& a) {
    return PyLong_FromLong(current_or_ending(PyUnicode_AsUTF8AndSize(a[0], nullptr)).my_pe());
}

PyObject* standard_body(const Arguments<1>& a) { return PyBool_FromLong(is_standard(utf8_of(a[0]))); }

PyObject* exit_body(const Arguments<2>& a) {
    current_or_ending("global_exit")
        .global_exit(static_cast<int>(integer(exit_spec, "status", a[0])), utf8_of(a[1]));
}

PyObject* heap_body(const Arguments<0>&) {
    Job& job = current("info");
    const Job::HeapUse use = job.heap_use();
    const auto address = reinterpret_cast<std::uintptr_t>(job.context().window().mine);
    return Py_BuildValue(
        "{sn sn sn sn sn sn}", "address", static_cast<Py_ssize_t>(address), "limit_bytes",
        static_cast<Py_ssize_t>(use.limit_bytes), "used_bytes", static_cast<Py_ssize_t>(use.used_bytes),
        "largest_free_bytes", static_cast<Py_ssize_t>(use.largest_free_bytes), "blocks",
        static_cast<Py_ssize_t>(use.blocks), "kept_bytes", static_cast<Py_ssize_t>(use.kept_bytes));
}

/// Throws Error(unsupported) if the job counts nothing.
common::PeStatistics statistics_of(const Job& job) {
    const common::Meter* meter = job.state().meter.get();
    if (meter != nullptr && job.state().window().counts)  // with --record alone it counts a part
        return common::read_statistics(job.my_pe(), meter->counters());
    fail(ErrorCode::unsupported,
         "stats(): this job counts no operations. Start it by `atoll run --stats`, or set ATOLL_STATS=1 "
         "before "
         "init.");
}

PyObject* statistics_body(const Arguments<0>&) {
    const Ref all(PyDict_New());
    for (const common::OperationStatistics& one : statistics_of(current("stats")).operations) {
        const Ref row(Py_BuildValue("{sK sK sd sd sd}", "calls", static_cast<unsigned long long>(one.calls),
                                    "bytes", static_cast<unsigned long long>(one.bytes), "seconds",
                                    one.total_s, "longest_seconds", one.longest_s, "waiting_seconds",
                                    one.waiting_s));
        const std::string name(common::operation_name(one.operation));
        if (PyDict_SetItemString(all.get(), name.c_str(), row.get()) < 0) throw Raised{};
    }
    return Ref::borrow(all.get()).release();
}

PyObject* openmetrics_body(const Arguments<0>&) {
    const std::string text = common::statistics_openmetrics({statistics_of(current("stats"))});
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

common::EventLog* current_log() { return g.job == nullptr ? nullptr : g.job->state().log.get(); }

/// The time, or 0 where no trace is written.
PyObject* trace_now_body(const Arguments<0>&) {
    const common::EventLog* log = current_log();
    return PyLong_FromUnsignedLongLong(log == nullptr ? 0 : log->now());
}

PyObject* trace_range_body(const Arguments<2>& a) {
    common::EventLog* log = current_log();
    const unsigned long long began = PyLong_AsUnsignedLongLong(a[1]);
    if (PyErr_Occurred() != nullptr) throw Raised{};
    if (log != nullptr && began != 0) log->add_range(log->number_of(utf8_of(a[0])), began);
    return none();
}

PyObject* forked_body(const Arguments<0>&) {
    if (g.job != nullptr || g.forked) g.forked = true;
    use(nullptr);
    forget_pool_tables();
    g.inits = 0;
    g.finalizing = 0;
    return none();
}

PyObject* store_body(const Arguments<0>&) { return PyBool_FromLong(core::may_take_store()); }
PyObject* launched_body(const Arguments<0>&) { return PyBool_FromLong(core::is_invited()); }
PyObject* reason_body(const Arguments<0>&) {
    const std::string reason = g.job != nullptr ? g.job->end_reason() : std::string();
    return PyUnicode_DecodeUTF8(reason.data(), static_cast<Py_ssize_t>(reason.size()), "replace");
}

// set by atoll._job: reports the failure of this PE; returns true if the process ends now
PyObject* report_failure = nullptr;

PyObject* report_body(const Arguments<1>& a) {
    if (report_failure != nullptr) Py_RETURN_FALSE;
    Py_INCREF(a[0]);
    report_failure = a[0];
    Py_RETURN_TRUE;
}

PyObject* offer_body(const Arguments<0>&) {
    offer_python_stacks();
    Py_RETURN_NONE;
}

PyObject* stack_body(const Arguments<0>&) {
    common::install_crash_stack();
    Py_RETURN_NONE;
}

/// Keeps the last exception of this job, or of this call of a pool, that Python prints and ignores, for
/// reports of hangs.
PyObject* ignored_body(const Arguments<1>& a) {
    if (common::StackArea* const area = common::offered_stacks()) area->ignored.set(utf8_of(a[0]));
    Py_RETURN_NONE;
}

PyObject* rejoin_body(const Arguments<0>&) {
    g.rejoins = true;
    Py_RETURN_NONE;
}

/// sys.excepthook. Written in C, because Python would run signal handlers at the first line of a Python
/// function. A PE gets Ctrl-C twice, from the terminal and from the launcher. The second must not interrupt
/// the report of the first.
PyObject* hook_body(const Arguments<3>& a) {
    const PyOS_sighandler_t before = PyOS_setsig(SIGINT, SIG_IGN);
    bool interrupted = PyErr_GivenExceptionMatches(a[0], PyExc_KeyboardInterrupt) != 0;
    while (PyErr_CheckSignals() < 0) {
        interrupted = interrupted || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
        PyErr_Clear();
    }
    const nb::object ends = nb::steal(PyObject_CallFunctionObjArgs(
        report_failure, a[0], a[1], a[2], interrupted ? Py_True : Py_False, nullptr));
    if (ends.ptr() != Py_True) PyOS_setsig(SIGINT, before);
    if (!ends.is_valid()) throw Raised{};
    return none();
}

PyObject* version_body(const Arguments<0>&) {
    const Version v = atl::version();
    return PyUnicode_FromFormat("%d.%d.%d", v.major, v.minor, v.patch);
}

const Function job_functions[] = {
    {"_init", entry<5, init_spec, init_body>,
     "(uid: str | bytes | None, pe: int | None, n_pes: int | None, put: Callable[[str, bytes], None] | None, "
     "get: Callable[[str], bytes] | None) -> None",
     "Make or count the job; see atoll.init."},
    {"_finalize", entry<0, finalize_spec, finalize_body>, "() -> None", "See atoll.finalize."},
    {"_meet_elsewhere", entry<0, met_spec, met_body>, "() -> None",
     "Let the last _finalize not wait. Every PE must be outside all calls, and finalize next."},
    {"_step", entry<0, step_spec, step_body>, "() -> int",
     "Return the number of this PE's last meeting in the world team, equal on all PEs that are in step.\n\n"
     "It is -1 after a collective ended by an error, and -2 outside a job."},
    {"is_initialized", entry<0, initialized_spec, is_initialized_body>, "() -> bool",
     "True between atoll.init() and the last atoll.finalize(). Local, without errors.\n\n"
     "Returns\n-------\nbool"},
    {"get_unique_id", entry<0, uid_spec, uid_body>, "() -> str",
     R"(Return a text that identifies a new job. Local.

One process makes it and sends it by any means (Ray, Dask, MPI, a file) to all processes of the job.
Each then calls atoll.init(uid=..., pe=..., n_pes=...). The text is random.

Returns
-------
str
    At most 128 characters.)"},
    {"get_team_unique_id", entry<0, team_id_spec, team_id_body>, "() -> int",
     R"(Return an id for one team, which team_init takes. Local; never 0.

The program sends it to the team's members by any means. It takes 16 bytes for each PE of the job until its
team is made. An id whose team cannot be made keeps them.

Returns
-------
int
    Of at most 64 bits.

Raises
------
NotInitialized, OutOfMemory

See Also
--------
team_init)"},
    {"team_init", entry<3, team_init_spec, team_init_body>,
     "(unique_id: int, n_pes: int, my_pe: int) -> Team",
     R"(Return the team of the n_pes PEs that pass the same id, without a parent team. This PE is its PE my_pe.

Collective over these PEs; the others take no part, as they do in Team.split. Usable at once.

Parameters
----------
unique_id
    The result of get_team_unique_id() on one PE of the job, member or not. Each id makes one team.
n_pes
    Number of members, the same on all of them.
my_pe
    This PE's number in the new team, 0 to n_pes - 1. Each member passes another one.

Returns
-------
Team
    destroy() frees it; finalize() does, too.

Raises
------
InvalidArgument
    This is no id of the job, or its team was made already.
CollectiveMismatch
    The PEs passed different n_pes, or two of them the same my_pe.
PeError, OutOfMemory
Timeout
    A member did not come within ATOLL_WAIT_TIMEOUT; the error names its my_pe.

See Also
--------
Team.split

Notes
-----
Source: NVSHMEM, nvshmemx_team_init.)"},
    {"my_pe", entry<1, my_pe_spec, my_pe_body>, "(team: Team | None = None) -> int",
     R"(Return the number of this PE, 0 to n_pes()-1; within `team` if given. Local.

Parameters
----------
team
    The team that numbers the PEs. None: all PEs.

Returns
-------
int

Raises
------
NotInitialized, UseAfterFree

See Also
--------
n_pes : their number

Notes
-----
Source: OpenSHMEM 1.6, section 9.1.

Examples
--------
>>> right = (atoll.my_pe() + 1) % atoll.n_pes())"},
    {"n_pes", entry<1, n_pes_spec, n_pes_body>, "(team: Team | None = None) -> int",
     R"(Return the number of PEs of the job, or of `team`. Local.

Parameters
----------
team
    The team whose members count. None: all PEs.

Returns
-------
int

Raises
------
NotInitialized, UseAfterFree

See Also
--------
my_pe : the number of this PE

Notes
-----
Source: OpenSHMEM 1.6, section 9.1.

Examples
--------
>>> last = atoll.n_pes() - 1)"},
    {"_global_exit", entry<2, exit_spec, exit_body>, "(status: int, sentence: str) -> NoReturn",
     "See atoll.global_exit."},
    {"_heap_use", entry<0, heap_spec, heap_body>, "() -> dict[str, int]", "See atoll.info."},
    {"_statistics", entry<0, statistics_spec, statistics_body>, "() -> dict[str, dict[str, int | float]]",
     "See atoll.stats."},
    {"_openmetrics", entry<0, openmetrics_spec, openmetrics_body>, "() -> str", "See atoll.stats."},
    {"_trace_now", entry<0, trace_now_spec, trace_now_body>, "() -> int", "See atoll.trace."},
    {"_trace_range", entry<2, trace_range_spec, trace_range_body>, "(name: str, began: int) -> None",
     "See atoll.trace."},
    {"_forked", entry<0, forked_spec, forked_body>, "() -> None",
     "Call in a forked child: the parent's job does not belong to it."},
    {"_may_take_store", entry<0, store_spec, store_body>, "() -> bool",
     "True if init() without arguments may use torch's store."},
    {"_launched", entry<0, launched_spec, launched_body>, "() -> bool",
     "True if the process's environment (os.environ is a copy of it) still has the launcher's variable."},
    {"_end_reason", entry<0, reason_spec, reason_body>, "() -> str",
     "The reason why another PE or the launcher ends the job; empty while the job runs."},
    {"_check_job", entry<1, check_spec, check_body>, "(function: str) -> int",
     "Return this PE's number. Raises NotInitialized, naming the function, outside a job."},
    {"_is_standard", entry<1, standard_spec, standard_body>, "(file: str) -> bool",
     "True for files of Python's standard library."},
    {"_report_by", entry<1, report_spec, report_body>,
     "(report: Callable[[Any, Any, Any, bool], bool]) -> bool",
     "Set the function with which _hook() reports. False if it is already set: a second import of the "
     "package."},
    {"_offer_stacks", entry<0, offer_spec, offer_body>, "() -> None",
     "Let Python write the stacks of its threads when the launcher asks, if the library offers stacks."},
    {"_install_crash_stack", entry<0, stack_spec, stack_body>, "() -> None",
     "A stack for handlers of crashes, which faulthandler has replaced by a small one."},
    {"_ignored", entry<1, ignored_spec, ignored_body>, "(text: str) -> None",
     "Keep an exception that Python ignores, for reports of hangs."},
    {"_will_rejoin", entry<0, rejoin_spec, rejoin_body>, "() -> None",
     "Let errors about arrays of past jobs name a pool's reason for the end of this one."},
    {"_hook", entry<3, hook_spec, hook_body>, "(kind: Any, value: Any, trace: Any) -> None",
     "The sys.excepthook: reports an uncaught exception, protected from SIGINT."},
    {"_version", entry<0, version_spec, version_body>, "() -> str", "The library's version."},
};

}  // namespace

void register_job(PyObject* module) { register_functions(module, job_functions); }

}  // namespace atl::python
