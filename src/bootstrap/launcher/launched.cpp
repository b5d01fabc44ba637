// A PE of our own launcher: `atoll run` left it a socket, the board and the heap. The protocol is in
// launch_protocol.hpp.
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/socket.h>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/deadline.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/launcher/launch_protocol.hpp"
#include "bootstrap/launcher/launched_variable.hpp"
#include "bootstrap/launcher/own_entry.hpp"
#include "bootstrap/store/wire.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "common/descriptors/fork_guard.hpp"
#include "common/line_buffering.hpp"
#include "common/recorder/stack_area.hpp"
#include "common/settings/job_environment.hpp"

namespace atl::bootstrap {
namespace {

void check_descriptors(const LaunchedVariable& i) {
    if (is_launcher_socket(i.socket) && is_memory(i.board) && is_memory(i.heap)) return;
    throw_bootstrap("This program was started under `atoll run` (as PE " + std::to_string(i.pe) + " of " +
                    std::to_string(i.n_pes) +
                    "), but the descriptors that the launcher left for it are closed. A program between the "
                    "two closes what it does not know; in Python pass subprocess.run(..., close_fds=False). "
                    "To run it as a job of its "
                    "own instead, unset " +
                    launched_variable + ".");
}

/// Arms this PE's end of a socket pair whose other end the launcher holds: each side sees the other's death.
/// The kernel kills this process when the launcher is gone, even during a computation.
void arm_lifeline(int fd) {
    if (::fcntl(fd, F_SETOWN, ::getpid()) != 0 || ::fcntl(fd, F_SETSIG, SIGKILL) != 0 ||
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_ASYNC) != 0)
        throw_system("The lifeline to the launcher could not be armed");
    // The launcher may have died before the lines above.
    pollfd state{fd, POLLRDHUP, 0};
    if (::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLRDHUP))) ::kill(::getpid(), SIGKILL);
}

/// The remains of a launcher's job after finalize, from which this process can init again.
struct Rejoinable {
    LaunchedVariable invitation;
    common::Fd socket;
    std::shared_ptr<MappedBoard> board;
};
// A process has one launcher.
std::optional<Rejoinable> rejoinable;

