// The structs of DLPack (https://dmlc.github.io/dlpack) that are used here.
#pragma once

#include <cstdint>

namespace atl::python::dlpack {

inline constexpr std::int32_t on_cuda = 2;
enum Code : std::uint8_t {
    integer = 0,
    unsigned_integer = 1,
    floating = 2,
    bfloat = 4,
    complex = 5,
    boolean = 6
};

struct Device {
    std::int32_t type;
    std::int32_t id;
};
struct DataType {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};
struct Tensor {
    void* data;
    Device device;
    std::int32_t ndim;
    DataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;  ///< in elements; null: contiguous
    std::uint64_t byte_offset;
};
/// The content of capsules named "dltensor".
struct Managed {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);
};
struct Version {
    std::uint32_t major;
    std::uint32_t minor;
};
/// The content of capsules named "dltensor_versioned".
struct ManagedVersioned {
    Version version;
    void* context;
    void (*deleter)(ManagedVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};

/// The content of the capsule `__dlpack_c_exchange_api__` of a class of tensors, named "dlpack_exchange_api".
/// It describes tensors and the current stream without a Python call. Functions return nonzero and set
/// Python's error if they fail.
struct ExchangeApi {
    Version version;
    const ExchangeApi* previous;
    void (*allocate)();                           ///< has another signature in DLPack; not used here
    void (*managed_of)();                         ///< likewise
    void (*object_of)();                          ///< likewise
    int (*tensor_of)(void* object, Tensor* out);  ///< may be null
    int (*current_stream)(std::int32_t device_type, std::int32_t device, void** out);
};

}  // namespace atl::python::dlpack
