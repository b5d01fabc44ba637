#include "bootstrap/store/store_client.hpp"

#include <cstdlib>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include "atoll/version.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_identity.hpp"
#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/store/tcp_socket.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/hashes/hmac.hpp"

namespace atl::bootstrap {

/// Pauses between attempts to connect. PEs mostly start together, but one may be late by minutes.
constexpr auto first_pause = std::chrono::microseconds(500);
constexpr auto longest_pause = std::chrono::microseconds(10'000);
constexpr double stranger_patience_s = 10;

StoreClient::StoreClient(const Connect& connect, const std::string& endpoint, const Identity& hello,
                         double timeout_s)
    : hello_(hello), timeout_s_(timeout_s) {
    Deadline deadline(timeout_s);
    bool answered = false;
    auto pause = first_pause;
    for (;;) {
        if (common::Fd fd = connect()) {
            notice_silence(fd.get(), hello.silence_s);
            fd_ = common::ProcessFd(std::move(fd));
            reader_ = FrameReader();
            reader_.set_limit(most_frame_bytes);
            if (greet(deadline)) return;
            answered = true;
        }
        if (deadline.passed()) break;
        if (pause == longest_pause) deadline.answer_ctrl_c("PE 0 of the job");
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, longest_pause);
    }
    throw_bootstrap("PE " + std::to_string(hello.pe) + " of " + std::to_string(hello.n_pes) +
                    " found no PE 0 within " + seconds_text(timeout_s) + " (ATOLL_INIT_TIMEOUT): " +
                    (answered ? "what listens at " + endpoint + " does not answer as this job's PE 0."
                              : "no process listens at " + endpoint +
                                    ". PE 0 may not have called init, or its job is complete, because two "
                                    "processes were given the same number. Or a firewall closes the port, or "
                                    "the address is another machine's (ATOLL_PORT, ATOLL_INTERFACE)."));
}

/// False if the listener is not (yet) our server: a foreign program, or a server that is closing.
bool StoreClient::greet(Deadline& deadline) {
    const auto say = [&](const std::string& bytes) {
        return common::send_with_fds(fd_.get(), bytes.data(), bytes.size(), {}) ==
               static_cast<ssize_t>(bytes.size());
    };
    if (!say(std::string(greeting))) return false;
    const Hello hello{hello_.pe,      hello_.n_pes, ::getpid(),
                      ATOLL_VERSION,  host_name(),  common::random_digits(16),
                      hello_.settings};
    Frame frame;
    // A foreign listener may never answer, while our server is still to start. The wait is therefore bounded.
    Deadline soon(stranger_patience_s);
    while (!deadline.passed() && !soon.passed()) {
        const Came came = receive(frame, deadline.poll_ms(100));
        if (came == Came::end || reader_.broken()) return false;
        if (came == Came::nothing) {
            deadline.answer_ctrl_c("an answer of PE 0");
            continue;
        }
        if (frame.type == 'E') throw_failure(frame.body);
        if (frame.type == 'N') {
            if (!say(encode('H', encode_hello(hello, hello_.secret, frame.body)))) return false;
            continue;
        }
        if (frame.type != 'O') return false;
        if (common::equal_secrets(frame.body, server_proof(hello, hello_.secret))) return true;
        throw_bootstrap("What answers as PE 0 does not know the job's secret; PE " +
                        std::to_string(hello_.pe) + " does not join it.");
    }
    return false;
}

void StoreClient::send(const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t sent = common::send_with_fds(fd_.get(), bytes.data() + done, bytes.size() - done, {});
        if (sent < 0) {
            // The server may have sent a reason before it closed.
            Frame frame;
            while (receive(frame, 0) == Came::frame)
                if (frame.type == 'E') throw_failure(frame.body);
            throw_disconnected("sending to it");
        }
        done += static_cast<std::size_t>(sent);
    }
}

StoreClient::Came StoreClient::receive(Frame& frame, int poll_ms) {
    for (;;) {
        if (std::optional<Frame> next = reader_.next()) {
            if (next->type == 'D' || next->type == 'X' || next->type == 'T') {
                if (news_) news_(*next);
                continue;
            }
            frame = std::move(*next);
            return Came::frame;
        }
        if (reader_.broken()) return Came::end;
        pollfd readable{fd_.get(), POLLIN, 0};
        if (::poll(&readable, 1, poll_ms) <= 0) return Came::nothing;
        char bytes[16384];
        const ssize_t received = common::receive_with_fds(fd_.get(), bytes, sizeof bytes, passed_);
        if (received <= 0) {
            error_ = received < 0 ? errno : 0;
            return Came::end;
        }
        reader_.append(bytes, static_cast<std::size_t>(received));
    }
}

