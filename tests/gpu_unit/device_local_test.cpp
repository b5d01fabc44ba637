// A job with a device heap. Local memory of operations on the host heap may be a GPU's, and kernels access
// pinned parts of the host heap. The GPU is host memory that the CPU cannot access.
#include "atoll/stream.hpp"
#include "core/context/route.hpp"
#include "core/job/job_state.hpp"
#include "gpu/heap/device_memory.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

#include <numeric>

namespace atl::testing {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Memory like cudaMalloc's: `data` is the program's address, `real` what a GPU sees there.
class Hidden {
  public:
    explicit Hidden(FakeHeap& gpu) {
        const int file = ::memfd_create("hidden", MFD_CLOEXEC);
        if (::ftruncate(file, bytes) != 0) throw std::runtime_error("ftruncate");
        data = static_cast<char*>(::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0));
        real = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        ::close(file);
        gpu.let_see(data, real, bytes);
    }
    ~Hidden() {
        ::munmap(data, bytes);
        ::munmap(real, bytes);
    }
    Hidden(const Hidden&) = delete;
    Hidden& operator=(const Hidden&) = delete;
    int* ints() const { return reinterpret_cast<int*>(data); }
    int* real_ints() const { return reinterpret_cast<int*>(real); }

    static constexpr std::size_t bytes = 4 * mib;
    char *data = nullptr, *real = nullptr;
};

class WithGpus : public WithPes {
  protected:
    void run_on_gpus(const std::function<void(Job&, FakeHeap&)>& body) {
        run([&](Job& job) {
            FakeHeap* fake = nullptr;
            job.state().devices().open_by([&](const gpu::DeviceChoice&) {
                auto opened = std::make_unique<FakeHeap>(Faults{}, 512 * mib);
                fake = opened.get();
                return opened;
            });
            try {
                job.free(job.malloc(1, Memory::device));
            } catch (const Error& error) {
                ASSERT_EQ(error.code(), ErrorCode::unsupported) << error.what();
                return;  // loopback carries no device heaps between hosts
            }
            body(job, *fake);
            job.world().barrier();
        });
    }
};

using DeviceLocal = WithGpus;

TEST_P(DeviceLocal, PutsAndGetsOfTheHostHeapTakeMemoryOfAGpu) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        const Hidden memory(gpu);
        const Context& context = job.context();
        constexpr std::size_t most = 700'001;
        auto* x = static_cast<int*>(job.calloc(most, sizeof(int)));
        for (const std::size_t n :
             {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{1000}, most}) {
            const int first = 1000 * job.my_pe() + static_cast<int>(n);
            std::iota(memory.real_ints(), memory.real_ints() + n, first);
            context.put(x, memory.ints(), n, right_of(job));
            job.world().barrier();
            std::vector<int> expected(n);
            std::iota(expected.begin(), expected.end(), 1000 * left_of(job) + static_cast<int>(n));
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), x));
            std::fill_n(memory.real_ints(), n, -1);
            context.get_nbi(memory.ints(), x, n, right_of(job));
            context.quiet();
            std::iota(expected.begin(), expected.end(), first);
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory.real_ints()));
            job.world().barrier();
        }
        job.free(x);
    });
}

TEST_P(DeviceLocal, EachPairOfMemoriesHasOneRoute) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        using core::Access;
        using core::Path;
        const Hidden memory(gpu);
        int on_host = 0;
        auto* x = static_cast<int*>(job.malloc(64));
        auto* y = static_cast<int*>(job.malloc(64, Memory::device));
        const core::ContextState& context = job.context().state();
        for (int pe = 0; pe < job.n_pes(); ++pe) {
            const auto route = [&](const void* symmetric, const void* local) {
                return core::route_of(context, Access::write, symmetric, local, pe);
            };
            const bool is_near = job.context().map().slot(pe).is_near();
            const Path host = is_near ? Path::window : Path::transport;
            EXPECT_EQ(route(x, &on_host).path, host);
            EXPECT_EQ(route(x, nullptr).path, host);
            EXPECT_FALSE(route(x, &on_host).local_on_gpu);
            EXPECT_EQ(route(x, memory.data).path, is_near ? Path::window : Path::staged);
            EXPECT_TRUE(route(x, memory.data).local_on_gpu);
            EXPECT_EQ(route(x, nullptr).there, job.context().ptr(x, pe));
            const bool far = job.state().devices().memory()->far().has(pe);
            for (const void* local :
                 {static_cast<const void*>(&on_host), static_cast<const void*>(memory.data)})
                EXPECT_EQ(route(y, local).path, far ? Path::staged : Path::gpu);
        }
        job.world().barrier();
        job.free(y);
        job.free(x);
    });
}

