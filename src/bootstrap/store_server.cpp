#include "bootstrap/store_server.hpp"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "bootstrap/fail.hpp"
#include "bootstrap/host_segment.hpp"
#include "common/fd_passing.hpp"
#include "common/pe_ranges.hpp"

namespace atl::bootstrap {

namespace {
/// Who has said nothing of sense after this long is shown the door.
constexpr auto stranger_patience = std::chrono::seconds(5);
constexpr std::size_t most_strangers = 64;
/// Descriptors that the server leaves to the rest of the process, which has to say that they have run out.
constexpr rlim_t kept_free = 5;

bool is_same_user(int fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}
}  // namespace

StoreServer::StoreServer(common::Fd listener, common::Fd own, Options options)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      fenced_(static_cast<std::size_t>(options_.n_pes)),
      collected_(static_cast<std::size_t>(options_.n_pes)),
      values_missing_(options_.n_pes),
      seen_(static_cast<std::size_t>(options_.n_pes)),
      thread_([this, fd = own.release()] {
          peers_.emplace_back().fd = common::ProcessFd(common::Fd(fd));
          run();
      }) {}

// In a forked child there is no thread, and the mutex may be locked for ever.
StoreServer::~StoreServer() {
    if (::getpid() == process_) linger();
    stopping_ = true;
    wake_.signal();
}

/// When setting up has failed, PEs may still be on their way: they should hear why, not wait for nobody.
void StoreServer::linger() {
    std::unique_lock lock(mutex_);
    if (failure_.empty() || set_up_) return;
    // Until all have come, or nobody has for a while: a busy machine starts them slowly.
    constexpr auto patience = std::chrono::seconds(2);
    const auto come = [&] { return std::count(seen_.begin(), seen_.end(), true); };
    for (auto before = come(); before < options_.n_pes; before = come())
        if (!changed_.wait_for(lock, patience, [&] { return come() != before; })) return;
}

void StoreServer::offer(const common::BoardView& board, common::Fd board_fd, common::Fd heap_fd) {
    const std::lock_guard lock(mutex_);
    board_ = board;
    board_fd_ = std::move(board_fd);
    heap_fd_ = std::move(heap_fd);
    wake_.signal();
}

void StoreServer::end_setup() {
    const std::lock_guard lock(mutex_);
    set_up_ = true;
    wake_.signal();
}

bool StoreServer::wait_until_alone(double seconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] {
        return std::count(seen_.begin(), seen_.end(), true) == options_.n_pes &&
               std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.pe > 0; });
    });
}

void StoreServer::run() {
    std::vector<pollfd> polled;
    std::vector<Peer*> owners;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (set_up_ && listener_) {
            listener_.close();
            drop_strangers(true);
            board_fd_ = common::Fd();
            heap_fd_ = common::Fd();
        }
        for (Peer& peer : peers_)
            if (peer.waits_for_segment) serve_segment(peer);
        peers_.remove_if([](const Peer& peer) { return peer.gone; });
        changed_.notify_all();

        polled.assign({{wake_.fd(), POLLIN, 0}, {listener_ && has_room() ? listener_.get() : -1, POLLIN, 0}});
        owners.clear();
        for (Peer& peer : peers_) {
            polled.push_back(
                {peer.fd.get(), static_cast<short>(peer.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
            owners.push_back(&peer);
        }
        lock.unlock();
        ::poll(polled.data(), polled.size(), poll_ms());
        lock.lock();
        if (polled[0].revents) wake_.clear();
        for (std::size_t i = 0; i < owners.size(); ++i) {
            const short events = polled[i + 2].revents;
            if (events & POLLOUT) flush(*owners[i]);
            if (events & ~POLLOUT) read_from(*owners[i]);
        }
        if (polled[1].revents) accept_all();
        drop_strangers(false);
    }
}

int StoreServer::poll_ms() const {
    // Without strangers nothing needs looking at until somebody says something.
    const bool strangers =
        std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.pe < 0; });
    return strangers ? 1000 : -1;
}

void StoreServer::accept_all() {
    rlimit limit{};
    static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
    while (has_room()) {
        common::Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        const int number = fd.get();
        if (!fd && errno != EMFILE && errno != ENFILE) return;
        if (fd && (!options_.same_user || is_same_user(number)))
            peers_.emplace_back().fd = common::ProcessFd(std::move(fd));
        // The lowest free number is what one gets.
        if (number >= 0 && static_cast<rlim_t>(number) + kept_free < limit.rlim_cur) continue;
        fail(ErrorCode::bootstrap, "PE 0 needs a descriptor for each of the " +
                                       std::to_string(options_.n_pes) +
                                       " PEs and may open no more; raise the limit (`ulimit -n`).");
        // Those who hear of it make room for those who have not yet.
        most_peers_ = number >= 0 ? std::max<std::size_t>(peers_.size(), 3) - 1 : peers_.size();
    }
}

