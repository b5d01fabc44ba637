// Random operations for ATOLL_TEST_SOAK_SECONDS, checked against a model. All PEs draw the same numbers. Each
// therefore knows every PE's operations, and the value of every byte of every PE's memory after the next
// barrier. A failure names the step and the seed; ATOLL_TEST_SOAK_SEED repeats it.
#include "atoll/atoll.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Soak {
  public:
    Soak(atl::Job& job, std::uint64_t seed)
        : job_(job),
          me_(job.my_pe()),
          n_(job.n_pes()),
          random_(seed),
          counters_(job, counter_count),
          signal_(job, 1),
          lock_(job),
          guarded_(job, 1),
          box_(job, 300, 3),
          counts_(static_cast<std::size_t>(n_) * counter_count) {}

    void step() {
        ++steps_;
        switch (below(12)) {
            case 0:
                return allocate();
            case 1:
                return release();
            case 2:
                return reallocate();
            case 3:
                return change_teams();
            case 4:
                return send_messages();
            case 5:
                return post_around();
            case 6:
                return take_turns();
            case 7:
                return collectives();
            case 8:
                return add_to_counters();
            default:
                return move_bytes();
        }
    }
    void check_everything() {
        job_.world().barrier();
        for (const Block& block : blocks_)
            expect(
                std::memcmp(block.data, block.model[index(me_)].data(), block.model[index(me_)].size()) == 0,
                "memory differs from the model");
        for (std::size_t k = 0; k < counter_count; ++k)
            expect(job_.context().atomic_fetch(&counters_[k], me_) == count(me_, k),
                   "a counter differs from the model");
        job_.world().sync();
    }
    long steps() const { return steps_; }
    bool agree_to_stop(bool stop) {
        long mine = me_ == 0 && stop ? 1 : 0, all = 0;
        job_.world().sum_reduce(std::span(&all, 1), std::span<const long>(&mine, 1));
        return all != 0;
    }

  private:
    static constexpr std::size_t counter_count = 8;
    struct Block {
        unsigned char* data;
        std::uint64_t serial;
        std::vector<Bytes> model;  ///< bytes of every PE
    };

    static std::size_t index(int pe) { return static_cast<std::size_t>(pe); }
    std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
    int any_pe() { return static_cast<int>(below(index(n_))); }
    long& count(int pe, std::size_t k) { return counts_[index(pe) * counter_count + k]; }
    /// Mostly small, sometimes large: the thresholds of the library lie in between.
    std::size_t any_size() {
        switch (below(8)) {
            case 0:
                return below(2'000'000);
            case 1:
                return below(100'000);
            case 2:
                return below(9);
            default:
                return below(3000);
        }
    }
    Bytes noise(std::size_t bytes) {
        Bytes data(bytes);
        std::minstd_rand fast(static_cast<unsigned>(random_() | 1));
        for (auto& byte : data) byte = static_cast<unsigned char>(fast() >> 7);
        return data;
    }
    static void expect(bool right, const char* what) {
        if (!right) throw std::runtime_error(what);
    }

    // ---- memory
    void fill(Block& block, std::size_t from, std::size_t bytes) {
        for (int pe = 0; pe < n_; ++pe) {
            const Bytes data = noise(bytes);
            block.model[index(pe)].resize(from + bytes);
            std::copy(data.begin(), data.end(),
                      block.model[index(pe)].begin() + static_cast<std::ptrdiff_t>(from));
            if (pe == me_) std::copy(data.begin(), data.end(), block.data + from);
        }
    }
    void allocate() {
        if (blocks_.size() > 12) return release();
        const std::size_t bytes = 1 + any_size();
        const auto memory = job_.allocate(bytes, std::size_t{1} << below(14));
        blocks_.push_back(
            {static_cast<unsigned char*>(memory.address), memory.serial, std::vector<Bytes>(index(n_))});
        fill(blocks_.back(), 0, bytes);
        job_.world().sync();
    }
    void release() {
        if (blocks_.empty()) return allocate();
        const std::size_t k = below(blocks_.size());
        if (below(2) == 0)
            job_.free(blocks_[k].data);
        else
            job_.drop(blocks_[k].serial);
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    void reallocate() {
        if (blocks_.empty()) return allocate();
        Block& block = blocks_[below(blocks_.size())];
        job_.world().barrier();
        const std::size_t before = block.model[0].size(), after = 1 + any_size();
        block.data = static_cast<unsigned char*>(job_.realloc(block.data, after));
        for (Bytes& model : block.model) model.resize(std::min(before, after));
        expect(std::memcmp(block.data, block.model[index(me_)].data(), std::min(before, after)) == 0,
               "realloc lost contents");
        if (after > before) fill(block, before, after - before);
        job_.world().sync();
    }

    // ---- one-sided
    //
    /// Every PE writes only its own part of a block, on any PE, so the order between PEs does not matter. Its
    /// own writes are fenced.
    void move_bytes() {
        if (blocks_.empty()) return allocate();
        Block& block = blocks_[below(blocks_.size())];
        const std::size_t part = block.model[0].size() / index(n_);
        if (part == 0) return;
        job_.world().sync();
        const atl::Context context = below(2) == 0 ? job_.context() : job_.create_context();
        for (std::size_t i = below(20); i-- > 0;) {
            const int actor = any_pe(), target = any_pe();
            const std::size_t from = below(part), bytes = below(part - from) + 1;
            put_one(block, context, actor, target, index(actor) * part + from, bytes);
        }
        context.quiet();
        check_everything();
        const int source = any_pe();
        const std::size_t from = below(block.model[0].size()),
                          bytes = below(block.model[0].size() - from) + 1;
        Bytes got(bytes);
        context.get(got.data(), block.data + from, bytes, source);
        expect(std::memcmp(got.data(), block.model[index(source)].data() + from, bytes) == 0,
               "get brought something else");
        job_.world().sync();
    }
    void put_one(Block& block, const atl::Context& context, int actor, int target, std::size_t at,
                 std::size_t bytes) {
        const Bytes data = noise(bytes);
        const std::size_t kind = below(4), stride = 1 + below(5);
        Bytes& model = block.model[index(target)];
        if (kind == 1) {
            const std::size_t elements = (bytes + stride - 1) / stride;
            for (std::size_t i = 0; i < elements; ++i) model[at + i * stride] = data[i];
            if (actor == me_)
                context.iput(block.data + at, data.data(), static_cast<std::ptrdiff_t>(stride), 1, elements,
                             target);
        } else {
            std::copy(data.begin(), data.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
            if (actor == me_ && kind == 2) {
                context.put_signal(block.data + at, data.data(), bytes, signal_.data(), 1, atl::SignalOp::add,
                                   target);
            } else if (actor == me_ && kind == 3) {
                context.put_nbi(block.data + at, data.data(), bytes, target);
                context.quiet();
            } else if (actor == me_) {
                context.put(block.data + at, data.data(), bytes, target);
            }
        }
        if (actor == me_) context.fence();
    }
    void add_to_counters() {
        for (std::size_t i = below(200); i-- > 0;) {
            const int actor = any_pe(), target = any_pe();
            const std::size_t k = below(counter_count);
            const long value = static_cast<long>(below(1000)) - 500;
            count(target, k) += value;
            if (actor != me_) continue;
            if (value % 2)
                job_.context().atomic_add(&counters_[k], value, target);
            else
                job_.context().atomic_fetch_add(&counters_[k], value, target);
        }
    }

    // ---- objects
    void change_teams() {
        if (teams_.size() > 10 || (!teams_.empty() && below(3) == 0)) {
            const std::size_t k = below(teams_.size());
            if (teams_[k]) teams_[k].destroy();
            teams_.erase(teams_.begin() + static_cast<std::ptrdiff_t>(k));
            return;
        }
        int color = 0, key = 0;
        std::vector<int> colors;
        for (int pe = 0; pe < n_; ++pe) {
            colors.push_back(static_cast<int>(below(3)) - 1);
            const int some = static_cast<int>(below(100));
            if (pe == me_) color = colors.back(), key = some;
        }
        teams_.push_back(job_.world().split(color, key));
        expect(static_cast<bool>(teams_.back()) == (color >= 0), "membership is not as asked for");
        if (!teams_.back()) return;
        expect(teams_.back().n_pes() == std::count(colors.begin(), colors.end(), color),
               "a team has another size");
        teams_.back().barrier();
    }
    void send_messages() {
        atl::MessageGroup group(job_.world());
        std::vector<Bytes> out, in, expected;
        const std::size_t messages = below(12);
        out.reserve(messages), in.reserve(messages), expected.reserve(messages);
        for (std::size_t i = 0; i < messages; ++i) {
            const int from = any_pe(), to = any_pe();
            const Bytes data = noise(any_size() / 4);
            if (from == me_) {
                out.push_back(data);
                group.send_bytes(out.back().data(), data.size(), to);
            }
            if (to == me_) {
                expected.push_back(data);
                in.emplace_back(data.size());
                group.recv_bytes(in.back().data(), data.size(), from);
            }
        }
        group.run();
        expect(in == expected, "a message differs");
    }
    void post_around() {
        const int shift = any_pe();
        for (std::size_t i = below(20); i-- > 0;) {
            const Bytes data = noise(below(301));
            Bytes got(300);
            box_.post(data.data(), data.size(), (me_ + shift) % n_);
            got.resize(box_.receive(got.data(), got.size(), (me_ + n_ - shift) % n_));
            expect(got == data, "a mailbox brought something else");
        }
    }
    void take_turns() {
        const long rounds = static_cast<long>(below(20));
        for (long i = 0; i < rounds; ++i) {
            lock_.lock();
            job_.context().p(guarded_.data(), job_.context().g(guarded_.data(), 0) + 1, 0);
            lock_.unlock();
        }
        turns_ += rounds * n_;
        job_.world().barrier();
        expect(job_.context().g(guarded_.data(), 0) == turns_, "two PEs held the lock at once");
        job_.world().sync();
    }
    void collectives() {
        const std::size_t count = below(2) ? 1 + below(100) : 1 + any_size() / 8;
        std::vector<long> mine(count), sum(count), copy(count);
        std::iota(mine.begin(), mine.end(), 3 * me_);
        job_.world().sum_reduce(std::span(sum), std::span<const long>(mine));
        const int root = any_pe();
        job_.world().broadcast(std::span(copy), std::span<const long>(mine), root);
        for (std::size_t i = 0; i < count; ++i) {
            const long at = static_cast<long>(i);
            expect(sum[i] == n_ * at + 3L * n_ * (n_ - 1) / 2, "a sum is wrong");
            expect(copy[i] == 3L * root + at, "a broadcast is wrong");
        }
    }

    atl::Job& job_;
    int me_, n_;
    std::mt19937_64 random_;
    std::vector<Block> blocks_;
    std::vector<atl::Team> teams_;
    atl::SymmetricArray<long> counters_;
    atl::SymmetricArray<std::uint64_t> signal_;
    atl::Lock lock_;
    atl::SymmetricArray<long> guarded_;
    atl::Mailbox box_;
    std::vector<long> counts_;
    long turns_ = 0;
    long steps_ = 0;
};

}  // namespace

int main() {
    atl::Job& job = atl::init();
    const auto started = std::chrono::steady_clock::now();
    const auto seconds = std::chrono::seconds(environment("ATOLL_TEST_SOAK_SECONDS", 60));
    std::uint64_t seed =
        environment("ATOLL_TEST_SOAK_SEED", static_cast<std::uint64_t>(started.time_since_epoch().count()));
    job.world().broadcast(std::span(&seed, 1), std::span<const std::uint64_t>(&seed, 1), 0);
    if (job.my_pe() == 0)
        std::printf("soak: seed %llu\n", static_cast<unsigned long long>(seed)), std::fflush(stdout);
    Soak soak(job, seed);
    try {
        do {
            for (int i = 0; i < 50; ++i) soak.step();
            soak.check_everything();
        } while (!soak.agree_to_stop(std::chrono::steady_clock::now() - started > seconds));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "PE %d, step %ld of seed %llu: %s\n", job.my_pe(), soak.steps(),
                     static_cast<unsigned long long>(seed), error.what());
        return 1;
    }
    if (job.my_pe() == 0) std::printf("soak: %ld steps\n", soak.steps());
    atl::finalize();
    return 0;
}
