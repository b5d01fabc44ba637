// OwnEntry: the entry of this process on a job board, its launcher's or one that a group made. For parts of
// Atoll that need no init, such as groups of torch.distributed.
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

class OwnEntry {
  public:
    /// The entry that the launcher left for this process, or that init or a group has taken. Null over
    /// several hosts, in a forked child of a PE, and without `atoll run` before the first group.
    static std::shared_ptr<OwnEntry> of_process();
    /// Makes the entry of a PE in init that of the process. `board` outlives its job.
    static void set_taken(std::shared_ptr<MappedBoard> board, int pe);
    /// Makes the entry of a process without our launcher, on a board that its default group made, and signs
    /// in there.
    static std::shared_ptr<OwnEntry> take_on_board_of_group(std::shared_ptr<MappedBoard> board, int pe);
    /// Call before a new default group is made: this process has no entry on the board of an earlier one any
    /// longer.
    static void leave_board_of_group();

    OwnEntry(std::shared_ptr<MappedBoard> board, int pe, int socket, bool is_of_group = false)
        : board_(std::move(board)),
          pe_(pe),
          socket_(socket),
          is_of_group_(is_of_group),
          is_taken_(socket < 0) {}

    /// Signs in on the board and tells the launcher, unless init has. False if another live process is this
    /// PE.
    bool take();
    /// Equal on all PEs of a job, and unique among the jobs of a host.
    const std::string& job() const { return board_->identity(); }
    int pe() const { return pe_; }
    common::BoardEntry& entry() const { return board_->view().entry(pe_); }
    bool is_of_this_process() const;

    bool is_taken();
    /// Ranks of groups are numbers of PEs, unless the program numbers its processes otherwise.
    bool numbers_are_pes() const { return numbers_are_pes_; }
    void set_other_numbers() { numbers_are_pes_ = false; }
    int n_pes() const { return board_->view().n_pes(); }
    /// True if a group made the board: no launcher watches it, so its members do.
    bool is_of_group() const { return is_of_group_; }
    const common::BoardView& board() const { return board_->view(); }

    /// A wait in a group, as the board shows it in BoardEntry::group. The board shows one wait per process. A
    /// waiting thread replaces a pending operation.
    class Wait {
      public:
        explicit Wait(std::shared_ptr<OwnEntry> own_entry, common::HostWait how = common::HostWait::sleeps)
            : own_entry_(std::move(own_entry)), how_(how) {}
        ~Wait();
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;

        /// True once the board may show this wait. Then call `write`.
        bool claim();
        /// `values` without `active`.
        void write(common::WaitCopy values);

      private:
        const std::shared_ptr<OwnEntry> own_entry_;
        const common::HostWait how_;
        bool was_shown_ = false;
    };

  private:
    /// Shows this process on the board, as one that has not called init.
    void sign_in();

    const std::shared_ptr<MappedBoard> board_;
    const int pe_;
    const int socket_;  ///< the launcher's; -1: init owns it, or no launcher is there
    const bool is_of_group_;
    const pid_t process_ = ::getpid();
    std::atomic<bool> numbers_are_pes_{true};
    std::mutex mutex_;  // guards the next one
    bool is_taken_;
};

}  // namespace atl::bootstrap
