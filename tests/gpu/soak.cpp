// Random operations with known results, for ATOLL_TEST_SOAK_SECONDS (3 by default). They run on streams, in
// graphs and from the host, small and large, on several teams, while blocks are allocated and freed. All PEs
// draw the same numbers.
#include "gpu/streams.hpp"
#include "support/multi_main.hpp"

#include <chrono>
#include <cstdlib>

namespace atl::testing {
namespace {

double soak_seconds() {
    const char* text = std::getenv("ATOLL_TEST_SOAK_SECONDS");
    return text ? std::atof(text) : 3;
}

class Soak : public OnStream {
  protected:
    static constexpr std::size_t most = 600000;  // elements of an array
    std::size_t any_size() {
        const std::size_t limits[] = {1, 2, 8, 100, 5000, 70000, most};
        return 1 + below(random_, limits[below(random_, std::size(limits))]);
    }
    int input(int pe, std::size_t i) const { return static_cast<int>(i % 1000) + 1000 * pe + round_; }
    std::vector<int> inputs(int pe, std::size_t n) const {
        std::vector<int> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = input(pe, i);
        return v;
    }
    /// `x` has this PE's inputs on every PE.
    void fresh(std::size_t n) {
        set(x_, inputs(job_.my_pe(), n));
        job_.world().barrier();
    }
    void expect(const int* at, const std::vector<int>& wanted, const char* what) {
        ASSERT_TRUE(values(at, wanted.size()) == wanted)
            << what << ", round " << round_ << ", " << wanted.size();
    }

