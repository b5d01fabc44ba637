#include "bootstrap/store/peer_monitor.hpp"

#include <csignal>
#include <poll.h>
#include <string>
#include <unistd.h>

#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "common/able_time.hpp"
#include "common/quiet_thread.hpp"

namespace atl::bootstrap {
namespace {

/// The time from the end of the job to SIGTERM, without waits for a core. Then that to SIGKILL for processes
/// that ignore it: 2 s together on a machine with free cores.
constexpr int grace_ms = 1000;
constexpr int ignored_ms = 800;

class PeerMonitor final : public Monitor {
  public:
    /// `client` is null where all PEs share a host.
    PeerMonitor(int socket, StoreClient* client, const common::BoardView& board)
        : socket_(socket), client_(client), board_(board), thread_([this] { watch(); }) {}
    ~PeerMonitor() override { stop_.signal(); }

  private:
    void watch() {
        // Without a client there is no POLLIN: bytes on this connection then belong to the store.
        const short awaited = client_ ? POLLIN | POLLRDHUP : POLLRDHUP;
        pollfd ends[] = {{stop_.fd(), POLLIN, 0}, {socket_, awaited, 0}};
        for (;;) {
            if (::poll(ends, 2, -1) <= 0) continue;
            if (ends[0].revents) return;
            if (!client_ || !client_->read_news(error_)) break;
            // PEs that know that the job is over need not wait for the server to close the connection.
            if (board_.header().abort.load(std::memory_order_acquire) != 0) break;
        }
        if (job_is_over()) end_process();
    }

    /// True if the job has ended. False if PE 0 has finished before this PE.
    bool job_is_over() {
        if (board_.header().abort.load(std::memory_order_acquire) != 0) return true;
        if (board_.state(0) >= common::PeState::finalized && board_.state(0) != common::PeState::died)
            return false;
        board_.set_state(0, common::PeState::died);
        board_.abort(0, 1,
                     is_silence(error_) ? "PE 0's host does not answer: it, or the network to it, is gone."
                                        : pe_text(board_, 0) + " died.");
        return true;
    }

    /// True if the program destroyed the job within `ms`: it has noticed the end and handles it.
    bool stopped_within(int ms) {
        pollfd stop{stop_.fd(), POLLIN, 0};
        return ::poll(&stop, 1, ms) > 0;
    }

    /// The same, for a time in which the main thread was able to run.
    bool stopped_within_grace() {
        const double begin_s = common::able_seconds(::getpid());
        for (int waited_ms = 0, left_ms = grace_ms;
             waited_ms < grace_ms * common::longest_grace && left_ms > 0; waited_ms += left_ms) {
            if (stopped_within(left_ms)) return true;
            left_ms = grace_ms - static_cast<int>(1e3 * (common::able_seconds(::getpid()) - begin_s));
        }
        return false;
    }

    void end_process() {
        if (stopped_within_grace()) return;
        const common::BoardHeader& header = board_.header();
        const std::string line = "atoll: the job is over: " + std::string(header.abort_text) + "\n";
        static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
        const int pe = header.abort_pe.load(std::memory_order_relaxed);
        const bool death = pe < 0 || board_.state(pe) == common::PeState::died;
        // All PEs end with the status of a global exit.
        if (!death) ::_exit(header.abort_status.load(std::memory_order_relaxed));
        ::kill(::getpid(), SIGTERM);
        if (!stopped_within(ignored_ms)) ::kill(::getpid(), SIGKILL);
    }

    const int socket_;
    StoreClient* const client_;
    int error_ = 0;
    const common::BoardView board_;
    const common::Wake stop_;
    common::QuietThread thread_;  // last: it uses the others
};

}  // namespace

std::unique_ptr<Monitor> create_peer_monitor(int socket, const common::BoardView& board) {
    return std::make_unique<PeerMonitor>(socket, nullptr, board);
}

std::unique_ptr<Monitor> create_net_monitor(StoreClient& client, const common::BoardView& board) {
    return std::make_unique<PeerMonitor>(client.socket(), &client, board);
}

}  // namespace atl::bootstrap
