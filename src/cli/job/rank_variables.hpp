// Variables by which torch.distributed finds a job's processes: init_process_group(backend) needs nothing
// else.
#pragma once

#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {

/// The store of a job over several hosts: the user's MASTER_ADDR and MASTER_PORT. By default the first host,
/// and a random port below those that systems choose for connections.
RankStore store_over_hosts(const std::string& first_host);

/// RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT of the PEs of one launcher.
/// Those that the user has set stay, and all of them if RANK or WORLD_SIZE is among these.
class RankVariables {
  public:
    /// Reserves the port of the store while this object lives, if PE 0 is of this host.
    explicit RankVariables(const RunOptions& options);

    /// Entries "NAME=value" for the environment of this host's PE `pe`, and the record of them.
    std::vector<std::string> of(int pe) const;
    /// The user's RANK and WORLD_SIZE, such as "RANK=0 and WORLD_SIZE=1"; empty if they are not set.
    const std::string& of_user() const { return of_user_; }

  private:
    int first_pe_, n_here_, n_all_;
    std::string of_user_;
    RankStore store_;
    common::Fd reserved_;
};

}  // namespace atl::cli
