#include "bootstrap/store/net_link.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_identity.hpp"
#include "bootstrap/store/peer_monitor.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "common/descriptors/fd_channel.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/log.hpp"
#include "common/text.hpp"

namespace atl::bootstrap {
namespace {

/// The key under which a PE announces where to send it the host's memory. Only the first PE of its host reads
/// it.
std::string fd_channel_key(int pe) { return "courier/" + std::to_string(pe); }

std::string encode(const common::FdChannel::Address& address) {
    return {reinterpret_cast<const char*>(&address), sizeof address};
}

common::FdChannel::Address decode(const std::string& text) {
    common::FdChannel::Address address;
    if (text.size() != sizeof address)
        throw_bootstrap("A PE's address for descriptors has " + std::to_string(text.size()) +
                        " bytes; are all PEs of one release?");
    std::memcpy(&address, text.data(), sizeof address);
    return address;
}

constexpr std::uint64_t board_tag = 1, heap_tag = 2;

class NetLink final : public StoreLink {
  public:
    NetLink(const common::Settings& settings, Link link, std::string_view name, TracedBoard traced)
        : StoreLink(std::move(link), name), timeout_s_(settings.init_timeout_s), traced_(std::move(traced)) {
        if (server_) server_->serve_hosts();
        client_->on_news([this](const Frame& frame) { receive_news(frame); });
        // The server drops news that come before serve_hosts.
        client_->fence();
    }

    HostSegment host_segment() override {
        const common::FdChannel fd_channel;
        client_->put(fd_channel_key(pe_), encode(fd_channel.address()));
        const std::string identity = host_identity();
        const std::vector<std::string> identities = client_->allgather(identity);
        HostSegment segment;
        for (int pe = 0; pe < n_pes_; ++pe)
            if (identities[static_cast<std::size_t>(pe)] == identity) segment.pes.push_back(pe);
        if (segment.pes[0] == pe_)
            hand_out(fd_channel, segment);
        else
            take_up(fd_channel, segment);
        segment.lacks_logs = drop_logs_unless_all_have_them();
        show();
        sign_in(segment);
        return segment;
    }

    /// PE 0 alone can ask the PEs of other hosts, where no launcher has the server.
    bool sees_all() const override { return server_ != nullptr; }
    std::vector<common::PeDoing> all_doing(const common::BoardView&, double seconds,
                                           bool with_calls) override {
        return server_->doing(seconds, with_calls);
    }

    std::unique_ptr<Monitor> monitor(const common::BoardView& board) override {
        client_->watches();
        return create_net_monitor(*client_, board);
    }

    void goodbye(bool finalized) noexcept override {
        if (is_child()) return;
        StoreLink::goodbye(finalized);
        try {
            if (server_) server_->leave(finalized);
        } catch (const std::exception&) {  // the closed connections will tell the others
        }
    }
    void abort(int status, const std::string& sentence) noexcept override {
        if (is_child()) return;
        StoreLink::abort(status, sentence);
        if (!server_) return;
        try {
            // Called in this thread: the process may end before the server's thread has run.
            server_->end_job(pe_, status, sentence_of_end(pe_, status, sentence));
        } catch (const std::exception&) {  // the closed connections will tell the others
        }
    }

  private:
    void hand_out(const common::FdChannel& fd_channel, HostSegment& segment) {
        board_ = MappedBoard::create_shared(n_pes_, board_fd_, traced_.logs);
        for (int pe = 0; pe < n_pes_; ++pe)
            if (std::find(segment.pes.begin(), segment.pes.end(), pe) == segment.pes.end())
                board_.view().entry(pe).pid.store(common::pid_elsewhere, std::memory_order_release);
        segment.heap_fd = make_heap_fd();
        Deadline deadline(timeout_s_);
        for (const int pe : segment.pes) {
            if (pe == pe_) continue;
            const common::FdChannel::Address to = decode(client_->get(fd_channel_key(pe)));
            while (!fd_channel.send(to, pe_, board_tag, board_fd_)) pause(deadline, pe);
            while (!fd_channel.send(to, pe_, heap_tag, segment.heap_fd)) pause(deadline, pe);
        }
    }

    void take_up(const common::FdChannel& fd_channel, HostSegment& segment) {
        Deadline deadline(timeout_s_);
        while (!board_ || !segment.heap_fd) {
            std::optional<common::FdChannel::Received> received = fd_channel.receive();
            if (!received)
                pause(deadline, segment.pes[0]);
            else if (received->tag == heap_tag)
                segment.heap_fd = std::move(received->fd);
            else
                take_board(std::move(received->fd), segment.pes[0]);
        }
    }

