// Chooses the bootstrap: the caller's options first, then ATOLL_BOOTSTRAP, then the environment.
#include <atomic>
#include <unistd.h>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/fail.hpp"
#include "common/settings/job_environment.hpp"

namespace atl::bootstrap {
namespace {

/// The process that joined a launcher's job, or 0. Joining removes the launcher's variable. Without this
/// record, a second init would silently become a job of one PE.
std::atomic<pid_t> joined{0};
std::atomic<pid_t> joined_over_hosts{0};

std::unique_ptr<Bootstrap> join_launcher(const common::Settings& settings, const std::string& invitation) {
    std::unique_ptr<Bootstrap> bootstrap = create_launched(settings, invitation);
    joined = ::getpid();
    return bootstrap;
}

/// Rejoins the launcher's job if this process was in it before and has finalized; null otherwise.
std::unique_ptr<Bootstrap> join_again(const common::Settings& settings) {
    if (joined_over_hosts == ::getpid())
        throw_bootstrap(
            "This process has been in the job of `atoll run --hosts` and has left it; over hosts a process "
            "joins "
            "once. Keep the job until the end (each init needs a finalize, and the last finalize ends it).");
    if (joined != ::getpid()) return nullptr;
    if (auto bootstrap = rejoin_launched(settings)) return bootstrap;
    throw_bootstrap(
        "This process has joined the job of `atoll run` before and left it without finalize, so it cannot "
        "come back. "
        "Finalize before another init, or set ATOLL_BOOTSTRAP=single for a job of this PE alone.");
}

std::unique_ptr<Bootstrap> by_choice(common::BootstrapChoice choice, const common::Settings& settings) {
    using enum common::BootstrapChoice;
    if (choice == single) return create_single(settings);
    if (choice == tcp) return create_tcp(settings);
    if (choice == pmix) return create_pmix(settings);
    if (choice == pmi) return create_pmi(settings);
    if (auto again = join_again(settings)) return again;
    if (const std::string join = common::read_job_environment().join; !join.empty()) {
        std::unique_ptr<Bootstrap> bootstrap = create_joined(settings, join);
        joined_over_hosts = ::getpid();
        return bootstrap;
    }
    const std::string invitation = common::read_job_environment().launched;
    if (invitation.empty())
        throw_bootstrap(
            "ATOLL_BOOTSTRAP=launcher, but this program was not started by `atoll run`; start it so, or "
            "unset ATOLL_BOOTSTRAP.");
    return join_launcher(settings, invitation);
}

}  // namespace

std::unique_ptr<Bootstrap> choose(const JobOptions& options, const common::Settings& settings) {
    if (options.store || options.callbacks || !options.unique_id.empty()) {
        if (options.n_pes < 1 || options.pe < 0 || options.pe >= options.n_pes)
            throw Error(ErrorCode::invalid_argument,
                        "With a unique id, a store or callbacks, init needs this PE's number and how many "
                        "there are; it "
                        "was given pe=" +
                            std::to_string(options.pe) + ", n_pes=" + std::to_string(options.n_pes) + ".");
        if (options.callbacks)
            return create_callbacks(settings, *options.callbacks, options.pe, options.n_pes);
        if (options.store) return create_store(settings, *options.store, options.pe, options.n_pes);
        return create_unique_id(settings, options.unique_id, options.pe, options.n_pes);
    }
    if (options.pe >= 0 || options.n_pes >= 0)
        throw Error(ErrorCode::invalid_argument,
                    "init was given pe=" + std::to_string(options.pe) +
                        ", n_pes=" + std::to_string(options.n_pes) +
                        " but neither a unique id nor a store. Start the program by atoll run -n 4, or pass "
                        "all PEs a result of get_unique_id().");
    if (settings.bootstrap != common::BootstrapChoice::automatic)
        return by_choice(settings.bootstrap, settings);
    const common::JobEnvironment environment = common::read_job_environment();
    if (!settings.no_launcher) {
        if (auto again = join_again(settings)) return again;
        if (!environment.join.empty()) {
            std::unique_ptr<Bootstrap> bootstrap = create_joined(settings, environment.join);
            joined_over_hosts = ::getpid();
            return bootstrap;
        }
        if (!environment.launched.empty()) return join_launcher(settings, environment.launched);
    }
    if (environment.has_torchrun_variables()) return create_tcp(settings);
    if (!environment.pmix_namespace.empty()) return create_pmix(settings);
    if (environment.has_pmi()) return create_pmi(settings);
    if (environment.srun_without_pmi())
        common::warn("srun started this program as one of " + environment.slurm_tasks +
                     " tasks, but offers no PMI by which they could find each other. So each is a job of one "
                     "PE; use srun --mpi=pmix (or pmi2).");
    if (const std::string incomplete = environment.incomplete(); !incomplete.empty())
        common::warn(
            "something started this program as one of several: " + incomplete +
            ". Without these it finds no other, so it is a job of one PE. Set them too, start it by `atoll "
            "run`, or unset what is set. (ATOLL_BOOTSTRAP=single also says that one PE is meant.)");
    return create_single(settings);
}

bool may_take_store(const common::Settings& settings) {
    if (settings.bootstrap != common::BootstrapChoice::automatic) return false;
    if (settings.no_launcher) return true;
    const common::JobEnvironment environment = common::read_job_environment();
    return joined != ::getpid() && joined_over_hosts != ::getpid() && environment.launched.empty() &&
           environment.join.empty();
}

}  // namespace atl::bootstrap