void StoreServer::read_from(Peer& peer) {
    char bytes[16384];
    while (!peer.gone) {
        const ssize_t received = ::recv(peer.fd.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (received < 0 && errno == EINTR) continue;
        if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (received <= 0) return lost(peer);
        peer.reader.append(bytes, static_cast<std::size_t>(received));
        while (!peer.gone) {
            const std::optional<Frame> frame = peer.reader.next();
            if (!frame) break;
            handle(peer, *frame);
        }
        if (peer.reader.broken()) return lost(peer);
    }
}

void StoreServer::flush(Peer& peer) {
    while (!peer.out.empty()) {
        Message& message = peer.out.front();
        const ssize_t sent = common::send_with_fds(peer.fd.get(), message.bytes.data(), message.bytes.size(),
                                                   message.fds, MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (sent < 0) return peer.out.clear();  // gone: reading finds out
        message.fds.clear();
        message.bytes.erase(0, static_cast<std::size_t>(sent));
        if (message.bytes.empty()) peer.out.pop_front();
    }
}

void StoreServer::send(Peer& peer, char type, std::string_view body, std::vector<int> fds) {
    peer.out.push_back({encode(type, body), std::move(fds)});
    flush(peer);
}

StoreServer::Peer* StoreServer::joined(int pe) {
    const auto found = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const Peer& peer) { return peer.pe == pe && !peer.gone; });
    return found == peers_.end() ? nullptr : &*found;
}

void StoreServer::handle(Peer& peer, const Frame& frame) {
    if (peer.pe < 0) {
        if (frame.type == 'H') return handle_hello(peer, frame.body);
        return drop(peer);
    }
    if (!failure_.empty() && frame.type != 'B' && frame.type != 'A') return send(peer, 'E', failure_);
    switch (frame.type) {
        case 'P':
            return handle_put(frame.body);
        case 'G':
            return handle_get(peer, frame.body);
        case 'F':
            return handle_fence(peer);
        case 'C':
            return handle_collect(peer, frame.body);
        case 'S':
            peer.waits_for_segment = true;
            return;
        case 'W':
            return send(peer, 'W', missing_text(peer.pe));
        case 'A':
            return handle_abort(peer, frame.body);
        case 'B':
            peer.goodbye = true;
            return;
        default:
            return lost(peer);
    }
}

void StoreServer::handle_hello(Peer& peer, const std::string& body) {
    int pe = -1, n_pes = 0, pid = 0, used = 0;
    if (std::sscanf(body.c_str(), "%d %d %d %n", &pe, &n_pes, &pid, &used) != 3 ||
        body.substr(static_cast<std::size_t>(used)) != options_.token)
        return drop(peer);
    peer.reader.set_limit(most_frame_bytes);
    peer.out.push_back({std::string(greeting), {}});
    peer.pid = pid;
    const std::string who = "Process " + std::to_string(pid) + " says that it is PE " + std::to_string(pe);
    std::string wrong;
    if (n_pes != options_.n_pes)
        wrong = who + " of " + std::to_string(n_pes) + ", PE 0 was told that there are " +
                std::to_string(options_.n_pes) + "; give all PEs the same number of PEs.";
    else if (pe < 0 || pe >= n_pes)
        wrong = who + ", but PEs count from 0 to " + std::to_string(n_pes - 1) + ".";
    else if (const Peer* other = joined(pe))
        wrong = who + ", which process " + std::to_string(other->pid) +
                " already is; give every process a number of its own.";
    else if (seen_[static_cast<std::size_t>(pe)])
        wrong = who + ", which another process was before; a job's id serves once.";
    if (!wrong.empty()) fail(ErrorCode::bootstrap, wrong);
    if (pe >= 0 && pe < options_.n_pes) seen_[static_cast<std::size_t>(pe)] = true;
    if (!failure_.empty()) {
        send(peer, 'E', failure_);
        return;
    }
    peer.pe = pe;
    send(peer, 'O');
}

void StoreServer::handle_put(const std::string& body) {
    auto [key, value] = split(body);
    const std::string& stored = values_.insert_or_assign(key, std::move(value)).first->second;
    for (const int pe : waiting_[key])
        if (Peer* peer = joined(pe)) send(*peer, 'V', stored);
    waiting_.erase(key);
}

