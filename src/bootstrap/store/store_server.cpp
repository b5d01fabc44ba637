#include "bootstrap/store/store_server.hpp"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "atoll/version.hpp"
#include "bootstrap/deadline.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/descriptors/local_socket.hpp"
#include "common/hashes/hmac.hpp"
#include "common/pe_ranges.hpp"

namespace atl::bootstrap {

namespace {
/// The time within which a new connection must send a valid hello; then it is closed.
constexpr auto stranger_patience = std::chrono::seconds(5);
constexpr std::size_t most_strangers = 64;
/// Descriptors that the server leaves free for the rest of the process. It needs some to report that they
/// have run out.
constexpr rlim_t kept_free = 5;

std::vector<std::pair<common::ProcessFd, bool>> owned(std::vector<StoreServer::Listener> listeners) {
    std::vector<std::pair<common::ProcessFd, bool>> result;
    for (StoreServer::Listener& each : listeners)
        result.emplace_back(common::ProcessFd(std::move(each.fd)), each.same_user);
    return result;
}
}  // namespace

StoreServer::StoreServer(std::vector<Listener> listeners, common::Fd own, Options options)
    : options_(std::move(options)),
      listeners_(owned(std::move(listeners))),
      by_pe_(static_cast<std::size_t>(options_.n_pes)),
      fenced_(static_cast<std::size_t>(options_.n_pes)),
      collected_(static_cast<std::size_t>(options_.n_pes)),
      values_missing_(options_.n_pes),
      seen_(static_cast<std::size_t>(options_.n_pes)),
      states_(static_cast<std::size_t>(options_.n_pes), common::PeState::absent),
      answers_(static_cast<std::size_t>(options_.n_pes)),
      thread_([this, fd = own.release()] {
          if (fd >= 0) {
              const std::lock_guard lock(mutex_);
              greet(peers_.emplace_back(), common::ProcessFd(common::Fd(fd)));
          }
          run();
      }) {}

// A forked child has no server thread, and its copy of the mutex may be locked forever.
StoreServer::~StoreServer() {
    if (::getpid() == process_) linger();
    stopping_ = true;
    wake_.signal();
}

/// If setting up has failed, PEs that connect late still get the reason, so that they do not wait until their
/// timeout.
void StoreServer::linger() {
    std::unique_lock lock(mutex_);
    if (failure_.empty() || set_up_) return;
    // Waits until all PEs have connected, or none has for a while: an oversubscribed machine starts them
    // slowly.
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

void StoreServer::serve_hosts() {
    const std::lock_guard lock(mutex_);
    hosts_ = true;
}

void StoreServer::serve_guests(TakeGuest take) {
    const std::lock_guard lock(mutex_);
    take_guest_ = std::move(take);
}

void StoreServer::leave(bool finalized) {
    const std::lock_guard lock(mutex_);
    announce_exit(0, finalized ? common::PeState::finalized : common::PeState::left);
}

void StoreServer::end_job(int pe, int status, const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    abort_job(pe, status, sentence);
}

StoreServer::Failure StoreServer::failure() {
    const std::lock_guard lock(mutex_);
    return {failure_pe_, failure_status_, split(failure_).second, failure_silent_};
}

std::vector<common::PeDoing> StoreServer::doing(double seconds, bool with_calls) {
    std::unique_lock lock(mutex_);
    std::fill(answers_.begin(), answers_.end(), std::nullopt);
    for (Peer& peer : peers_)
        if (peer.pe >= 0 && !peer.disconnected && !peer.goodbye) send(peer, 'T', with_calls ? "calls" : "");
    wake_.signal();
    const auto is_silent = [&](const Peer& peer) {
        return peer.pe >= 0 && !peer.disconnected && !peer.goodbye &&
               !answers_[static_cast<std::size_t>(peer.pe)];
    };
    changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                      [&] { return std::none_of(peers_.begin(), peers_.end(), is_silent); });
    std::vector<common::PeDoing> all;
    for (std::size_t pe = 0; pe < answers_.size(); ++pe) {
        const common::PeState state = states_[pe];
        const char* const silence = "does not answer: its process is stopped, or its host gone";
        const bool is_there = state == common::PeState::running;
        common::PeDoing silent = common::of_state(state, is_there ? silence : common::state_text(state));
        if (is_there) silent.process = common::silent_process;
        all.push_back(answers_[pe].value_or(silent));
    }
    return all;
}

std::vector<bool> StoreServer::came() {
    const std::lock_guard lock(mutex_);
    return seen_;
}

bool StoreServer::is_connected(int first, int n) {
    const std::lock_guard lock(mutex_);
    return std::any_of(by_pe_.begin() + first, by_pe_.begin() + first + n,
                       [](const Peer* peer) { return peer != nullptr; });
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
        if (set_up_ && !listeners_.empty()) {
            listeners_.clear();
            drop_strangers(true);
            board_fd_ = common::Fd();
            heap_fd_ = common::Fd();
        }
        for (Peer& peer : peers_)
            if (peer.waits_for_segment) serve_segment(peer);
        peers_.remove_if([](const Peer& peer) { return peer.disconnected; });
        changed_.notify_all();

        polled.assign({{wake_.fd(), POLLIN, 0}});
        owners.clear();
        for (const auto& [listener, same_user] : listeners_)
            polled.push_back({has_room() ? listener.get() : -1, POLLIN, 0});
        const std::size_t first_peer = polled.size();
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
            const short events = polled[i + first_peer].revents;
            if (events & POLLOUT) flush(*owners[i]);
            if (events & ~POLLOUT) read_from(*owners[i]);
        }
        if (first_peer > 1) accept_all();
        drop_strangers(false);
    }
}

