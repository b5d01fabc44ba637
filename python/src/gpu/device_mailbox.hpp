// atoll.Mailbox with device="cuda".
#pragma once

#include "atoll/device_mailbox.hpp"

#include "gpu/device.hpp"

namespace atl::python {

class PyDeviceMailbox {
  public:
    /// Collective over the world. Call it after checking that `device` is "cuda".
    PyDeviceMailbox(Job& job, const Team& team, std::size_t nbytes, int slots, PyObject* device);

    /// The DeviceArray of bytes that kernels take.
    PyObject* block() const noexcept { return block_.get(); }
    std::size_t capacity_bytes() const { return box_.capacity_bytes(); }
    /// `stream` None blocks the host.
    void post(const Spec& spec, PyObject* src, PyObject* pe, PyObject* stream, PyObject* timeout);
    /// Returns the number of elements that arrived. Returns None on a stream, and if none has arrived and
    /// there is no `timeout`: such a call polls once.
    nb::object receive(const Spec& spec, PyObject* dst, PyObject* pe, PyObject* stream, PyObject* count,
                       PyObject* timeout);
    /// Collective.
    void free();

  private:
    DeviceMailbox box_;
    int n_pes_;
    Ref block_;
};

}  // namespace atl::python
