#include "bootstrap/rendezvous/host_link.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <sys/socket.h>

#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_identity.hpp"
#include "bootstrap/rendezvous/rendezvous.hpp"
#include "bootstrap/store/net_link.hpp"
#include "bootstrap/store/peer_monitor.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/descriptors/local_socket.hpp"
#include "common/hashes/hmac.hpp"

namespace atl::bootstrap {
namespace {

constexpr std::string_view id_prefix = "atoll1-";
constexpr std::size_t half_digits = 32;

/// An id: "atoll1-" and 64 digits. If PEs of other hosts can reach the maker, "@HOST:PORT:ADDRESS,ADDRESS="
/// follows.
struct Id {
    std::string name;  ///< name of the abstract socket
    std::string token;
    std::string host;
    int port = 0;
    std::vector<std::string> addresses;
};

std::vector<std::string> cut(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// Parses the part of an id from "@" on. False if `text` is not such a part.
bool parse_endpoint(const std::string& text, Id& id) {
    if (text.size() < 2 || text.front() != '@' || text.back() != '=') return false;
    const std::size_t first = text.find(':'), second = text.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) return false;
    id.host = text.substr(1, first - 1);
    id.port = std::atoi(text.substr(first + 1, second - first - 1).c_str());
    id.addresses = cut(text.substr(second + 1, text.size() - second - 2), ',');
    return id.port > 0 && id.port < 65536;
}

Id parse(const std::string& id) {
    const std::size_t digits_end = id_prefix.size() + 2 * half_digits;
    Id parsed;
    const bool right = id.size() >= digits_end && id.starts_with(id_prefix) &&
                       id.find_first_not_of("0123456789abcdef", id_prefix.size()) >= digits_end &&
                       (id.size() == digits_end || parse_endpoint(id.substr(digits_end), parsed));
    if (!right)
        throw Error(ErrorCode::invalid_argument,
                    "\"" + id.substr(0, 130) +
                        "\" is not a unique id; pass what get_unique_id() returned "
                        "(" +
                        std::string(id_prefix) + ", 64 digits and where its maker is), the same to all PEs.");
    const std::size_t middle = id_prefix.size() + half_digits;
    parsed.name = "atoll-" + id.substr(id_prefix.size(), half_digits);
    parsed.token = id.substr(middle, half_digits);
    return parsed;
}

common::Fd make_socket() {
    common::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) throw_system("A unix socket could not be made");
    return fd;
}

common::Fd listen_locally(const Id& id) {
    common::Fd fd = make_socket();
    const common::LocalAddress address(id.name);
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    if (::bind(fd.get(), address.get(), address.size()) != 0) {
        if (errno == EADDRINUSE)
            throw_bootstrap(
                "Another process is PE 0 of this unique id already. Give every process a number of its own, "
                "and every job an id of its own.");
        throw_system("The socket of this job could not be named");
    }
    if (::listen(fd.get(), SOMAXCONN) != 0) throw_system("The socket of this job could not listen");
    return fd;
}

common::Fd connect_locally(const Id& id) {
    common::Fd fd = make_socket();
    const common::LocalAddress address(id.name);
    // Non-blocking: connect would hang if PE 0 listens but does not accept.
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    if (::connect(fd.get(), address.get(), address.size()) != 0) {
        if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return {};
        throw_system("PE 0's socket could not be connected to");
    }
    ::fcntl(fd.get(), F_SETFL, 0);
    if (const uid_t user = common::user_of(fd.get()); user != ::geteuid())
        throw_bootstrap("The socket of this job belongs to user " + std::to_string(user) +
                        ", this process runs as user " + std::to_string(::geteuid()) +
                        "; all PEs must run as one user.");
    return fd;
}

class HostLink final : public StoreLink {
  public:
    HostLink(Link link, std::string_view name) : StoreLink(std::move(link), name) {}

    HostSegment host_segment() override {
        // Returns once all PEs have arrived, so that no PE starts with half a job.
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
        sign_in(segment);
        return segment;
    }

    bool sees_all() const override { return true; }

