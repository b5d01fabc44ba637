// A job from an MPI communicator, by the MPI that the program has loaded. It needs no header and no library
// of MPI. Open MPI and MPICH (with Intel's MPI and MVAPICH) are told apart by their symbols.
#include <cstdint>
#include <dlfcn.h>
#include <string>

#include "atoll/error.hpp"
#include "nvshmem/front.hpp"

namespace atl::nvshmem {

namespace {

/// The handle types of MPICH are integers, those of Open MPI addresses. Both are passed in a register.
using MpiHandle = std::uintptr_t;
constexpr MpiHandle mpich_byte = 0x4c00010d;  // MPI_BYTE of MPICH's ABI

void* symbol(const char* name) {
    void* found = ::dlsym(RTLD_DEFAULT, name);
    if (found == nullptr)
        throw Error(ErrorCode::bootstrap, std::string("this process has no ") + name +
                                              "; link the program with MPI to start it with "
                                              "NVSHMEMX_INIT_WITH_MPI_COMM.");
    return found;
}
template <class Function> Function* function(const char* name) {
    return reinterpret_cast<Function*>(symbol(name));
}

void check(int status, const char* call) {
    if (status != 0)
        throw Error(ErrorCode::bootstrap, std::string(call) + " failed while PEs find each other by MPI.");
}

}  // namespace

JobOptions mpi_options(const void* comm_address) {
    void* const open_mpi_byte = ::dlsym(RTLD_DEFAULT, "ompi_mpi_byte");
    const MpiHandle byte = open_mpi_byte ? reinterpret_cast<MpiHandle>(open_mpi_byte) : mpich_byte;
    const MpiHandle comm = open_mpi_byte
                               ? *static_cast<const MpiHandle*>(comm_address)
                               : static_cast<MpiHandle>(*static_cast<const std::uint32_t*>(comm_address));
    const auto rank = function<int(MpiHandle, int*)>("MPI_Comm_rank");
    const auto size = function<int(MpiHandle, int*)>("MPI_Comm_size");
    const auto gather =
        function<int(const void*, int, MpiHandle, void*, int, MpiHandle, MpiHandle)>("MPI_Allgather");
    const auto barrier = function<int(MpiHandle)>("MPI_Barrier");
    JobOptions options;
    check(rank(comm, &options.pe), "MPI_Comm_rank");
    check(size(comm, &options.n_pes), "MPI_Comm_size");
    JobOptions::Callbacks& callbacks = options.callbacks.emplace();
    callbacks.allgather = [=](const void* mine, std::size_t bytes, void* all) {
        const int count = static_cast<int>(bytes);
        check(gather(mine, count, byte, all, count, byte, comm), "MPI_Allgather");
    };
    callbacks.barrier = [=] { check(barrier(comm), "MPI_Barrier"); };
    return options;
}

}  // namespace atl::nvshmem
