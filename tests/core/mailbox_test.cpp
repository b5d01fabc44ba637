// Mailboxes: sizes, slots and credits, stale words, both ends of a team, misuse.
#include "support/setups.hpp"

#include <numeric>

namespace atl::testing {
namespace {

std::vector<unsigned char> pattern(std::size_t bytes, int seed) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        data[i] = static_cast<unsigned char>(i * 31 + static_cast<std::size_t>(seed) * 7 + 1);
    return data;
}

class Mailboxes : public WithPes {};

TEST_P(Mailboxes, EverySizeEverySlotCount) {
    run([](Job& job) {
        const int right = (job.my_pe() + 1) % job.n_pes();
        const int left = (job.my_pe() + job.n_pes() - 1) % job.n_pes();
        for (const int slots : {1, 2, 3, 8}) {
            Mailbox box(job, 130, slots);
            EXPECT_EQ(box.capacity_bytes(), 130u);
            std::vector<unsigned char> got(130);
            // Down and up again, so that slots hold words of longer, older messages.
            for (int k = 0; k <= 260; ++k) {
                const auto bytes = static_cast<std::size_t>(k <= 130 ? 130 - k : k - 130);
                const auto sent = pattern(bytes, k + job.my_pe());
                box.post(sent.data(), bytes, right);
                ASSERT_EQ(box.receive(got.data(), got.size(), left), bytes);
                const auto expected = pattern(bytes, k + left);
                ASSERT_TRUE(std::equal(expected.begin(), expected.end(), got.begin()));
            }
            EXPECT_EQ(box.try_receive(got.data(), got.size(), left), none);
            job.world().sync();
            box.free();
        }
    });
}

TEST_P(Mailboxes, SlotsFillAndDrainInOrder) {
    run([](Job& job) {
        Mailbox box(job, 8, 4);
        std::uint64_t value = 0;
        for (int round = 0; round < 50; ++round) {
            for (int pe = 0; pe < job.n_pes(); ++pe)
                for (std::uint64_t i = 0; i < 4; ++i) {
                    value = 1000 * static_cast<std::uint64_t>(round) + 10 * i +
                            static_cast<std::uint64_t>(job.my_pe());
                    box.post(&value, sizeof value, pe);
                }
            for (int pe = job.n_pes() - 1; pe >= 0; --pe)
                for (std::uint64_t i = 0; i < 4; ++i) {
                    ASSERT_EQ(box.receive(&value, sizeof value, pe), sizeof value);
                    ASSERT_EQ(value, 1000 * static_cast<std::uint64_t>(round) + 10 * i +
                                         static_cast<std::uint64_t>(pe));
                }
        }
    });
}

TEST_P(Mailboxes, PostWaitsForCredit) {
    run([](Job& job) {
        Mailbox box(job, 4, 2);
        const int n = job.n_pes();
        int value = 1;
        // To itself: no other PE can make room, so the third post times out and changes nothing.
        box.post(&value, sizeof value, job.my_pe());
        value = 2;
        box.post(&value, sizeof value, job.my_pe());
        try {
            box.post(&value, sizeof value, job.my_pe(), 0.002);
            ADD_FAILURE() << "a third message in two slots";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::timeout);
            EXPECT_NE(std::string(error.what()).find("mailbox post"), std::string::npos) << error.what();
        }
        for (const int expected : {1, 2}) {
            box.receive(&value, sizeof value, job.my_pe());
            EXPECT_EQ(value, expected);
        }
        EXPECT_EQ(box.try_receive(&value, sizeof value, job.my_pe()), none);
        // Across: the poster runs ahead of a reader that starts late.
        if (n > 1) {
            const int partner = job.my_pe() ^ 1;
            if (job.my_pe() % 2 == 0 && partner < n)
                for (int i = 0; i < 500; ++i) box.post(&i, sizeof i, partner);
            if (job.my_pe() % 2 == 1)
                for (int i = 0; i < 500; ++i) {
                    if (i % 50 == 0) std::this_thread::yield();
                    box.receive(&value, sizeof value, partner);
                    ASSERT_EQ(value, i);
                }
        }
        job.world().sync();
    });
}

TEST_P(Mailboxes, LargeMessages) {
    run([](Job& job) {
        constexpr std::size_t bytes = 100'003;
        Mailbox box(job, bytes, 2);
        const int right = (job.my_pe() + 1) % job.n_pes();
        const int left = (job.my_pe() + job.n_pes() - 1) % job.n_pes();
        std::vector<unsigned char> got(bytes);
        for (int k = 0; k < 20; ++k) {
            const auto sent = pattern(bytes - static_cast<std::size_t>(k), job.my_pe() + k);
            box.post(sent.data(), sent.size(), right);
            ASSERT_EQ(box.receive(got.data(), got.size(), left), sent.size());
            const auto expected = pattern(sent.size(), left + k);
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), got.begin()));
        }
    });
}

