// How the PEs of a job find each other: a store of small values, and the memory that the PEs of this host
// share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "atoll/job.hpp"
#include "bootstrap/monitor.hpp"
#include "common/board.hpp"
#include "common/fd.hpp"
#include "common/settings.hpp"

namespace atl::bootstrap {

/// What the PEs of a host share: the job board and the heap's memfd (its size is set by the first PE, see
/// heap).
struct HostSegment {
    /// The PEs that share it, ascending: this PE's host. Its slot in the heap is its place in this list. The
    /// board has an entry for every PE of the job, by its number, in which other hosts' PEs stay absent.
    std::vector<int> pes;
    common::BoardView board;      ///< mapped for the life of the process's job
    std::size_t board_bytes = 0;  ///< 0: not ours to unmap
    common::Fd heap_fd;           ///< invalid when `heap_memory` is given
    /// PEs that are threads of one process share one mapping, so that ThreadSanitizer sees one address per
    /// word.
    char* heap_memory = nullptr;
};

class Bootstrap {
  public:
    virtual ~Bootstrap() = default;
    /// "single", "launcher", "launcher over hosts", "unique id", "tcp store", "store", "callbacks", "PMIx",
    /// "PMI", "PMI-2", "threads"
    virtual std::string_view name() const = 0;
    virtual int pe() const = 0;
    virtual int n_pes() const = 0;

    // ---- what transports tell each other at the start: addresses, keys
    /// Makes a value known to all PEs. Keys are written once.
    virtual void put(const std::string& key, const std::string& value) = 0;
    /// Waits for the value. Throws Error(bootstrap) naming the key and who is missing after
    /// ATOLL_INIT_TIMEOUT.
    virtual std::string get(const std::string& key) = 0;
    /// Waits for all PEs.
    virtual void fence() = 0;
    /// Every PE's value, by PE. Collective: one message from each PE and one answer, whatever their number,
    /// so what all want to know of all (addresses) goes by this, and keys only by `get` what few want of few.
    /// Throws as get does.
    virtual std::vector<std::string> allgather(const std::string& value) = 0;

    /// Collective over all PEs, once; of the memory of this PE's host.
    virtual HostSegment host_segment() = 0;
    /// Starts watching: from now on the death of a PE of this job reaches the board. May be null.
    virtual std::unique_ptr<Monitor> monitor(const common::BoardView& board) = 0;
    /// Tells whoever started this PE that it leaves; `finalized` false: without finalize. Never waits, never
    /// throws.
    virtual void goodbye(bool finalized) noexcept = 0;
    /// Asks for the end of the job; returns if nobody is there to ask.
    virtual void abort(int status, const std::string& sentence) noexcept = 0;

    /// What connected the PEs before this did is asked for the end too, before `abort`.
    void also_abort_by(std::function<void(int, const std::string&)> function) {
        other_abort_ = std::move(function);
    }
    void abort_by_others(int status, const std::string& sentence) const {
        if (other_abort_) other_abort_(status, sentence);
    }

  private:
    std::function<void(int, const std::string&)> other_abort_;
};

/// What the others are told when PE `pe` ends the job: `sentence`, or who did that and with what status.
inline std::string sentence_of_end(int pe, int status, const std::string& sentence) {
    if (!sentence.empty()) return sentence;
    return "PE " + std::to_string(pe) + " ended the job with status " + std::to_string(status) +
           " (global_exit)";
}

/// Chooses by options, then ATOLL_BOOTSTRAP, then what the environment offers: our launcher, torchrun's
/// variables, PMIx, PMI, alone. (What torchrun starts under srun sees both; torchrun is nearer.)
std::unique_ptr<Bootstrap> choose(const JobOptions& options, const common::Settings& settings);

/// Whether options without a store may get one that was found: neither ATOLL_BOOTSTRAP nor a launcher of ours
/// says otherwise.
bool may_take_store(const common::Settings& settings);

// One exported function for each way; each in a file of its own.
std::unique_ptr<Bootstrap> create_single(const common::Settings& settings);
std::unique_ptr<Bootstrap> create_launched(const common::Settings& settings, const std::string& variable);
std::unique_ptr<Bootstrap> create_joined(const common::Settings& settings, const std::string& variable);
/// A new job of the same PEs, after the one that create_launched joined was finalized; null where there is
/// none.
std::unique_ptr<Bootstrap> rejoin_launched(const common::Settings& settings);
std::unique_ptr<Bootstrap> create_unique_id(const common::Settings& settings, const std::string& id, int pe,
                                            int n_pes);
std::unique_ptr<Bootstrap> create_tcp(
    const common::Settings& settings);  ///< RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
std::unique_ptr<Bootstrap> create_pmix(const common::Settings& settings);
std::unique_ptr<Bootstrap> create_pmi(const common::Settings& settings);  ///< PMI_FD PMI_RANK PMI_SIZE
std::unique_ptr<Bootstrap> create_callbacks(const common::Settings& settings,
                                            const JobOptions::Callbacks& callbacks, int pe, int n_pes);
std::unique_ptr<Bootstrap> create_store(const common::Settings& settings, const JobOptions::Store& store,
                                        int pe, int n_pes);

/// PEs as threads of one process, for tests: what they share, and one bootstrap for each.
class ThreadHub;
std::shared_ptr<ThreadHub> create_hub(int n_pes, std::size_t heap_bytes);
std::unique_ptr<Bootstrap> create_thread(std::shared_ptr<ThreadHub> hub, int pe);

}  // namespace atl::bootstrap
