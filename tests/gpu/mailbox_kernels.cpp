// Kernels, streams and the host in one mailbox: each way to post with each way to receive. Also a ping-pong
// of a kernel and a stream that a graph replays. tests/multi/device_mailbox.cpp has the tests without
// kernels.
#include "atoll/device_mailbox.hpp"
#include "gpu/mailboxes.hpp"
#include "gpu/streams.hpp"
#include "support/multi_main.hpp"

namespace atl::testing {
namespace {

class MailboxKernels : public OnStream {};

TEST_F(MailboxKernels, AnyWayToPostWithAnyWayToReceive) {
    constexpr std::size_t most = 8192;  // words
    DeviceMailbox box(job_, job_.world(), 8 * most);
    const device::Team team = job_.world().device(Memory::device, false);
    const device::Mailbox in_kernels = box.device();
    auto* x = zeros<std::uint64_t>(most);
    auto* y = zeros<std::uint64_t>(most);
    auto* count = zeros<std::int64_t>(1);
    const int right = right_of(job_), left = left_of(job_);
    int round = 0;
    for (const std::size_t n : {1u, 2u, 100u, 512u, 8192u})
        for (int posted = 0; posted < 3; ++posted)
            for (int received = 0; received < 3; ++received, ++round) {
                const auto seed = static_cast<std::uint64_t>(round) * 1000;
                set(x, std::vector<std::uint64_t>(n, seed + static_cast<unsigned>(job_.my_pe())));
                set(count, std::vector<std::int64_t>{-7});
                if (posted == 0)
                    post_in_kernel(team, in_kernels, x, n, right, n < 100 ? 32 : 1024, stream_);
                else if (posted == 1)
                    box.post({stream_}, x, 8 * n, right);
                else
                    box.post(x, 8 * n, right);
                if (received == 0)
                    receive_in_kernel(team, in_kernels, y, n, left, n < 100 ? 32 : 256, stream_);
                else if (received == 1)
                    box.receive({stream_}, y, 8 * n, left, count, 8);
                else
                    EXPECT_EQ(box.receive(y, 8 * n, left), 8 * n);
                finish();
                if (received == 1) {
                    EXPECT_EQ(values(count, 1)[0], static_cast<std::int64_t>(n));
                }
                ASSERT_EQ(values(y, n), std::vector<std::uint64_t>(n, seed + static_cast<unsigned>(left)))
                    << n << " words, posted " << posted << ", received " << received;
            }
    job_.world().barrier();
    for (void* block : {static_cast<void*>(count), static_cast<void*>(y), static_cast<void*>(x)})
        job_.free(block);
    box.free();
}

TEST_F(MailboxKernels, AKernelAndAStreamInAGraph) {
    const int me = job_.my_pe(), other = me ^ 1;
    DeviceMailbox box(job_, job_.world(), 4096);
    const device::Team team = job_.world().device(Memory::device, false);
    auto* x = zeros<std::uint64_t>(512);
    const StreamContext stream = on_stream();
    const int rounds = replays();
    if (other < job_.n_pes()) {
        Graph graph(stream_, [&] {
            if (me % 2 == 0) {
                stream.atomic_inc(x, me);
                post_in_kernel(team, box.device(), x, 512, other, 256, stream_);
                box.receive({stream_}, x, 4096, other);
            } else {
                box.receive({stream_}, x, 4096, other);
                stream.atomic_inc(x, me);
                box.post({stream_}, x, 4096, other);
            }
        });
        for (int i = 0; i < rounds; ++i) graph.launch();
        finish();
        EXPECT_EQ(values(x, 1)[0], static_cast<std::uint64_t>(2 * rounds));
    }
    job_.world().barrier();
    job_.free(x);
    box.free();
}

}  // namespace
}  // namespace atl::testing
