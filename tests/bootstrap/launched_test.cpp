// A PE under a launcher that this test simulates.
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/launcher/launch_protocol.hpp"
#include "bootstrap/launcher/own_entry.hpp"
#include "bootstrap/store/wire.hpp"
#include "common/descriptors/fd_passing.hpp"
#include "support/forked.hpp"
#include "support/quick_settings.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdlib>
#include <tuple>

namespace atl::bootstrap {
namespace {

using test::Forked;
using test::Outcome;
using test::quick_settings;

/// The launcher's side of one PE.
struct Launcher {
    explicit Launcher(int n_pes = 2, int pe = 1) {
        std::tie(socket, pe_socket) = common::socket_pair(SOCK_SEQPACKET);
        board = MappedBoard::create_shared(n_pes, board_fd);
        heap_fd = make_heap_fd();
        invitation = "1:" + std::to_string(pe) + ":" + std::to_string(n_pes) + ":" +
                     std::to_string(pe_socket.get()) + ":" + std::to_string(board_fd.get()) + ":" +
                     std::to_string(heap_fd.get());
    }

    /// Starts the PE in a separate process in which the launcher's end does not exist.
    Forked start(const std::function<std::string(Bootstrap&)>& body, double init_timeout_s = 20) {
        Forked child([&] {
            socket = common::Fd();
            ::setenv(launched_variable, invitation.c_str(), 1);
            const auto bootstrap = choose({}, quick_settings(init_timeout_s));
            // The bootstrap owns them now.
            for (common::Fd* fd : {&pe_socket, &board_fd, &heap_fd}) fd->release();
            return body(*bootstrap);
        });
        pe_socket = common::Fd();
        return child;
    }

    std::string receive() {
        char bytes[1000];
        const ssize_t n = common::receive_with_fds(socket.get(), bytes, sizeof bytes, passed);
        return n > 0 ? std::string(bytes, static_cast<std::size_t>(n)) : "end";
    }
    void send(const std::string& packet) {
        common::send_with_fds(socket.get(), packet.data(), packet.size(), {});
    }

