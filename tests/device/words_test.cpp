// Atomics, waits, signals and mailboxes of kernels, with PEs as threads on the host heap.
#include "device/pes.hpp"
#include "support/third_party.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace atl::testing {
namespace {

using device::Compare;
using device::SignalOp;
using Word = unsigned long long;

class DeviceWords : public ::testing::TestWithParam<int> {};

/// All PEs update one word of PE 0 concurrently; the fetched values and the result must be consistent with
/// one order.
template <class T> void contended_adds(Job& job) {
    SymmetricArray<T> word(job, 1);
    constexpr int rounds = 200;
    const device::Team team = job.world().device(Memory::host);
    std::vector<T> fetched;
    for (int i = 0; i < rounds; ++i) {
        fetched.push_back(device::atomic_fetch_add(team, word.data(), 1, 0));
        device::atomic_add(team, word.data(), 2, 0);
        device::atomic_inc(team, word.data(), 0);
    }
    EXPECT_TRUE(std::is_sorted(fetched.begin(), fetched.end()));
    job.world().barrier();
    EXPECT_EQ(device::atomic_fetch(team, word.data(), 0), static_cast<T>(4 * rounds * job.n_pes()));
    job.world().barrier();
}

TEST_P(DeviceWords, AtomicAdditionOfEveryType) {
    run_device_pes(GetParam(), [](Job& job) {
        contended_adds<int>(job);
        contended_adds<unsigned>(job);
        contended_adds<std::int64_t>(job);
        contended_adds<std::uint64_t>(job);
        contended_adds<float>(job);
        contended_adds<double>(job);
    });
}

/// Threads of one PE pass a plain value around, with a word each to announce it.
template <class T> void local_ring(Job& job) {
    constexpr int threads = 3, rounds = 500;
    const device::Team team = job.world().device(Memory::host);
    T words[threads] = {};
    long long value = 0;
    const auto turn = [&](int k) {
        const int before = (k + threads - 1) % threads;
        for (int round = 1; round <= rounds; ++round) {
            device::local_wait_until(team, words + before, Compare::ge,
                                     static_cast<T>(k == 0 ? round - 1 : round));
            ++value;
            device::local_set(team, words + k, static_cast<T>(round));
        }
    };
    std::vector<std::thread> others;
    for (int k = 1; k < threads; ++k) others.emplace_back(turn, k);
    turn(0);
    for (std::thread& other : others) other.join();
    EXPECT_EQ(value, threads * rounds);
}

TEST(DeviceLocalWords, OrderWhatThreadsOfOnePEWrite) {
    run_device_pes(1, [](Job& job) {
        local_ring<int>(job);
        local_ring<Word>(job);
    });
}

template <class T> void each_atomic(Job& job) {
    SymmetricArray<T> word(job, 1);
    const device::Team team = job.world().device(Memory::host);
    const int pe = right_of(job);
    T* x = word.data();
    device::atomic_set(team, x, 12, pe);
    EXPECT_EQ(device::atomic_swap(team, x, 10, pe), T{12});
    EXPECT_EQ(device::atomic_compare_swap(team, x, 11, 99, pe), T{10});
    EXPECT_EQ(device::atomic_compare_swap(team, x, 10, 6, pe), T{10});
    EXPECT_EQ(device::atomic_fetch_inc(team, x, pe), T{6});
    if constexpr (std::is_integral_v<T>) {
        EXPECT_EQ(device::atomic_fetch_and(team, x, 5, pe), T{7});
        EXPECT_EQ(device::atomic_fetch_or(team, x, 8, pe), T{5});
        EXPECT_EQ(device::atomic_fetch_xor(team, x, 1, pe), T{13});
        device::atomic_and(team, x, 4, pe);
        device::atomic_or(team, x, 2, pe);
        device::atomic_xor(team, x, 1, pe);
    }
    EXPECT_EQ(device::atomic_fetch(team, x, pe), T{7});
    job.world().barrier();
}

TEST_P(DeviceWords, EachAtomicOfEveryType) {
    run_device_pes(GetParam(), [](Job& job) {
        each_atomic<int>(job);
        each_atomic<unsigned>(job);
        each_atomic<long long>(job);
        each_atomic<std::uint64_t>(job);
        each_atomic<float>(job);
        each_atomic<double>(job);
    });
}

TEST_P(DeviceWords, StridedPutsAndGets) {
    run_device_pes(GetParam(), [](Job& job) {
        SymmetricArray<int> x(job, 40);
        const device::Team team = job.world().device(Memory::host);
        std::vector<int> mine(20), back(20);
        std::iota(mine.begin(), mine.end(), 100 * job.my_pe());
        device::iput(team, x.data(), mine.data(), 3, 2, 10, right_of(job));
        job.world().barrier();
        for (std::size_t i = 0; i < 40; ++i)
            EXPECT_EQ(x[i], i % 3 == 0 && i < 30 ? 100 * left_of(job) + static_cast<int>(i / 3 * 2) : 0);
        device::iget(team, back.data(), x.data(), 1, 3, 10, right_of(job));
        for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(back[i], mine[2 * i]);
        job.world().barrier();  // the neighbour has got what it wanted
        device::put_nbi(team, x.data(), mine.data(), 20, job.my_pe());
        device::quiet(team);
        EXPECT_EQ(x[19], mine[19]);
        job.world().barrier();
    });
}

TEST_P(DeviceWords, SignalsAddUpAndAreConsumed) {
    run_device_pes(GetParam(), [](Job& job) {
        const auto n = static_cast<std::size_t>(job.n_pes());
        SymmetricArray<int> data(job, n);
        SymmetricArray<Word> signal(job, 1), go(job, 1);
        const device::Team team = job.world().device(Memory::host);
        for (int round = 1; round <= 100; ++round) {
            for (int pe = 0; pe < team.n_pes; ++pe)
                device::put_signal(team, data.data() + team.my_pe, &round, 1, signal.data(), 1, SignalOp::add,
                                   pe);
            device::signal_consume(team, signal.data(), n);
            for (const int value : data.span()) ASSERT_EQ(value, round);
            for (int pe = 0; pe < team.n_pes; ++pe) device::signal_add(team, go.data(), 1, pe);
            device::signal_consume(team, go.data(), n);
        }
        EXPECT_EQ(device::signal_fetch(team, signal.data()), 0u);
        job.world().barrier();
    });
}

TEST_P(DeviceWords, WaitsAndTestsOfManyWords) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr Word n = 5;
        SymmetricArray<int> x(job, n);
        const device::Team team = job.world().device(Memory::host);
        const int status[n] = {0, 1, 0, 0, 0}, all_out[n] = {1, 1, 1, 1, 1};
        const int wanted[n] = {7, -1, 8, 9, 10};
        Word found[n] = {};
        const auto send = [&](std::size_t i, int value) {
            device::p(team, x.data() + i, value, right_of(job));
        };
        EXPECT_FALSE(device::test(team, x.data(), Compare::ne, 0));
        EXPECT_EQ(device::test_any(team, x.data(), n, status, Compare::gt, 0), device::no_index);
        EXPECT_EQ(device::test_some(team, x.data(), n, found, status, Compare::gt, 0), 0u);
        job.world().barrier();
        send(1, 5);  // left out
        send(3, 9);
        EXPECT_EQ(device::wait_until_any(team, x.data(), n, status, Compare::gt, 0), 3u);
        EXPECT_EQ(device::wait_until_any_vector(team, x.data(), n, status, Compare::eq, wanted), 3u);
        EXPECT_EQ(device::wait_until_some(team, x.data(), n, found, status, Compare::gt, 0), 1u);
        EXPECT_EQ(found[0], 3u);
        EXPECT_FALSE(device::test_all(team, x.data(), n, status, Compare::gt, 0));
        job.world().barrier();
        send(0, 7);
        send(2, 8);
        send(4, 10);
        device::wait_until_all(team, x.data(), n, status, Compare::ge, 7);
        device::wait_until_all_vector(team, x.data(), n, status, Compare::eq, wanted);
        EXPECT_TRUE(device::test_all_vector(team, x.data(), n, status, Compare::eq, wanted));
        EXPECT_EQ(device::test_any_vector(team, x.data(), n, status, Compare::eq, wanted), 0u);
        EXPECT_EQ(device::wait_until_some_vector(team, x.data(), n, found, status, Compare::eq, wanted), 4u);
        EXPECT_EQ(device::test_some_vector(team, x.data(), n, found, status, Compare::lt, wanted), 0u);
        EXPECT_EQ(found[3], 4u);
        EXPECT_EQ(device::wait_until_any(team, x.data(), n, all_out, Compare::eq, 77), device::no_index);
        EXPECT_EQ(device::wait_until_some(team, x.data(), n, found, all_out, Compare::eq, 77), 0u);
        device::wait_until(team, x.data() + 4, Compare::le, 10);
        job.world().barrier();
    });
}

