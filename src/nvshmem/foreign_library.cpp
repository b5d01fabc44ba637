// Detects NVSHMEM's own library in this process: it has the same names, so that calls would reach either.
#include <dlfcn.h>
#include <string>

#include "nvshmem/front.hpp"

namespace atl::nvshmem {

void refuse_foreign_library() {
    void* const used = ::dlsym(RTLD_DEFAULT, "nvshmem_n_pes");
    Dl_info theirs{}, ours{};
    if (used == nullptr || ::dladdr(used, &theirs) == 0) return;
    if (::dladdr(reinterpret_cast<const void*>(&refuse_foreign_library), &ours) == 0) return;
    if (theirs.dli_fbase == ours.dli_fbase) return;
    throw Error(ErrorCode::bootstrap,
                std::string("another library with NVSHMEM's names is loaded in this process: ") +
                    (theirs.dli_fname != nullptr ? theirs.dli_fname : "its file is unknown") +
                    ". Calls would reach it instead of Atoll. Start the program without it: LD_PRELOAD, or a "
                    "library that the program links, names it (`ldd PROGRAM`).");
}

}  // namespace atl::nvshmem