TEST_P(DeviceLocal, StridedFormsToo) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        const Hidden memory(gpu);
        const Context& context = job.context();
        auto* x = static_cast<int*>(job.calloc(3000, sizeof(int)));
        std::iota(memory.real_ints(), memory.real_ints() + 2000, 5000 * job.my_pe());
        context.iput(x, memory.ints(), 3, 2, 1000, right_of(job));
        job.world().barrier();
        for (int i = 0; i < 3000; ++i) ASSERT_EQ(x[i], i % 3 == 0 ? 5000 * left_of(job) + i / 3 * 2 : 0);
        std::fill_n(memory.real_ints(), 5000, -1);
        context.iget(memory.ints(), x, 5, 3, 1000, right_of(job));
        for (int i = 0; i < 5000; ++i)
            ASSERT_EQ(memory.real_ints()[i], i % 5 == 0 ? 5000 * job.my_pe() + i / 5 * 2 : -1);
        std::vector<int> host(10, job.my_pe());  // the case above with both in host memory
        job.world().barrier();
        context.iput(x, host.data(), 2, 1, 10, right_of(job));
        job.world().barrier();
        for (int i = 0; i < 10; ++i) ASSERT_EQ(x[2 * i], left_of(job));
        job.world().barrier();
        job.free(x);
    });
}

TEST_P(DeviceLocal, PutSignalTakesMemoryOfAGpu) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        const Hidden memory(gpu);
        const Context& context = job.context();
        auto* x = static_cast<int*>(job.calloc(1000, sizeof(int)));
        auto* signal = static_cast<std::uint64_t*>(job.calloc(1, sizeof(std::uint64_t)));
        std::fill_n(memory.real_ints(), 1000, 7 + job.my_pe());
        context.put_signal(x, memory.ints(), 1000, signal, 1, SignalOp::add, right_of(job));
        context.signal_wait_until(signal, Compare::eq, 1);
        EXPECT_EQ(std::count(x, x + 1000, 7 + left_of(job)), 1000);
        job.world().barrier();
        const std::vector<int> host(1000, 50 + job.my_pe());
        context.put_signal(x, host.data(), 1000, signal, 5, SignalOp::set, right_of(job));
        context.signal_wait_until(signal, Compare::eq, 5);
        EXPECT_EQ(std::count(x, x + 1000, 50 + left_of(job)), 1000);
        job.world().barrier();
        job.free(signal);
        job.free(x);
    });
}

/// Most small objects are recognised without a call of the driver.
TEST_P(DeviceLocal, TheStackAndTheHostHeapAreKnown) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer keeps local variables elsewhere";
#endif
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        auto* x = static_cast<int*>(job.calloc(4, sizeof(int)));
        const int values[2] = {1, 2};
        int got[2] = {};
        const int before = gpu.asked();
        job.context().put(x, values, 2, right_of(job));
        job.context().put(x + 2, x + 1, 1, job.my_pe());
        job.context().p(x + 3, 4, right_of(job));
        job.context().get(got, x, 2, job.my_pe());
        EXPECT_EQ(gpu.asked(), before);
        job.world().barrier();
        job.free(x);
    });
}

