// UCX's functions, found at run time: we do not link UCX, and a job on one host does not load it.
#pragma once

#include "transport/ucx/interface.hpp"

#include <string>

namespace atl::transport::ucx {

struct Library : Functions {
    std::string version;
    unsigned minor;  ///< minor version; the major one is 1
    std::string path;
};

/// The process's one UCX. In this order: the one already loaded (by an MPI, say), `given` if not empty, the
/// system's, PyPI's libucx packages. Throws Error(unsupported) that lists the attempts.
const Library& library(const std::string& given);

}  // namespace atl::transport::ucx