TEST_P(DeviceWords, MailboxesTakeMessagesByParts) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr Word parts = 9, messages = 100;
        SymmetricArray<char> block(job, device::mailbox_bytes(job.n_pes(), 8 * parts));
        const device::Team team = job.world().device(Memory::host);
        const device::Mailbox box{block.data(), 8 * parts};
        device::Outbox<> out(team, box, right_of(job));
        device::Inbox<> in(team, box, left_of(job));
        for (Word m = 0; m < messages; ++m) {
            out.begin();
            for (Word i = 0; i < parts; ++i)
                out.store(i, (m << 40) + i * 0x100000001 + static_cast<Word>(job.my_pe()));
            out.end();
            in.begin();
            for (Word i = 0; i < parts; ++i)
                ASSERT_EQ(in.load(i), (m << 40) + i * 0x100000001 + static_cast<Word>(left_of(job)));
            in.end();
        }
        out.close();
        in.close();
        job.world().barrier();
    });
}

TEST_P(DeviceWords, MailboxesKeepTheOrderOfEachPair) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr Word room = 100;
        const device::Team team = job.world().device(Memory::host);
        SymmetricArray<char> block(job, device::mailbox_bytes(team.n_pes, room));
        const device::Mailbox box{block.data(), room};
        unsigned char out[room], in[room];
        const auto length = [](int round) { return static_cast<Word>(round * 7 % 101); };
        unsigned char nothing = 0;
        EXPECT_FALSE(device::try_receive(team, box, &nothing, 1, right_of(job)));
        job.world().barrier();
        for (int round = 0; round < 400; ++round) {
            for (int pe = 0; pe < team.n_pes; ++pe) {
                std::fill(out, out + room, static_cast<unsigned char>(round * 3 + team.my_pe * 16 + pe));
                device::post(team, box, out, length(round), pe);
            }
            for (int pe = 0; pe < team.n_pes; ++pe) {
                std::fill(in, in + room, 0xee);
                if (round % 3 == 0)
                    while (!device::try_receive(team, box, in, length(round), pe)) ::sched_yield();
                else
                    device::receive(team, box, in, length(round), pe);
                for (Word i = 0; i < room; ++i)
                    ASSERT_EQ(in[i], i < length(round)
                                         ? static_cast<unsigned char>(round * 3 + pe * 16 + team.my_pe)
                                         : 0xee);
            }
        }
        job.world().barrier();
    });
}