int StoreServer::poll_ms() const {
    // Without strangers there is no deadline to check, and only a received frame needs work.
    const bool strangers =
        std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.pe < 0; });
    return strangers ? 1000 : -1;
}

void StoreServer::accept_all() {
    for (const auto& [listener, same_user] : listeners_) accept_from(listener, same_user);
}

void StoreServer::accept_from(const common::ProcessFd& listener, bool same_user) {
    rlimit limit{};
    static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
    while (has_room()) {
        auto fd = common::ProcessFd::made_by([&] {
            return common::Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        });
        const int number = fd.get();
        if (!fd && errno != EMFILE && errno != ENFILE) return;
        if (fd && same_user && common::user_of(number) != ::geteuid())
            refuse_user(common::user_of(number));
        else if (fd)
            greet(peers_.emplace_back(), std::move(fd));
        // The kernel gives the lowest free number, so this one shows how many are left.
        if (number >= 0 && static_cast<rlim_t>(number) + kept_free < limit.rlim_cur) continue;
        fail(ErrorCode::bootstrap, "PE 0 needs a descriptor for each of the " +
                                       std::to_string(options_.n_pes) +
                                       " PEs and may open no more; raise the limit (`ulimit -n`).");
        // PEs leave after they have received the failure, which frees descriptors for the others.
        most_peers_ = number >= 0 ? std::max<std::size_t>(peers_.size(), 3) - 1 : peers_.size();
    }
}

void StoreServer::refuse_user(uid_t user) {
    if (!refused_user_.empty()) return;
    refused_user_ = "a process of user " + std::to_string(user) + " was refused, since this PE is user " +
                    std::to_string(::geteuid()) + "'s: all PEs must run as one user";
    common::warn(refused_user_ + ".");
}

void StoreServer::greet(Peer& peer, common::ProcessFd fd) {
    peer.address = peer_address(fd.get());
    peer.number = common::random_digits(16);
    notice_silence(fd.get(), options_.silence_s);
    peer.fd = std::move(fd);
    peer.out.push_back({std::string(greeting), {}});
    send(peer, 'N', peer.number);
}