TEST_P(DeviceLocal, CollectivesTakeItOnEitherSide) {
    if (std::string(GetParam().transport) != "auto") return;  // the fake GPU uses the window
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        const Hidden memory(gpu);
        const Team& world = job.world();
        const auto n = static_cast<std::size_t>(job.n_pes());
        auto* x = static_cast<int*>(job.calloc(n, sizeof(int)));
        *memory.real_ints() = 10 + job.my_pe();
        world.fcollect(std::span(x, n), std::span<const int>(memory.ints(), 1));
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], 10 + static_cast<int>(i));
        std::fill_n(x, n, 0);
        EXPECT_EQ(world.collect(std::span(x, n), std::span<const int>(memory.ints(), 1)), n);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], 10 + static_cast<int>(i));
        const std::span<int> hidden(memory.ints(), n);
        world.sum_inscan(hidden, std::span<const int>(x, n));
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_EQ(memory.real_ints()[i], (job.my_pe() + 1) * (10 + static_cast<int>(i)));
        for (std::size_t i = 0; i < n; ++i) x[i] = 100 * job.my_pe() + static_cast<int>(i);
        world.alltoalls(hidden.data(), x, 1, 1, 1);
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_EQ(memory.real_ints()[i], 100 * static_cast<int>(i) + job.my_pe());
        world.barrier();
        job.free(x);
    });
}

TEST_P(DeviceLocal, MessagesAndMailboxesSayThatTheyNeedTheHosts) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        const Hidden memory(gpu);
        const Team& world = job.world();
        const int right = right_of(job), left = left_of(job);
        Mailbox box(job, 8);
        MessageGroup group(world);
        group.send_bytes(memory.data, sizeof(int), right);
        const auto refused = [](const char* operation, auto&& call) {
            expect_error(ErrorCode::invalid_argument, {operation, "memory of the host"}, call);
        };
        refused("send", [&] { world.send(std::span<const int>(memory.ints(), 1), right); });
        refused("recv", [&] { world.recv(std::span(memory.ints(), 1), left); });
        refused("send", [&] { group.run(); });
        refused("post", [&] { box.post(memory.data, 4, right); });
        refused("receive", [&] { box.receive(memory.data, 4, left); });
        refused("try_receive", [&] { box.try_receive(memory.data, 4, left); });
        const int mine = job.my_pe();
        int theirs = -1;
        box.post(&mine, sizeof mine, right);
        box.receive(&theirs, sizeof theirs, left);
        EXPECT_EQ(theirs, left);
        world.barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(On, DeviceLocal, ::testing::ValuesIn(all_setups()), setup_name);

using Pinned = WithGpus;

TEST_P(Pinned, ChunksOfABlockOnce) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        auto* word = static_cast<std::uint64_t*>(job.calloc(1, 8));
        auto* large = static_cast<char*>(job.malloc(6 * mib));
        const std::size_t before = gpu.shown();
        EXPECT_EQ(job.pin(word, 1), word);
        EXPECT_EQ(gpu.shown(), before + 1);
        job.pin(word, 1);
        job.pin(large, 0);
        EXPECT_EQ(gpu.shown(), before + 1);
        const gpu::PinnedHeap& pinned = job.state().devices().memory()->local().pinned();
        EXPECT_TRUE(pinned.covers(word, 8));
        EXPECT_FALSE(pinned.covers(large, 6 * mib));
        job.pin(large, 6 * mib);
        EXPECT_TRUE(pinned.covers(large, 6 * mib));
        EXPECT_EQ(gpu.shown(), before + 2);
        EXPECT_FALSE(pinned.covers(large + 12 * mib, 1));
        // A host neighbour's put still works.
        job.world().barrier();
        job.context().p(word, std::uint64_t{9}, right_of(job));
        job.context().wait_until(word, Compare::eq, 9);
        job.world().barrier();
        job.free(large);
        job.free(word);
    });
}

