#include "gpu/device_mailbox.hpp"

#include "atoll/device/mailbox.hpp"

#include "arrays/staging.hpp"
#include "gpu/stream_results.hpp"

#include <span>

namespace atl::python {
namespace {

/// The arguments of one call that are arrays of this PE's GPU.
class OnGpu {
  public:
    OnGpu(const Spec& spec, PyObject* array, PyObject* count) : spec_(spec), values_{array, count} {
        if (adopts_device_arrays) adopt(values_, 2, adopted_);
    }
    const Adopted& adopted() const { return adopted_; }
    PyArrayObject* array(const char* which) const {
        PyArrayObject* found = header(0, which);
        if (!c_contiguous(found))
            fail(ErrorCode::unsupported,
                 "%s(): %s is a view that is not contiguous; a GPU's mailboxes take contiguous arrays: copy "
                 "it "
                 "into one.",
                 spec_.name, which);
        return found;
    }
    std::int64_t* count() const {
        if (!given(values_[1])) return nullptr;
        PyArrayObject* array = header(1, "count");
        check_writeable(spec_, "count", array);
        if (PyArray_TYPE(array) != NPY_INT64 || size_of(array) != 1)
            fail(ErrorCode::dtype_mismatch,
                 "%s(): count has dtype %S and %zu elements; pass an int64 array of one.", spec_.name,
                 dtype_name(array).get(), size_of(array));
        return reinterpret_cast<std::int64_t*>(PyArray_BYTES(array));
    }

  private:
    /// Arrays in pinned memory of the host came from an atoll.DeviceArray, too.
    PyArrayObject* header(int i, const char* which) const {
        PyArrayObject* found = array_arg(spec_, which, values_[i]);
        if (on_device(found)) return found;
        for (PyObject* known : std::span(adopted_.headers, static_cast<std::size_t>(adopted_.n)))
            if (known == values_[i]) return found;
        fail(ErrorCode::invalid_argument,
             "%s(): %s (dtype %S) is in memory of the host, and this mailbox is for arrays of a GPU. Pass "
             "one (of atoll.zeros(..., device=\"cuda\"), CuPy, PyTorch), or what atoll.pin() returned.",
             spec_.name, which, reinterpret_cast<PyObject*>(PyArray_DESCR(found)));
    }
    const Spec& spec_;
    PyObject* values_[2];
    Adopted adopted_;
};

Ref block_array(Job& job, const Allocation& block, int n_pes, std::size_t nbytes) {
    note_device(job);
    const npy_intp bytes = static_cast<npy_intp>(device::mailbox_bytes(n_pes, nbytes));
    const Ref owner = make_block(block, static_cast<std::size_t>(bytes) + 1, true);  // sizes follow
    return make_device_array(array_over(PyArray_DescrFromType(NPY_UINT8), 1, &bytes, nullptr,
                                        static_cast<char*>(block.address), owner.get()));
}

}  // namespace

PyDeviceMailbox::PyDeviceMailbox(Job& job, const Team& team, std::size_t nbytes, int slots, PyObject* device)
    : box_(job, team, nbytes, slots),
      n_pes_(team.n_pes()),
      block_(block_array(job, box_.release_block(), n_pes_, nbytes)) {
    const std::string asked = PyUnicode_AsUTF8AndSize(device, nullptr);
    const std::size_t colon = asked.find(':');
    if (colon != std::string::npos && asked.substr(colon + 1) != std::to_string(g.device))
        fail(ErrorCode::invalid_argument,
             "Mailbox(): device is %R, but this PE's symmetric memory is on GPU %d; pass 'cuda', or choose "
             "by ATOLL_DEVICE, LOCAL_RANK or CUDA_VISIBLE_DEVICES.",
             device, g.device);
}

void PyDeviceMailbox::post(const Spec& spec, PyObject* src, PyObject* pe, PyObject* stream,
                           PyObject* timeout) {
    const OnGpu arguments(spec, src, nullptr);
    const SourceStage from(spec, "src", arguments.array("src"));
    const int to = pe_within(spec, pe, n_pes_);
    const StreamArg on = stream_of(spec, stream, arguments.adopted());
    if (on.given) {
        refuse_timeout(spec, timeout);
        return box_.post(Stream{on.handle}, from.data(), from.bytes(), to);
    }
    const double most_s = timeout_of(spec, timeout);
    finish_current(arguments.adopted());
    ReleaseGil released(true);
    box_.post(from.data(), from.bytes(), to, most_s);
}

nb::object PyDeviceMailbox::receive(const Spec& spec, PyObject* dst, PyObject* pe, PyObject* stream,
                                    PyObject* count, PyObject* timeout) {
    const bool at_once = timeout == nullptr;
    const OnGpu arguments(spec, dst, count);
    PyArrayObject* array = arguments.array("dst");
    const TargetStage to(spec, "dst", array);
    const int from = pe_within(spec, pe, n_pes_, "from_pe");
    const StreamArg on = stream_of(spec, stream, arguments.adopted());
    const std::size_t item = item_bytes(array);
    if (on.given) {
        if (!at_once) refuse_timeout(spec, timeout);
        std::int64_t* arrived = arguments.count();
        if (at_once && !arrived)
            fail(ErrorCode::invalid_argument,
                 "%s(): on a stream pass count=, an int64 array of one on the GPU, which is told how many "
                 "elements came, or -1.",
                 spec.name);
        if (at_once)
            box_.try_receive(Stream{on.handle}, to.data(), to.bytes(), from, arrived, item);
        else
            box_.receive(Stream{on.handle}, to.data(), to.bytes(), from, arrived, item);
        return nb::none();
    }
    if (given(count))
        fail(ErrorCode::invalid_argument,
             "%s(): count is for calls on a stream (stream=); without one the number of elements is "
             "returned.",
             spec.name);
    const double most_s = at_once ? 0 : timeout_of(spec, timeout);
    finish_current(arguments.adopted());
    std::size_t bytes = 0;
    {
        ReleaseGil released(true);
        bytes = at_once ? box_.try_receive(to.data(), to.bytes(), from)
                        : box_.receive(to.data(), to.bytes(), from, most_s);
    }
    if (bytes == atl::none) return nb::none();
    if (bytes % item != 0)
        fail(ErrorCode::dtype_mismatch,
             "%s(): the message had %zu bytes, no multiple of dst's element of %zu; dtypes of post and "
             "receive must be equal.",
             spec.name, bytes, item);
    return nb::int_(bytes / item);
}

void PyDeviceMailbox::free() {
    Block* block = block_of(header_of(block_.get()));
    g.job->free(block->whole);
    free_block(block);
    box_.free();
}

}  // namespace atl::python
