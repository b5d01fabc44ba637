// Request: a collective that was started by blocking=False.
#include "operations/requests.hpp"

#include "calls/registry.hpp"
#include "common/log.hpp"

#include <nanobind/stl/string.h>

#include <vector>

namespace atl::python {
namespace {

using StartedPtr = std::shared_ptr<Started>;

/// The time that finalize gives collectives that are about to be done.
constexpr double grace_s = 1;

/// All collectives that may not be done yet. Those whose Request was dropped are kept until they are done.
std::vector<StartedPtr>& unfinished() {
    static auto& all = *new std::vector<StartedPtr>;
    return all;
}

void forget(const StartedPtr& started) { std::erase(unfinished(), started); }

/// Copies the data to a strided dst, and drops the arrays.
void finish(const StartedPtr& started) {
    if (started->is_finished) return;
    started->is_finished = true;
    forget(started);
    started->stages->finish();
    started->stages.reset();
    for (Ref& held : started->held) held = Ref();
}

/// Runs `body`, whose error means that the collective has failed. Throws the same error at each further call.
template <class Body> auto guarded(const StartedPtr& started, Body&& body) {
    if (started->failure) throw Error(*started->failure);
    try {
        return body();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::interrupted && error.code() != ErrorCode::timeout) {
            started->failure = error;
            forget(started);
        }
        throw;
    }
}

bool test_started(const StartedPtr& started) {
    if (started->is_finished) return true;
    if (!guarded(started, [&] { return started->requests.test(); })) return false;
    finish(started);
    return true;
}

/// Drops the collectives that are done and have no Request.
void sweep() {
    for (const StartedPtr& started : std::vector<StartedPtr>(unfinished())) {
        if (started.use_count() > 2) continue;  // owners are the list, this copy and a Request
        try {
            test_started(started);
        } catch (const Error&) {
            // Its Request was dropped. The team's next call tells the reason.
        }
    }
}

struct Request {
    StartedPtr started;
};

std::string request_repr(const Request& request) {
    const Started& started = *request.started;
    const char* const state = started.failure ? "failed" : started.is_finished ? "done" : "not done";
    const std::string function(started.function), latest = started.requests.latest();
    const bool is_named = latest.starts_with(function + ",");
    return "<atoll.Request, " + (is_named ? "" : function + ": ") + latest + ", " + state + ">";
}

nb::object wait_for_request(Request& request, double timeout) {
    const StartedPtr& started = request.started;
    if (!(timeout >= 0))
        fail(ErrorCode::invalid_argument,
             "Request.wait(): timeout is %S s; pass 0 (no limit of its own) or more.",
             nb::float_(timeout).ptr());
    if (!started->is_finished) {
        guarded(started, [&] {
            ReleaseGil released(true);
            started->requests.wait(timeout);
        });
        finish(started);
    }
    if (!started->result) return nb::none();
    if (!started->is_number) return nb::borrow(started->result.get());
    Py_INCREF(started->result.get());
    return nb::steal(PyArray_Return(started->result.array()));
}

}  // namespace

bool only_starts(const Spec& spec, PyObject* blocking, PyObject* stream) {
    if (blocking == nullptr || blocking == Py_True || blocking == Py_None) return false;
    if (blocking != Py_False)
        fail(ErrorCode::invalid_argument, "%s(): blocking is %R; pass True or False.", spec.name, blocking);
    if (given(stream))
        fail(ErrorCode::invalid_argument,
             "%s(): blocking=False and stream= were both passed. A stream is for arrays of a GPU, and such a "
             "call does not block; blocking=False is for arrays in host memory. Leave out one of them.",
             spec.name);
    return true;
}

PyObject* request_of(std::unique_ptr<Started> started) {
    sweep();
    StartedPtr shared = std::move(started);
    unfinished().push_back(shared);
    return nb::cast(Request{std::move(shared)}).release().ptr();
}

void warn_of_requests() {
    if (g.job == nullptr) return;
    sweep();
    for (const StartedPtr& started : std::vector<StartedPtr>(unfinished())) {
        bool is_pending = false;
        try {
            is_pending = !test_started(started);
        } catch (const Error&) {
            // It has failed: the program got the error, or dropped the Request.
        }
        if (is_pending)
            common::warn("PE " + std::to_string(g.job->my_pe()) + " ends, and its " + started->function +
                         "(blocking=False) is not done: " + started->requests.latest() +
                         ". Wait for its Request, and call atoll.finalize().");
    }
}

void check_requests_done() {
    for (const StartedPtr& started : std::vector<StartedPtr>(unfinished())) {
        try {
            {
                ReleaseGil released(true);
                started->requests.wait(grace_s);
            }
            finish(started);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::interrupted) throw;
            if (error.code() != ErrorCode::timeout) {
                started->failure = error;
                forget(started);
                continue;
            }
            fail(ErrorCode::invalid_argument,
                 "finalize(): a %s(blocking=False) of this PE is not done; wait for its Request before. It "
                 "is %s. "
                 "(%s)",
                 started->function, started->requests.latest().c_str(), error.what());
        }
    }
}

void register_requests(nb::module_& module) {
    module.def("_warn_of_requests", &warn_of_requests, nb::sig("def _warn_of_requests() -> None"),
               "Write a line for each collective that is not done.");
    nb::class_<Request> request(module, "Request",
                                R"(A collective that was started by blocking=False, and goes on.

Its arrays must not be used until it is done. All PEs of the team start the same collectives in the
same order, and wait for them in any order. A request that is dropped goes on, and keeps its arrays.

Examples
--------
>>> request = atoll.sum_reduce(1.5, blocking=False)
>>> bool(request.wait() == 1.5 * atoll.n_pes())
True

In a coroutine:

>>> import asyncio
>>> async def total():
...     return await atoll.sum_reduce(2, blocking=False)
>>> bool(asyncio.run(total()) == 2 * atoll.n_pes())
True)");
    request.def(
        "test", [](Request& self) { return test_started(self.started); }, nb::sig("def test(self) -> bool"),
        R"(Return True if the collective is done; its dst is then complete here. Never waits.

Returns
-------
bool

Raises
------
CollectiveMismatch, PeDied
    The collective has failed.)");
    request.def("wait", &wait_for_request, nb::arg("timeout") = 0.0,
                nb::sig("def wait(self, timeout: float = 0.0) -> Any"),
                R"(Wait until the collective is done, and return the result of the blocking call.

Other threads run meanwhile, and Ctrl-C interrupts the wait; the collective then goes on. After an error that ended
the collective, each further call raises that error again.

Parameters
----------
timeout
    In seconds, not negative; 0 is ATOLL_WAIT_TIMEOUT, by default no limit.

Returns
-------
Array, number or None
    None if dst was passed.

Raises
------
Timeout
    The text names the PEs that have not started it. The request is as before.
CollectiveMismatch, PeDied
    The collective has failed.)");
    request.def("__repr__", &request_repr);
    request.def(
        "__await__",
        [](nb::object self) { return nb::module_::import_("atoll._requests").attr("awaiting")(self); },
        nb::sig("def __await__(self) -> Generator[Any, None, Any]"), "Wait in a coroutine; other tasks run.");
}

}  // namespace atl::python
