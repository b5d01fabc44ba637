// A PE of `atoll run --hosts`: the agent of its host left it an Invitation to the launcher's store.
#include <fcntl.h>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/launcher/invitation.hpp"
#include "bootstrap/launcher/launched_variable.hpp"
#include "bootstrap/store/net_link.hpp"
#include "common/line_buffering.hpp"
#include "common/settings/job_environment.hpp"

namespace atl::bootstrap {
namespace {

/// False if a program between agent and PE has closed the descriptor. Programs that the PE starts must not
/// inherit it.
bool is_agent_socket(int fd) {
    return fd >= 0 && is_launcher_socket(fd) && ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

}  // namespace

std::unique_ptr<Bootstrap> create_joined(const common::Settings& settings, const std::string& variable) {
    const Invitation invitation = Invitation::parse(variable);
    Link link;
    link.pe = invitation.pe;
    link.n_pes = invitation.n_pes;
    const std::vector<std::string> addresses = invitation.address_list();
    common::forget_join();
    if (invitation.n_pes > 1) common::flush_by_line();
    link.client = std::make_unique<StoreClient>(
        connect_to_any(addresses, invitation.port),
        addresses_text(addresses, invitation.port) + ", where `atoll run` was started",
        identity_of(settings, link.pe, link.n_pes, invitation.secret), settings.init_timeout_s);
    TracedBoard traced{invitation.logs, {}};
    if (is_agent_socket(invitation.agent)) traced.agent = common::Fd(invitation.agent);
    return create_net_link(settings, std::move(link), "launcher over hosts", std::move(traced));
}

}  // namespace atl::bootstrap
