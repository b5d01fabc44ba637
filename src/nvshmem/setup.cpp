// Set-up, exit and queries of NVSHMEM's names.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "nvshmem/front.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::nvshmem {

using shmem::Call;
using shmem::require;

namespace {

Call named(const char* name) { return {name, SHMEM_CTX_DEFAULT}; }

/// The start of a unique id. NVSHMEM's struct has 124 bytes for the id, so they hold it without this.
constexpr std::string_view id_start = "atoll1-";

std::string text_of(const nvshmemx_uniqueid_t& id) {
    const std::string text(id.internal, ::strnlen(id.internal, sizeof id.internal));
    constexpr std::size_t digits = 64;
    if (text.size() < digits || text.find_first_not_of("0123456789abcdef") < digits)
        throw Error(ErrorCode::invalid_argument,
                    "id: it is not a unique id; pass what nvshmemx_get_uniqueid wrote on one PE, the same "
                    "128 bytes to all PEs.");
    return std::string(id_start) + text;
}

/// Options for the identifier that a program distributed itself.
JobOptions unique_id_options(const nvshmemx_init_attr_t* attr) {
    if (attr == nullptr || attr->args.uid_args.id == nullptr)
        throw Error(ErrorCode::invalid_argument,
                    "NVSHMEMX_INIT_WITH_UNIQUEID needs attributes with an identifier; set them by "
                    "nvshmemx_set_attr_uniqueid_args.");
    const nvshmemx_uniqueid_args_t& given = attr->args.uid_args;
    JobOptions options;
    options.unique_id = text_of(*given.id);
    options.pe = given.myrank;
    options.n_pes = given.nranks;
    return options;
}

JobOptions options_for(unsigned flags, const nvshmemx_init_attr_t* attr) {
    switch (flags & ~static_cast<unsigned>(NVSHMEMX_INIT_THREAD_PES)) {
        case 0:
        case NVSHMEMX_INIT_WITH_SHMEM:  // OpenSHMEM's front and this one share the process's job
            return {};
        case NVSHMEMX_INIT_WITH_UNIQUEID:
            return unique_id_options(attr);
        case NVSHMEMX_INIT_WITH_MPI_COMM:
            if (attr == nullptr || attr->mpi_comm == nullptr)
                throw Error(
                    ErrorCode::invalid_argument,
                    "NVSHMEMX_INIT_WITH_MPI_COMM needs attributes whose mpi_comm is the address of an "
                    "MPI_Comm; NULL was passed.");
            return mpi_options(attr->mpi_comm);
        default:
            throw Error(ErrorCode::invalid_argument,
                        "flags: " + std::to_string(flags) +
                            " was passed; pass 0 or one of NVSHMEMX_INIT_WITH_MPI_COMM, WITH_SHMEM and "
                            "WITH_UNIQUEID.");
    }
}

/// Joins the job; false after an error, which was reported.
bool open(const Call& call, const std::function<JobOptions()>& options) {
    const bool is_first = init_status() == NVSHMEM_STATUS_NOT_INITIALIZED;
    const auto checked = [&] {
        refuse_foreign_library();
        return options();
    };
    if (!shmem::open_front(call, checked)) return false;
    if (is_first && my_pe() == 0) warn_about_variables();
    return true;
}

}  // namespace

void init() {
    if (!open(named("nvshmem_init"), [] { return JobOptions(); })) std::exit(1);
}

int init_thread(int requested, int* provided) {
    const Call call = named("nvshmem_init_thread");
    const auto options = [&] {
        if (requested < NVSHMEM_THREAD_SINGLE || requested > NVSHMEM_THREAD_MULTIPLE)
            throw Error(ErrorCode::invalid_argument,
                        "requested: " + std::to_string(requested) +
                            " is not a thread level; pass NVSHMEM_THREAD_SINGLE, FUNNELED, SERIALIZED or "
                            "MULTIPLE.");
        return JobOptions();
    };
    if (!open(call, options)) return 1;
    if (provided) *provided = NVSHMEM_THREAD_MULTIPLE;  // every call may be made by any thread
    return 0;
}