std::string StoreClient::await(char type, const std::string& awaited) {
    Deadline deadline(timeout_s_);
    Frame frame;
    for (;;) {
        const Came came = receive(frame, deadline.poll_ms(100));
        if (came == Came::end) throw_disconnected("waiting for " + awaited);
        if (came == Came::frame && frame.type == 'E') throw_failure(frame.body);
        if (came == Came::frame && frame.type == type) return std::move(frame.body);
        throw_if_aborted(board_);
        if (deadline.passed()) throw_late(awaited);
        if (came == Came::nothing) deadline.answer_ctrl_c(awaited);
    }
}

void StoreClient::put(const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    const std::string frame = encode('P', key + '\0' + value);
    if (frame.size() > most_frame_bytes)
        throw Error(ErrorCode::invalid_argument, "A value for the job's store has " +
                                                     std::to_string(value.size()) + " bytes; at most " +
                                                     std::to_string(most_frame_bytes) + " are possible.");
    send(frame);
}

std::string StoreClient::get(const std::string& key) {
    const std::lock_guard lock(mutex_);
    send(encode('G', key));
    return await('V', "the value \"" + key + "\"");
}

void StoreClient::fence() {
    const std::lock_guard lock(mutex_);
    send(encode('F'));
    await('F', "all PEs to arrive");
}

std::vector<std::string> StoreClient::allgather(const std::string& value) {
    const std::lock_guard lock(mutex_);
    send(encode('C', value));
    return unpack(await('C', "a value of every PE"), hello_.n_pes);
}

std::vector<common::Fd> StoreClient::segment() {
    const std::lock_guard lock(mutex_);
    send(encode('S'));
    await('S', "PE 0 to make the shared memory");
    if (passed_.size() != 2)
        throw_bootstrap("PE " + std::to_string(hello_.pe) +
                        " was sent the shared memory but could not take its descriptors; "
                        "raise the limit of open files (`ulimit -n`).");
    return std::move(passed_);
}

void StoreClient::abort(int status, const std::string& sentence) noexcept {
    try {
        const std::string frame = encode('A', std::to_string(status) + '\0' + sentence);
        common::send_with_fds(fd_.get(), frame.data(), frame.size(), {}, MSG_DONTWAIT);
    } catch (const std::bad_alloc&) {  // the end of this process then tells the server
    }
}

void StoreClient::goodbye(bool finalized) noexcept {
    const char frame[] = {1, 0, 0, 0, 'B', finalized ? 'f' : 'l'};
    common::send_with_fds(fd_.get(), frame, sizeof frame, {}, MSG_DONTWAIT);
}

void StoreClient::tell_doing(const common::PeDoing& doing) const {
    const std::string frame = encode('T', encode_doing(doing));
    common::send_with_fds(fd_.get(), frame.data(), frame.size(), {}, MSG_DONTWAIT);
}

void StoreClient::watches() {
    const std::lock_guard lock(mutex_);
    send(encode('M'));
}

bool StoreClient::read_news(int& error) {
    const std::lock_guard lock(mutex_);
    Frame frame;
    for (;;) {
        const Came came = receive(frame, 0);
        if (came == Came::nothing) return true;
        error = error_;
        if (came == Came::end) return false;
    }
}

void StoreClient::throw_failure(const std::string& body) const {
    const auto [code, sentence] = split(body);
    throw Refusal(static_cast<ErrorCode>(std::atoi(code.c_str())), sentence);
}

void StoreClient::throw_late(const std::string& awaited) {
    const std::optional<Frame> missing = ask(encode('W'), 'W');
    // Another PE timed out a little earlier and reported it.
    if (missing && missing->type == 'E') throw_failure(missing->body);
    const std::string sentence = "PE " + std::to_string(hello_.pe) + " waited " + seconds_text(timeout_s_) +
                                 " (ATOLL_INIT_TIMEOUT) for " + awaited + "; " +
                                 (missing ? missing->body : "PE 0 does not answer") + ".";
    // Tells the others, so that they need not time out themselves. The answer shows that PE 0 has notified
    // them.
    ask(encode('A', std::string("1") + '\0' + sentence), 'E');
    throw_bootstrap(sentence);
}

/// Sends a request and waits for an answer of `type`, or for the news that setting up has failed. Empty if
/// the server is gone.
std::optional<Frame> StoreClient::ask(const std::string& request, char type) {
    if (common::send_with_fds(fd_.get(), request.data(), request.size(), {}) < 0) return std::nullopt;
    Deadline deadline(2);  // a live server answers at once
    Frame frame;
    while (!deadline.passed()) {
        const Came came = receive(frame, deadline.poll_ms(100));
        if (came == Came::end) return std::nullopt;
        if (came == Came::frame && (frame.type == type || frame.type == 'E')) return frame;
    }
    return std::nullopt;
}

void StoreClient::throw_disconnected(const std::string& awaited) const {
    throw_if_aborted(board_);
    throw Error(ErrorCode::pe_died,
                std::string(is_silence(error_) ? "PE 0's host does not answer" : "PE 0 went away") +
                    " while PE " + std::to_string(hello_.pe) + " was " + awaited + ".");
}

}  // namespace atl::bootstrap
