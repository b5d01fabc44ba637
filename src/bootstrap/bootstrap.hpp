// How the PEs of a job find each other: a store of small values, and the shared memory of this host.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "atoll/job_values.hpp"
#include "bootstrap/monitor.hpp"
#include "common/board/board.hpp"
#include "common/descriptors/fd.hpp"
#include "common/settings/settings.hpp"

namespace atl::bootstrap {

/// The memory that the PEs of a host share: the job board and the heap's memfd. The heap's first PE sets the
/// size of the memfd.
struct HostSegment {
    /// The PEs of this host, ascending. A PE's position in this list is its slot in the heap. The board has
    /// an entry for every PE of the job, indexed by PE number; PEs of other hosts stay absent in it.
    std::vector<int> pes;
    common::BoardView board;      ///< mapped for the life of the process's job
    std::size_t board_bytes = 0;  ///< 0: not ours to unmap
    bool lacks_logs = false;      ///< a launcher wants a trace, and a PE of the job has no room for it
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

    // ---- start-up exchange of transports: addresses, keys
    /// Makes a value known to all PEs. Keys are written once.
    virtual void put(const std::string& key, const std::string& value) = 0;
    /// Waits for the value. After ATOLL_INIT_TIMEOUT throws Error(bootstrap) that names the key and the
    /// missing PEs.
    virtual std::string get(const std::string& key) = 0;
    /// Waits for all PEs.
    virtual void fence() = 0;
    /// Returns every PE's value, indexed by PE. Collective. Each PE sends one message and receives one
    /// answer, however many PEs there are. Use it for values that all PEs need of all PEs, such as addresses;
    /// use `get` for values that few PEs need. Throws as `get` does.
    virtual std::vector<std::string> allgather(const std::string& value) = 0;

    /// Collective over all PEs, called once. Returns the memory of this PE's host.
    virtual HostSegment host_segment() = 0;
    /// True if this PE can observe all PEs of the job, and no launcher of ours does.
    virtual bool sees_all() const { return false; }
    /// The activity of each PE, where `sees_all()`: those of `board` on one host. PEs of other hosts have
    /// `seconds` to report it.
    virtual std::vector<common::PeDoing> all_doing(const common::BoardView& board, double /*seconds*/,
                                                   bool with_calls) {
        return board.all_doing(with_calls);
    }
    /// Starts watching: from now on the board records the death of any PE of this job. May return null.
    virtual std::unique_ptr<Monitor> monitor(const common::BoardView& board) = 0;
    /// Tells the process that started this PE of its end; `finalized` is false if it leaves without
    /// finalize. Never blocks, never throws.
    virtual void goodbye(bool finalized) noexcept = 0;
    /// Asks the launcher or PE 0 to end the job; returns if neither can be reached.
    virtual void abort(int status, const std::string& sentence) noexcept = 0;

    /// Registers a further `abort`: the one of the bootstrap that connected the PEs before this one. It is
    /// called before `abort`.
    void also_abort_by(std::function<void(int, const std::string&)> function) {
        other_abort_ = std::move(function);
    }
    void abort_by_others(int status, const std::string& sentence) const {
        if (other_abort_) other_abort_(status, sentence);
    }

  private:
    std::function<void(int, const std::string&)> other_abort_;
};

/// Returns a text such as "PE 1 ended the job with status 3".
inline std::string end_text(int pe, int status) {
    return "PE " + std::to_string(pe) + " ended the job with status " + std::to_string(status);
}

/// The text that other PEs get when PE `pe` ends the job: `sentence`, or a default with the PE and the
/// status.
inline std::string sentence_of_end(int pe, int status, const std::string& sentence) {
    return sentence.empty() ? end_text(pe, status) + " (global_exit)" : sentence;
}

/// Chooses the bootstrap by the options, then by ATOLL_BOOTSTRAP, then by the environment. The order in the
/// environment is: our launcher, torchrun's variables, PMIx, PMI, alone. A program that torchrun starts under
/// srun sees both; torchrun is the inner one and is taken.
std::unique_ptr<Bootstrap> choose(const JobOptions& options, const common::Settings& settings);

/// True if options without a store may use a store that was found: neither ATOLL_BOOTSTRAP nor a launcher of
/// ours is set.
bool may_take_store(const common::Settings& settings);

// One exported function for each bootstrap, in separate files.
std::unique_ptr<Bootstrap> create_single(const common::Settings& settings);
std::unique_ptr<Bootstrap> create_launched(const common::Settings& settings, const std::string& variable);
std::unique_ptr<Bootstrap> create_joined(const common::Settings& settings, const std::string& variable);
/// Starts a new job of the same PEs after the job that create_launched joined was finalized. Null if there
/// was no such job.
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