/// A driver refuses a copy across the end of pinned memory, and so does the fake.
TEST_P(Pinned, CopiesEndWherePinnedMemoryDoes) {
    run_on_gpus([](Job& job, FakeHeap&) {
        constexpr std::size_t bytes = 9 * mib;
        auto* head = static_cast<char*>(job.malloc(64));
        auto* block = static_cast<char*>(job.malloc(bytes));
        auto* there = static_cast<char*>(job.malloc(bytes, Memory::device));
        job.pin(head, 64);
        job.pin(block + 5 * mib, 1);
        for (std::size_t i = 0; i < bytes; i += 1000)
            std::memset(block + i, static_cast<char>(i / 1000 + 13), std::min(bytes - i, std::size_t{1000}));
        job.context().put(there, block, bytes, job.my_pe());
        const std::vector<char> expected(block, block + bytes);
        std::memset(block, 0, bytes);
        job.context().get(block, there, bytes, job.my_pe());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), block));
        job.world().barrier();
        job.free(there);
        job.free(block);
        job.free(head);
    });
}

/// Otherwise the GPU would keep the old pages mapped after the heap has returned them.
TEST_P(Pinned, FreedMemoryIsLetGoOrKeepsItsPages) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        const std::size_t before = gpu.shown();
        auto* neighbour = static_cast<char*>(job.calloc(1, 64));
        auto* block = static_cast<char*>(job.malloc(8 * mib));
        job.pin(block, 8 * mib);  // and the neighbour in the first chunk
        job.free(block);
        EXPECT_EQ(gpu.shown(), before + 1);
        auto* again = static_cast<char*>(job.malloc(8 * mib));
        ASSERT_EQ(again, block);
        EXPECT_TRUE(job.state().devices().memory()->local().pinned().covers(again, 8 * mib));
        job.free(neighbour);
        job.free(again);
        EXPECT_EQ(gpu.shown(), before);
        again = static_cast<char*>(job.malloc(8 * mib));
        EXPECT_FALSE(job.state().devices().memory()->local().pinned().covers(again, 1));
        job.world().barrier();
        job.free(again);
    });
}

/// Selects the pages that may be returned, in a heap of 32 MiB with blocks at any offset.
TEST(PinnedHeap, FreedPagesAreReturnedExceptChunksInUse) {
    FakeHeap gpu{Faults{}};
    gpu.reserve(1, 0, 0);
    const std::vector<char> memory(32 * mib);
    auto* heap = const_cast<char*>(memory.data());
    gpu::PinnedHeap pinned(gpu, heap, 32 * mib - 4096);
    pinned.pin({5 * mib, 5 * mib + 8});       // 4 to 6 MiB
    pinned.pin({3 * mib, 9 * mib});           // 2 to 4, 6 to 10
    pinned.pin({31 * mib, 32 * mib - 4096});  // to the end of the heap
    EXPECT_EQ(gpu.shown(), 4u);
    EXPECT_TRUE(pinned.covers(heap + 2 * mib, 8 * mib));
    EXPECT_FALSE(pinned.covers(heap + 2 * mib, 8 * mib + 1));
    EXPECT_FALSE(pinned.covers(heap + 2 * mib - 1, 2));
    EXPECT_TRUE(pinned.covers(heap + 31 * mib, mib - 4096));
    EXPECT_EQ(pinned.piece(heap, 32 * mib), 2 * mib);
    EXPECT_EQ(pinned.piece(heap + 3 * mib, 32 * mib), mib);
    EXPECT_EQ(pinned.piece(heap + 10 * mib, 32 * mib), 20 * mib);
    EXPECT_EQ(pinned.piece(heap + 40 * mib, 5), 5u);
    const auto freed = [&](gpu::PinnedHeap::Range range, std::size_t in_use) {
        std::vector<std::size_t> back;
        for (const auto& part : pinned.unpin(range, [&](gpu::PinnedHeap::Range run) {
                 return in_use < run.begin || in_use >= run.end;
             })) {
            back.push_back(part.begin);
            back.push_back(part.end);
        }
        return back;
    };
    using Ends = std::vector<std::size_t>;
    EXPECT_EQ(freed({mib, 5 * mib + mib / 2}, 5 * mib + mib / 2), (Ends{mib, 4 * mib}));
    EXPECT_EQ(gpu.shown(), 3u);
    EXPECT_EQ(freed({4 * mib, 12 * mib}, 9 * mib), (Ends{4 * mib, 6 * mib, 10 * mib, 12 * mib}));
    EXPECT_EQ(freed({7 * mib, 12 * mib}, 0), (Ends{6 * mib, 12 * mib}));
    EXPECT_EQ(gpu.shown(), 1u);
    EXPECT_EQ(freed({31 * mib, 31 * mib + 8}, 0), (Ends{30 * mib, 32 * mib - 4096}));
    EXPECT_EQ(gpu.shown(), 0u);
}

