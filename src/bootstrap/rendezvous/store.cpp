// A job by a store that the program brings, such as torch.distributed's. The store holds a few values of each
// PE during init; afterwards the PEs use separate connections. A store (or a prefix of its keys) serves one
// job.
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/rendezvous/rendezvous.hpp"

namespace atl::bootstrap {

std::unique_ptr<Bootstrap> create_store(const common::Settings& settings, const JobOptions::Store& store,
                                        int pe, int n_pes) {
    if (!store.put || !store.get)
        throw Error(ErrorCode::invalid_argument, "The store given to init lacks put or get; it needs both.");
    return meet(settings, exchange_by(store, pe, n_pes), "store");
}

}  // namespace atl::bootstrap
