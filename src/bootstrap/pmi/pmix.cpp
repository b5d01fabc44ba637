// A job started by a launcher that speaks PMIx: Slurm (srun --mpi=pmix), PRRTE (prterun, prun), Open MPI's
// mpirun. Its client library is loaded at run time and used only while the PEs find each other.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <mutex>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/deadline.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/rendezvous/rendezvous.hpp"
#include "common/settings/job_environment.hpp"

namespace atl::bootstrap {
namespace {

// The few types of PMIx that are used here, laid out as the standard (version 4, the ABI of libpmix.so.2)
// fixes them. Building needs no headers of PMIx. tests/bootstrap/pmix_layout_test.cpp compares the offsets
// with the real headers.
struct PmixProc {
    char nspace[256];
    std::uint32_t rank;
};
struct PmixValue {
    std::uint16_t type;
    union {
        bool flag;
        int integer;
        std::uint32_t uint32;
        struct {
            char* bytes;
            std::size_t size;
        } bo;
        struct {
            char* words[2];
            char separator;
        } largest;
    } data;
};
struct PmixInfo {
    char key[512];
    std::uint32_t flags;
    PmixValue value;
};
constexpr std::uint16_t type_bool = 1, type_uint32 = 14, type_byte_object = 27;
constexpr std::uint8_t scope_global = 3;
constexpr std::uint32_t rank_wildcard = UINT32_MAX - 1;
static_assert(sizeof(PmixValue) == 32 && sizeof(PmixInfo) == 552);

struct Library {
    int (*init)(PmixProc*, PmixInfo*, std::size_t) = nullptr;
    int (*finalize)(const PmixInfo*, std::size_t) = nullptr;
    int (*put)(std::uint8_t, const char*, PmixValue*) = nullptr;
    int (*commit)() = nullptr;
    int (*fence_nb)(const PmixProc*, std::size_t, const PmixInfo*, std::size_t, void (*)(int, void*),
                    void*) = nullptr;
    int (*get)(const PmixProc*, const char*, const PmixInfo*, std::size_t, PmixValue**) = nullptr;
    const char* (*error_string)(int) = nullptr;
};

template <class Function> void find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    if (!function) throw_bootstrap(std::string("The PMIx library that was found has no ") + name + ".");
}

/// Loaded once and never unloaded, because the library starts threads.
const Library& library() {
    static const Library loaded = [] {
        std::string tried;
        void* handle = nullptr;
        const std::string prefix = common::read_job_environment().pmix_prefix;
        for (const std::string& name :
             {std::string("libpmix.so.2"), prefix.empty() ? prefix : prefix + "/lib/libpmix.so.2",
              std::string("/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so.2"),
              std::string("/usr/lib/aarch64-linux-gnu/pmix2/lib/libpmix.so.2")}) {
            if (name.empty() || handle) continue;
            handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
            if (!handle) tried += (tried.empty() ? "" : "; ") + std::string(::dlerror());
        }
        if (!handle)
            throw_bootstrap(
                "This program was started through PMIx (PMIX_NAMESPACE is set), whose library could not be "
                "loaded: " +
                tried +
                ". Install it (Debian: libpmix2), put its folder into LD_LIBRARY_PATH, or set "
                "ATOLL_BOOTSTRAP to another way.");
        Library l;
        find(handle, "PMIx_Init", l.init);
        find(handle, "PMIx_Finalize", l.finalize);
        find(handle, "PMIx_Put", l.put);
        find(handle, "PMIx_Commit", l.commit);
        find(handle, "PMIx_Fence_nb", l.fence_nb);
        find(handle, "PMIx_Get", l.get);
        find(handle, "PMIx_Error_string", l.error_string);
        return l;
    }();
    return loaded;
}

class Client {
  public:
    explicit Client(double timeout_s) : pmix_(library()), timeout_s_(timeout_s) {
        check(pmix_.init(&me_, nullptr, 0), "PMIx_Init");
        PmixProc job = me_;
        job.rank = rank_wildcard;
        PmixValue* size = nullptr;
        const int status = pmix_.get(&job, "pmix.job.size", nullptr, 0, &size);
        if (status == 0 && size->type == type_uint32) n_pes_ = static_cast<int>(size->data.uint32);
        std::free(size);
        if (n_pes_ < 1) {
            pmix_.finalize(nullptr, 0);
            throw_bootstrap("PMIx does not say how many processes the job has: " + text(status) + ".");
        }
    }
    // Launchers treat a process that ends between init and finalize of PMIx as failed.
    ~Client() { pmix_.finalize(nullptr, 0); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    int pe() const { return static_cast<int>(me_.rank); }
    int n_pes() const { return n_pes_; }

    /// Puts this PE's value and waits until all have put theirs.
    void publish(const std::string& value) {
        // A process that initializes again in the same job uses other keys.
        static int rounds = 0;
        key_ = "atoll." + std::to_string(rounds++);
        std::string bytes = value + '\0';  // not empty
        PmixValue packed{};
        packed.type = type_byte_object;
        packed.data.bo = {bytes.data(), bytes.size()};
        check(pmix_.put(scope_global, key_.c_str(), &packed), "PMIx_Put");
        check(pmix_.commit(), "PMIx_Commit");
        fence();
    }
    std::string value_of(int pe) const {
        PmixProc other = me_;
        other.rank = static_cast<std::uint32_t>(pe);
        PmixValue* got = nullptr;
        check(pmix_.get(&other, key_.c_str(), nullptr, 0, &got), "PMIx_Get");
        std::string value;
        if (got->type == type_byte_object && got->data.bo.size > 0) {
            value.assign(got->data.bo.bytes, got->data.bo.size - 1);
            std::free(got->data.bo.bytes);
        }
        std::free(got);
        return value;
    }

  private:
    struct Fence {
        std::mutex mutex;
        std::condition_variable changed;
        bool done = false;
        int status = 0;
    };

    void fence() {
        PmixProc job = me_;
        job.rank = rank_wildcard;
        PmixInfo collect{};
        std::strcpy(collect.key, "pmix.collect");
        collect.value.type = type_bool;
        collect.value.data.flag = true;
        // Shared with the call, which may finish after this wait has timed out.
        auto* state = new std::shared_ptr<Fence>(std::make_shared<Fence>());
        const std::shared_ptr<Fence> fence = *state;
        const auto done = [](int status, void* data) {
            const std::unique_ptr<std::shared_ptr<Fence>> owner(static_cast<std::shared_ptr<Fence>*>(data));
            const std::lock_guard lock((*owner)->mutex);
            (*owner)->done = true;
            (*owner)->status = status;
            (*owner)->changed.notify_all();
        };
        check(pmix_.fence_nb(&job, 1, &collect, 1, done, state), "PMIx_Fence");
        Deadline deadline(timeout_s_);
        std::unique_lock lock(fence->mutex);
        while (!fence->changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return fence->done; })) {
            if (deadline.passed())
                throw_bootstrap("PE " + std::to_string(pe()) + " of " + std::to_string(n_pes_) + " waited " +
                                seconds_text(timeout_s_) +
                                " (ATOLL_INIT_TIMEOUT) for the others in a fence of PMIx, which does not say "
                                "who is missing. Does every process of the job call init?");
            deadline.answer_ctrl_c("the other PEs");
        }
        check(fence->status, "PMIx_Fence");
    }

    std::string text(int status) const {
        const char* words = pmix_.error_string(status);
        return std::string(words ? words : "error") + " (" + std::to_string(status) + ")";
    }
    void check(int status, const char* call) const {
        if (status != 0)
            throw_bootstrap(
                std::string(call) + " failed: " + text(status) +
                ". The program was started through PMIx; ATOLL_BOOTSTRAP=single makes a job of this PE "
                "alone.");
    }

    const Library& pmix_;
    const double timeout_s_;
    PmixProc me_{};
    int n_pes_ = 0;
    std::string key_;
};

}  // namespace

std::unique_ptr<Bootstrap> create_pmix(const common::Settings& settings) {
    if (common::read_job_environment().pmix_namespace.empty())
        throw_bootstrap(
            "ATOLL_BOOTSTRAP=pmix needs PMIX_NAMESPACE and PMIX_RANK, as srun --mpi=pmix, prterun and Open "
            "MPI's mpirun set them; the first is missing.");
    Client client(settings.init_timeout_s);
    return meet(settings, exchange_through(client), "PMIx");
}

}  // namespace atl::bootstrap