    std::unique_ptr<Monitor> monitor(const common::BoardView& board) override {
        if (server_) server_->end_setup();
        return create_peer_monitor(client_->socket(), board);
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
};

/// The listening sockets that get_unique_id() made in this process, kept for the case that the process
/// becomes PE 0.
struct MadeIds {
    std::mutex mutex;
    std::list<std::pair<std::string, common::Fd>> listeners;
};
MadeIds& made_ids() {
    static MadeIds& instance = *new MadeIds;
    return instance;
}

common::Fd take_listener(const std::string& id) {
    MadeIds& made = made_ids();
    const std::lock_guard lock(made.mutex);
    const auto found = std::find_if(made.listeners.begin(), made.listeners.end(),
                                    [&](const auto& each) { return each.first == id; });
    if (found == made.listeners.end()) return {};
    common::Fd fd = std::move(found->second);
    made.listeners.erase(found);
    return fd;
}

std::string host_number() { return common::sha256(host_identity()).substr(0, 8); }

Link connect(const common::Settings& settings, const std::string& text, int pe, int n_pes) {
    const Id id = parse(text);
    Link link;
    link.pe = pe;
    link.n_pes = n_pes;
    StoreClient::Identity identity = identity_of(settings, pe, n_pes, id.token);
    const bool same_host = id.host.empty() || id.host == host_number();
    StoreClient::Connect attempt = [&] { return connect_locally(id); };
    std::string endpoint = "the socket of this id";
    if (!same_host) {
        attempt = connect_to_any(id.addresses, id.port);
        endpoint = addresses_text(id.addresses, id.port) +
                   " (across hosts the process that made the id must be PE 0)";
    }
    if (pe == 0) {
        auto [mine, theirs] = common::socket_pair(SOCK_STREAM);
        std::vector<StoreServer::Listener> listeners;
        listeners.push_back({listen_locally(id), true});
        if (common::Fd net = take_listener(text)) listeners.push_back({std::move(net), false});
        StoreServer::Options options = server_options(settings, n_pes, id.token);
        options.secret_name = "unique id";
        link.server = std::make_unique<StoreServer>(std::move(listeners), std::move(theirs), options);
        attempt = [fd = std::make_shared<common::Fd>(std::move(mine))] { return std::move(*fd); };
    }
    link.client = std::make_unique<StoreClient>(attempt, endpoint, identity, settings.init_timeout_s);
    return link;
}

}  // namespace

std::string make_unique_id() { return std::string(id_prefix) + common::random_digits(half_digits); }

std::string make_unique_id_for_hosts() {
    std::string id = make_unique_id();
    const common::Settings settings = common::read_settings();
    std::vector<std::string> addresses = own_addresses(settings);
    if (addresses.empty()) return id;
    common::Fd listener = listen_anywhere(settings.port, "A process that makes a unique id");
    id += "@" + host_number() + ":" + std::to_string(port_of(listener.get())) + ":";
    constexpr std::size_t most_bytes = 127;
    bool first = true;
    for (const std::string& address : addresses) {
        if (id.size() + address.size() + 1 > most_bytes) break;
        id += (first ? "" : ",") + address;
        first = false;
    }
    id += '=';
    MadeIds& made = made_ids();
    const std::lock_guard lock(made.mutex);
    constexpr std::size_t most_unused = 8;
    made.listeners.emplace_back(id, std::move(listener));
    if (made.listeners.size() > most_unused) made.listeners.pop_front();
    return id;
}

std::unique_ptr<Bootstrap> create_host_link(Link link, std::string_view name) {
    return std::make_unique<HostLink>(std::move(link), name);
}

std::unique_ptr<Bootstrap> create_host_link(const common::Settings& settings, const std::string& id, int pe,
                                            int n_pes, std::string_view name) {
    Link link = connect(settings, id, pe, n_pes);
    if (parse(id).host.empty()) return create_host_link(std::move(link), name);
    if (share_a_host(link.client->allgather(host_identity()))) return create_host_link(std::move(link), name);
    return create_net_link(settings, std::move(link), name);
}

}  // namespace atl::bootstrap