TEST_P(Mailboxes, TeamsOfDifferentSizes) {
    run([](Job& job) {
        // PE 0 is in no team; the others are split unevenly; all create the same mailbox together.
        const int color = job.my_pe() == 0 ? -1 : job.my_pe() <= 2 ? 0 : 1;
        const Team team = job.world().split(color, -job.my_pe());
        Mailbox box(job, team, 16, 2);
        if (team) {
            for (int pe = 0; pe < team.n_pes(); ++pe) {
                const int mine = job.my_pe();
                box.post(&mine, sizeof mine, pe);
            }
            for (int pe = 0; pe < team.n_pes(); ++pe) {
                int theirs = -1;
                ASSERT_EQ(box.receive(&theirs, sizeof theirs, pe), sizeof theirs);
                EXPECT_EQ(theirs, team.world_pe(pe));
            }
            EXPECT_THROW(box.post(&color, sizeof color, team.n_pes()), Error);
        } else {
            EXPECT_THROW(box.post(&color, sizeof color, 0), Error);
        }
        job.world().sync();
        box.free();
    });
}

TEST_P(Mailboxes, MisuseIsNamedAndHarmless) {
    run([](Job& job) {
        const auto code_of = [](const std::function<void()>& call) {
            try {
                call();
            } catch (const Error& error) {
                return error.code();
            }
            return ErrorCode{};
        };
        EXPECT_EQ(code_of([&] { Mailbox box(job, 8, 0); }), ErrorCode::invalid_argument);
        EXPECT_EQ(code_of([&] { Mailbox box(job, std::size_t{1} << 40, 1); }), ErrorCode::invalid_argument);
        EXPECT_EQ(code_of([&] { Mailbox box(job, UINT32_MAX, 1 << 20); }), ErrorCode::out_of_memory);
        Mailbox box(job, 8, 2);
        const int me = job.my_pe();
        char data[16] = "0123456789abcde";
        EXPECT_EQ(code_of([&] { box.post(data, 9, me); }), ErrorCode::shape_mismatch);
        EXPECT_EQ(code_of([&] { box.post(data, 8, job.n_pes()); }), ErrorCode::pe);
        EXPECT_EQ(code_of([&] { box.post(data, 8, -1); }), ErrorCode::pe);
        EXPECT_EQ(code_of([&] { box.receive(data, 8, me, 0.001); }), ErrorCode::timeout);
        box.post("abcdefgh", 8, me);
        EXPECT_EQ(code_of([&] { box.receive(data, 7, me); }), ErrorCode::shape_mismatch);
        EXPECT_EQ(box.receive(data, 8, me), 8u);  // nothing was lost
        EXPECT_EQ(std::string(data, 8), "abcdefgh");
        box.post(nullptr, 0, me);
        EXPECT_EQ(box.receive(nullptr, 0, me), 0u);
        Mailbox moved = std::move(box);
        moved.post(data, 3, me);
        EXPECT_EQ(moved.receive(data, 8, me), 3u);
        moved.free();
        EXPECT_EQ(code_of([&] { moved.post(data, 3, me); }), ErrorCode::use_after_free);
    });
}

TEST_P(Mailboxes, ElementsAreComparedIfBothSidesGiveThem) {
    run([](Job& job) {
        constexpr MessageElements doubles{'f', 8}, integers{'i', 8}, halves{'\0', 4},
            seconds{'m', 7 | 1 << 4}, records{'r', 77};
        Mailbox box(job, 8, 2);
        const int me = job.my_pe();
        double value = 2.5, got = 0;
        for (const MessageElements& other : {integers, halves, seconds, records}) {
            box.post(&value, sizeof value, me, -1, doubles);
            expect_error(ErrorCode::dtype_mismatch, {"elements of float64, the buffer"},
                         [&] { box.receive(&got, sizeof got, me, -1, other); });
            expect_error(ErrorCode::dtype_mismatch, {"still be received"},
                         [&] { box.try_receive(&got, sizeof got, me, other); });
            EXPECT_EQ(box.receive(&got, sizeof got, me, -1, doubles), sizeof got);  // it was not lost
            EXPECT_EQ(got, value);
        }
        // One side alone gives them, or gives a size.
        for (const MessageElements& sent :
             {MessageElements{}, doubles, seconds, records, MessageElements{'\0', 8}}) {
            box.post(&value, sizeof value, me, -1, sent);
            EXPECT_EQ(box.receive(&got, sizeof got, me), sizeof got);
            box.post(&value, sizeof value, me, -1, sent);
            EXPECT_EQ(box.receive(&got, sizeof got, me, -1, MessageElements{'\0', 8}), sizeof got);
        }
    });
}

TEST_P(Mailboxes, AnEndedPeerIsNamed) {
    if (n_pes() == 1 || pes_are_processes) GTEST_SKIP() << "no peer";
    ThreadJobOptions options;
    options.finalize = false;
    run(

        [](Job& job) {
            Mailbox box(job, 8, 1);
            int value = 7;
            if (job.my_pe() == 1) box.post(&value, sizeof value, 0);
            job.world().sync();
            if (job.my_pe() == 1) return;
            // Posted messages can still be read; a missing one ends with an error.
            if (job.my_pe() == 0) {
                EXPECT_EQ(box.receive(&value, sizeof value, 1), sizeof value);
            }
            try {
                box.receive(&value, sizeof value, 1);
                ADD_FAILURE() << "received from nobody";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::pe_died);
                EXPECT_NE(std::string(error.what()).find("PE 1"), std::string::npos) << error.what();
            }
        },
        options);
}

INSTANTIATE_TEST_SUITE_P(Pes, Mailboxes, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
