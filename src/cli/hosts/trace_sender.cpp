#include "cli/hosts/trace_sender.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "atoll/error.hpp"
#include "bootstrap/store/net_link.hpp"
#include "bootstrap/store/store_client.hpp"
#include "cli/hosts/trace_wire.hpp"
#include "common/clock.hpp"
#include "common/settings/settings.hpp"

namespace atl::cli {
namespace {

/// Comparisons at the start and at the end, and those between. The quickest answer of each counts.
constexpr int questions = 20, questions_between = 8;
constexpr int between_ms = 10'000;
/// The time for an answer, and for room for events. A launcher that pauses for longer costs the answer, or
/// the events.
constexpr int patience_ms = 10'000;

/// The kernel also ends a connection whose other end reads nothing for `silence_s`.
common::ProcessFd connect(const bootstrap::Invitation& invitation, int number, double timeout_s) {
    const std::vector<std::string> addresses = invitation.address_list();
    bootstrap::StoreClient::Identity identity;
    identity.pe = -1 - number;
    identity.n_pes = invitation.n_pes;
    identity.secret = invitation.secret;
    identity.silence_s = std::max(common::read_settings().peer_timeout_s, 1.5 * patience_ms / 1000);
    bootstrap::StoreClient client(bootstrap::connect_to_any(addresses, invitation.port),
                                  bootstrap::addresses_text(addresses, invitation.port), identity, timeout_s);
    return client.take_connection();
}

}  // namespace

TraceSender::TraceSender(const bootstrap::Invitation& invitation, int number, double timeout_s)
    : n_pes_(invitation.n_pes), connection_(connect(invitation, number, timeout_s)) {
    reader_.set_limit(bootstrap::most_frame_bytes);
    reader_.append(bootstrap::greeting.data(), bootstrap::greeting.size());
    if (!send_frame('I', common::clock_identity())) return;
    const std::optional<bootstrap::Frame> answer = next_frame();
    has_own_clock_ = !answer || answer->body != "1";
    measure(questions);
    if (has_own_clock_) measuring_ = std::make_unique<common::QuietThread>([this] { measure_often(); });
}

TraceSender::~TraceSender() { stop_.signal(); }

void TraceSender::measure_often() {
    pollfd stop{stop_.fd(), POLLIN, 0};
    while (is_open_ && ::poll(&stop, 1, between_ms) == 0) measure(questions_between);
}

void TraceSender::measure(int count) {
    if (!has_own_clock_ || !is_open_) return;
    const common::ClockSample sample = common::compare_clocks(count, [this] { return ask(); });
    if (sample.there_ns != 0) samples_.push_back(sample);
}

/// The launcher's time; 0 if it does not answer in time. Its answer may come later, before the next one's.
std::uint64_t TraceSender::ask() {
    const std::uint64_t number = ++asked_;
    if (!send_frame('P', Packer().number(number).bytes())) return 0;
    while (const std::optional<bootstrap::Frame> answer = next_frame()) {
        Unpacker bytes(answer->body);
        if (answer->type == 'P' && bytes.number<std::uint64_t>() == number)
            return bytes.number<std::uint64_t>();
    }
    return 0;
}

/// False after the time of patience, and when the thread that compares the clocks is to stop.
bool TraceSender::wait_for(short events) const {
    std::array<pollfd, 2> both{{{connection_.get(), events, 0}, {stop_.fd(), POLLIN, 0}}};
    int ready = 0;
    do {
        ready = ::poll(both.data(), both.size(), patience_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0 && both[0].revents != 0;
}

bool TraceSender::send_frame(char type, const std::string& body) {
    const std::string frame = bootstrap::encode(type, body);
    for (std::size_t done = 0; is_open_ && done < frame.size();) {
        const ssize_t sent =
            ::send(connection_.get(), frame.data() + done, frame.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) done += static_cast<std::size_t>(sent);
        const bool is_full = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (is_full ? !wait_for(POLLOUT) : sent < 0 && errno != EINTR) is_open_ = false;
    }
    return is_open_;
}

std::optional<bootstrap::Frame> TraceSender::next_frame() {
    while (is_open_) {
        if (std::optional<bootstrap::Frame> frame = reader_.next()) return frame;
        if (!wait_for(POLLIN)) return std::nullopt;
        char bytes[4096];
        const ssize_t got = ::recv(connection_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        is_open_ = got > 0 && !reader_.broken();
        if (got > 0) reader_.append(bytes, static_cast<std::size_t>(got));
    }
    return std::nullopt;
}

void TraceSender::add_board(int pe, const common::Fd& fd) {
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) return;
    const auto inode = static_cast<std::uint64_t>(status.st_ino);
    try {
        if (!boards_.contains(inode))
            boards_.emplace(inode, bootstrap::MappedBoard::adopt(fd.get(), n_pes_, "from a PE"));
        if (boards_.at(inode).view().header().log_events != 0)
            board_of_[pe] = inode;
        else
            without_room_.insert(pe);
    } catch (const Error& error) {  // it may also be another program's descriptor
        if (error.code() == ErrorCode::system) without_room_.insert(pe);
    } catch (const std::exception&) {  // no memory is left
    }
}

void TraceSender::send(int status) {
    is_sending_ = true;
    stop_.signal();
    measuring_.reset();
    stop_.clear();
    send_frame('S', std::to_string(status));
    measure(questions);
    try {
        send_events();
    } catch (const std::exception&) {  // no memory is left; the launcher says that events are missing
    }
}

void TraceSender::send_events() {
    const common::ClockMap clock(samples_);
    send_frame('C', Packer().number(clock.error_ns()).bytes());
    const auto pass = [this](char type, const std::string& body) { return send_frame(type, body); };
    for (const int pe : without_room_) send_frame('N', Packer().number(pe).bytes());
    for (const auto& [pe, inode] : board_of_) {
        PeTrace trace = trace_of_pe(boards_.at(inode).view(), pe);
        trace.change_times([&](std::uint64_t here_ns) { return clock.there_ns(here_ns); });
        if (!send_pe(trace, pass)) return;
    }
    if (!send_frame('Z')) return;
    while (const std::optional<bootstrap::Frame> answer = next_frame())
        if (answer->type == 'Z') return;
}

}  // namespace atl::cli
