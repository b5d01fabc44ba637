// Data that kernels in Python need: offsets of fields in control blocks, and the end of a wait on the host.
#include "atoll/device/control.hpp"
#include "atoll/device/mailbox.hpp"
#include "atoll/device/resident.hpp"
#include "atoll/device/wait.hpp"
#include "gpu/gpu_sharing.hpp"

#include "calls/errors.hpp"
#include "calls/gil.hpp"
#include "calls/registry.hpp"
#include "gpu/kernel_trace.hpp"
#include "gpu/stream_cache.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

namespace atl::python {
namespace {

/// The exception that ended the wait of this thread's kernel.
thread_local std::exception_ptr ended;

/// Runs signal handlers (Ctrl-C), for kernels with or without the GIL.
void answer_signals() {
    if (!Py_IsInitialized()) return;
    const EnsureGil held;
    if (PyErr_CheckSignals() != 0) ended = std::make_exception_ptr(nb::python_error());
}

device::Report report_of(int operation, int team, unsigned subject, int peer, int tag,
                         unsigned long long address, unsigned long long expected, unsigned long long found,
                         unsigned long long bound_ns) {
    device::Report report{};
    report.operation = static_cast<device::Operation>(operation);
    report.team = team;
    report.peer = peer;
    report.subject = static_cast<device::Subject>(subject & 0xff);
    report.compare = static_cast<Compare>(subject >> device::compare_shift & 0xff);
    report.values = static_cast<device::Values>(subject >> device::values_shift & 0xff);
    report.word_bytes = static_cast<unsigned char>(subject >> device::word_bytes_shift);
    report.tag = tag;
    report.address = address;
    report.expected = expected;
    report.found = found;
    report.bound_ns = bound_ns;
    return report;
}

/// Called periodically by a waiting kernel. Nonzero ends the wait; take_error then raises the reason.
extern "C" int check(const device::Watch* watch, int operation, int team, unsigned subject, int peer, int tag,
                     unsigned long long address, unsigned long long expected, unsigned long long found,
                     unsigned long long waited_ns, unsigned long long bound_ns) noexcept {
    try {
        const device::Report report =
            report_of(operation, team, subject, peer, tag, address, expected, found, bound_ns);
        if (watch != nullptr && watch->check != nullptr) watch->check(*watch, report, waited_ns);
        answer_signals();
    } catch (...) {
        ended = std::current_exception();
    }
    return ended != nullptr;
}

/// A wait that no longer spins. Its hooks release the GIL, which Numba may have released already.
class Asleep {
  public:
    Asleep(const device::Watch& watch, const device::Report& waiting) : watch_(watch), waiting_(waiting) {}
    ~Asleep() {
        if (wait_ != nullptr) watch_.end(wait_);
    }
    Asleep(const Asleep&) = delete;
    Asleep& operator=(const Asleep&) = delete;

    void pause() { wait_ = watch_.pause(watch_, waiting_, std::exchange(wait_, nullptr)); }

