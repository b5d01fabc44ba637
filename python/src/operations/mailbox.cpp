// atoll.Mailbox.
#include "atoll/mailbox.hpp"

#include "arrays/staging.hpp"
#include "calls/registry.hpp"
#include "gpu/device_mailbox.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>

namespace atl::python {
namespace {

struct PyMailbox {
    std::unique_ptr<Mailbox> box;
    std::unique_ptr<PyDeviceMailbox> on_device;  ///< in place of `box`
    std::uint64_t epoch = 0;
    int n_pes = 0;
    int slots = 0;

    ~PyMailbox() {
        // The job's memory ended with the job; the box must not return it to a later job.
        if (box && (g.job == nullptr || epoch != g.epoch)) (void)box.release();
    }
    /// True if the mailbox is on a GPU; throws if it is not usable.
    bool is_live_on_device(const Spec& spec) const {
        current(spec.name);
        if ((!box && !on_device) || epoch != g.epoch)
            fail(ErrorCode::use_after_free,
                 "%s(): this mailbox was freed, or its job finalized; make another.", spec.name);
        return on_device != nullptr;
    }
};

const Spec make_spec{"Mailbox"};
const Spec post_spec{"Mailbox.post"};
const Spec receive_spec{"Mailbox.receive"};
const Spec try_spec{"Mailbox.try_receive"};
const Spec mailbox_free_spec{"Mailbox.free"};
const Spec block_spec{"Mailbox.block"};

void construct_mailbox(PyMailbox* self, nb::object longest, nb::object n_slots, nb::object team,
                       nb::object device) {
    Job& job = current("Mailbox");
    const Py_ssize_t nbytes = integer(make_spec, "nbytes", longest.ptr());
    const int slots = int_of(make_spec, "slots", n_slots.ptr());
    if (!device.is_none()) device = nb::str(device);
    const bool on_gpu =
        !device.is_none() &&
        nb::cast<bool>(nb::handle(device_module()).attr("device_of")(device, nb::str("Mailbox")));
    if (nbytes < 0 || slots < 1 || (on_gpu && slots > DeviceMailbox::most_slots))
        fail(ErrorCode::invalid_argument,
             "Mailbox(): nbytes is %zd and slots %d; pass at least 0 bytes and 1 slot%s.", nbytes, slots,
             on_gpu ? ", and on a GPU at most 4" : "");
    const Team& of_team = team_of(make_spec, team.ptr());
    const auto bytes = static_cast<std::size_t>(nbytes);
    std::unique_ptr<Mailbox> box;
    std::unique_ptr<PyDeviceMailbox> on_device;
    if (on_gpu)
        on_device = std::make_unique<PyDeviceMailbox>(job, of_team, bytes, slots, device.ptr());
    else
        box = std::make_unique<Mailbox>(job, of_team, bytes, slots);
    new (self) PyMailbox{std::move(box), std::move(on_device), g.epoch, of_team.n_pes(), slots};
}

void refuse_stream(const Spec& spec, const nb::object& stream, const nb::object& count) {
    if (!stream.is_none() || !count.is_none())
        fail(ErrorCode::unsupported,
             "%s(): this mailbox is of the host's memory, which no stream posts or receives in; make one "
             "with device=\"cuda\" for stream= and count=.",
             spec.name);
}

/// The array of a mailbox in the host's memory; `header` keeps a header made for it alive.
PyArrayObject* host_array(const Spec& spec, const char* which, const nb::object& array, Ref& header) {
    Library library = Library::none;
    if (adopts_device_arrays && !is_array(array.ptr())) header = header_for(array.ptr(), library);
    if (header && !on_device(header.array())) return header.array();  // a result of atoll.pin()
    const bool on_gpu = static_cast<bool>(header);
    if (!on_gpu) return array_arg(spec, which, array.ptr());
    fail(ErrorCode::unsupported,
         "%s(): %s is an array of a GPU, and this mailbox is of the host's memory. Make one with "
         "device=\"cuda\", or pass an array of the host.",
         spec.name, which);
}

void post(PyMailbox& self, nb::object src, nb::object pe, nb::object timeout, nb::object stream) {
    if (self.is_live_on_device(post_spec))
        return self.on_device->post(post_spec, src.ptr(), pe.ptr(), stream.ptr(), timeout.ptr());
    refuse_stream(post_spec, stream, nb::none());
    Ref header;
    const SourceStage from(post_spec, "src", host_array(post_spec, "src", src, header));
    self.box->post(from.data(), from.bytes(), pe_within(post_spec, pe.ptr(), self.n_pes),
                   timeout_of(post_spec, timeout.ptr()), message_elements_of(from.array()));
}

/// The number of elements that arrived, for slicing.
std::size_t elements(const Spec& spec, PyArrayObject* dst, std::size_t bytes) {
    if (bytes % item_bytes(dst) != 0)
        fail(ErrorCode::dtype_mismatch,
             "%s(): the message had %zu bytes, no multiple of dst's element of %zu. It was taken and "
             "dropped. Dtypes of "
             "post and receive must be equal.",
             spec.name, bytes, item_bytes(dst));
    return bytes / item_bytes(dst);
}

nb::object receive(PyMailbox& self, nb::object dst, nb::object from_pe, nb::object timeout, nb::object stream,
                   nb::object count) {
    if (self.is_live_on_device(receive_spec)) {
        return self.on_device->receive(receive_spec, dst.ptr(), from_pe.ptr(), stream.ptr(), count.ptr(),
                                       timeout.ptr());
    }
    refuse_stream(receive_spec, stream, count);
    Ref header;
    PyArrayObject* array = host_array(receive_spec, "dst", dst, header);
    TargetStage to(receive_spec, "dst", array);
    const int pe = pe_within(receive_spec, from_pe.ptr(), self.n_pes, "from_pe");
    const std::size_t bytes = self.box->receive(
        to.data(), to.bytes(), pe, timeout_of(receive_spec, timeout.ptr()), message_elements_of(array));
    to.finish();
    return nb::int_(elements(receive_spec, array, bytes));
}

nb::object receive_waiting(PyMailbox& self, nb::object dst, nb::object from_pe, nb::object timeout) {
    return receive(self, std::move(dst), std::move(from_pe), std::move(timeout), nb::none(), nb::none());
}

nb::object try_receive(PyMailbox& self, nb::object dst, nb::object from_pe, nb::object stream,
                       nb::object count) {
    if (self.is_live_on_device(try_spec))
        return self.on_device->receive(try_spec, dst.ptr(), from_pe.ptr(), stream.ptr(), count.ptr(),
                                       nullptr);
    refuse_stream(try_spec, stream, count);
    Ref header;
    PyArrayObject* array = host_array(try_spec, "dst", dst, header);
    TargetStage to(try_spec, "dst", array);
    const int pe = pe_within(try_spec, from_pe.ptr(), self.n_pes, "from_pe");
    const std::size_t bytes = self.box->try_receive(to.data(), to.bytes(), pe, message_elements_of(array));
    if (bytes == atl::none) return nb::none();
    to.finish();
    return nb::int_(elements(try_spec, array, bytes));
}

nb::object block_for_kernels(const PyMailbox& self) {
    if (!self.is_live_on_device(block_spec))
        fail(ErrorCode::unsupported,
             "Mailbox.block: this mailbox is of the host's memory; make one with device=\"cuda\" for "
             "kernels.");
    return nb::borrow(self.on_device->block());
}

std::string mailbox_repr(const PyMailbox& self) {
    if ((!self.box && !self.on_device) || g.job == nullptr || self.epoch != g.epoch)
        return "<atoll.Mailbox, freed>";
    const std::size_t bytes = self.on_device ? self.on_device->capacity_bytes() : self.box->capacity_bytes();
    return "<atoll.Mailbox of " + std::to_string(self.slots) + " slots of " + std::to_string(bytes) +
           " bytes between " + std::to_string(self.n_pes) + " PEs" + (self.on_device ? ", on a GPU>" : ">");
}

void free_box(PyMailbox& self) {
    if (self.is_live_on_device(mailbox_free_spec))
        self.on_device->free();
    else
        self.box->free();
    self.box.reset();
    self.on_device.reset();
}

}  // namespace

void register_mailbox(nb::module_& module) {
    nb::class_<PyMailbox> box(
        module, "Mailbox", R"(Small messages from every PE of a team to every other, faster than put_signal.

Each word of a message carries a flag, so no message waits for a fence. Creating a mailbox and
free() are collective over all PEs of the job, for any team. `receive` makes only the message itself
visible. One thread at a time posts for each pair of PEs.

Parameters
----------
nbytes
    The size of the longest message.
slots
    The number of unread messages to one PE before post() waits.
team
    The PEs that exchange messages.
device
    'cpu' or None; or 'cuda', for arrays of a GPU.

Notes
-----
With device='cuda', arrays are contiguous ones of this PE's GPU (symmetric or not) or results of
atoll.pin(), and calls accept stream=. Kernels post and receive in the same mailbox (`block`). slots
is at most 4, and post waits at the latest with 8 unread messages. All PEs of the team must share
memory (Unsupported).

Calls without a stream wait on the host. Those on a stream wait in a kernel: they accept no timeout=
and do not answer Ctrl-C. After ATOLL_WAIT_TIMEOUT they end the job with a report. For each pair and
direction, one call runs at a time, by a host, a stream or a kernel. The
size of dst must be that of a message that a kernel posted.)");
    box.def("__init__", &construct_mailbox, nb::arg("nbytes"), nb::arg("slots") = 2,
            nb::arg("team") = nb::none(), nb::arg("device") = nb::none(),
            nb::sig("def __init__(self, nbytes: int, slots: int = 2, team: Team | None = None, device: str | "
                    "None = None) -> None"));
    box.def(
        "post", &post, nb::arg("src"), nb::arg("pe"), nb::arg("timeout") = nb::none(), nb::kw_only(),
        nb::arg("stream") = nb::none(),
        nb::sig("def post(self, src: AnyArray, pe: int, timeout: float | None = None, *, stream: Stream = "
                "None) -> None"),
        R"(Copy src to PE pe; on return src may be changed.

The call waits while all slots to that PE hold unread messages. Other threads run meanwhile, and
Ctrl-C interrupts the wait. An interrupted or timed-out wait has posted nothing. On a stream the
call returns at once, and src must stay unchanged until the stream has reached it.

Parameters
----------
src
    Any array of at most nbytes bytes.
pe
    Number of the receiver in the mailbox's team.
timeout
    Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit. Not on a stream.
stream
    For arrays of a GPU: enqueue the call on this stream. None: the host waits.

Raises
------
ShapeMismatch, PeError, Timeout, PeDied, UseAfterFree, InvalidArgument, Unsupported)");
    box.def("receive", &receive_waiting, nb::arg("dst"), nb::arg("from_pe"), nb::arg("timeout") = nb::none(),
            nb::sig("def receive(self, dst: AnyArray, from_pe: int, timeout: float | None = None) -> int"),
            R"(Copy the next message from PE from_pe into dst.

Messages of a pair arrive in order. Other threads run meanwhile, and Ctrl-C interrupts the wait. An
interrupted or timed-out wait loses no message.

Parameters
----------
dst
    A writeable array, large enough for the message, of its dtype. In the host's memory a message stays,
    and can still be received, if dst has another dtype (DtypeMismatch) or less room (ShapeMismatch).
from_pe
    Number of the sender in the mailbox's team.
timeout
    Seconds; 0 looks once. None: ATOLL_WAIT_TIMEOUT, where 0 is no limit.

Returns
-------
int
    The number of elements that arrived.

Raises
------
ShapeMismatch, DtypeMismatch, PeError, Timeout, PeDied, UseAfterFree)");
    box.def(
        "receive", &receive, nb::arg("dst"), nb::arg("from_pe"), nb::arg("timeout") = nb::none(),
        nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("count") = nb::none(),
        nb::sig("def receive(self, dst: AnyArray, from_pe: int, *, stream: Stream, count: AnyArray | None = "
                "None) -> int | None"),
        R"(The same in stream order: returns at once.

Parameters
----------
dst
    A contiguous array of the GPU. The message is there once the stream has passed the call.
from_pe
    Number of the sender in the mailbox's team.
stream
    The stream of dst's GPU on which a kernel waits.
count
    An int64 array of one element on the GPU, for the number of elements that arrived.

Returns
-------
None
    Or the number of elements, if stream is None.

Raises
------
KernelError
    The message is larger than dst. (Without a stream that is ShapeMismatch, and the message stays
    unread.)
InvalidArgument, Unsupported)");
    box.def("try_receive", &try_receive, nb::arg("dst"), nb::arg("from_pe"), nb::kw_only(),
            nb::arg("stream") = nb::none(), nb::arg("count") = nb::none(),
            nb::sig("def try_receive(self, dst: AnyArray, from_pe: int, *, stream: Stream = None, count: "
                    "AnyArray | None = None) -> int | None"),
            R"(Like receive, but return None at once if there is no message.

Parameters
----------
dst, from_pe
    As for receive.
stream
    For arrays of a GPU: enqueue the call on this stream and return None at once.
count
    An int64 array of one element on the GPU, needed on a stream. -1 there means that there was no message.

Returns
-------
int or None
    The number of elements that arrived.

Raises
------
ShapeMismatch, DtypeMismatch, PeError, PeDied, UseAfterFree, InvalidArgument, Unsupported)");
    box.def(
        "capacity_bytes",
        [](const PyMailbox& b) {
            return b.is_live_on_device(make_spec) ? b.on_device->capacity_bytes() : b.box->capacity_bytes();
        },
        "Return the size of the longest message. Local.\n\nReturns\n-------\nint\n    Bytes.");
    box.def_prop_ro(
        "block", &block_for_kernels, nb::sig("def block(self) -> DeviceArray"),
        R"(The mailbox for kernels of the team (device='cuda'): bytes on the GPU, with capacity_bytes() as the room.

atoll.numba, atoll.cute and atoll.cupy have mailbox(box); Triton's calls take (block.torch(), room).

Raises
------
Unsupported, UseAfterFree)");
    box.def("__repr__", &mailbox_repr);
    box.def("free", &free_box, "Free the mailbox's memory. Collective over all PEs of the job.");
    box.def(
        "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Mailbox"));
    box.def(
        "__exit__",
        [](PyMailbox& self, nb::args args) {
            if (args.size() == 0 || args[0].is_none())
                free_box(self);  // after an exception the others may never call free
        },
        nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace atl::python