class Launched final : public Bootstrap {
  public:
    Launched(const common::Settings& settings, const LaunchedVariable& invitation)
        : timeout_s_(settings.init_timeout_s),
          pe_(invitation.pe),
          n_pes_(invitation.n_pes),
          socket_(invitation.socket),
          heap_fd_(invitation.heap) {
        const common::Fd board_fd(invitation.board);
        for (const int fd : {socket_.get(), heap_fd_.get()}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
        board_ =
            std::make_shared<MappedBoard>(MappedBoard::adopt(board_fd.get(), n_pes_, "from the launcher"));
        claim();
        OwnEntry::set_taken(board_, pe_);
        hello();
    }
    Launched(const common::Settings& settings, Rejoinable job)
        : timeout_s_(settings.init_timeout_s),
          pe_(job.invitation.pe),
          n_pes_(job.invitation.n_pes),
          socket_(std::move(job.socket)),
          board_(std::move(job.board)) {
        claim();
        // Set before the others can continue: they must not take this PE for one that has left.
        board_->view().set_state(pe_, common::PeState::running);
        send("R");
        await('R', "all PEs to call init again");
        if (!heap_fd_) throw_bootstrap("The launcher sent no memory for the new job; is it of this release?");
    }
    ~Launched() override {
        if (board_ && ::getpid() == process_) {
            common::withdraw_stacks(board_->view().stacks(pe_));
            common::forget_crashes(board_->view().stacks(pe_));
        }
        if (finalized_ && ::getpid() == process_) {
            LaunchedVariable again;
            again.pe = pe_;
            again.n_pes = n_pes_;
            rejoinable.emplace(Rejoinable{again, std::move(socket_), std::move(board_)});
        }
    }
    Launched(const Launched&) = delete;
    Launched& operator=(const Launched&) = delete;

    std::string_view name() const override { return "launcher"; }
    int pe() const override { return pe_; }
    int n_pes() const override { return n_pes_; }

    void put(const std::string& key, const std::string& value) override {
        const std::lock_guard lock(mutex_);
        send("P" + key + '\0' + value);
    }
    std::string get(const std::string& key) override {
        const std::lock_guard lock(mutex_);
        send("G" + key);
        return await('V', "the value \"" + key + "\"");
    }
    void fence() override {
        const std::lock_guard lock(mutex_);
        send("F");
        await('F', "all PEs to arrive");
    }

    std::vector<std::string> allgather(const std::string& value) override {
        const std::lock_guard lock(mutex_);
        send("C" + value);
        std::string packed;
        for (bool more = true; more;) {
            const std::string part = await('C', "a value of every PE");
            more = !part.empty() && part[0] == '+';
            packed.append(part, std::min<std::size_t>(part.size(), 1));
        }
        return unpack(packed, n_pes_);
    }

    HostSegment host_segment() override {
        HostSegment segment;
        segment.pes = all_pes(n_pes_);
        segment.board = board_->view();
        segment.heap_fd = std::move(heap_fd_);
        return segment;
    }
    /// The launcher watches; its own death reaches us through the lifeline.
    std::unique_ptr<Monitor> monitor(const common::BoardView&) override { return nullptr; }

    void goodbye(bool finalized) noexcept override {
        if (::getpid() != process_) return;
        send_quietly(finalized ? "Bf" : "Bl");
        finalized_ = finalized;
    }
    void abort(int status, const std::string& sentence) noexcept override {
        try {
            send_quietly("A" + std::to_string(status) + '\0' + sentence.substr(0, max_packet_bytes / 2));
        } catch (const std::bad_alloc&) {
            send_quietly("A1");
        }
    }

  private:
    /// One PE is one process: `sh -c 'a & b'` would start two for one PE.
    void claim() {
        const std::int32_t other = board_->view().entry(pe_).pid.load(std::memory_order_relaxed);
        const bool taken = board_->view().state(pe_) == common::PeState::running && other != ::getpid() &&
                           ::kill(other, 0) == 0;
        if (taken)
            throw_bootstrap(
                "PE " + std::to_string(pe_) + " is already process " + std::to_string(other) +
                ": the command given to `atoll run` may run one Atoll program at a time for each PE.");
        board_->view().sign_in(pe_);
        common::offer_stacks(board_->view().stacks(pe_));
        common::note_crashes(board_->view().stacks(pe_));
        // A PE may have been in a job before.
        board_->view().stacks(pe_).held.forget_all();
        board_->view().stacks(pe_).ignored.set({});
        board_->view().stacks(pe_).handled.set({});
    }

    void hello() {
        auto [mine, theirs] = common::socket_pair(SOCK_STREAM);
        const int passed = theirs.get();
        if (common::send_with_fds(socket_.get(), "H", 1, {&passed, 1}) != 1)
            throw_disconnected("greeting it");
        theirs = common::Fd();
        arm_lifeline(mine.get());
        // Stays open until this process ends. Its closing tells the launcher of that end, even if a shell
        // runs between launcher and PE.
        common::replace_after_fork(mine.get());
        mine.release();
    }

    void send(const std::string& packet) {
        if (packet.size() > static_cast<std::size_t>(max_packet_bytes))
            throw Error(ErrorCode::invalid_argument, "A value for the launcher's store has " +
                                                         std::to_string(packet.size()) + " bytes; at most " +
                                                         std::to_string(max_packet_bytes) + " are possible.");
        if (common::send_with_fds(socket_.get(), packet.data(), packet.size(), {}) < 0)
            throw_disconnected("sending to it");
    }
    void send_quietly(const std::string& packet) noexcept {
        common::send_with_fds(socket_.get(), packet.data(), packet.size(), {}, MSG_DONTWAIT);
    }

    /// Returns the body of the launcher's next packet, which must be of `type`. Wakes periodically to check
    /// whether the job is over.
    std::string await(char type, const std::string& awaited) {
        Deadline deadline(timeout_s_);
        pollfd readable{socket_.get(), POLLIN, 0};
        while (::poll(&readable, 1, deadline.poll_ms(100)) <= 0) {
            throw_if_aborted(board_->view());
            if (deadline.passed()) throw_late(awaited);
            deadline.answer_ctrl_c(awaited);
        }
        std::string packet(static_cast<std::size_t>(max_packet_bytes) + 64, '\0');
        std::vector<common::Fd> descriptors;
        const ssize_t received =
            common::receive_with_fds(socket_.get(), packet.data(), packet.size(), descriptors);
        if (received <= 0) throw_disconnected("waiting for " + awaited);
        packet.resize(static_cast<std::size_t>(received));
        if (!descriptors.empty()) heap_fd_ = std::move(descriptors[0]);
        if (packet[0] != type)
            throw_bootstrap(std::string("The launcher answered '") + packet[0] + "' where '" + type +
                            "' was due; is it of this release?");
        return packet.substr(1);
    }

    [[noreturn]] void throw_late(const std::string& awaited) const {
        std::string missing;
        for (int pe = 0; pe < n_pes_; ++pe) {
            if (board_->view().entry(pe).pid.load(std::memory_order_relaxed) != 0) continue;
            missing += (missing.empty() ? "" : ", ") + std::to_string(pe);
        }
        throw_bootstrap("PE " + std::to_string(pe_) + " waited " + seconds_text(timeout_s_) +
                        " (ATOLL_INIT_TIMEOUT) for " + awaited +
                        (missing.empty() ? "; all PEs have begun their init."
                                         : "; these PEs have not called init: " + missing + "."));
    }
    [[noreturn]] void throw_disconnected(const std::string& doing) const {
        throw_if_aborted(board_->view());
        throw_bootstrap("The launcher (`atoll run`) of PE " + std::to_string(pe_) + " went away while " +
                        doing + ".");
    }

    const double timeout_s_;
    const int pe_;
    const int n_pes_;
    common::Fd socket_;
    common::Fd heap_fd_;
    std::shared_ptr<MappedBoard> board_;
    const pid_t process_ = ::getpid();
    bool finalized_ = false;
    std::mutex mutex_;
};

}  // namespace

std::unique_ptr<Bootstrap> rejoin_launched(const common::Settings& settings) {
    if (!rejoinable) return nullptr;
    Rejoinable job = std::move(*rejoinable);
    rejoinable.reset();
    return std::make_unique<Launched>(settings, std::move(job));
}

std::unique_ptr<Bootstrap> create_launched(const common::Settings& settings, const std::string& variable) {
    const LaunchedVariable invitation = LaunchedVariable::parse(variable);
    check_descriptors(invitation);
    common::forget_launched();
    if (invitation.n_pes > 1) common::flush_by_line();
    return std::make_unique<Launched>(settings, invitation);
}

}  // namespace atl::bootstrap