    void take_board(common::Fd fd, int from) {
        const std::string whence = "from PE " + std::to_string(from) + " of this host";
        board_ = MappedBoard::adopt_what_fits(fd.get(), n_pes_, whence);
        board_fd_ = std::move(fd);
    }

    /// Either all PEs of the job write to logs, or none does. PE 0 tells why. Returns true if they were
    /// dropped. No PE has read the number of events before.
    bool drop_logs_unless_all_have_them() {
        if (traced_.logs.events == 0) return false;
        const std::vector<std::string> reasons = client_->allgather(board_.why_no_logs());
        const auto lacking = std::find_if(reasons.begin(), reasons.end(),
                                          [](const std::string& reason) { return !reason.empty(); });
        if (lacking == reasons.end()) return false;
        common::BoardHeader& header = board_.view().header();
        header.log_events = header.log_moves = 0;
        if (pe_ == 0)
            common::warn("PE " + std::to_string(lacking - reasons.begin()) +
                         " has no room for the logs of a trace, so no PE of this job writes one. " +
                         *lacking + " Lower ATOLL_TRACE_EVENTS (" + std::to_string(traced_.logs.events) +
                         " events a PE), or raise the limit of addresses there (ulimit -v).");
        return true;
    }

    /// Gives the board to the host's agent, which has it even if this PE is killed. Without it the trace
    /// lacks this PE.
    void show() {
        const int passed = board_fd_.get();
        if (traced_.agent)
            static_cast<void>(common::send_with_fds(traced_.agent.get(), "J", 1, {&passed, 1}, MSG_DONTWAIT));
        traced_.agent = common::Fd();
        board_fd_ = common::Fd();
    }

    void pause(Deadline& deadline, int other) {
        if (deadline.passed())
            throw_bootstrap("PE " + std::to_string(pe_) + " waited " + seconds_text(timeout_s_) +
                            " (ATOLL_INIT_TIMEOUT) for PE " + std::to_string(other) +
                            " of the same host to share the host's memory.");
        // The server's news may be that this PE died.
        int error = 0;
        if (!client_->read_news(error)) client_->throw_disconnected("waiting for the host's memory");
        deadline.answer_ctrl_c("the host's memory");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    /// Handles a frame of the server. It may arrive before there is a board; a failure then ends the waits.
    void receive_news(const Frame& frame) const {
        if (frame.type == 'T') {
            const bool is_in = board_ && board_.view().state(pe_) != common::PeState::absent;
            return client_->tell_doing(is_in ? board_.view().doing(pe_, !frame.body.empty())
                                             : common::of_state(common::PeState::absent, "is in init"));
        }
        const auto [head, sentence] = split(frame.body);
        int pe = -1, second = 0;
        if (!board_ || std::sscanf(head.c_str(), "%d %d", &pe, &second) != 2 || pe < -1 || pe >= n_pes_)
            return;
        if (frame.type == 'X') return board_.view().abort(pe, second, sentence);
        if (pe >= 0 && second >= 0 && second <= static_cast<int>(common::PeState::died))
            board_.view().set_state(pe, static_cast<common::PeState>(second));
    }

    const double timeout_s_;
    TracedBoard traced_;
    common::Fd board_fd_;  ///< until the agent has it
};

}  // namespace

StoreClient::Identity identity_of(const common::Settings& settings, int pe, int n_pes,
                                  const std::string& secret) {
    return {pe, n_pes, secret, common::agreed_settings(settings), settings.peer_timeout_s};
}

StoreServer::Options server_options(const common::Settings& settings, int n_pes, const std::string& secret) {
    StoreServer::Options options;
    options.n_pes = n_pes;
    options.secret = secret;
    options.settings = common::agreed_settings(settings);
    options.silence_s = settings.peer_timeout_s;
    return options;
}

StoreClient::Connect connect_to_any(const std::vector<std::string>& addresses, int port) {
    return [addresses, port, next = std::size_t{0}]() mutable -> common::Fd {
        if (addresses.empty()) return {};
        const HostPort address{addresses[next++ % addresses.size()], std::to_string(port)};
        return connect_to(resolve(address, "PE 0's address " + address.host).get());
    };
}

std::string addresses_text(const std::vector<std::string>& addresses, int port) {
    std::string text;
    for (const std::string& address : addresses) text += (text.empty() ? "" : ", ") + address;
    return text + " port " + std::to_string(port);
}

std::unique_ptr<Bootstrap> create_net_link(const common::Settings& settings, Link link, std::string_view name,
                                           TracedBoard traced) {
    return std::make_unique<NetLink>(settings, std::move(link), name, std::move(traced));
}

}  // namespace atl::bootstrap
