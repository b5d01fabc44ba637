// A job started by a launcher that speaks PMI over an inherited descriptor.
#include <array>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/pmi/pmi_client.hpp"
#include "bootstrap/rendezvous/rendezvous.hpp"

namespace atl::bootstrap {
namespace {

/// Negotiates the version of PMI. All PEs of a job offer the same version first. Intel's mpiexec ends the job
/// if it is offered version 2.
int agree(PmiSocket& socket, bool newer_first) {
    for (const int version : newer_first ? std::array{2, 1} : std::array{1, 2})
        if (socket.agree_on(version, version == 1 ? 1 : 0)) return version;
    throw_bootstrap("The launcher speaks neither PMI 1.1 nor PMI 2.0.");
}

}  // namespace

std::unique_ptr<Bootstrap> create_pmi(const common::Settings& settings) {
    const common::JobEnvironment environment = common::read_job_environment();
    if (!environment.has_pmi())
        throw_bootstrap(
            "ATOLL_BOOTSTRAP=pmi needs PMI_FD, PMI_RANK and PMI_SIZE, as mpiexec of MPICH and "
            "srun --mpi=pmi2 set them.");
    PmiSocket socket(environment, settings.init_timeout_s);
    if (agree(socket, environment.speaks_pmi2()) == 2) {
        Pmi2Client client(std::move(socket), environment.pmi_job);
        return meet(settings, exchange_through(client), "PMI-2");
    }
    Pmi1Client client(std::move(socket));
    return meet(settings, exchange_through(client), "PMI");
}

}  // namespace atl::bootstrap