/// Closes a connection of a foreign process. The job goes on.
void StoreServer::refuse(Peer& peer, const std::string& why) {
    constexpr int most_lines = 8;
    const std::string address = peer.address;
    drop(peer);
    if (++refused_ <= most_lines && !address.empty())
        common::warn("a connection from " + address + " to the job's store was refused: " + why + ".");
}

void StoreServer::read_from(Peer& peer) {
    char bytes[16384];
    while (!peer.disconnected) {
        const ssize_t received = ::recv(peer.fd.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (received < 0 && errno == EINTR) continue;
        if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (received <= 0) return lost(peer, received < 0 ? errno : 0);
        peer.reader.append(bytes, static_cast<std::size_t>(received));
        while (!peer.disconnected) {
            const std::optional<Frame> frame = peer.reader.next();
            if (!frame) break;
            handle(peer, *frame);
        }
        if (peer.reader.broken() && peer.pe < 0)
            return refuse(peer, "it does not speak as a PE of this release does");
        if (peer.reader.broken()) return lost(peer);
    }
}

void StoreServer::flush(Peer& peer) {
    while (!peer.out.empty()) {
        Message& message = peer.out.front();
        const ssize_t sent = common::send_with_fds(peer.fd.get(), message.bytes.data(), message.bytes.size(),
                                                   message.fds, MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (sent < 0) return peer.out.clear();  // the connection is gone; reading finds out
        message.fds.clear();
        message.bytes.erase(0, static_cast<std::size_t>(sent));
        if (message.bytes.empty()) peer.out.pop_front();
    }
}

void StoreServer::send(Peer& peer, char type, std::string_view body, std::vector<int> fds) {
    peer.out.push_back({encode(type, body), std::move(fds)});
    flush(peer);
}

StoreServer::Peer* StoreServer::joined(int pe) { return by_pe_[static_cast<std::size_t>(pe)]; }

void StoreServer::handle(Peer& peer, const Frame& frame) {
    if (peer.pe < 0) {
        if (frame.type == 'H') return handle_hello(peer, frame.body);
        return refuse(peer, "it said no hello");
    }
    if (!failure_.empty() && frame.type != 'B' && frame.type != 'A' && frame.type != 'T')
        return send(peer, 'E', failure_);
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
            states_[static_cast<std::size_t>(peer.pe)] =
                frame.body == "l" ? common::PeState::left : common::PeState::finalized;
            if (hosts_ && frame.body == "l") announce_exit(peer.pe, common::PeState::left);
            return;
        case 'M':
            if (!peer.watches) ++watching_;
            peer.watches = true;
            if (watching_ == options_.n_pes) set_up_ = true;
            return;
        case 'T':
            answers_[static_cast<std::size_t>(peer.pe)] = decode_doing(frame.body);
            return;
        default:
            return lost(peer);
    }
}

void StoreServer::handle_hello(Peer& peer, const std::string& body) {
    bool proven = false;
    const std::optional<Hello> hello = decode_hello(body, options_.secret, peer.number, proven);
    if (!hello) return refuse(peer, "its hello cannot be read");
    if (!proven) {
        // A PE of this library with a wrong secret gets the reason. The text discloses nothing to others.
        send(peer, 'E',
             std::to_string(static_cast<int>(ErrorCode::bootstrap)) + '\0' + "PE 0 refused PE " +
                 std::to_string(hello->pe) + " of " + std::to_string(hello->n_pes) + ": its " +
                 options_.secret_name + " is another. Give all PEs the same.");
        return refuse(peer, "its " + options_.secret_name + " is another");
    }
    if (hello->pe < 0 && take_guest_) return handle_guest(peer, *hello);
    peer.reader.set_limit(most_frame_bytes);
    peer.pid = hello->pid;
    peer.host = hello->host;
    const int pe = hello->pe, n_pes = hello->n_pes;
    if (options_.settings.empty()) {
        options_.settings = hello->settings;
        settings_pe_ = pe;
    }
    const std::string who = "Process " + std::to_string(peer.pid) + " on " + peer.host +
                            " says that it is PE " + std::to_string(pe);
    std::string wrong;
    if (hello->release != ATOLL_VERSION)
        wrong = who + " and runs Atoll " + hello->release +
                ", PE 0 runs " ATOLL_VERSION "; all PEs of a job must load the same version.";
    else if (n_pes != options_.n_pes)
        wrong = who + " of " + std::to_string(n_pes) + ", PE 0 was told that there are " +
                std::to_string(options_.n_pes) + "; give all PEs the same number of PEs.";
    else if (pe < 0 || pe >= n_pes)
        wrong = who + ", but PEs count from 0 to " + std::to_string(n_pes - 1) + ".";
    else if (const Peer* other = joined(pe))
        wrong = who + ", which process " + std::to_string(other->pid) +
                " already is; give every process a number of its own.";
    else if (seen_[static_cast<std::size_t>(pe)])
        wrong = who + ", which another process was before; a job's id serves once.";
    else if (hello->settings != options_.settings)
        wrong = "PE " + std::to_string(settings_pe_) + " runs with " + options_.settings + ", PE " +
                std::to_string(pe) + " (on " + peer.host + ") with " + hello->settings +
                "; set these variables alike for all PEs.";
    if (!wrong.empty()) fail(ErrorCode::bootstrap, wrong);
    if (pe >= 0 && pe < options_.n_pes) seen_[static_cast<std::size_t>(pe)] = true;
    if (!failure_.empty()) {
        send(peer, 'E', failure_);
        return;
    }
    peer.pe = pe;
    by_pe_[static_cast<std::size_t>(pe)] = &peer;
    states_[static_cast<std::size_t>(pe)] = common::PeState::running;
    send(peer, 'O', server_proof(*hello, options_.secret));
}

void StoreServer::handle_guest(Peer& peer, const Hello& hello) {
    if (hello.release != ATOLL_VERSION) {
        send(peer, 'E',
             std::to_string(static_cast<int>(ErrorCode::bootstrap)) + '\0' + "it is of Atoll " +
                 hello.release + ", the launcher of " ATOLL_VERSION);
        return drop(peer);
    }
    send(peer, 'O', server_proof(hello, options_.secret));
    common::ProcessFd connection = std::move(peer.fd);
    drop(peer);
    take_guest_(-1 - hello.pe, std::move(connection));
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
    int& fences = fenced_[static_cast<std::size_t>(peer.pe)];
    if (fences > fences_done_) return lost(peer);  // a PE sends nothing further before the answer
    ++fences;
    if (++fencing_ < options_.n_pes) return;
    fencing_ = 0;
    ++fences_done_;
    for (Peer& each : peers_)
        if (each.pe >= 0 && !each.disconnected) send(each, 'F');
}

void StoreServer::handle_collect(Peer& peer, const std::string& value) {
    std::optional<std::string>& collected = collected_[static_cast<std::size_t>(peer.pe)];
    if (collected) return lost(peer);  // a PE sends it only once
    collected = value;
    if (--values_missing_ > 0) return;
    std::vector<std::string> values;
    for (std::optional<std::string>& each : collected_) values.push_back(std::move(*each));
    collected_.assign(collected_.size(), std::nullopt);
    values_missing_ = options_.n_pes;
    const std::string packed = pack(values);
    for (Peer& each : peers_)
        if (each.pe >= 0 && !each.disconnected) send(each, 'C', packed);
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
    peer.disconnected = true;
    peer.fd.close();
    if (peer.pe < 0) return;
    by_pe_[static_cast<std::size_t>(peer.pe)] = nullptr;
    if (peer.watches) --watching_;
}

void StoreServer::drop_strangers(bool all) {
    const auto count =
        std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.pe < 0; });
    bool too_many = count > static_cast<long>(most_strangers) + options_.n_pes;
    for (Peer& peer : peers_) {
        if (peer.pe >= 0 || peer.disconnected) continue;
        // The oldest stranger is dropped when there are too many.
        if (all || too_many || Clock::now() - peer.since > stranger_patience) drop(peer);
        too_many = false;
    }
}