    void reduce(bool host) {
        const std::size_t n = any_size();
        fresh(n);
        const Team& team = teams_[below(random_, teams_.size())];
        std::vector<int> sum(n);
        for (int i = 0; i < team.n_pes(); ++i) {
            const std::vector<int> theirs = inputs(team.world_pe(i), n);
            for (std::size_t k = 0; k < n; ++k) sum[k] += theirs[k];
        }
        const std::span<const int> in(x_, n);
        if (host) {
            team.sum_reduce(std::span(y_, n), in);
        } else {
            StreamTeam(team, {stream_}).sum_reduce(std::span(y_, n), in);
            finish();
        }
        expect(y_, sum, host ? "reduce of the host" : "reduce on a stream");
    }
    void exchange(bool host) {
        const auto pes = static_cast<std::size_t>(job_.n_pes());
        const std::size_t n = any_size() / pes + 1;
        fresh(n * pes);
        const std::span<const int> in(x_, n * pes);
        if (host) {
            job_.world().alltoall(std::span(y_, n * pes), in);
        } else {
            team_on_stream().alltoall(std::span(y_, n * pes), in);
            finish();
        }
        for (int pe = 0; pe < job_.n_pes(); ++pe) {
            std::vector<int> part(n);
            for (std::size_t i = 0; i < n; ++i)
                part[i] = input(pe, static_cast<std::size_t>(job_.my_pe()) * n + i);
            expect(y_ + static_cast<std::size_t>(pe) * n, part, "alltoall");
        }
    }
    /// Collectives with ordinary memory, at different addresses on different PEs.
    void mixed() {
        const std::size_t n = any_size() / 8 + 1;
        const int root = static_cast<int>(below(random_, static_cast<std::size_t>(job_.n_pes())));
        std::vector<int> ordinary = inputs(job_.my_pe(), n);
        job_.world().broadcast(std::span(y_ + job_.my_pe(), n), std::span<const int>(ordinary), root);
        expect(y_ + job_.my_pe(), inputs(root, n), "broadcast of ordinary memory");
    }
    void messages() {
        const std::size_t n = any_size();
        fresh(n);
        StreamMessageGroup group(job_.world(), {stream_});
        group.send_bytes(x_, n * sizeof(int), right_of(job_));
        group.recv_bytes(y_, n * sizeof(int), left_of(job_));
        group.run();
        finish();
        expect(y_, inputs(left_of(job_), n), "message");
    }
    void signals() {
        const std::size_t n = any_size();
        fresh(n);
        const StreamContext stream = on_stream();
        stream.put_signal(y_, x_, n, signal_, 1, SignalOp::add, right_of(job_));
        stream.signal_consume(signal_, 1);
        finish();
        expect(y_, inputs(left_of(job_), n), "put with signal");
    }
    void puts_of_host() {
        const std::size_t n = any_size();
        const std::vector<int> mine = inputs(job_.my_pe(), n);
        context_.put(y_, mine.data(), n, right_of(job_));
        job_.world().barrier();
        expect(y_, inputs(left_of(job_), n), "put of the host");
        std::vector<int> got(n);
        context_.get(got.data(), y_, n, left_of(job_));
        ASSERT_TRUE(got == inputs(left_of(job_) == 0 ? job_.n_pes() - 1 : left_of(job_) - 1, n));
    }
    void atomics() {
        const std::uint64_t before = context_.atomic_fetch(count_, 0);
        job_.world().barrier();
        for (int i = 0; i < 10; ++i) on_stream().atomic_inc(count_, 0);
        finish();
        job_.world().barrier();
        ASSERT_EQ(context_.atomic_fetch(count_, 0), before + static_cast<std::uint64_t>(10 * job_.n_pes()));
    }
    /// Allocates and frees blocks while the stream moves data without a wait.
    void growth() {
        fresh(most);
        for (int i = 0; i < 20; ++i) on_stream().put(y_, x_, most, right_of(job_));
        const std::size_t bytes = (1 + below(random_, 40)) << 20;
        if (blocks_.size() > 5) {
            job_.free(blocks_.front());
            blocks_.erase(blocks_.begin());
        }
        blocks_.push_back(job_.malloc(bytes, Memory::device));
        finish();
        job_.world().barrier();
        expect(y_, inputs(left_of(job_), most), "put during growth");
    }
    void graphs() {
        const std::uint64_t before = values(count_ + 1, 1)[0];
        job_.world().barrier();
        const StreamContext stream = on_stream();
        const StreamTeam team = team_on_stream();
        const int replays_now = replays() / 20;
        {
            Graph graph(stream_, [&] {
                stream.atomic_inc(count_ + 1, right_of(job_));
                team.sync();
                stream.signal_add(signal_, 1, left_of(job_));
                stream.signal_consume(signal_, 1);
            });
            for (int i = 0; i < replays_now; ++i) graph.launch();
            finish();
        }
        job_.world().barrier();
        ASSERT_EQ(values(count_ + 1, 1)[0], before + static_cast<std::uint64_t>(replays_now));
    }
    void one_round() {
        switch (below(random_, 11)) {
            case 0:
            case 1:
                return reduce(false);
            case 2:
                return reduce(true);
            case 3:
                return exchange(false);
            case 4:
                return exchange(true);
            case 5:
                return mixed();
            case 6:
                return messages();
            case 7:
                return signals();
            case 8:
                return puts_of_host();
            case 9:
                return below(random_, 10) == 0 ? growth() : atomics();
            default:
                return graphs();
        }
    }

    std::mt19937 random_ = random_numbers(11);
    int round_ = 0;
    int* x_ = nullptr;
    int* y_ = nullptr;
    std::uint64_t* signal_ = nullptr;
    std::uint64_t* count_ = nullptr;
    std::vector<Team> teams_;
    std::vector<void*> blocks_;
};

TEST_F(Soak, RandomOperations) {
    x_ = zeros<int>(most + 64);
    y_ = zeros<int>(most + 64);
    signal_ = zeros<std::uint64_t>(1);
    count_ = zeros<std::uint64_t>(2);
    teams_ = {job_.world(), job_.world().split(0, -job_.my_pe()), job_.world().split(job_.my_pe() % 2)};
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(soak_seconds());
    for (bool goes_on = true; goes_on;) {
        for (int i = 0; i < 20; ++i, ++round_) {
            one_round();
            if (HasFatalFailure())
                throw std::runtime_error("a value was wrong; the others would wait for this PE");
            job_.world().barrier();
        }
        std::vector<int> more{std::chrono::steady_clock::now() < end}, first{0};
        job_.world().broadcast(first, std::span<const int>(more), 0);
        goes_on = first[0] != 0;
    }
    if (job_.my_pe() == 0) std::printf("%d rounds in %.0f s\n", round_, soak_seconds());
    job_.world().barrier();
    teams_[2].destroy();
    teams_[1].destroy();
    teams_.clear();
    job_.reset_device_heap();
}

}  // namespace
}  // namespace atl::testing
