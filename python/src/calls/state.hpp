// The process's current job, as the Python module sees it. Python's operations use this job, so it is the
// only global here.
#pragma once

#include "atoll/job.hpp"

#include "calls/call.hpp"

namespace atl::python {

/// atoll.Team. `which` names the teams that exist before init; they are looked up at each use. `outside` is
/// the team that a split returns to other PEs than members.
struct PyTeam {
    enum class Which { made, world, shared, host, rail, outside } which = Which::made;
    Team team;
    std::uint64_t epoch = 0;  ///< the job that made it
};

/// atoll.Context.
struct PyContext {
    Context context;
    std::uint64_t epoch = 0;
    bool destroyed = false;
    nb::object team;  ///< the atoll.Team that it was made from
};

struct State {
    Job* job = nullptr;                ///< null before init and after finalize
    const Context* context = nullptr;  ///< the job's default context, null with it
    const Team* world = nullptr;
    std::uint64_t epoch = 0;      ///< counts jobs
    const Job* latest = nullptr;  ///< the job that `epoch` counted last
    int inits = 0;                ///< Python's own; C++ code of this process may have called init too
    int finalizing = 0;           ///< threads in finalize
    bool forked = false;          ///< this process is a child made after init
    bool has_device = false;      ///< device memory was allocated, in this job or an earlier one
    bool rejoins = false;         ///< PEs of a pool have left a job, and joined it again
    int device = -1;              ///< the number of this PE's GPU, once `has_device`
    PyTypeObject* ndarray = nullptr;
    PyTypeObject* team_class = nullptr;
    PyTypeObject* boxes_class = nullptr;  ///< the base of distributed arrays
    PyTypeObject* context_class = nullptr;
    PyObject* world_object = nullptr;  ///< atoll.WORLD
};
extern State g;

[[noreturn, gnu::cold]] void fail_not_initialized(const char* function);
[[gnu::cold]] const Context& context_slow(const Spec& spec, PyObject* ctx, PyObject* team);
[[gnu::cold]] const Team& team_slow(const Spec& spec, PyObject* team);

inline Job& current(const char* function) {
    if (g.job == nullptr) [[unlikely]]
        fail_not_initialized(function);
    return *g.job;
}
/// The context of a call with the keywords ctx= and team=.
inline const Context& context_of(const Spec& spec, PyObject* ctx, PyObject* team) {
    if (ctx == nullptr && team == nullptr && g.context != nullptr) [[likely]]
        return *g.context;
    return context_slow(spec, ctx, team);
}
inline const Team& team_of(const Spec& spec, PyObject* team) {
    if (team == nullptr && g.world != nullptr) [[likely]]
        return *g.world;
    return team_slow(spec, team);
}
/// The live team of an atoll.Team; throws if it is destroyed, empty, or of an earlier job.
const Team& live(const PyTeam& team, const char* function);
/// A new atoll.Team.
PyObject* wrap(Team team);

/// Parses a PE number that fits an int; the context checks the range.
[[gnu::cold]] int pe_slow(const Spec& spec, PyObject* pe, const char* which = "pe");
inline int pe_of(const Spec& spec, PyObject* pe, const char* which = "pe") {
    if (PyLong_CheckExact(pe)) [[likely]] {
        int overflow = 0;
        const long value = PyLong_AsLongAndOverflow(pe, &overflow);
        if (overflow == 0 && value == static_cast<int>(value)) [[likely]]
            return static_cast<int>(value);
    }
    return pe_slow(spec, pe, which);
}
/// Parses a PE that must exist in a team of `n`; `which` is the parameter's name.
int pe_within(const Spec& spec, PyObject* pe, int n, const char* which = "pe");
/// Parses `timeout=`: None is the job's default (-1).
double timeout_of(const Spec& spec, PyObject* timeout);
Py_ssize_t integer(const Spec& spec, const char* which, PyObject* value);
/// Parses an integer that fits an int.
int int_of(const Spec& spec, const char* which, PyObject* value);
inline Py_ssize_t small_integer(const Spec& spec, const char* which, PyObject* value) {
    if (PyLong_CheckExact(value)) [[likely]] {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow == 0) [[likely]]
            return number;
    }
    return integer(spec, which, value);
}

}  // namespace atl::python
