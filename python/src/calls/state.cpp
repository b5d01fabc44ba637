#include "calls/state.hpp"

#include "calls/caller.hpp"

#include <cmath>
#include <string>

namespace atl::python {

State g;

/// True in a process of pytest, whose tests run on PEs only if they are marked.
static bool is_pytest() {
    PyObject* modules = PyImport_GetModuleDict();  // borrowed
    return modules != nullptr && PyDict_GetItemString(modules, "_pytest.runner") != nullptr;
}

void fail_not_initialized(const char* inner) {
    const std::string operation = caller_line().operation;
    const char* const function = operation.empty() ? inner : operation.c_str();
    if (g.forked)
        fail(ErrorCode::not_initialized,
             "%s() was called in a child that was forked after atoll.init(); the PE is its parent. Start "
             "processes with "
             "the 'spawn' method, or fork before init.",
             function);
    if (g.epoch != 0)
        fail(ErrorCode::not_initialized,
             "%s() was called after the last atoll.finalize(); call it before, or call "
             "atoll.init() again.",
             function);
    fail(ErrorCode::not_initialized,
         "%s() was called before atoll.init(); call atoll.init() first, on every PE.%s", function,
         is_pytest() ? " A test marked @pytest.mark.pes(2) runs on two PEs that have called it." : "");
}

const Team& live(const PyTeam& team, const char* function) {
    Job& job = current(function);
    if (team.which == PyTeam::Which::world) return job.world();
    if (team.which == PyTeam::Which::shared) return job.shared();
    if (team.which == PyTeam::Which::host) return job.host();
    if (team.which == PyTeam::Which::rail) return job.rail();
    if (team.which == PyTeam::Which::outside)
        fail(ErrorCode::invalid_argument,
             "%s() was given a team of which this PE is not a member. Let only members call it: a team is "
             "false on other PEs (`if team:`).",
             function);
    if (!team.team)
        fail(ErrorCode::use_after_free,
             "%s() was given a team that was destroyed; make a new one or use atoll.WORLD.", function);
    if (team.epoch != g.epoch)
        fail(ErrorCode::use_after_free,
             "%s() was given a team of a job that was finalized; split a new one from atoll.WORLD.",
             function);
    return team.team;
}

const Team& team_slow(const Spec& spec, PyObject* team) {
    if (!given(team)) return current(spec.name).world();
    if (Py_TYPE(team) != g.team_class)
        fail(ErrorCode::invalid_argument, "%s(): team is %R; pass an atoll.Team, or None for all PEs.",
             spec.name, team);
    return live(*nb::inst_ptr<PyTeam>(team), spec.name);
}

const Context& context_slow(const Spec& spec, PyObject* ctx, PyObject* team) {
    if (!given(ctx)) return given(team) ? team_slow(spec, team).context() : current(spec.name).context();
    if (given(team))
        fail(ErrorCode::invalid_argument, "%s() takes ctx= or team=, not both: a context knows its team.",
             spec.name);
    if (Py_TYPE(ctx) != g.context_class)
        fail(ErrorCode::invalid_argument, "%s(): ctx is %R; pass an atoll.Context.", spec.name, ctx);
    current(spec.name);
    const PyContext& context = *nb::inst_ptr<PyContext>(ctx);
    if (context.destroyed || context.epoch != g.epoch)
        fail(ErrorCode::use_after_free,
             "%s() was given a context that was destroyed; make another with atoll.Context().", spec.name);
    return context.context;
}

PyObject* wrap(Team team) {
    const auto which = team ? PyTeam::Which::made : PyTeam::Which::outside;
    return nb::cast(new PyTeam{which, std::move(team), g.epoch}, nb::rv_policy::take_ownership)
        .release()
        .ptr();
}

namespace {

/// Converts an object to a Python int; throws with the name of the argument.
Ref index_of(const Spec& spec, const char* which, PyObject* value) {
    if (value && PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s(): %s is %R; pass one integer.", spec.name, which, value);
        throw Raised{};
    }
    PyObject* number = value && PyIndex_Check(value) ? PyNumber_Index(value) : nullptr;
    if (number != nullptr) return Ref(number);
    PyErr_Clear();
    fail(ErrorCode::invalid_argument, "%s(): %s is %R; pass one integer.", spec.name, which,
         value ? value : Py_None);
}

}  // namespace

int pe_slow(const Spec& spec, PyObject* pe, const char* which) {
    const Ref number = index_of(spec, which, pe);
    int overflow = 0;
    const long value = PyLong_AsLongAndOverflow(number.get(), &overflow);
    if (overflow != 0 || value != static_cast<int>(value))
        fail(ErrorCode::pe, "%s(): %s is %R; PEs are numbered from 0 to n_pes() - 1.", spec.name, which, pe);
    return static_cast<int>(value);
}

int pe_within(const Spec& spec, PyObject* pe, int n, const char* which) {
    const int value = pe_of(spec, pe, which);
    if (value < 0 || value >= n)
        fail(ErrorCode::pe, "%s(): %s is %d, but the team has PEs 0 to %d.", spec.name, which, value, n - 1);
    return value;
}

double timeout_of(const Spec& spec, PyObject* timeout) {
    if (!given(timeout)) return -1;
    const double seconds = PyFloat_AsDouble(timeout);
    const bool no_number = seconds == -1 && PyErr_Occurred();
    if (no_number) PyErr_Clear();
    if (no_number || std::isnan(seconds) || seconds < 0)
        fail(ErrorCode::invalid_argument,
             "%s(): timeout is %R; pass seconds, at least 0, or None for the job's default.", spec.name,
             timeout);
    return seconds;
}

Py_ssize_t integer(const Spec& spec, const char* which, PyObject* value) {
    const Ref index = index_of(spec, which, value);
    const Py_ssize_t number = PyNumber_AsSsize_t(index.get(), PyExc_OverflowError);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail(ErrorCode::invalid_argument, "%s(): %s is %R, which no memory holds.", spec.name, which, value);
    }
    return number;
}

int int_of(const Spec& spec, const char* which, PyObject* value) {
    const Ref index = index_of(spec, which, value);
    int overflow = 0;
    const long number = PyLong_AsLongAndOverflow(index.get(), &overflow);
    if (overflow != 0 || number != static_cast<int>(number))
        fail(ErrorCode::invalid_argument, "%s(): %s is %R; pass an integer from -2**31 to 2**31 - 1.",
             spec.name, which, value);
    return static_cast<int>(number);
}

}  // namespace atl::python
