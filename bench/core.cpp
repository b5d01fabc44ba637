// Measures single operations at the job's number of PEs: every row of the comparison with peers (compare.py),
// and the program behind `atoll bench`. Usage: [--quick] [--json FILE] [NAMES...]; a name may be the
// beginning of rows' names.
#include <atoll/atoll.hpp>

#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "harness.h"

namespace {

constexpr long kib = 1024, mib = 1024 * kib;

atl::Job* job;
Bench bench;

template <class Run> BenchOperation erased(Run&) {
    return [](void* run, long repeats) { (*static_cast<Run*>(run))(repeats); };
}

/// Measures `run(repeats)` on all PEs. `least` is as in bench_calibrate; a repeat has `parts` operations.
template <class Run> void row(const char* name, long bytes, Run run, long least = 1, double parts = 1) {
    bench_measure(&bench, name, bytes, erased(run), &run, least, parts);
}

/// Measures two forms of an operation, in alternating batches.
template <class A, class B>
void rows(const char* name_a, A a, const char* name_b, B b, long bytes, double parts = 1) {
    if (!bench_wanted(&bench, name_a)) return;
    const char* const names[] = {name_a, name_b};
    const BenchOperation operations[] = {erased(a), erased(b)};
    void* const arguments[] = {&a, &b};
    bench_measure_in_turn(&bench, 2, names, bytes, operations, arguments, 1, parts);
}

[[noreturn]] void wrong(const char* what) {
    job->global_exit(1, std::string(what) + " gave a wrong result, so its time means nothing");
}

/// Forces the compiler to compute the value.
template <class T> void keep(const T& value) { asm volatile("" ::"g"(value) : "memory"); }

void one_sided(const atl::Context& ctx, bool mine) {
    atl::SymmetricArray<std::int64_t> x(*job, 16);
    const std::int64_t value = 1;
    std::int64_t fetched = 0;
    // PE 1 waits in the barrier that ends the batch.
    row("put_quiet", 8, [&](long repeats) {
        for (long i = 0; mine && i < repeats; ++i) {
            ctx.put(&x[0], &value, 1, 1);
            ctx.quiet();
        }
    });
    row("free_put_quiet", 8, [&](long repeats) {
        for (long i = 0; mine && i < repeats; ++i) {
            atoll::put(&x[0], &value, std::size_t{1}, 1);
            atoll::quiet();
        }
    });
    row("p", 8, [&](long repeats) {
        for (long i = 0; mine && i < repeats; ++i) ctx.p(&x[0], std::int64_t{i}, 1);
        ctx.quiet();
    });
    row("get", 8, [&](long repeats) {
        for (long i = 0; mine && i < repeats; ++i) {
            ctx.get(&fetched, &x[0], 1, 1);
            keep(fetched);
        }
    });
    row("atomic_fetch_add", 8, [&](long repeats) {
        for (long i = 0; mine && i < repeats; ++i) keep(ctx.atomic_fetch_add(&x[0], 1, 1));
    });
}

/// The library's flag, and one of bare loads and stores, which is the limit of this machine.
void flag_one_way(const atl::Context& ctx) {
    atl::SymmetricArray<std::int64_t> flag(*job, 16);
    std::int64_t round = 0;
    const int me = ctx.my_pe(), peer = 1 - me;
    std::int64_t* there = ctx.ptr(&flag[8], peer);
    const auto library = [&](long repeats) {
        for (long i = 0; i < repeats; ++i) {
            ++round;
            if (me == 0) ctx.p(&flag[0], round, peer);
            ctx.wait_until(&flag[0], atl::Compare::eq, round);
            if (me == 1) ctx.p(&flag[0], round, peer);
        }
    };
    const auto bare = [&](long repeats) {
        for (long i = 0; i < repeats; ++i) {
            ++round;
            if (me == 0) __atomic_store_n(there, round, __ATOMIC_RELEASE);
            while (__atomic_load_n(&flag[8], __ATOMIC_ACQUIRE) != round) {
            }
            if (me == 1) __atomic_store_n(there, round, __ATOMIC_RELEASE);
        }
    };
    rows("flag_one_way", library, "bare_flag_one_way", bare, 8, 2);
}

void synchronisation(const atl::Team& world) {
    row("barrier_all", 0, [&](long repeats) {
        for (long i = 0; i < repeats; ++i) world.barrier();
    });
    row("sync_all", 0, [&](long repeats) {
        for (long i = 0; i < repeats; ++i) world.sync();
    });
}

/// Two PEs on one core of several: where the system has put them by itself, every wait needs a turn of it.
void shared_core(const atl::Team& world) {
    cpu_set_t before, one;
    CPU_ZERO(&before);
    CPU_ZERO(&one);
    if (!bench_wanted(&bench, "shared_core") || ::sched_getaffinity(0, sizeof before, &before) != 0) return;
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    row("shared_core_barrier", 0, [&](long repeats) {
        for (long i = 0; i < repeats; ++i) world.barrier();
    });
    ::sched_setaffinity(0, sizeof before, &before);
}

/// Roots alternate, so each call waits for the one before it: the time is a latency, not a rate. PEs may be
/// up to n calls apart, hence the ring of targets.
void small_collectives(const atl::Team& world) {
    constexpr std::int64_t ring = 128;
    atl::SymmetricArray<std::int64_t> src(*job, ring), dst(*job, ring);
    const int me = world.my_pe(), n = world.n_pes();
    std::int64_t round = 0;
    const auto one = [](auto& array, std::int64_t at = 0) {
        return array.span().subspan(static_cast<std::size_t>(at), 1);
    };
    row(
        "broadcast", 8,
        [&](long repeats) {
            for (long i = 0; i < repeats; ++i) {
                const int root = static_cast<int>(++round % n);
                const std::int64_t turn = round % ring;
                if (me == root) src[static_cast<std::size_t>(turn)] = round;
                world.broadcast(one(dst, turn), one(src, turn), root);
                if (dst[static_cast<std::size_t>(turn)] != round) wrong("broadcast");
            }
        },
        n);
    row("sum_reduce", 8, [&](long repeats) {
        for (long i = 0; i < repeats; ++i) {
            src[0] = ++round;
            world.sum_reduce(one(dst), one(src));
            if (dst[0] != n * round) wrong("sum_reduce");
        }
    });
}

struct Large {
    const atl::Team& world;
    atl::SymmetricArray<std::int64_t> src, dst;

