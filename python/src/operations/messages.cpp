// send and recv, alone or several in a group.
#include "arrays/staging.hpp"
#include "calls/registry.hpp"
#include "gpu/stream_cache.hpp"

#include <nanobind/stl/string.h>

#include <deque>
#include <memory>
#include <string>

namespace atl::python {
namespace {

Spec send_spec, recv_spec;

/// CUDA's per-thread stream, for calls that block the host: it waits for no other stream but the legacy one.
const StreamArg own_stream{true, reinterpret_cast<void*>(2)};

/// The stream of a message between GPU arrays.
struct OnDevice {
    StreamArg stream;
    bool blocks_host;
};

/// atoll.group(): collects sends and receives, and runs them at the end of the `with` statement.
struct Group {
    Team team;
    std::uint64_t epoch = 0;
    std::unique_ptr<MessageGroup> messages;
    OnDevice on{};
    std::unique_ptr<StreamMessageGroup> device_messages;  ///< null: none of them is between arrays of a GPU
    std::deque<SourceStage> sources;
    std::deque<TargetStage> targets;
    std::deque<Ref> held;
};

/// This thread's open group, with a reference, since the program may drop the object after a direct call of
/// __enter__. `with` statements nest, but groups do not.
thread_local PyObject* open_object = nullptr;
thread_local Group* open_group = nullptr;

void close_group() {
    open_group = nullptr;
    PyObject* object = open_object;
    open_object = nullptr;
    Py_XDECREF(object);
}

bool of_this_job(const Group& group) { return g.job != nullptr && group.epoch == g.epoch; }

[[noreturn, gnu::cold]] void fail_ended(const char* function) {
    fail(ErrorCode::use_after_free,
         "%s(): the atoll.group() belongs to a job that was finalized, and none of its messages went; close "
         "a group "
         "before finalize.",
         function);
}

Group* group_for(const Spec& spec, const Team& team) {
    if (open_group == nullptr) return nullptr;
    if (!of_this_job(*open_group)) fail_ended(spec.name);
    if (!(open_group->team == team))
        fail(ErrorCode::invalid_argument,
             "%s(): this atoll.group() is of another team; open one with atoll.group(team).", spec.name);
    return open_group;
}

void wait_for(const OnDevice& on) {
    ReleaseGil released(true);
    stream_context(*g.context, on.stream).synchronize();
}

OnDevice on_device_for(const Spec& spec, const Arguments<4>& a) {
    if (given(a[3])) return {stream_of(spec, a[3], a.adopted), false};
    finish_current(a.adopted);
    return {own_stream, true};
}

/// The group's messages on its stream, which the first such message determines.
StreamMessageGroup& device_messages(const Spec& spec, Group& group, const OnDevice& on) {
    if (!group.device_messages) {
        group.device_messages = std::make_unique<StreamMessageGroup>(group.team, Stream{on.stream.handle});
        group.on = on;
    }
    if (group.on.blocks_host != on.blocks_host || group.on.stream.handle != on.stream.handle)
        fail(ErrorCode::invalid_argument,
             "%s(): the messages of one atoll.group() between arrays of a GPU go on one stream, and this one "
             "names another (or none, where others do). Pass the same stream= to all of them.",
             spec.name);
    return *group.device_messages;
}

/// Starts a send (or recv) of checked, contiguous memory on a GPU.
template <class Message>
PyObject* start_message(const Spec& spec, const Arguments<4>& a, const Team& team, const Message& message) {
    const OnDevice on = on_device_for(spec, a);
    if (Group* group = group_for(spec, team)) {
        message(device_messages(spec, *group, on));
        group->held.push_back(Ref::borrow(a[0]));
        return none();
    }
    message(stream_team(team, on.stream));
    if (on.blocks_host) wait_for(on);
    return none();
}

PyObject* send_on_device(const Arguments<4>& a, const Team& team, int pe, PyArrayObject* src) {
    if (!on_device(src)) fail_on_host(send_spec, "src", src);
    const SourceStage from(send_spec, "src", src);
    const Extent extent = extent_of(src);
    check_symmetric(send_spec, "src", src, extent.low, extent.bytes);
    return start_message(send_spec, a, team, [&](auto& to) { to.send_bytes(from.data(), from.bytes(), pe); });
}

PyObject* recv_on_device(const Arguments<4>& a, const Team& team, int pe, PyArrayObject* dst) {
    if (!on_device(dst)) fail_on_host(recv_spec, "dst", dst);
    const TargetStage to(recv_spec, "dst", dst);
    return start_message(recv_spec, a, team, [&](auto& from) { from.recv_bytes(to.data(), to.bytes(), pe); });
}

PyObject* send_body(const Arguments<4>& a) {
    const Team& team = team_of(send_spec, a[2]);
    const int pe = pe_within(send_spec, a[1], team.n_pes());
    Ref loose;
    if (!is_array(a[0])) [[unlikely]]
        loose = loose_source(send_spec, "src", a[0]);
    PyArrayObject* const array = loose ? loose.array() : as_array(a[0]);
    if (is_device_call(a.adopted, a[3])) return send_on_device(a, team, pe, array);
    SourceStage src(send_spec, "src", array);
    const MessageElements elements = message_elements_of(array);
    if (Group* group = group_for(send_spec, team)) {
        group->messages->send_bytes(src.data(), src.bytes(), pe, elements);
        group->held.push_back(Ref::borrow(reinterpret_cast<PyObject*>(array)));
        group->sources.push_back(std::move(src));
        return none();
    }
    {
        ReleaseGil released(src.bytes() >= release_gil_bytes);
        team.send_bytes(src.data(), src.bytes(), pe, elements);
    }
    return none();
}

PyObject* recv_body(const Arguments<4>& a) {
    const Team& team = team_of(recv_spec, a[2]);
    const int pe = pe_within(recv_spec, a[1], team.n_pes());
    PyArrayObject* const array = array_arg(recv_spec, "dst", a[0]);
    if (is_device_call(a.adopted, a[3])) return recv_on_device(a, team, pe, array);
    TargetStage dst(recv_spec, "dst", array);
    const MessageElements elements = message_elements_of(array);
    if (Group* group = group_for(recv_spec, team)) {
        group->messages->recv_bytes(dst.data(), dst.bytes(), pe, elements);
        group->held.push_back(Ref::borrow(a[0]));
        group->targets.push_back(std::move(dst));
        return none();
    }
    {
        ReleaseGil released(dst.bytes() >= release_gil_bytes);
        team.recv_bytes(dst.data(), dst.bytes(), pe, elements);
    }
    dst.finish();
    return none();
}

void clear(Group& group) {
    group.messages.reset();
    group.device_messages.reset();
    group.sources.clear();
    group.targets.clear();
    group.held.clear();
}

nb::object enter_group(nb::object self) {
    Group& group = nb::cast<Group&>(self);
    current("group");
    if (!of_this_job(group)) fail_ended("group");
    if (open_group != nullptr && !of_this_job(*open_group)) close_group();  // left open by an earlier job
    if (open_group != nullptr)
        fail(ErrorCode::invalid_argument, "atoll.group() does not nest; end the open one first.");
    clear(group);
    group.messages = std::make_unique<MessageGroup>(group.team);
    open_group = &group;
    open_object = nb::object(self).release().ptr();
    return self;
}

void leave_group(nb::object self, nb::args args) {
    Group& group = nb::cast<Group&>(self);
    if (open_group != &group)
        fail(
            ErrorCode::invalid_argument,
            "group.__exit__(): this atoll.group() is not open in this thread; use it in a `with` statement.");
    close_group();
    struct Cleared {
        Group& group;
        ~Cleared() { clear(group); }
    } cleared{group};
    if (args.size() > 0 && !args[0].is_none()) return;  // after an exception nothing is sent
    if (!of_this_job(group)) fail_ended("group");
    if (group.device_messages) group.device_messages->run();
    group.messages->run();
    for (TargetStage& target : group.targets) target.finish();
    if (group.device_messages && group.on.blocks_host) wait_for(group.on);
}

#define ATOLL_GROUP_TAIL                                                                                     \
    "Raises\n------\nShapeMismatch, DtypeMismatch, PeError, PeDied, Timeout, UseAfterFree\n\n"               \
    "Notes\n-----\n"                                                                                         \
    "Messages between a pair of PEs are matched in order. Sizes and dtypes must be equal. Other threads\n"   \
    "run meanwhile, and Ctrl-C interrupts the wait.\n\n"                                                     \
    "Inside `with atoll.group():` the call is only recorded. All calls of the group run together at its\n"   \
    "end, in any order, so that PEs may send to each other.\n\n"                                             \
    "Arrays of a GPU are contiguous on both sides, at most 64 in a group, and all on one stream. If sizes\n" \
    "differ, the receiver's kernel stops (KernelError). In a group only its end may block the host.\n\n"     \
    "An extension of OpenSHMEM."

const Function messages_functions[] = {
    {"send", entry<4, send_spec, send_body>,
     "(src: AnyArray | AnySource, pe: int, *, team: Team | None = None, stream: Stream = None) -> None",
     "Send src to PE pe, which calls recv.\n\n"
     "Returns when src may be changed. This may require that the receiver calls recv.\n\n"
     "Parameters\n----------\nsrc\n    Any array, on a GPU a symmetric one; or a list or number, as np.array "
     "makes it an array.\npe\n    Number of the "
     "receiver.\n\n" ATOLL_GROUP_TAIL},
    {"recv", entry<4, recv_spec, recv_body>,
     "(dst: AnyArray, pe: int, *, team: Team | None = None, stream: Stream = None) -> None",
     "Receive a message of PE pe into dst; the data are there on return.\n\n"
     "Parameters\n----------\ndst\n    Any writeable array of the message's size.\npe\n    Number of the "
     "sender.\n\n" ATOLL_GROUP_TAIL},
};

}  // namespace

void register_messages(nb::module_& module) {
    register_functions(module.ptr(), messages_functions);
    nb::class_<Group> group(
        module, "group",
        R"(Several send and recv calls at once: they run together at the end of the `with` statement.

Arrays must stay unchanged until then. After an exception in the statement nothing is sent. A thread
has at most one open group, with messages of one team. The PEs of its messages call it.

Parameters
----------
team
    The team of the messages, which numbers the PEs. None: all PEs.

Raises
------
InvalidArgument
    The thread has an open group already.
UseAfterFree, NotInitialized

Examples
--------
>>> with atoll.group():
...     atoll.send(x, right)
...     atoll.recv(y, left))");
    group.def(
        "__init__",
        [](Group* self, nb::object team) {
            static const Spec spec{"group"};
            const Team& of_team = team_of(spec, team.ptr());
            new (self) Group{of_team, g.epoch, nullptr, {}, nullptr, {}, {}, {}};
        },
        nb::arg("team") = nb::none(), nb::sig("def __init__(self, team: Team | None = None) -> None"));
    group.def("__repr__", [](const Group& self) {
        return std::string(open_group == &self ? "<atoll.group, open>"
                                               : "<atoll.group, for a `with` statement>");
    });
    group.def("__enter__", &enter_group, nb::sig("def __enter__(self) -> group"));
    group.def("__exit__", &leave_group, nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace atl::python
