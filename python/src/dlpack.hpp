// DLPack's structs (https://dmlc.github.io/dlpack), as far as they are used here.
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
/// Capsules called "dltensor".
struct Managed {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);
};
struct Version {
    std::uint32_t major;
    std::uint32_t minor;
};
/// Capsules called "dltensor_versioned".
struct ManagedVersioned {
    Version version;
    void* context;
    void (*deleter)(ManagedVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};

}  // namespace atl::python::dlpack
