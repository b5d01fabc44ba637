// atoll.Team.
#include "arrays/near_address.hpp"
#include "calls/registry.hpp"
#include "gpu/device.hpp"

#include <nanobind/stl/string.h>

namespace atl::python {
namespace {

const Team& of(const PyTeam& team, const char* function) { return live(team, function); }

nb::object made_team(Team team) { return nb::steal(wrap(std::move(team))); }

bool is_outside(const PyTeam& team) { return team.which == PyTeam::Which::outside; }

void destroy_team(PyTeam& team) {
    if (team.which != PyTeam::Which::made && !is_outside(team))
        fail(ErrorCode::invalid_argument,
             "Team.destroy(): WORLD, SHARED, HOST and RAIL last as long as the job.");
    Team held = live(team, "Team.destroy");
    held.destroy();
    team.team = Team();
}

bool equal(const PyTeam& a, nb::handle other) {
    if (Py_TYPE(other.ptr()) != g.team_class) return false;
    const auto& b = *nb::inst_ptr<PyTeam>(other);
    if (g.job == nullptr || is_outside(a) || is_outside(b)) return a.which == b.which && a.team == b.team;
    return of(a, "Team.__eq__") == of(b, "Team.__eq__");
}

std::string team_repr(const PyTeam& team) {
    if (is_outside(team)) return "<atoll.Team, this PE is not a member>";
    static constexpr const char* predefined[] = {"", "atoll.WORLD", "atoll.SHARED", "atoll.HOST",
                                                 "atoll.RAIL"};
    const bool is_made = team.which == PyTeam::Which::made;
    if (!is_made && g.job == nullptr) return predefined[static_cast<int>(team.which)];
    if (is_made && (!team.team || team.epoch != g.epoch || g.job == nullptr))
        return "<atoll.Team, destroyed>";
    const Team& now = live(team, "Team.__repr__");
    const std::string name = is_made ? "atoll.Team" : predefined[static_cast<int>(team.which)];
    return "<" + name + ", PE " + std::to_string(now.my_pe()) + " of " + std::to_string(now.n_pes()) + ">";
}

/// The fields of atl::device::Team, in its order.
nb::object fields_of(const device::Team& t) {
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    static const nb::object kind = nb::borrow(nb::handle(device_module())).attr("DeviceTeam");
    return kind(t.my_pe, t.n_pes, address(t.window), t.stride, t.my_slot, t.first, t.step, address(t.table),
                address(t.control), address(t.trace));
}

/// Returns the team for languages whose kernels compute addresses themselves.
nb::object device_team(const PyTeam& team, const std::string& memory) {
    const bool on_device = memory == "device" || memory == "cuda";
    if (!on_device && memory != "host" && memory != "cpu")
        fail(ErrorCode::invalid_argument,
             "Team.device(): memory is '%s'; pass \"device\" (or \"cuda\") or \"host\" (or \"cpu\").",
             memory.c_str());
    const Team& t = of(team, "Team.device");
    if (!on_device) return fields_of(t.device(Memory::host));
    check_in_window("Team.device", t);
    try {
        return fields_of(t.device(Memory::device));
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_initialized) throw;
        fail(ErrorCode::not_initialized,
             "Team.device(): this job has no memory on GPUs yet. Allocate an array with device=\"cuda\" "
             "first, on every PE, or pass Team.device(\"host\") for kernels that run on the host.");
    }
}

nb::object cuda_team(const PyTeam& team) {
    return fields_of(of(team, "atoll.cupy.team").device(Memory::device, true));
}

int world_pe(const PyTeam& team, nb::object pe) {
    static const Spec spec{"Team.world_pe"};
    return of(team, spec.name).world_pe(pe_of(spec, pe.ptr()));
}

int translate_pe(const PyTeam& team, nb::object pe, nb::object other) {
    static const Spec spec{"Team.translate_pe"};
    const Team& mine = of(team, spec.name);
    if (Py_TYPE(other.ptr()) != g.team_class)
        fail(ErrorCode::invalid_argument, "%s(): other is %R; pass an atoll.Team.", spec.name, other.ptr());
    return mine.translate_pe(pe_of(spec, pe.ptr()), of(nb::cast<const PyTeam&>(other), spec.name));
}

nb::object split_strided(const PyTeam& team, nb::object start, nb::object stride, nb::object size) {
    static const Spec spec{"Team.split_strided"};
    const Team& all = of(team, spec.name);
    return made_team(all.split_strided(int_of(spec, "start", start.ptr()),
                                       int_of(spec, "stride", stride.ptr()),
                                       int_of(spec, "size", size.ptr())));
}

nb::object split_2d(const PyTeam& team, nb::object xrange) {
    static const Spec spec{"Team.split_2d"};
    auto [row, column] = of(team, spec.name).split_2d(int_of(spec, "xrange", xrange.ptr()));
    return nb::make_tuple(made_team(std::move(row)), made_team(std::move(column)));
}

/// Converts a color or key to int; booleans count as 0 and 1.
int number_of(const Spec& spec, const char* which, const nb::object& value) {
    if (is_bool(value.ptr())) return PyObject_IsTrue(value.ptr());
    return int_of(spec, which, value.ptr());
}

nb::object split(const PyTeam& team, nb::object color, nb::object key) {
    static const Spec spec{"Team.split"};
    const Team& all = of(team, spec.name);
    return made_team(all.split(number_of(spec, "color", color), number_of(spec, "key", key)));
}

void leave_team(PyTeam& team, nb::args args) {
    // After an exception the other members may never call it; a collective would hang.
    if ((args.size() == 0 || args[0].is_none()) && team.team) destroy_team(team);
}

}  // namespace

