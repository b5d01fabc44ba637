#include "bootstrap/host_link.hpp"

#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "bootstrap/fail.hpp"
#include "bootstrap/host_segment.hpp"
#include "bootstrap/peer_monitor.hpp"
#include "bootstrap/store_client.hpp"
#include "bootstrap/store_server.hpp"
#include "common/fd_passing.hpp"

namespace atl::bootstrap {
namespace {

constexpr std::string_view id_prefix = "atoll1-";
constexpr std::size_t half_digits = 32;

struct Id {
    std::string name;  ///< of the abstract socket
    std::string token;
};

Id parse(const std::string& id) {
    const bool right = id.size() == id_prefix.size() + 2 * half_digits && id.starts_with(id_prefix) &&
                       id.find_first_not_of("0123456789abcdef", id_prefix.size()) == std::string::npos;
    if (!right)
        throw Error(ErrorCode::invalid_argument,
                    "\"" + id.substr(0, 100) +
                        "\" is not a unique id; pass what get_unique_id() returned "
                        "(" +
                        std::string(id_prefix) + " and 64 digits), the same to all PEs.");
    const std::size_t middle = id_prefix.size() + half_digits;
    return {"atoll-" + id.substr(id_prefix.size(), half_digits), id.substr(middle)};
}

/// An abstract name: it is in no file system and gone with its socket.
struct Address {
    explicit Address(const std::string& name) {
        unix_.sun_family = AF_UNIX;
        std::memcpy(unix_.sun_path + 1, name.data(), name.size());
        size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&unix_); }
    socklen_t size() const { return size_; }

  private:
    sockaddr_un unix_{};
    socklen_t size_;
};

common::Fd make_socket() {
    common::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) throw_system("A unix socket could not be made");
    return fd;
}

common::Fd listen_at(const Id& id) {
    common::Fd fd = make_socket();
    const Address address(id.name);
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    if (::bind(fd.get(), address.get(), address.size()) != 0) {
        if (errno == EADDRINUSE)
            throw_bootstrap(
                "Another process is PE 0 of this unique id already; give every process a number of its own, "
                "and every job an id of its own.");
        throw_system("The socket of this job could not be named");
    }
    if (::listen(fd.get(), SOMAXCONN) != 0) throw_system("The socket of this job could not listen");
    return fd;
}

common::Fd connect_to(const Id& id) {
    common::Fd fd = make_socket();
    const Address address(id.name);
    // Not to hang when PE 0 listens but does not accept.
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    if (::connect(fd.get(), address.get(), address.size()) != 0) {
        if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return {};
        throw_system("PE 0's socket could not be connected to");
    }
    ::fcntl(fd.get(), F_SETFL, 0);
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid())
        throw_bootstrap("The socket of this job belongs to user " + std::to_string(peer.uid) +
                        ", this process runs as user " + std::to_string(::geteuid()) +
                        "; all PEs must run as one user.");
    return fd;
}

class HostLink final : public Bootstrap {
  public:
    HostLink(const common::Settings& settings, const Id& id, int pe, int n_pes, std::string_view name)
        : name_(name), pe_(pe), n_pes_(n_pes) {
        StoreClient::Connect connect = [&] { return connect_to(id); };
        if (pe == 0) {
            auto [mine, theirs] = common::socket_pair(SOCK_STREAM);
            server_ = std::make_unique<StoreServer>(listen_at(id), std::move(theirs),
                                                    StoreServer::Options{n_pes, id.token, true});
            connect = [fd = std::make_shared<common::Fd>(std::move(mine))] { return std::move(*fd); };
        }
        client_ =
            std::make_unique<StoreClient>(connect, "the socket of this id",
                                          StoreClient::Hello{pe, n_pes, id.token}, settings.init_timeout_s);
    }

    std::string_view name() const override { return name_; }
    int pe() const override { return pe_; }
    int n_pes() const override { return n_pes_; }

    void put(const std::string& key, const std::string& value) override { client_->put(key, value); }
    std::string get(const std::string& key) override { return client_->get(key); }
    void fence() override { client_->fence(); }
    std::vector<std::string> allgather(const std::string& value) override {
        return client_->allgather(value);
    }

    HostSegment host_segment() override {
        // Only when all are there: nobody is left with half a job.
        client_->fence();
        HostSegment segment;
        segment.pes = all_pes(n_pes_);
        if (pe_ == 0) {
            make_segment(segment);
        } else {
            std::vector<common::Fd> fds = client_->segment();
            board_ = MappedBoard::adopt(fds[0].get(), n_pes_, "from PE 0");
            segment.heap_fd = std::move(fds[1]);
        }
        board_.view().sign_in(pe_);
        client_->watch_board(board_.view());
        segment.board = board_.view();
        // Everybody has mapped it and can hear of deaths.
        client_->fence();
        return segment;
    }

    std::unique_ptr<Monitor> monitor(const common::BoardView& board) override {
        if (server_) server_->end_setup();
        return create_peer_monitor(client_->socket(), board);
    }

    void goodbye(bool finalized) noexcept override {
        if (::getpid() != process_) return;
        // PE 0 has nobody to say it to: the others look at the board.
        if (board_ && board_.view().state(pe_) < common::PeState::finalized)
            board_.view().set_state(pe_, finalized ? common::PeState::finalized : common::PeState::left);
        client_->goodbye();
    }
    void abort(int status, const std::string& sentence) noexcept override {
        if (::getpid() != process_) return;
        if (board_) board_.view().abort(pe_, status, sentence);
        client_->abort(status, sentence);
    }

  private:
    void make_segment(HostSegment& segment) {
        common::Fd board_fd;
        board_ = MappedBoard::create_shared(n_pes_, board_fd);
        segment.heap_fd = make_heap_fd();
        common::Fd copy(::fcntl(segment.heap_fd.get(), F_DUPFD_CLOEXEC, 0));
        if (!copy) throw_system("The heap's descriptor could not be duplicated");
        server_->offer(board_.view(), std::move(board_fd), std::move(copy));
    }

    const std::string_view name_;
    const int pe_;
    const int n_pes_;
    const pid_t process_ = ::getpid();
    MappedBoard board_;
    std::unique_ptr<StoreServer> server_;  // on PE 0
    std::unique_ptr<StoreClient> client_;
};

}  // namespace

std::string make_unique_id() {
    unsigned char random[half_digits];
    for (std::size_t done = 0; done < sizeof random;) {
        const ssize_t got = ::getrandom(random + done, sizeof random - done, 0);
        if (got < 0 && errno != EINTR) throw_system("No random bytes for a unique id");
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    std::string id(id_prefix);
    for (const unsigned char byte : random) {
        id += "0123456789abcdef"[byte >> 4];
        id += "0123456789abcdef"[byte & 15];
    }
    return id;
}

std::unique_ptr<Bootstrap> create_host_link(const common::Settings& settings, const std::string& id, int pe,
                                            int n_pes, std::string_view name) {
    return std::make_unique<HostLink>(settings, parse(id), pe, n_pes, name);
}

}  // namespace atl::bootstrap
