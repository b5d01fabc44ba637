// send and recv: order, sizes, groups that could deadlock one by one, mismatches, and partners that end.
#include "support/setups.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

namespace atl::testing {
namespace {

std::vector<int> numbers(std::size_t count, int from) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), from);
    return values;
}

class Messages : public WithPes {};

TEST_P(Messages, AroundTheRingInOrder) {
    run([](Job& job) {
        const int right = (job.my_pe() + 1) % job.n_pes();
        const int left = (job.my_pe() + job.n_pes() - 1) % job.n_pes();
        for (const std::size_t count : {0u, 1u, 12u, 1020u, 1021u, 5000u, 60'000u}) {
            const auto mine = numbers(count, 100 * job.my_pe());
            std::vector<int> got(count);
            MessageGroup group(job.world());
            for (int k = 0; k < 3; ++k) group.send_bytes(mine.data(), count * sizeof(int), right);
            for (int k = 0; k < 3; ++k) group.recv_bytes(got.data(), count * sizeof(int), left);
            group.run();
            EXPECT_EQ(got, numbers(count, 100 * left));
        }
    });
}

TEST_P(Messages, PairsOneWay) {
    run([](Job& job) {
        const int partner = job.my_pe() ^ 1;
        if (partner >= job.n_pes()) return;
        for (int i = 0; i < 400; ++i) {
            const auto count = static_cast<std::size_t>(i * 13 % 1500);
            std::vector<int> data = numbers(count, i);
            if ((job.my_pe() + i) % 2 == 0)
                job.world().send(std::span<const int>(data), partner);
            else {
                std::fill(data.begin(), data.end(), -1);
                job.world().recv(std::span(data), partner);
                ASSERT_EQ(data, numbers(count, i));
            }
        }
    });
}

TEST_P(Messages, BothSendFirst) {
    run([](Job& job) {
        const int n = job.n_pes();
        constexpr std::size_t count = 100'000;  // more than a channel holds
        const auto mine = numbers(count, job.my_pe());
        std::vector<std::vector<int>> got(static_cast<std::size_t>(n), std::vector<int>(count));
        MessageGroup group(job.world());
        for (int pe = 0; pe < n; ++pe) group.send_bytes(mine.data(), count * sizeof(int), pe);
        for (int pe = n - 1; pe >= 0; --pe)
            group.recv_bytes(got[static_cast<std::size_t>(pe)].data(), count * sizeof(int), pe);
        group.run();
        for (int pe = 0; pe < n; ++pe) EXPECT_EQ(got[static_cast<std::size_t>(pe)], numbers(count, pe));
        group.run();  // empty now, and reusable
    });
}

TEST_P(Messages, DifferingSizesAreNamedAndTheStreamGoesOn) {
    run([](Job& job) {
        const int n = job.n_pes();
        const int right = (job.my_pe() + 1) % n;
        const int left = (job.my_pe() + n - 1) % n;
        for (const std::size_t other :
             {std::size_t{0}, std::size_t{39}, std::size_t{41}, std::size_t{30'000}}) {
            const auto mine = numbers(10'000, job.my_pe());
            std::vector<int> got(10'000, -1);
            MessageGroup group(job.world());
            group.send_bytes(mine.data(), 40, right);
            group.recv_bytes(got.data(), other, left);
            try {
                group.run();
                ADD_FAILURE() << "not noticed";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
                const std::string text = error.what();
                EXPECT_NE(text.find("40 bytes"), std::string::npos) << text;
                EXPECT_NE(text.find(std::to_string(other)), std::string::npos) << text;
            }
            EXPECT_EQ(got[0], -1);
            group.send_bytes(mine.data(), 40'000, right);
            group.recv_bytes(got.data(), 40'000, left);
            group.run();
            EXPECT_EQ(got, numbers(10'000, left));
        }
    });
}

TEST_P(Messages, NumbersOfAnotherSizeAreNamedAndTheSendReturns) {
    run([](Job& job) {
        const Team& team = job.world();
        const int n = job.n_pes(), left = (job.my_pe() + n - 1) % n, right = (job.my_pe() + 1) % n;
        const std::vector<double> sent(5'000, 1.5);  // more cells than a channel has, for any size of team
        const auto exchange = [&](MessageElements theirs, void* data) {
            MessageGroup group(team);
            group.send_bytes(sent.data(), 40'000, right, message_elements<double>);
            group.recv_bytes(data, 40'000, left, theirs);
            group.run();
        };
        std::vector<float> floats(10'000, -1);
        expect_error(ErrorCode::dtype_mismatch, {"numbers of 8 bytes", "numbers of 4 bytes"},
                     [&] { exchange(message_elements<float>, floats.data()); });
        EXPECT_EQ(floats, std::vector<float>(10'000, -1));
        // Bytes match elements of any type. Integers and floats of the same size match each other.
        std::vector<double> got(5'000);
        exchange(message_elements<std::byte>, got.data());
        EXPECT_EQ(got, sent);
        exchange(message_elements<std::int64_t>, got.data());
        exchange({}, got.data());
        if (n == 1) return;
        if (job.my_pe() == 0)
            team.send(sent, 1);
        else if (job.my_pe() == 1)
            expect_error(ErrorCode::dtype_mismatch, {"PE 0"}, [&] { team.recv(floats, 0); });
    });
}

TEST_P(Messages, TeamsHaveChannelsOfTheirOwn) {
    run([](Job& job) {
        for (int round = 0; round < 30; ++round) {
            const Team team = job.world().split(job.my_pe() % 2, -job.my_pe());
            const int n = team.n_pes();
            std::vector<int> got(static_cast<std::size_t>(n), -1);
            MessageGroup group(team);
            const int mine = job.my_pe() + round;
            for (int pe = 0; pe < n; ++pe) {
                group.send_bytes(&mine, sizeof mine, pe);
                group.recv_bytes(&got[static_cast<std::size_t>(pe)], sizeof mine, pe);
            }
            group.run();
            for (int pe = 0; pe < n; ++pe)
                EXPECT_EQ(got[static_cast<std::size_t>(pe)], team.world_pe(pe) + round);
            Team done = team;
            done.destroy();
            EXPECT_THROW(done.send_bytes(&mine, sizeof mine, 0), Error);
        }
    });
}

TEST_P(Messages, MisuseIsNamed) {
    run([](Job& job) {
        int value = 0;
        EXPECT_THROW(job.world().send_bytes(&value, 4, job.n_pes()), Error);
        EXPECT_THROW(job.world().recv_bytes(&value, 4, -1), Error);
        job.world().sync();
    });
}

TEST(MessagesAlone, ATimeoutBeforeAnythingMovedLeavesTheStreamUsable) {
    ThreadJobOptions options;
    options.wait_timeout_s = 0.01;
    run_pes(
        1,
        [](Job& job) {
            int value = 5, got = 0;
            try {
                job.world().recv_bytes(&got, sizeof got, 0);
                ADD_FAILURE() << "received from nobody";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::timeout);
                EXPECT_NE(std::string(error.what()).find("recv"), std::string::npos) << error.what();
            }
            job.world().send_bytes(&value, sizeof value, 0);
            job.world().recv_bytes(&got, sizeof got, 0);
            EXPECT_EQ(got, 5);
            // Half sent: the rest cannot be distinguished from the next message, so the pair is refused from
            // now on.
            const std::vector<char> large(1 << 20);
            EXPECT_THROW(job.world().send_bytes(large.data(), large.size(), 0), Error);
            try {
                job.world().send_bytes(&value, sizeof value, 0);
                ADD_FAILURE() << "a broken stream was used";
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("out of step"), std::string::npos) << error.what();
            }
        },
        options);
}

/// The last cells and their credits may be in flight when a team ends: they must not corrupt the next user of
/// that memory.
TEST_P(Messages, TeamsEndRightAfterTheirMessages) {
    run([](Job& job) {
        const int n = job.n_pes();
        std::vector<unsigned char> mine, got;
        for (int round = 0; round < 60; ++round) {
            Team team = job.world().split(0, round % 2 == 0 ? job.my_pe() : -job.my_pe());
            const int me = team.my_pe();
            for (int message = 0; message < 2; ++message) {
                const std::size_t bytes = message == 0 ? 160'000 : 8;  // more cells than a channel has
                const auto value = [&](int pe) {
                    return static_cast<unsigned char>(17 * pe + 5 * round + message);
                };
                mine.assign(bytes, value(me));
                got.assign(bytes, 0);
                MessageGroup group(team);
                group.send_bytes(mine.data(), bytes, (me + 1) % n);
                group.recv_bytes(got.data(), bytes, (me + n - 1) % n);
                group.run();
                const auto expected = value((me + n - 1) % n);
                const bool all_equal = std::memcmp(got.data(), got.data() + 1, bytes - 1) == 0;
                ASSERT_TRUE(got[0] == expected && all_equal) << "round " << round << ", message " << message;
            }
            team.destroy();
        }
    });
}

TEST_P(Messages, AnEndedPartnerIsNamed) {
    if (n_pes() == 1 || pes_are_processes) GTEST_SKIP() << "no partner";
    ThreadJobOptions options;
    options.finalize = false;
    // Between hosts a message is fetched from its sender, which must still be there.
    std::atomic<bool> arrived{false};
    run(
        [&](Job& job) {
            int value = 3;
            if (job.my_pe() == 1) {
                job.world().send_bytes(&value, sizeof value, 0);
                while (!arrived) std::this_thread::yield();
                return;
            }
            value = 0;
            if (job.my_pe() == 0) {
                job.world().recv_bytes(&value, sizeof value, 1);
                EXPECT_EQ(value, 3);
                arrived = true;
            }
            try {
                job.world().recv_bytes(&value, sizeof value, 1);
                ADD_FAILURE() << "received from nobody";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::pe_died);
                EXPECT_NE(std::string(error.what()).find("PE 1"), std::string::npos) << error.what();
            }
        },
        options);
}

INSTANTIATE_TEST_SUITE_P(Pes, Messages, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