  private:
    const EnsureGil held_;
    const device::Watch& watch_;
    const device::Report waiting_;
    void* wait_ = nullptr;
};

/// That of this thread's kernel.
thread_local std::unique_ptr<Asleep> asleep;

/// Returns the reason. An exception of a handler of signals is this thread's error of Python.
std::exception_ptr reason_to_end() {
    std::exception_ptr reason = std::current_exception();
    const EnsureGil held;
    return PyErr_Occurred() != nullptr ? std::make_exception_ptr(nb::python_error()) : reason;
}

/// check() for waits whose end the kernel announces by end_wait(). Returns 0 while the wait may spin, and 1
/// if it has ended. With 2 this call has slept, so the kernel polls once until the next one.
extern "C" int wait(const device::Watch* watch, int operation, int team, unsigned subject, int peer, int tag,
                    unsigned long long address, unsigned long long expected, unsigned long long found,
                    unsigned long long waited_ns, unsigned long long bound_ns) noexcept {
    try {
        // The pause may call a handler of signals, and that may start a kernel with a wait of its own.
        if (std::unique_ptr<Asleep> mine = std::move(asleep)) {
            mine->pause();
            asleep = std::move(mine);
            return 2;
        }
        if (waited_ns < device::detail::longest_spin_ns || watch == nullptr || watch->pause == nullptr)
            return check(watch, operation, team, subject, peer, tag, address, expected, found, waited_ns,
                         bound_ns);
        auto mine = std::make_unique<Asleep>(
            *watch, report_of(operation, team, subject, peer, tag, address, expected, found, bound_ns));
        mine->pause();
        asleep = std::move(mine);
        return 2;
    } catch (...) {
        ended = reason_to_end();
    }
    return 1;
}

/// Ends what a wait() that returned 2 has begun.
extern "C" void end_wait() noexcept { asleep.reset(); }

struct NamedOperation {
    const char* name;
    device::Operation operation;
};
constexpr NamedOperation operations[] = {
#define ATOLL_NAMED(name, text) {#name, device::Operation::name},
    ATOLL_DEVICE_OPERATIONS(ATOLL_NAMED)
#undef ATOLL_NAMED
};

nb::dict layout() {
    using device::Control;
    using device::Report;
    using device::Watch;
    static_assert(offsetof(Report, compare) == offsetof(Report, subject) + device::compare_shift / 8);
    static_assert(offsetof(Report, values) == offsetof(Report, subject) + device::values_shift / 8);
    static_assert(offsetof(Report, word_bytes) == offsetof(Report, subject) + device::word_bytes_shift / 8);
    nb::dict at;
    at["team"] = offsetof(Control, team);
    at["bound_ns"] = offsetof(Control, bound_ns);
    at["watch"] = offsetof(Control, watch);
    at["pes_of"] = offsetof(Control, pes_of);
    at["checks"] = offsetof(Control, checks);
    at["sync_epoch"] = offsetof(Control, sync_epoch);
    at["exchange_epoch"] = offsetof(Control, exchange_epoch);
    at["grid_arrived"] = offsetof(Control, grid_arrived);
    at["grid_word"] = offsetof(Control, grid_word);
    at["trace_next"] = offsetof(device::TraceSink, next);
    at["trace_records"] = offsetof(device::TraceSink, records);
    at["trace_most"] = offsetof(device::TraceSink, most);
    at["trace_log"] = sizeof(device::TraceLog);
    at["trace_range"] = device::trace_range;
    at["trace_name_bytes"] = device::trace_name_bytes;
    // The places that _kernels.trace_ptx.trace_write() stores to.
    using device::TraceRecord;
    static_assert(offsetof(TraceRecord, ended) == 8 && offsetof(TraceRecord, words) == 16 &&
                  offsetof(TraceRecord, block) == 40 && offsetof(TraceRecord, peer) == 48 &&
                  offsetof(TraceRecord, grid) == 56 && offsetof(device::TraceLog, sink.next) == 0);
    // For a team of few members. The files _exchange.py add what a larger one has more.
    constexpr device::ControlLayout few{1};
    at["arrived"] = few.arrived();
    at["slots"] = few.slots();
    at["slot_area_pairs"] = device::slot_area_pairs;
    at["few_pes"] = device::few_pes;
    at["least_slot_pairs"] = device::least_slot_pairs;
    at["pair_bytes"] = sizeof(device::FlaggedPair);
    at["abort"] = offsetof(Watch, abort);
    at["asked"] = offsetof(Watch, asked);
    at["waiting"] = offsetof(Watch, waiting);
    at["exited"] = offsetof(Watch, exited);
    at["exited_pes"] = offsetof(Watch, exited_pes);
    at["most_exited"] = +Watch::most_exited;
    at["name"] = offsetof(Watch, name);
    at["name_bytes"] = +Watch::name_bytes;
    at["report"] = offsetof(Watch, report);
    at["report_operation"] = offsetof(Report, operation);
    at["report_team"] = offsetof(Report, team);
    at["report_peer"] = offsetof(Report, peer);
    at["report_subject"] = offsetof(Report, subject);
    at["report_tag"] = offsetof(Report, tag);
    at["report_address"] = offsetof(Report, address);
    at["report_expected"] = offsetof(Report, expected);
    at["report_found"] = offsetof(Report, found);
    at["report_bound_ns"] = offsetof(Report, bound_ns);
    at["report_blocks"] = offsetof(Report, blocks);
    at["report_threads"] = offsetof(Report, threads);
    at["report_block"] = offsetof(Report, block);
    at["report_thread"] = offsetof(Report, thread);
    at["mailbox_depth"] = +device::Mailbox::depth;
    at["post_bytes"] = sizeof(device::detail::Post);
    at["post_posted"] = offsetof(device::detail::Post, posted);
    at["post_seen_taken"] = offsetof(device::detail::Post, seen_taken);
    at["post_received"] = offsetof(device::detail::Post, received);
    at["post_taken"] = offsetof(device::detail::Post, taken);
    at["Team"] = sizeof(device::Team);
    at["Team.stride"] = offsetof(device::Team, stride);
    at["Team.first"] = offsetof(device::Team, first);
    at["Team.table"] = offsetof(device::Team, table);
    at["Team.control"] = offsetof(device::Team, control);
    at["Mailbox"] = sizeof(device::Mailbox);
    at["Mailbox.room"] = offsetof(device::Mailbox, room);
    for (const NamedOperation& one : operations) at[one.name] = static_cast<int>(one.operation);
    const auto subject = [&](const char* name, device::Subject value) { at[name] = static_cast<int>(value); };
    subject("subject wait", device::Subject::wait);
    subject("subject word", device::Subject::word);
    subject("subject wrong_pe", device::Subject::wrong_pe);
    subject("subject wrong_address", device::Subject::wrong_address);
    at["compare_shift"] = device::compare_shift;
    at["values_shift"] = device::values_shift;
    at["word_bytes_shift"] = device::word_bytes_shift;
    at["values unsigned_word"] = static_cast<int>(device::Values::unsigned_word);
    at["values int32"] = static_cast<int>(device::Values::int32);
    at["values int64"] = static_cast<int>(device::Values::int64);
    return at;
}

nb::str refusal(int gpu, unsigned long long blocks, unsigned threads, int whole) {
    return nb::str(gpu::grid_refusal(gpu, blocks, threads, whole).c_str());
}

void note_kernel(const char* name, std::uint32_t blocks, std::uint32_t threads) {
    if (g.job != nullptr) g.job->note_kernel(name, blocks, threads);
}

void raise_ended() {
    if (ended == nullptr) return;
    const std::exception_ptr what = std::exchange(ended, nullptr);
    try {
        std::rethrow_exception(what);
    } catch (nb::python_error&) {
        throw;
    } catch (...) {
        translate();
        throw nb::python_error();
    }
}

/// Sets this thread's error of Python to what ended its kernel, which then returns.
extern "C" void set_error() noexcept {
    const EnsureGil held;
    try {
        raise_ended();
    } catch (nb::python_error& error) {
        error.restore();
    }
}

nb::dict kernel_functions() {
    nb::dict all;
    const auto add = [&](const char* name, auto* function) {
        all[name] = reinterpret_cast<std::uintptr_t>(function);
    };
    add("atoll_kernel_check", &check);
    add("atoll_kernel_wait", &wait);
    add("atoll_kernel_end_wait", &end_wait);
    add("atoll_kernel_set_error", &set_error);
    add("atoll_kernel_trace", kernel_trace());
    return all;
}

Spec check_kernels_spec, failure_spec;

PyObject* check_kernels_body(const Arguments<1>& a) {
    Job& job = current("check_kernels");
    if (given(a[0])) {
        const StreamContext& on =
            stream_context(job.context(), stream_of(check_kernels_spec, a[0], a.adopted));
        ReleaseGil released(true);
        on.synchronize();
    }
    job.check_kernels();
    return none();
}

/// Called after another library's exception: raises the kernel's own report if there is one.
PyObject* failure_body(const Arguments<0>&) {
    try {
        if (g.job != nullptr) g.job->check_kernels();
    } catch (const Error& error) {
        return PyUnicode_FromString(error.what());
    }
    return PyUnicode_FromString("");
}

const Function kernels_functions[] = {
    {"check_kernels", entry<1, check_kernels_spec, check_kernels_body>, "(*, stream: Stream = None) -> None",
     R"(Raise KernelError if the GPU stopped a kernel of this process. Local.

The error names the operation, address, found and expected value, PE, and the tag= of the call.
With stream=, the call first waits for the work on that stream. Without it, it only reports what is
already known.

Raises
------
KernelError

Notes
-----
A kernel's wait ends with the job, or after ATOLL_WAIT_TIMEOUT if that is set. Wrong PEs are
detected unless ATOLL_CHECK=none. The kernel then reports and traps, and the GPU's context is
lost. The next call of the GPU by any library fails with an error of CUDA ("unspecified launch
failure").

Atoll's own calls raise KernelError by themselves. If no call does so for 5 s, the job ends with
that error.)"},
    {"_kernel_failure", entry<0, failure_spec, failure_body>, "() -> str",
     "The error that check_kernels would raise, or an empty text."},
};

}  // namespace

void register_kernels(nb::module_& module) {
    register_functions(module.ptr(), kernels_functions);
    module.def("_kernel_layout", &layout, nb::sig("def _kernel_layout() -> dict[str, int]"),
               "Return the offsets of the fields of a control block, for kernels written in Python.");
    module.def("_kernel_functions", &kernel_functions, nb::sig("def _kernel_functions() -> dict[str, int]"),
               "Return the addresses of the functions that kernels on the host call, by their names there.");
    module.def("_note_kernel", &note_kernel, nb::arg("name"), nb::arg("blocks"), nb::arg("threads"),
               nb::sig("def _note_kernel(name: str, blocks: int, threads: int) -> None"),
               "Record the name of a kernel at its launch, for the report of a stopped kernel.");
    module.def("_pes_at_once", &atl::detail::pes_at_once, nb::arg("gpu"),
               nb::sig("def _pes_at_once(gpu: int) -> int"),
               "Return the number of PEs of the job that run on a GPU at the same time.");
    module.def(
        "_resident_share", &atl::detail::resident_share, nb::arg("gpu"), nb::arg("blocks"),
        nb::sig("def _resident_share(gpu: int, blocks: int) -> int"),
        "Return the share of this PE in the `blocks` that a GPU can run at once: several PEs may run on it.");
    module.def("_grid_refusal", &refusal, nb::arg("gpu"), nb::arg("blocks"), nb::arg("threads"),
               nb::arg("whole"),
               nb::sig("def _grid_refusal(gpu: int, blocks: int, threads: int, whole: int) -> str"),
               "The reason why a grid cannot be resident; the GPU can run `whole` such blocks at once.");
    module.def("_kernel_ended", &raise_ended,
               "Raise the exception that ended a wait of this thread's kernel, if any.");
}

}  // namespace atl::python
