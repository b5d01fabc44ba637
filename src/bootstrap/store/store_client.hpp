// A PE's end of the store: blocking calls, bounded by ATOLL_INIT_TIMEOUT.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "bootstrap/deadline.hpp"
#include "bootstrap/store/wire.hpp"
#include "common/board/board.hpp"
#include "common/descriptors/fork_guard.hpp"

namespace atl::bootstrap {

/// An error of the server: it refused this PE or ended the job.
struct Refusal : Error {
    using Error::Error;
};

class StoreClient {
  public:
    struct Identity {
        int pe = 0;  ///< -1 - number: a guest of the server, not a PE
        int n_pes = 1;
        std::string secret;
        std::string settings;  ///< same text in Hello
        double silence_s = 3;  ///< a host is gone after this time without an answer
    };
    /// Tries to connect once. An invalid Fd means "not yet". Throws if a further attempt is of no use.
    using Connect = std::function<common::Fd()>;

    /// Connects and greets until the server accepts this PE. `endpoint` is the address in the error "PE 0
    /// does not listen at `endpoint`".
    StoreClient(const Connect& connect, const std::string& endpoint, const Identity& identity,
                double timeout_s);

    void put(const std::string& key, const std::string& value);
    std::string get(const std::string& key);
    void fence();
    std::vector<std::string> allgather(const std::string& value);
    /// The descriptors that PE 0 offers.
    std::vector<common::Fd> segment();
    void abort(int status, const std::string& sentence) noexcept;
    /// From now on the server does not count the end of this connection as a death.
    void goodbye(bool finalized) noexcept;
    /// Answers a request 'T'. Call it from the handler.
    void tell_doing(const common::PeDoing& doing) const;

    /// Registers the handler of the news and requests of a server of several hosts (types D, X and T). It
    /// runs in the call that reads them.
    void on_news(std::function<void(const Frame&)> handler) { news_ = std::move(handler); }
    /// Tells the server that this PE is set up.
    void watches();
    /// Reads the frames that have arrived. For the one thread that polls the socket while the program makes
    /// no request. False at the end of the connection; `error` is its errno, or 0 if the other side closed
    /// it.
    bool read_news(int& error);
    /// Throws the error for the end of the connection while this PE was waiting for `awaited`.
    [[noreturn]] void throw_disconnected(const std::string& awaited) const;

    /// Sets the board on which waits check for the end of the job.
    void watch_board(const common::BoardView& board) { board_ = board; }
    int socket() const { return fd_.get(); }
    /// The connection of a guest (StoreServer::serve_guests), for a protocol of its own.
    common::ProcessFd take_connection() { return std::move(fd_); }

  private:
    enum class Came { frame, nothing, end };

    bool greet(Deadline& deadline);
    void send(const std::string& bytes);
    Came receive(Frame& frame, int poll_ms);
    std::string await(char type, const std::string& awaited);
    std::optional<Frame> ask(const std::string& request, char type);
    [[noreturn]] void throw_failure(const std::string& body) const;
    [[noreturn]] void throw_late(const std::string& awaited);

    const Identity hello_;
    const double timeout_s_;
    common::ProcessFd fd_;
    FrameReader reader_;
    std::vector<common::Fd> passed_;
    common::BoardView board_;
    std::mutex mutex_;
    std::function<void(const Frame&)> news_;
    int error_ = 0;  // errno of the connection's end
};

}  // namespace atl::bootstrap
