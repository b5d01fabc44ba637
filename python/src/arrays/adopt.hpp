// Arrays of other libraries, and atoll.DeviceArray, as headers that NumPy can describe.
#pragma once

#include "arrays/array_arguments.hpp"

namespace atl::python {

/// atoll.DeviceArray.
struct DeviceArray {
    PyObject_HEAD PyObject* header;
};
extern PyTypeObject* device_array_type;

inline PyArrayObject* header_of(PyObject* device_array) noexcept {
    return as_array(reinterpret_cast<DeviceArray*>(device_array)->header);
}

/// The header of any library's array on this PE's GPU; empty for other values and other memory.
Ref header_for(PyObject* value, Library& library);
/// The handle of a library's current stream on this PE's GPU. If the library is not given, the only imported
/// one is used.
void* current_stream_of(Library library);
/// The reason why a GPU array could not be adopted, for an error; empty for anything else.
std::string why_not_adopted(PyObject* value);

/// The Python module atoll._device, which handles the names of other libraries.
PyObject* device_module();

}  // namespace atl::python
