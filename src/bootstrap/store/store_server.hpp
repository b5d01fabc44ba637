// The store of a job during init, run by a thread of PE 0: small values, fences, and the descriptors of the
// shared memory. Every PE keeps its connection for the life of the job, so the server also notices when a PE
// dies.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "atoll/error.hpp"
#include "bootstrap/store/wire.hpp"
#include "common/board/board.hpp"
#include "common/descriptors/fork_guard.hpp"
#include "common/quiet_thread.hpp"

namespace atl::bootstrap {

class StoreServer {
  public:
    struct Options {
        int n_pes = 1;
        std::string secret;    ///< PEs prove that they know it
        std::string settings;  ///< those that must be equal, as text; empty: those of the first PE
        double silence_s = 3;  ///< a host is gone after this time without an answer
        std::string secret_name = "secret";  ///< its name in errors
    };
    struct Listener {
        common::Fd fd;
        bool same_user = false;  ///< a unix socket, for which the kernel reports the user at the other end
    };

    /// `listeners` are listening sockets. `own` is one end of a socket pair whose other end is PE 0's client,
    /// or invalid if no PE runs in this process.
    StoreServer(std::vector<Listener> listeners, common::Fd own, Options options);
    ~StoreServer();

    /// For PEs on several hosts: news that a board would carry are sent as frames. The job is set up once all
    /// PEs watch.
    void serve_hosts();
    /// Takes the connections of guests, which know the secret and are not PEs: the agents of a launcher.
    /// Their hellos name the PE -1 - `number`. Called in the server's thread.
    using TakeGuest = std::function<void(int number, common::ProcessFd connection)>;
    void serve_guests(TakeGuest take);
    /// Leaves as PE 0, which ends the server. The others are notified as far as that is possible without
    /// waiting.
    void leave(bool finalized);
    /// Ends the job for all PEs. On return they have been notified, as far as that is possible without
    /// waiting.
    void end_job(int pe, int status, const std::string& sentence);
    /// The reason why the job is over. `sentence` is empty while it is not.
    struct Failure {
        int pe = -1;
        int status = 0;
        std::string sentence;
        bool silent = false;  ///< its host does not answer: nothing can be asked there any more
    };
    Failure failure();
    /// The activity of each PE. Live PEs report it within `seconds`; for PEs that are gone or not yet there,
    /// the server fills it in.
    std::vector<common::PeDoing> doing(double seconds, bool with_calls = true);

    /// Sets the answer to requests for the host's segment.
    void offer(const common::BoardView& board, common::Fd board_fd, common::Fd heap_fd);
    /// Closes the listener once all PEs have connected. From now on a PE that leaves without goodbye aborts
    /// the job.
    void end_setup();
    /// By PE: true if it has called init.
    std::vector<bool> came();
    /// True while one of `n` PEs from `first` on has a connection. A PE that ends closes its own at once,
    /// unless its host is cut off.
    bool is_connected(int first, int n);
    /// Waits until every PE has come and all but 0 have gone again. False when `seconds` have passed.
    bool wait_until_alone(double seconds);

  private:
    using Clock = std::chrono::steady_clock;

    struct Message {
        std::string bytes;
        std::vector<int> fds;
    };
    struct Peer {
        common::ProcessFd fd;
        FrameReader reader;
        std::list<Message> out;
        int pe = -1;  // -1: not yet identified
        int pid = 0;
        std::string host, number, address;
        bool watches = false;
        bool waits_for_segment = false;
        bool goodbye = false;
        bool disconnected = false;
        Clock::time_point since = Clock::now();
    };

    void linger();

    // All of these run in the server's thread, with `mutex_` held.
    void run();
    int poll_ms() const;
    void accept_all();
    void accept_from(const common::ProcessFd& listener, bool same_user);
    void greet(Peer& peer, common::ProcessFd fd);
    void refuse(Peer& peer, const std::string& why);
    void refuse_user(uid_t user);
    bool has_room() const { return peers_.size() < most_peers_; }
    void read_from(Peer& peer);
    void flush(Peer& peer);
    void send(Peer& peer, char type, std::string_view body = {}, std::vector<int> fds = {});
    void handle(Peer& peer, const Frame& frame);
    void handle_hello(Peer& peer, const std::string& body);
    void handle_guest(Peer& peer, const Hello& hello);
    void handle_fence(Peer& peer);
    void handle_collect(Peer& peer, const std::string& value);
    void handle_put(const std::string& body);
    void handle_get(Peer& peer, const std::string& key);
    void handle_abort(Peer& peer, const std::string& body);
    void serve_segment(Peer& peer);
    void drop(Peer& peer);
    void drop_strangers(bool all);
    void lost(Peer& peer, int error = 0);
    void announce_exit(int pe, common::PeState state);
    std::string who(const Peer& peer) const;
    std::string silent(const Peer& peer) const;
    void fail(ErrorCode code, const std::string& sentence, int status = 1, int pe = -1);
    void abort_job(int pe, int status, const std::string& sentence);
    std::string missing_text(int pe) const;
    Peer* joined(int pe);

    Options options_;
    const pid_t process_ = ::getpid();
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::pair<common::ProcessFd, bool>> listeners_;  // and true if only this user may connect
    bool hosts_ = false;                                         // serve_hosts()
    TakeGuest take_guest_;
    int refused_ = 0;
    std::string refused_user_;  ///< the report on the first process of another user
    common::Wake wake_;
    std::atomic<bool> stopping_{false};
    bool set_up_ = false;
    std::list<Peer> peers_;
    std::vector<Peer*> by_pe_;  // those that have joined
    int watching_ = 0;          // PEs that watch
    std::map<std::string, std::string> values_;
    std::map<std::string, std::vector<int>> waiting_;  // key → PEs
    std::vector<int> fenced_;                          // number of fences of each PE
    int fences_done_ = 0;
    int fencing_ = 0;  // PEs that wait in the next fence
    // One collection at a time: no PE sends to the next before the answer to this one.
    std::vector<std::optional<std::string>> collected_;
    int values_missing_ = 0;
    std::vector<bool> seen_;  // PEs that have said hello, also if they are gone
    std::vector<common::PeState> states_;
    std::vector<std::optional<common::PeDoing>> answers_;  // answers to the last doing()
    common::BoardView board_;
    common::Fd board_fd_, heap_fd_;
    std::size_t most_peers_ = SIZE_MAX;  // the limit of connections, once descriptors have run out
    int failure_status_ = 0, failure_pe_ = -1;
    bool failure_silent_ = false;
    int settings_pe_ = 0;         // the PE with whose settings the others' are compared
    std::string failure_;         // body of the 'E' frame that every PE gets
    common::QuietThread thread_;  // last: it uses all the others
};

}  // namespace atl::bootstrap