void StoreServer::handle_get(Peer& peer, const std::string& key) {
    const auto found = values_.find(key);
    if (found != values_.end()) return send(peer, 'V', found->second);
    waiting_[key].push_back(peer.pe);
}

void StoreServer::handle_fence(Peer& peer) {
    ++fenced_[static_cast<std::size_t>(peer.pe)];
    if (*std::min_element(fenced_.begin(), fenced_.end()) == fences_done_) return;
    ++fences_done_;
    for (Peer& each : peers_)
        if (each.pe >= 0 && !each.gone) send(each, 'F');
}

void StoreServer::handle_collect(Peer& peer, const std::string& value) {
    std::optional<std::string>& place = collected_[static_cast<std::size_t>(peer.pe)];
    if (place) return lost(peer);  // none of ours sends twice
    place = value;
    if (--values_missing_ > 0) return;
    std::vector<std::string> values;
    for (std::optional<std::string>& each : collected_) values.push_back(std::move(*each));
    collected_.assign(collected_.size(), std::nullopt);
    values_missing_ = options_.n_pes;
    const std::string packed = pack(values);
    for (Peer& each : peers_)
        if (each.pe >= 0 && !each.gone) send(each, 'C', packed);
}

void StoreServer::serve_segment(Peer& peer) {
    if (!board_fd_) return;
    peer.waits_for_segment = false;
    send(peer, 'S', {}, {board_fd_.get(), heap_fd_.get()});
}

void StoreServer::handle_abort(Peer& peer, const std::string& body) {
    const auto [status, sentence] = split(body);
    abort_job(peer.pe, std::atoi(status.c_str()), sentence);
}

void StoreServer::drop(Peer& peer) {
    peer.gone = true;
    peer.fd.close();
}

void StoreServer::drop_strangers(bool all) {
    const auto count =
        std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.pe < 0; });
    bool crowded = count > static_cast<long>(most_strangers) + options_.n_pes;
    for (Peer& peer : peers_) {
        if (peer.pe >= 0 || peer.gone) continue;
        // The oldest goes when there are too many.
        if (all || crowded || Clock::now() - peer.since > stranger_patience) drop(peer);
        crowded = false;
    }
}

void StoreServer::lost(Peer& peer) {
    const int pe = peer.pe, pid = peer.pid;
    const bool expected = pe < 0 || peer.goodbye;
    drop(peer);
    if (expected || !failure_.empty()) return;
    const bool left = board_ && board_.state(pe) >= common::PeState::finalized;
    if (left) return;
    const std::string who = "PE " + std::to_string(pe) + " (process " + std::to_string(pid) + ")";
    if (!board_) return fail(ErrorCode::bootstrap, who + " ended while the job was being set up.");
    board_.set_state(pe, common::PeState::died);
    abort_job(pe, 1, who + (set_up_ ? " died." : " ended while the job was being set up."));
}

void StoreServer::fail(ErrorCode code, const std::string& sentence) {
    if (!failure_.empty()) return;
    failure_ = std::to_string(static_cast<int>(code)) + '\0' + sentence;
    for (Peer& peer : peers_)
        if (peer.pe >= 0 && !peer.gone) send(peer, 'E', failure_);
}

void StoreServer::abort_job(int pe, int status, const std::string& sentence) {
    fail(set_up_ ? ErrorCode::pe_died : ErrorCode::bootstrap, sentence);
    if (!board_) return;
    board_.abort(pe, status, sentence);
    // The end of this stream is what the PEs' monitors watch for; what was sent before it is still read.
    for (Peer& peer : peers_)
        if (peer.pe >= 0 && !peer.gone) ::shutdown(peer.fd.get(), SHUT_WR);
}

std::string StoreServer::missing_text(int pe) const {
    std::vector<int> absent, late;
    for (int other = 0; other < options_.n_pes; ++other) {
        const auto i = static_cast<std::size_t>(other);
        if (!seen_[i])
            absent.push_back(other);
        else if (fenced_[i] < fenced_[static_cast<std::size_t>(pe)] ||
                 (collected_[static_cast<std::size_t>(pe)] && !collected_[i]))
            late.push_back(other);
    }
    if (!absent.empty())
        return "PE " + common::pe_ranges(absent) + " of " + std::to_string(options_.n_pes) + " did not come";
    if (!late.empty()) return "PE " + common::pe_ranges(late) + " came, but does not go on";
    return "all PEs have come";
}

}  // namespace atl::bootstrap
