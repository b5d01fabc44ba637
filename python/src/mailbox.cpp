// atoll.Mailbox.
#include "atoll/mailbox.hpp"

#include "registry.hpp"
#include "staging.hpp"

#include <memory>

namespace atl::python {
namespace {

struct PyMailbox {
    std::unique_ptr<Mailbox> box;
    std::uint64_t epoch = 0;
    int n_pes = 0;

    ~PyMailbox() {
        // The job's memory is gone with the job; what the box held of it must not be given back to another.
        if (box && (g.job == nullptr || epoch != g.epoch)) (void)box.release();
    }
    Mailbox& live(const Spec& spec) const {
        current(spec.name);
        if (!box || epoch != g.epoch)
            fail(ErrorCode::use_after_free,
                 "%s(): this mailbox was freed, or its job finalized; make another.", spec.name);
        return *box;
    }
};

const Spec make_spec{"Mailbox"};
const Spec post_spec{"Mailbox.post"};
const Spec receive_spec{"Mailbox.receive"};
const Spec try_spec{"Mailbox.try_receive"};
const Spec free_spec{"Mailbox.free"};

void construct(PyMailbox* self, Py_ssize_t nbytes, int slots, nb::object team, nb::object device) {
    Job& job = current("Mailbox");
    if (!device.is_none() && !nb::isinstance<nb::str>(device))
        fail(ErrorCode::invalid_argument, "Mailbox(): device is %R.", device.ptr());
    if (!device.is_none() && PyUnicode_CompareWithASCIIString(device.ptr(), "cpu") != 0)
        fail(ErrorCode::unsupported,
             "Mailbox(): device is %R; this one is of the host's memory ('cpu', None). Kernels have their "
             "own: "
             "mailbox of atoll.numba, atoll.cute and atoll.cupy, mailbox_bytes of atoll.triton.",
             device.ptr());
    if (nbytes < 0 || slots < 1)
        fail(ErrorCode::invalid_argument,
             "Mailbox(): nbytes is %zd and slots %d; pass at least 0 bytes and 1 slot.", nbytes, slots);
    const Team& of_team = team_of(make_spec, team.ptr());
    auto box = std::make_unique<Mailbox>(job, of_team, static_cast<std::size_t>(nbytes), slots);
    new (self) PyMailbox{std::move(box), g.epoch, of_team.n_pes()};
}

void post(PyMailbox& self, nb::object src, nb::object pe, nb::object timeout) {
    Mailbox& box = self.live(post_spec);
    const SourceStage from(post_spec, "src", array_arg(post_spec, "src", src.ptr()));
    box.post(from.data(), from.bytes(), pe_within(post_spec, pe.ptr(), self.n_pes),
             timeout_of(post_spec, timeout.ptr()));
}

/// Elements that arrived: what a caller can slice with.
std::size_t elements(const Spec& spec, PyArrayObject* dst, std::size_t bytes) {
    if (bytes % item_bytes(dst) != 0)
        fail(ErrorCode::dtype_mismatch,
             "%s(): the message had %zu bytes, no multiple of dst's element of %zu; dtypes of post and "
             "receive must be equal.",
             spec.name, bytes, item_bytes(dst));
    return bytes / item_bytes(dst);
}

std::size_t receive(PyMailbox& self, nb::object dst, nb::object from_pe, nb::object timeout) {
    Mailbox& box = self.live(receive_spec);
    PyArrayObject* array = array_arg(receive_spec, "dst", dst.ptr());
    TargetStage to(receive_spec, "dst", array);
    const int pe = pe_within(receive_spec, from_pe.ptr(), self.n_pes, "from_pe");
    const std::size_t bytes = box.receive(to.data(), to.bytes(), pe, timeout_of(receive_spec, timeout.ptr()));
    to.finish();
    return elements(receive_spec, array, bytes);
}

nb::object try_receive(PyMailbox& self, nb::object dst, nb::object from_pe) {
    Mailbox& box = self.live(try_spec);
    PyArrayObject* array = array_arg(try_spec, "dst", dst.ptr());
    TargetStage to(try_spec, "dst", array);
    const std::size_t bytes =
        box.try_receive(to.data(), to.bytes(), pe_within(try_spec, from_pe.ptr(), self.n_pes, "from_pe"));
    if (bytes == atl::none) return nb::none();
    to.finish();
    return nb::int_(elements(try_spec, array, bytes));
}

void free_box(PyMailbox& self) {
    self.live(free_spec).free();
    self.box.reset();
}

}  // namespace

void register_mailbox(nb::module_& module) {
    nb::class_<PyMailbox> box(
        module, "Mailbox", R"(Small messages from every PE of a team to every other, faster than put_signal.

Their words carry their own flags, so that no message waits for a fence.

nbytes: the longest message; slots: messages to one PE that may be unread before post() waits.
team:   the PEs that write to each other. device: 'cpu' or None.

Making one and free() are collective over all PEs of the job, whatever the team. `receive` makes the
message itself visible and nothing else. One thread posts at a time for each pair of PEs.)");
    box.def("__init__", &construct, nb::arg("nbytes"), nb::arg("slots") = 2, nb::arg("team") = nb::none(),
            nb::arg("device") = nb::none(),
            nb::sig("def __init__(self, nbytes: int, slots: int = 2, team: Team | None = None, device: str | "
                    "None = None) -> None"));
    box.def("post", &post, nb::arg("src"), nb::arg("pe"), nb::arg("timeout") = nb::none(),
            nb::sig("def post(self, src: Array, pe: int, timeout: float | None = None) -> None"),
            "Copy src (any array of at most nbytes bytes) to PE pe; on return it may be changed.\n\n"
            "Waits while all slots to that PE are unread. Raises ShapeMismatch, PeError, Timeout, PeDied, "
            "UseAfterFree.");
    box.def("receive", &receive, nb::arg("dst"), nb::arg("from_pe"), nb::arg("timeout") = nb::none(),
            nb::sig("def receive(self, dst: Array, from_pe: int, timeout: float | None = None) -> int"),
            "Copy the next message from PE from_pe into dst; return the number of elements that arrived.\n\n"
            "Messages of a pair arrive in order. dst must be large enough for it.\n"
            "Raises ShapeMismatch, DtypeMismatch, PeError, Timeout, PeDied, UseAfterFree.");
    box.def("try_receive", &try_receive, nb::arg("dst"), nb::arg("from_pe"),
            nb::sig("def try_receive(self, dst: Array, from_pe: int) -> int | None"),
            "Like receive, but return None at once where there is no message.");
    box.def(
        "capacity_bytes", [](const PyMailbox& b) { return b.live(make_spec).capacity_bytes(); },
        "The longest message, in bytes.");
    box.def("free", &free_box, "Free the mailbox's memory. Collective over all PEs of the job.");
    box.def(
        "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Mailbox"));
    box.def(
        "__exit__",
        [](PyMailbox& self, nb::args args) {
            if (args.size() == 0 || args[0].is_none())
                free_box(self);  // after an exception the others may never come
        },
        nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace atl::python