/// Lengths around parts of 8 bytes, and around the two that a thread has in flight. Each at multiples of 8
/// bytes and beside them, at either end.
TEST_P(DeviceWords, MailboxesTakeAnyLengthAtAnyAddress) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr Word room = 1000, edge = 16;
        const device::Team team = job.world().device(Memory::host);
        SymmetricArray<char> block(job, device::mailbox_bytes(team.n_pes, room));
        const device::Mailbox box{block.data(), room};
        const auto byte = [](int pe, Word bytes, Word i) {
            return static_cast<unsigned char>(static_cast<Word>(pe) * 57 + bytes * 11 + i * 3);
        };
        alignas(8) unsigned char out[room + edge], in[room + edge];
        for (const Word bytes : {0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 999, 1000})
            for (const Word from : {0, 1, 4, 7})
                for (const Word to : {0, 3, 4}) {
                    for (Word i = 0; i < bytes; ++i) out[from + i] = byte(job.my_pe(), bytes, i);
                    std::fill(in, in + room + edge, 0xee);
                    device::post(team, box, out + from, bytes, right_of(job));
                    device::receive(team, box, in + to, bytes, left_of(job));
                    for (Word i = 0; i < room + edge; ++i)
                        ASSERT_EQ(in[i], i - to < bytes ? byte(left_of(job), bytes, i - to) : 0xee)
                            << bytes << " bytes from offset " << from << " to " << to << ", byte " << i;
                }
        job.world().barrier();
    });
}

