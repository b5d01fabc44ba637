// Seat: the place of this process on the job board of its launcher, for parts of Atoll that need no init, such
// as groups of torch.distributed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <unistd.h>

#include "bootstrap/host/host_segment.hpp"
#include "common/board/board.hpp"

namespace atl::bootstrap {

class Seat {
  public:
    /// The seat that the launcher left for this process, or that init has taken. Null without `atoll run`, over
    /// several hosts, and in a forked child of a PE.
    static std::shared_ptr<Seat> of_process();
    /// Makes the seat of a PE in init that of the process. `board` outlives its job.
    static void set_taken(std::shared_ptr<MappedBoard> board, int pe);

    Seat(std::shared_ptr<MappedBoard> board, int pe, int socket)
        : board_(std::move(board)), pe_(pe), socket_(socket), is_taken_(socket < 0) {}

    /// Signs in on the board and tells the launcher, unless init has. False if another live process is this PE.
    bool take();
    /// Equal on all PEs of a job, and unique among the jobs of a host.
    const std::string& job() const { return board_->identity(); }
    int pe() const { return pe_; }
    common::BoardEntry& entry() const { return board_->view().entry(pe_); }
    bool is_of_this_process() const;

    /// The wait that the board shows in BoardEntry::group; null: none.
    static inline std::atomic<const void*> shown{nullptr};

  private:
    const std::shared_ptr<MappedBoard> board_;
    const int pe_;
    const int socket_;  ///< the launcher's; -1: init owns it
    const pid_t process_ = ::getpid();
    std::mutex mutex_;  // guards the next one
    bool is_taken_;
};

}  // namespace atl::bootstrap
