// A PE's end of the store: blocking calls, bounded by ATOLL_INIT_TIMEOUT.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "bootstrap/deadline.hpp"
#include "bootstrap/wire.hpp"
#include "common/board.hpp"
#include "common/fork_guard.hpp"

namespace atl::bootstrap {

class StoreClient {
  public:
    struct Hello {
        int pe = 0;
        int n_pes = 1;
        std::string token;
    };
    /// One attempt to connect: an invalid Fd means "not yet"; throws if trying again is of no use.
    using Connect = std::function<common::Fd()>;

    /// Connects and greets until the server welcomes this PE. `place` names it in "PE 0 does not listen at
    /// `place`".
    StoreClient(const Connect& connect, const std::string& place, const Hello& hello, double timeout_s);

    void put(const std::string& key, const std::string& value);
    std::string get(const std::string& key);
    void fence();
    std::vector<std::string> allgather(const std::string& value);
    /// The descriptors that PE 0 offers.
    std::vector<common::Fd> segment();
    void abort(int status, const std::string& sentence) noexcept;
    /// From now on closing this connection is no death.
    void goodbye() noexcept;

    /// Waits notice the end of the job on this board.
    void watch_board(const common::BoardView& board) { board_ = board; }
    int socket() const { return fd_.get(); }

  private:
    enum class Came { frame, nothing, end };

    bool greet(const Deadline& deadline);
    void send(const std::string& bytes);
    Came receive(Frame& frame, int poll_ms);
    std::string await(char type, const std::string& awaited);
    std::optional<Frame> ask(const std::string& request, char type);
    [[noreturn]] void throw_failure(const std::string& body) const;
    [[noreturn]] void throw_late(const std::string& awaited);
    [[noreturn]] void throw_gone(const std::string& awaited) const;

    const Hello hello_;
    const double timeout_s_;
    common::ProcessFd fd_;
    FrameReader reader_;
    std::vector<common::Fd> passed_;
    common::BoardView board_;
    std::mutex mutex_;
};

}  // namespace atl::bootstrap