std::string StoreServer::who(const Peer& peer) const {
    return "PE " + std::to_string(peer.pe) + " (process " + std::to_string(peer.pid) +
           (hosts_ ? " on " + peer.host : "") + ")";
}

/// All PEs of a host fall silent at once, and any of them may be noticed first.
std::string StoreServer::silent(const Peer& peer) const {
    std::vector<int> pes;
    for (const Peer& other : peers_)
        if (other.pe >= 0 && other.host == peer.host) pes.push_back(other.pe);
    std::sort(pes.begin(), pes.end());
    return "Host " + peer.host + " (PE " + common::pe_ranges(pes) + ") does not answer within " +
           seconds_text(options_.silence_s) + " (ATOLL_PEER_TIMEOUT): it, or the network to it, is gone.";
}

void StoreServer::announce_exit(int pe, common::PeState state) {
    if (!hosts_) return;
    for (Peer& other : peers_)
        if (other.pe >= 0 && other.pe != pe && !other.disconnected)
            send(other, 'D', std::to_string(pe) + " " + std::to_string(static_cast<int>(state)));
}

void StoreServer::lost(Peer& peer, int error) {
    const int pe = peer.pe;
    const bool expected = pe < 0 || peer.goodbye;
    const std::string name = who(peer), silence = is_silence(error) ? silent(peer) : "";
    drop(peer);
    if (!expected) states_[static_cast<std::size_t>(pe)] = common::PeState::died;
    if (expected || !failure_.empty()) return;
    const bool left = board_ && board_.state(pe) >= common::PeState::finalized;
    if (left) return;
    if (!board_ && !hosts_)
        return fail(ErrorCode::bootstrap, name + " ended while the job was being set up.");
    if (board_) board_.set_state(pe, common::PeState::died);
    announce_exit(pe, common::PeState::died);
    failure_silent_ = !silence.empty();
    abort_job(
        pe, 1,
        !silence.empty() ? silence : name + (set_up_ ? " died." : " ended while the job was being set up."));
}