    common::Fd socket, pe_socket, board_fd, heap_fd;
    MappedBoard board;
    std::string invitation;
    std::vector<common::Fd> passed;
};

TEST(Launched, SpeaksTheProtocol) {
    Launcher launcher;
    Forked child = launcher.start([](Bootstrap& bootstrap) -> std::string {
        EXPECT_EQ(bootstrap.name(), "launcher");
        EXPECT_EQ(bootstrap.pe(), 1);
        EXPECT_EQ(bootstrap.n_pes(), 2);
        EXPECT_EQ(std::getenv(launched_variable), nullptr);
        HostSegment segment = bootstrap.host_segment();
        EXPECT_TRUE(::fcntl(segment.heap_fd.get(), F_GETFD) & FD_CLOEXEC);
        EXPECT_EQ(segment.board.n_pes(), 2);
        bootstrap.put("a", std::string("x\0y", 3));
        EXPECT_EQ(bootstrap.get("b"), "value");
        bootstrap.fence();
        EXPECT_EQ(bootstrap.allgather("one"), (std::vector<std::string>{"zero", "one"}));
        bootstrap.goodbye(true);
        bootstrap.abort(3, "Enough.");
        return "done";
    });
    EXPECT_EQ(launcher.receive(), "H");
    ASSERT_EQ(launcher.passed.size(), 1u);
    EXPECT_EQ(launcher.receive(), std::string("Pa\0x\0y", 6));
    EXPECT_EQ(launcher.receive(), "Gb");
    launcher.send("Vvalue");
    EXPECT_EQ(launcher.receive(), "F");
    launcher.send("F");
    EXPECT_EQ(launcher.receive(), "Cone");
    const std::string values = pack({"zero", "one"});
    launcher.send("C+" + values.substr(0, 8));
    launcher.send("C." + values.substr(8));
    EXPECT_EQ(launcher.receive(), "Bf");
    EXPECT_EQ(launcher.receive(), std::string("A3\0Enough.", 10));
    const Outcome outcome = child.wait();
    EXPECT_TRUE(outcome.ok()) << outcome.text;
    char byte = 0;
    EXPECT_EQ(::read(launcher.passed[0].get(), &byte, 1), 0) << "the lifeline ends with the process";
    EXPECT_EQ(launcher.board.view().entry(1).pid.load(), child.pid());
}

TEST(Launched, AProcessWithoutInitTakesItsSeat) {
    Launcher launcher;
    Forked child([&] {
        ::setenv(launched_variable, launcher.invitation.c_str(), 1);
        const auto own_entry = OwnEntry::of_process();
        if (!own_entry || own_entry->pe() != 1 || own_entry->is_taken()) return std::string("no seat");
        if (own_entry->job() != launcher.board.identity()) return std::string("another job");
        OwnEntry::Wait early(own_entry);
        if (early.claim()) return std::string("a wait before it is taken");
        if (!own_entry->take() || !own_entry->take() || !own_entry->is_taken())
            return std::string("not taken");
        Forked grandchild([] { return std::string(OwnEntry::of_process() ? "a child has the seat" : ""); });
        if (const Outcome outcome = grandchild.wait(); !outcome.text.empty()) return outcome.text;
        OwnEntry::Wait pending(own_entry, common::HostWait::pending), waiting(own_entry), other(own_entry);
        if (!pending.claim() || !waiting.claim() || pending.claim() || other.claim())
            return std::string("a wait replaces a pending operation alone");
        common::WaitCopy values;
        common::copy_text("barrier", values.operation);
        pending.write(values);
        if (own_entry->entry().group.active != 0) return std::string("a replaced operation is written");
        waiting.write(values);
        return std::string(own_entry->entry().group.active == 1 ? "" : "a wait is not written");
    });
    EXPECT_EQ(launcher.receive(), "T");
    const Outcome outcome = child.wait();
    EXPECT_TRUE(outcome.ok());
    EXPECT_EQ(outcome.text, "");
    EXPECT_EQ(launcher.board.view().entry(1).pid.load(), child.pid());
    EXPECT_EQ(launcher.board.view().state(1), common::PeState::running);
    EXPECT_EQ(launcher.board.view().entry(1).is_guest.load(), 1U);
    EXPECT_EQ(launcher.board.view().entry(1).group.active.load(), 0U);
}

TEST(Launched, ASeatHasOneProcess) {
    Launcher launcher;
    launcher.board.view().entry(1).pid = ::getpid();
    Forked child([&] {
        ::setenv(launched_variable, launcher.invitation.c_str(), 1);
        const auto own_entry = OwnEntry::of_process();
        return std::string(!own_entry || own_entry->take() ? "two processes are one PE" : "");
    });
    const Outcome outcome = child.wait();
    EXPECT_TRUE(outcome.ok());
    EXPECT_EQ(outcome.text, "");
    EXPECT_EQ(launcher.board.view().entry(1).pid.load(), ::getpid());
}

TEST(Launched, EndsWithTheLauncherWhateverItComputes) {
    Launcher launcher;
    Forked child = launcher.start([](Bootstrap&) -> std::string {
        for (std::atomic<unsigned long> i{0};;) ++i;
    });
    EXPECT_EQ(launcher.receive(), "H");
    launcher.passed.clear();
    EXPECT_TRUE(child.wait().ended_by(SIGKILL));
}

TEST(Launched, LifelineEndsWithThePeAndNotWithItsChildren) {
    Launcher launcher;
    int gate[2];
    ASSERT_EQ(::pipe(gate), 0);
    Forked child = launcher.start([&](Bootstrap&) -> std::string {
        if (::fork() == 0) {
            char byte = 0;
            ::close(gate[1]);
            static_cast<void>(!::read(gate[0], &byte, 1));
            ::_exit(0);
        }
        ::kill(::getpid(), SIGKILL);
        return "";
    });
    EXPECT_EQ(launcher.receive(), "H");
    char byte = 0;
    EXPECT_EQ(::read(launcher.passed.at(0).get(), &byte, 1), 0);
    ::close(gate[0]);
    ::close(gate[1]);
    EXPECT_TRUE(child.wait().ended_by(SIGKILL));
}

TEST(Launched, WaitsNoticeTheEndOfTheJob) {
    Launcher launcher;
    Forked child = launcher.start([](Bootstrap& bootstrap) {
        bootstrap.fence();
        return std::string("not reached");
    });
    EXPECT_EQ(launcher.receive(), "H");
    EXPECT_EQ(launcher.receive(), "F");
    launcher.board.view().abort(0, 1, "PE 0 exited with 1.");
    const Outcome outcome = child.wait();
    EXPECT_TRUE(outcome.threw);
    EXPECT_EQ(outcome.text, "PE 0 exited with 1.");
}

TEST(Launched, NamesPesThatDoNotCome) {
    Launcher launcher(3, 1);
    Forked child = launcher.start([](Bootstrap& bootstrap) { return bootstrap.get("never put"); }, 0.2);
    const Outcome outcome = child.wait();
    EXPECT_TRUE(outcome.threw);
    EXPECT_NE(outcome.text.find("\"never put\""), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("have not called init: 0, 2."), std::string::npos) << outcome.text;
}

TEST(Launched, ComesBackOnlyAfterFinalize) {
    Launcher launcher;
    Forked child = launcher.start([](Bootstrap&) {
        ::setenv(launched_variable, "1:1:2:3:4:5", 1);
        return std::string(choose({}, quick_settings())->name());
    });
    EXPECT_EQ(launcher.receive(), "H");
    const Outcome outcome = child.wait();
    EXPECT_NE(outcome.text.find("left it without finalize"), std::string::npos) << outcome.text;
}

std::string refusal(const std::string& invitation) {
    try {
        create_launched(quick_settings(), invitation);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bootstrap);
        return error.what();
    }
    return "accepted";
}

TEST(Launched, SaysWhatIsWrongWithTheInvitation) {
    for (const char* broken : {"1:2", "1:0:2:3:4:5:6", "1:2:2:3:4:5", "1:-1:2:3:4:5", "one"})
        EXPECT_NE(refusal(broken).find("is not what `atoll run` sets"), std::string::npos) << broken;
    EXPECT_NE(refusal("2:0:2:3:4:5").find("use the launcher of the same release"), std::string::npos);
    EXPECT_NE(refusal("1:0:2:900:901:902").find("are closed"), std::string::npos);
    // Descriptors of the right kind that belong to something else.
    auto [one, other] = common::socket_pair(SOCK_SEQPACKET);
    common::Fd memory = make_heap_fd(), heap = make_heap_fd();
    const std::string wrong = refusal("1:0:2:" + std::to_string(one.get()) + ":" +
                                      std::to_string(memory.get()) + ":" + std::to_string(heap.get()));
    for (common::Fd* adopted : {&one, &memory, &heap}) adopted->release();
    EXPECT_NE(wrong.find("is not a job board"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace atl::bootstrap