/// Threads of a scope, run one after another, for operations that do not wait for other threads.
struct OneOf {
    unsigned mine, all;
    unsigned rank() const { return mine; }
    unsigned size() const { return all; }
    void sync() const {}
    template <class T> T broadcast(T value) const { return value; }
};

/// A block's handling of a message: with fewer parts than threads, as many, more, and more than two for each.
TEST_P(DeviceWords, ThreadsShareAMessagesParts) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr Word room = 800;
        const device::Team team = job.world().device(Memory::host);
        SymmetricArray<char> block(job, device::mailbox_bytes(team.n_pes, room));
        const device::Mailbox box{block.data(), room};
        int message = 0;
        for (const unsigned threads : {1u, 5u, 32u, 40u})
            for (const Word bytes : {0, 1, 8, 9, 40, 41, 80, 81, 255, 256, 257, 320, 639, 641, 800}) {
                ++message;
                std::vector<unsigned char> out(room), in(room, 0xee);
                for (Word i = 0; i < room; ++i) out[i] = static_cast<unsigned char>(i * 7 + bytes);
                device::detail::Post* const pair = device::detail::post_of(box, right_of(job));
                const Word posted = pair->posted, seen_taken = pair->seen_taken;
                for (unsigned t = 0; t < threads; ++t) {  // each reads the same counters
                    pair->posted = posted;
                    pair->seen_taken = seen_taken;
                    device::post(team, box, out.data(), bytes, right_of(job), OneOf{t, threads});
                }
                device::detail::Post* const other = device::detail::post_of(box, left_of(job));
                const Word received = other->received;
                for (unsigned t = 0; t < threads; ++t) {
                    other->received = received;
                    device::receive(team, box, in.data(), bytes, left_of(job), OneOf{t, threads});
                }
                for (Word i = 0; i < room; ++i)
                    ASSERT_EQ(in[i], i < bytes ? out[i] : 0xee)
                        << bytes << " bytes by " << threads << " threads, message " << message;
                job.world().barrier();
            }
    });
}

/// Each PE runs its three roles in three threads.
TEST_P(DeviceWords, NewsReachAThirdPeWithTheirData) {
#if defined(__SANITIZE_THREAD__) && defined(ATOLL_PES_ARE_PROCESSES)
    GTEST_SKIP() << "the news goes through another process, whose part ThreadSanitizer does not see";
#endif
    run_device_pes(GetParam(), [](Job& job) {
        constexpr std::size_t n = 5;
        const device::Team team = job.world().device(Memory::host);
        for (const News how : {News::passed_on, News::own_data, News::after_quiet}) {
#ifdef __SANITIZE_THREAD__
            if (how == News::after_quiet) continue;  // a bare fence, which TSan does not see
#endif
            SymmetricArray<Word> data(job, n), words(job, 3);
            const ThirdParty t{data.data(), words.data(), n, 300};
            std::atomic<int> wrong{0};
            std::vector<std::thread> parts;
            for (const Role role : {Role::writer, Role::middle, Role::reader})
                parts.emplace_back([&, role] {
                    Word mine[n] = {};
                    wrong += play(team, how, role, t, mine, device::Thread{});
                });
            for (std::thread& part : parts) part.join();
            EXPECT_EQ(wrong, 0) << "how: " << static_cast<int>(how);
            job.world().barrier();
        }
    });
}