    static void write(void* self, long index) {
        auto& l = *static_cast<Large*>(self);
        for (std::size_t i = 0; i < l.src.size(); ++i) l.src[i] = index + static_cast<std::int64_t>(i);
        // Reads the result of the last call, as a program would.
        std::int64_t sum = 0;
        for (const std::int64_t& value : l.dst) sum += value;
        keep(sum);
    }
    static void broadcast(void* self, long index) {
        auto& l = *static_cast<Large*>(self);
        const int root = static_cast<int>(index % l.world.n_pes());
        // In place at the root: the peer's form does not write the root's target either.
        auto& dst = l.world.my_pe() == root ? l.src : l.dst;
        l.world.broadcast(dst.span(), l.src.span(), root);
        if (dst[7] != index + 7) wrong("broadcast");
    }
    static void sum_reduce(void* self, long index) {
        auto& l = *static_cast<Large*>(self);
        l.world.sum_reduce(l.dst.span(), l.src.span());
        if (l.dst[7] != l.world.n_pes() * (index + 7)) wrong("sum_reduce");
    }
};

void large_collectives(const atl::Team& world) {
    Large large{world, {*job, mib / 8}, {*job, mib / 8}};
    bench_measure_calls(&bench, "broadcast", mib, Large::write, Large::broadcast, &large);
    bench_measure_calls(&bench, "sum_reduce", mib, Large::write, Large::sum_reduce, &large);
}

void bandwidth(const atl::Context& ctx, bool mine) {
    const long most = bench.quick ? 4 * mib : 64 * mib;
    atl::SymmetricArray<char> dst(*job, static_cast<std::size_t>(most)),
        src(*job, static_cast<std::size_t>(most));
    std::memset(dst.data(), 1, dst.size());
    std::memset(src.data(), 2, src.size());
    char* there = ctx.ptr(dst.data(), 1);
    for (long bytes = 64 * kib; bytes <= most; bytes *= 4) {
        const auto size = static_cast<std::size_t>(bytes);
        rows(
            "put_bandwidth",
            [&](long repeats) {
                for (long i = 0; mine && i < repeats; ++i) ctx.put(dst.data(), src.data(), size, 1);
            },
            "memcpy",
            [&](long repeats) {
                for (long i = 0; mine && i < repeats; ++i) {
                    std::memcpy(there, src.data(), size);
                    keep(there);
                }
            },
            bytes);
    }
}

/// Sends data and a flag to PE 1, which reads the data and answers.
void signalled(const atl::Context& ctx) {
    const long most = bench.quick ? mib : 4 * mib;
    atl::SymmetricArray<std::uint64_t> dst(*job, static_cast<std::size_t>(most / 8)), src(*job, dst.size());
    atl::SymmetricArray<std::uint64_t> flag(*job, 8), answer(*job, 8);
    std::memset(dst.data(), 1, dst.size() * 8);
    std::memset(src.data(), 2, src.size() * 8);
    std::uint64_t round = 0;
    std::uint64_t* there = ctx.ptr(dst.data(), 1);
    std::uint64_t* flag_there = ctx.ptr(flag.data(), 1);
    const auto exchange = [&](long repeats, std::size_t count, auto send) {
        for (long i = 0; i < repeats; ++i) {
            ++round;
            if (ctx.my_pe() == 0) {
                send(count);
                ctx.signal_wait_until(&answer[0], atl::Compare::eq, round);
            } else {
                ctx.signal_wait_until(&flag[0], atl::Compare::eq, round);
                std::uint64_t sum = 0;
                for (std::size_t k = 0; k < count; ++k) sum += dst[k];
                keep(sum);
                ctx.p(&answer[0], round, 0);
            }
        }
    };
    const auto put_signal = [&](std::size_t count) {
        ctx.put_signal(dst.data(), src.data(), count, &flag[0], round, atl::SignalOp::set, 1);
    };
    const auto memcpy_flag = [&](std::size_t count) {
        std::memcpy(there, src.data(), count * 8);
        __atomic_store_n(flag_there, round, __ATOMIC_RELEASE);
    };
    for (long bytes = 64 * kib; bytes <= most; bytes *= 4) {
        const auto count = static_cast<std::size_t>(bytes / 8);
        rows(
            "put_signal_read", [&](long repeats) { exchange(repeats, count, put_signal); },
            "memcpy_flag_read", [&](long repeats) { exchange(repeats, count, memcpy_flag); }, bytes);
    }
}

/// The loop with which Python's add_at is compared: a million atomic additions at random elements; the time
/// is for one element.
void add_at_loop(const atl::Context& ctx, bool mine) {
    constexpr std::size_t count = 1'000'000;
    atl::SymmetricArray<std::int64_t> table(*job, count);
    std::vector<std::int64_t> index(count), values(count, 1);
    std::mt19937_64 random(1);
    for (auto& i : index) i = static_cast<std::int64_t>(random() % count);
    row(
        "add_at", 8,
        [&](long repeats) {
            for (long r = 0; mine && r < repeats; ++r)
                for (std::size_t i = 0; i < count; ++i)
                    ctx.atomic_add(&table[static_cast<std::size_t>(index[i])], values[i], 1);
        },
        1, count);
}

}  // namespace