void StoreServer::fail(ErrorCode code, const std::string& sentence, int status, int pe) {
    if (!failure_.empty()) return;
    failure_pe_ = pe;
    failure_ = std::to_string(static_cast<int>(code)) + '\0' + sentence;
    failure_status_ = status;
    for (Peer& peer : peers_)
        if (peer.pe >= 0 && !peer.disconnected) send(peer, 'E', failure_);
}

void StoreServer::abort_job(int pe, int status, const std::string& sentence) {
    if (hosts_ && failure_.empty())
        for (Peer& peer : peers_)
            if (peer.pe >= 0 && !peer.disconnected)
                send(peer, 'X', std::to_string(pe) + " " + std::to_string(status) + '\0' + sentence);
    fail(set_up_ ? ErrorCode::pe_died : ErrorCode::bootstrap, sentence, status, pe);
    if (board_) board_.abort(pe, status, sentence);
    if (!board_ && !hosts_) return;
    // Ends the stream that the PEs' monitors watch. Frames sent before are still read.
    for (Peer& peer : peers_)
        if (peer.pe >= 0 && !peer.disconnected) ::shutdown(peer.fd.get(), SHUT_WR);
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
        return "PE " + common::pe_ranges(absent) + " of " + std::to_string(options_.n_pes) + " did not come" +
               (refused_user_.empty() ? "" : "; " + refused_user_) +
               (refused_ ? " (connections of others that were refused: " + std::to_string(refused_) + ")"
                         : "");
    if (!late.empty()) return "PE " + common::pe_ranges(late) + " came, but does not go on";
    return "all PEs have come";
}

}  // namespace atl::bootstrap
