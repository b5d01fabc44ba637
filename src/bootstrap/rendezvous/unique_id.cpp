// A job by an id that the program carries to its PEs itself: by Ray, Dask, an MPI broadcast or the command
// line.
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/rendezvous/host_link.hpp"

namespace atl {

std::string get_unique_id() { return bootstrap::make_unique_id_for_hosts(); }

namespace bootstrap {

std::unique_ptr<Bootstrap> create_unique_id(const common::Settings& settings, const std::string& id, int pe,
                                            int n_pes) {
    return create_host_link(settings, id, pe, n_pes, "unique id");
}

}  // namespace bootstrap
}  // namespace atl