void check_in_window(const char* function, const Team& team) {
    for (int pe = 0; pe < team.n_pes(); ++pe)
        if (!is_near(team.context(), pe))
            fail(ErrorCode::unsupported,
                 "%s(): PE %d of the team is on another host (or ATOLL_TRANSPORT hides it). Kernels of "
                 "Numba, Triton and CuTe do not reach it, nor do strides. Take CUDA C++ (atoll.cupy, "
                 "atoll/device/device.hpp), whose kernels do, a team of atoll.SHARED, or the calls of the "
                 "host.",
                 function, pe);
}

void register_team(nb::module_& module) {
    module.def("_cuda_team", &cuda_team, nb::sig("def _cuda_team(team: Team) -> DeviceTeam"),
               "Return the team for kernels in CUDA C++, which reach PEs of other hosts too.");
    nb::class_<PyTeam> team(
        module, "Team",
        R"(An ordered set of PEs. Collectives accept it as team=; one-sided operations number PEs within it.

`atoll.WORLD` contains all PEs. `atoll.SHARED` contains those that load and store each other's memory,
and `atoll.HOST` those of this host.
`atoll.RAIL` contains the PEs that have this PE's number within their host.
`split`, `split_strided` and `split_2d` create further teams; they are collective over the
team on which they are called. A `with` statement destroys a team at its end.

Notes
-----
Source: OpenSHMEM 1.6, section 9.4.)");
    team.def(
        "my_pe", [](const PyTeam& t) { return of(t, "Team.my_pe").my_pe(); },
        "Return the number of this PE within the team. Local.\n\nReturns\n-------\nint");
    team.def(
        "n_pes", [](const PyTeam& t) { return of(t, "Team.n_pes").n_pes(); },
        "Return the number of PEs in the team. Local.\n\nReturns\n-------\nint");
    team.def_prop_ro(
        "rank", [](const PyTeam& t) { return of(t, "Team.rank").my_pe(); },
        "The number of this PE within the team, as my_pe() returns it.");
    team.def_prop_ro(
        "size", [](const PyTeam& t) { return of(t, "Team.size").n_pes(); },
        "The number of PEs in the team, as n_pes() and len(team) return it.");
    team.def("__len__", [](const PyTeam& t) { return of(t, "Team.__len__").n_pes(); });
    team.def(
        "__iter__",
        [](const PyTeam& t) {
            return nb::steal(PyObject_GetIter(
                nb::borrow(reinterpret_cast<PyObject*>(&PyRange_Type))(of(t, "iter(Team)").n_pes()).ptr()));
        },
        nb::sig("def __iter__(self) -> Iterator[int]"));
    team.def(
        "__contains__",
        [](const PyTeam& t, nb::object pe) {
            const int n = of(t, "pe in Team").n_pes();
            return nb::borrow(reinterpret_cast<PyObject*>(&PyRange_Type))(n).attr("__contains__")(pe);
        },
        nb::sig("def __contains__(self, pe: object) -> bool"));
    team.def("world_pe", &world_pe, nb::arg("pe"), nb::sig("def world_pe(self, pe: int) -> int"),
             R"(Return the number in atoll.WORLD of the team's PE pe. Local.

Parameters
----------
pe
    A number in this team.

Returns
-------
int

Raises
------
PeError)");
    team.def("translate_pe", &translate_pe, nb::arg("pe"), nb::arg("other"),
             nb::sig("def translate_pe(self, pe: int, other: Team) -> int"),
             R"(Return the number in `other` of the team's PE pe; -1 if `other` does not contain it. Local.

Parameters
----------
pe
    A number in this team. For others the result is -1, as in OpenSHMEM.
other
    Any team of the job, of which this PE is a member.

Returns
-------
int

Raises
------
PeError
    pe is not a whole number of 32 bits.
InvalidArgument
    other is not a team, or this PE is not a member of it.)");
    team.def("split_strided", &split_strided, nb::arg("start"), nb::arg("stride"), nb::arg("size"),
             nb::sig("def split_strided(self, start: int, stride: int, size: int) -> Team"),
             R"(Return the team of the `size` PEs start, start + stride, ...

Collective over this team; usable at once. On a PE that is not a member the result is false (`if team:`),
and every use of it raises InvalidArgument.

Parameters
----------
start
    The number in this team of the new team's PE 0.
stride
    The distance between members, in numbers of this team.
size
    Number of members, at least 1.

Returns
-------
Team

Raises
------
InvalidArgument, PeError
CollectiveMismatch
    The PEs passed different values; they are always compared.)");
    team.def("split_2d", &split_2d, nb::arg("xrange"),
             nb::sig("def split_2d(self, xrange: int) -> tuple[Team, Team]"),
             R"(Arrange the PEs in rows of xrange; return this PE's row and column as teams.

Collective over this team; usable at once.

Parameters
----------
xrange
    PEs of a row, at least 1. The last row may be shorter, and then columns are, too.

Returns
-------
row, column
    PE pe has number pe % xrange in its row, and pe // xrange in its column.

Raises
------
InvalidArgument
    xrange is less than 1.
CollectiveMismatch
    The PEs passed different values; they are always compared.)");
    team.def("split", &split, nb::arg("color"), nb::arg("key") = 0,
             nb::sig("def split(self, color: int, key: int = 0) -> Team"),
             R"(Return the team of all PEs that passed this color, ordered by key, then by PE.

Collective over this team; usable at once. A PE with a negative color is not a member: the result is false
there, as for split_strided.

Parameters
----------
color
    The group of this PE, an int. A negative number: no group.
key
    The order within the group. PEs of equal keys are in the order of this team.

Returns
-------
Team

Raises
------
CollectiveMismatch)");
    team.def(
        "sync", [](const PyTeam& t) { of(t, "Team.sync").sync(); },
        "Wait until all PEs of the team have called it; completes no puts. Collective over the team.");
    team.def(
        "barrier", [](const PyTeam& t) { of(t, "Team.barrier").barrier(); },
        "Complete this PE's puts on the team's default context, then sync. Collective over the team.");
    team.def(
        "device", &device_team, nb::arg("memory") = "device",
        nb::sig("def device(self, memory: str = \"device\") -> DeviceTeam"),
        R"(Return the team as a value for kernels: a NamedTuple of integers, the fields of atl::device::Team. Local.

Parameters
----------
memory
    "device" (or "cuda") after the first allocation on GPUs, or "host" (or "cpu") for functions that
    run on the host.

Returns
-------
DeviceTeam
    Passed to kernels as an argument. It is valid until the team is destroyed.

Raises
------
NotInitialized
Unsupported
    The team found no memory (ATOLL_TEAM_MEMORY), or has PEs of other hosts, which only kernels in CUDA C++
    reach (atoll.cupy).)");
    team.def("destroy", &destroy_team,
             "Free the resources of the team, after which no call takes it. Collective over the team.\n\n"
             "Raises\n------\nUseAfterFree\n    It is destroyed already; each later use raises this, too.\n"
             "InvalidArgument\n    The team is one of WORLD, SHARED, HOST and RAIL.");
    team.def(
        "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Team"));
    team.def("__exit__", &leave_team, nb::sig("def __exit__(self, *args: object) -> None"));
    team.def_prop_ro(
        "_is_destroyed", [](const PyTeam& t) { return t.which == PyTeam::Which::made && !t.team; },
        nb::sig("def _is_destroyed(self) -> bool"), "True after `destroy`.");
    team.def(
        "__bool__", [](const PyTeam& t) { return !is_outside(t); }, nb::sig("def __bool__(self) -> bool"),
        "Return False if this PE is not a member of the team that a split returned.");
    team.def("__eq__", &equal, nb::arg("other").none(),
             nb::sig("def __eq__(self, other: object, /) -> bool"));
    team.def("__hash__", [](const PyTeam& t) {
        return t.team ? reinterpret_cast<std::uintptr_t>(&t.team.state()) >> 4 : 1;
    });
    team.def("__repr__", &team_repr);
    g.team_class = reinterpret_cast<PyTypeObject*>(team.ptr());

    module.attr("WORLD") = nb::cast(new PyTeam{PyTeam::Which::world, {}, 0}, nb::rv_policy::take_ownership);
    g.world_object = nb::object(module.attr("WORLD")).release().ptr();
    module.attr("SHARED") = nb::cast(new PyTeam{PyTeam::Which::shared, {}, 0}, nb::rv_policy::take_ownership);
    module.attr("HOST") = nb::cast(new PyTeam{PyTeam::Which::host, {}, 0}, nb::rv_policy::take_ownership);
    module.attr("RAIL") = nb::cast(new PyTeam{PyTeam::Which::rail, {}, 0}, nb::rv_policy::take_ownership);
}

}  // namespace atl::python