int main(int argc, char** argv) {
    job = &atoll::init();
    {
        atl::SymmetricArray<double> scratch(*job, 2 * bench_most_calls + 8);
        bench.side = "atoll";
        bench.my_pe = job->my_pe();
        bench.n_pes = job->n_pes();
        bench.stamps = &scratch[8];
        bench.word = &scratch[0];
        bench.barrier = [] { job->world().barrier(); };
        bench.store = [](double* word, double value, int pe) { job->context().p(word, value, pe); };
        bench.load = [](double* local, const double* there, long count, int pe) {
            job->context().get(local, there, static_cast<std::size_t>(count), pe);
        };
        bench_options(&bench, argc, argv);
        bench_memory(&bench);

        const atl::Context& ctx = job->context();
        const atl::Team& world = job->world();
        const bool mine = bench.my_pe == 0;
        synchronisation(world);
        if (bench.n_pes > 1) small_collectives(world);
        if (bench.n_pes == 2) {
            one_sided(ctx, mine);
            flag_one_way(ctx);
            large_collectives(world);
            bandwidth(ctx, mine);
            signalled(ctx);
            shared_core(world);
            add_at_loop(ctx, mine);
        }
    }
    atoll::finalize();
    if (bench.my_pe != 0 || bench.n_only == 0 || bench.n_rows > 0) return 0;
    std::fprintf(stderr, "No benchmark of %d PEs has a name that begins with %s; without names all run.\n",
                 bench.n_pes, bench.only[0]);
    return 2;
}