/// Flags are 32 bits of a message's number. A word that short messages did not write must not match when its
/// old flag recurs in a long message.
TEST_P(DeviceWords, MailboxesOutliveTheirFlags) {
    run_device_pes(GetParam(), [](Job& job) {
        constexpr Word room = 80;
        const device::Team team = job.world().device(Memory::host);
        SymmetricArray<char> block(job, device::mailbox_bytes(team.n_pes, room));
        const device::Mailbox box{block.data(), room};
        const int right = right_of(job), left = left_of(job);
        const auto begin_at = [&](Word number) {
            job.world().barrier();
            for (int pe = 0; pe < team.n_pes; ++pe)
                *device::detail::post_of(box, pe) = {number, number, number, number};
            job.world().barrier();
        };
        const auto exchange = [&](Word number, std::size_t bytes) {
            std::vector<char> out(room, static_cast<char>(number + static_cast<Word>(job.my_pe()))), in(room);
            device::post(team, box, out.data(), bytes, right);
            device::receive(team, box, in.data(), bytes, left);
            for (std::size_t i = 0; i < bytes; ++i)
                ASSERT_EQ(in[i], static_cast<char>(number + static_cast<Word>(left))) << "message " << number;
        };
        begin_at((Word{3} << 30) - 5);
        for (Word i = 0; i < 20; ++i) exchange(i, 8);
        begin_at((Word{1} << 32) - 5);
        for (Word i = 0; i < 20; ++i) exchange(50 + i, i % 2 == 0 ? room : 8);
        job.world().barrier();
    });
}

TEST(DeviceMailbox, AFullOneHoldsItsSenderOff) {
    run_pes(2, [](Job& job) {
        const device::Team team = job.world().device(Memory::host);
        SymmetricArray<char> block(job, device::mailbox_bytes(2, 8));
        const device::Mailbox box{block.data(), 8};
        constexpr Word messages = 1000;
        if (job.my_pe() == 0)
            for (Word i = 0; i < messages; ++i) device::post(team, box, &i, 1, 1);
        else
            for (Word i = 0, got = 0; i < messages; ++i) {
                device::receive(team, box, &got, 1, 0);
                ASSERT_EQ(got, i);
            }
        job.world().barrier();
    });
}

/// The capacity documented in the header, with a PE that sends to itself: no other PE could end a wait.
TEST(DeviceMailbox, TakesMoreWhileHalfOfItIsUnread) {
    run_pes(1, [](Job& job) {
        const device::Team team = job.world().device(Memory::host);
        SymmetricArray<char> block(job, device::mailbox_bytes(1, 8));
        const device::Mailbox box{block.data(), 8};
        constexpr unsigned long long minute_ns = 60'000'000'000, at_once_ns = 1;
        Word sent = 0, received = 0;
        const auto post = [&](unsigned long long bound_ns) {
            device::post(team, box, &sent, 1, 0, device::Thread{}, 0, bound_ns);
            ++sent;
        };
        const auto receive = [&] {
            Word got = 0;
            device::receive(team, box, &got, 1, 0, device::Thread{}, 0, minute_ns);
            EXPECT_EQ(got, received++);
        };
        for (int i = 0; i < 4; ++i) post(minute_ns);
        for (int i = 0; i < 100; ++i) {  // four are unread before each, five after it
            post(minute_ns);
            receive();
        }
        while (received < sent) receive();  // 104: the sender has received the last acknowledgement
        for (unsigned i = 0; i < device::Mailbox::depth; ++i) post(minute_ns);
        EXPECT_THROW(post(at_once_ns), Error);
        while (received < sent) receive();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, DeviceWords, ::testing::ValuesIn(device_pe_counts()));

}  // namespace
}  // namespace atl::testing