TEST_P(Pinned, FailedPinsReportTheReason) {
    run_on_gpus([](Job& job, FakeHeap& gpu) {
        auto* word = static_cast<std::uint64_t*>(job.calloc(1, 8));
        std::uint64_t local = 0;
        expect_error(ErrorCode::not_symmetric, {"not in the symmetric heap"}, [&] { job.pin(&local, 1); });
        auto* on_gpu = static_cast<std::uint64_t*>(job.malloc(8, Memory::device));
        expect_error(ErrorCode::not_symmetric, {"device heap"}, [&] { job.pin(on_gpu, 1); });
        if (job.n_pes() > 1)
            if (auto* theirs = job.context().ptr(word, right_of(job)))
                expect_error(ErrorCode::not_symmetric, {"seen through the window"},
                             [&] { job.pin(theirs, 1); });
        gpu.faults().cannot_pin = true;
        expect_error(ErrorCode::system, {"no pinning in this test"}, [&] { job.pin(word, 1); });
        gpu.faults().cannot_pin = false;
        gpu.faults().shows_elsewhere = true;
        const std::size_t before = gpu.shown();
        expect_error(ErrorCode::unsupported, {"maps pinned host memory at other addresses"},
                     [&] { job.pin(word, 1); });
        EXPECT_EQ(gpu.shown(), before);
        gpu.faults().shows_elsewhere = false;
        job.pin(word, 1);
        job.world().barrier();
        job.free(on_gpu);
        job.free(word);
        expect_error(ErrorCode::use_after_free, {"freed"}, [&] { job.pin(word, 1); });
    });
}

TEST_P(Pinned, StreamsTakePinnedWordsAndRefuseOthers) {
    if (std::string(GetParam().transport) != "auto") return;  // the fake GPU uses the window
    run_on_gpus([](Job& job, FakeHeap&) {
        auto* word = static_cast<std::uint64_t*>(job.calloc(1, 8));
        auto* there = static_cast<std::uint64_t*>(job.calloc(1, 8, Memory::device));
        const StreamContext on(job.context(), {});
        for (const auto call : {0, 1, 2, 3})
            expect_error(ErrorCode::invalid_argument, {"not pinned", "Job::pin"}, [&] {
                if (call == 0) on.signal_wait_until(word, Compare::ge, 1);
                if (call == 1) on.put(there, word, 1, right_of(job));
                if (call == 2) on.get(word, there, 1, right_of(job));
                if (call == 3) on.iput(there, word, 1, 1, 1, right_of(job));
            });
        job.pin(word, 1);
        on.signal_wait_until(word, Compare::ge, 0);
        on.put(there, word, 1, right_of(job));
        expect_error(ErrorCode::unsupported, {"signal_consume", "host heap"},
                     [&] { on.signal_consume(word, 1); });
        job.world().barrier();
        job.free(there);
        job.free(word);
    });
}

INSTANTIATE_TEST_SUITE_P(On, Pinned, ::testing::ValuesIn(all_setups()), setup_name);

class PinnedNowhere : public WithPes {};
TEST_P(PinnedNowhere, WithoutAGpuIsAnError) {
    run([](Job& job) {
        auto* word = static_cast<std::uint64_t*>(job.calloc(1, 8));
        expect_error(ErrorCode::not_initialized, {"Memory::device"}, [&] { job.pin(word, 1); });
        job.free(word);
    });
}
INSTANTIATE_TEST_SUITE_P(On, PinnedNowhere, ::testing::Values(Setup{2, "auto"}), setup_name);

}  // namespace
}  // namespace atl::testing