int hostlib_init_attr(unsigned flags, const nvshmemx_init_attr_t* attr) {
    return open(named("nvshmemx_init_attr"), [&] { return options_for(flags, attr); }) ? 0 : 1;
}

int init_status() {
    int initialized = 0;
    shmem::query_initialized(&initialized);
    // Programs ask for this state by ==. NVSHMEM's others tell what does not work where PEs share a GPU.
    return initialized != 0 ? NVSHMEM_STATUS_IS_INITIALIZED : NVSHMEM_STATUS_NOT_INITIALIZED;
}

void query_thread(int* provided) {
    require(named("nvshmem_query_thread"), "provided", provided);
    *provided = NVSHMEM_THREAD_MULTIPLE;
}

void finalize() {
    if (init_status() == NVSHMEM_STATUS_NOT_INITIALIZED)
        shmem::fail(named("nvshmem_finalize"), "it was called more often than nvshmem_init.");
    shmem::finalize();
    if (init_status() != NVSHMEM_STATUS_NOT_INITIALIZED) return;
    forget_modules();
    forget_region();
    forget_teams();
    forget_memory();
}

void global_exit(int status) { shmem::global_exit(status); }

int my_pe() { return shmem::context_of(named("nvshmem_my_pe")).my_pe(); }
int n_pes() { return shmem::context_of(named("nvshmem_n_pes")).n_pes(); }

void info_get_version(int* major, int* minor) {
    const Call call = named("nvshmem_info_get_version");
    require(call, "major", major);
    require(call, "minor", minor);
    *major = NVSHMEM_MAJOR_VERSION;
    *minor = NVSHMEM_MINOR_VERSION;
}
void info_get_name(char* name) {
    require(named("nvshmem_info_get_name"), "name", name);
    std::memcpy(name, NVSHMEM_VENDOR_STRING, sizeof NVSHMEM_VENDOR_STRING);
}
void vendor_get_version_info(int* major, int* minor, int* patch) {
    const Call call = named("nvshmemx_vendor_get_version_info");
    require(call, "major", major);
    require(call, "minor", minor);
    require(call, "patch", patch);
    *major = NVSHMEM_VENDOR_MAJOR_VERSION;
    *minor = NVSHMEM_VENDOR_MINOR_VERSION;
    *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}

int get_uniqueid(nvshmemx_uniqueid_t* id) {
    require(named("nvshmemx_get_uniqueid"), "uniqueid", id);
    const std::string text = get_unique_id().substr(id_start.size());
    if (text.size() > sizeof id->internal) return NVSHMEMX_ERROR_INTERNAL;
    *id = NVSHMEMX_UNIQUEID_INITIALIZER;
    std::memcpy(id->internal, text.data(), text.size());
    return 0;
}
int set_attr_uniqueid_args(int my_rank, int n_ranks, const nvshmemx_uniqueid_t* id,
                           nvshmemx_init_attr_t* attr) {
    const Call call = named("nvshmemx_set_attr_uniqueid_args");
    require(call, "uniqueid", id);
    require(call, "attr", attr);
    attr->args.uid_args.id = const_cast<nvshmemx_uniqueid_t*>(id);
    attr->args.uid_args.myrank = my_rank;
    attr->args.uid_args.nranks = n_ranks;
    return 0;
}
int set_attr_mpi_comm_args(void* comm, nvshmemx_init_attr_t* attr) {
    const Call call = named("nvshmemx_set_attr_mpi_comm_args");
    require(call, "mpi_comm", comm);
    require(call, "attr", attr);
    attr->mpi_comm = comm;
    return 0;
}

}  // namespace atl::nvshmem

// ---- called by nvshmemx_init_attr of nvshmem_host.h, by a name that NVSHMEM's library does not have
#pragma GCC visibility push(default)
extern "C" int atoll_nvshmem_init_attr(unsigned flags, nvshmemx_init_attr_t* attributes) {
    return atl::nvshmem::hostlib_init_attr(flags, attributes);
}
#pragma GCC visibility pop
