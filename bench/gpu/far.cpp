// Operations of the host and of a stream on the device heap of a PE that only a transport reaches. Two PEs
// simulate two hosts (ATOLL_HOST_ID=a,b), or use ATOLL_TRANSPORT=ucx. PE 0 prints one line of JSON a row.
#include "atoll/atoll.hpp"
#include "atoll/stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

constexpr std::size_t most = std::size_t{64} << 20;
constexpr int batches = 11;

double seconds(const std::function<void()>& call, int repeats) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> batches_us(const std::function<void()>& call, int repeats) {
    std::vector<double> us;
    for (int i = 0; i < batches; ++i) us.push_back(seconds(call, repeats) / repeats * 1e6);
    std::sort(us.begin(), us.end());
    return us;
}

void print_row(const char* operation, std::size_t bytes, const std::vector<double>& us) {
    std::printf(
        "{\"side\": \"atoll\", \"op\": \"%s\", \"bytes\": %zu, \"pes\": 2, \"median_us\": %.3f, \"p10_us\": "
        "%.3f, "
        "\"p90_us\": %.3f, \"gb_per_s\": %.2f}\n",
        operation, bytes, us[batches / 2], us[batches / 10], us[batches - 1 - batches / 10],
        static_cast<double>(bytes) / us[batches / 2] * 1e-3);
    std::fflush(stdout);
}

void row(const char* operation, std::size_t bytes, const std::function<void()>& call) {
    const double once = std::max(seconds(call, 2) / 2, 1e-7);
    print_row(operation, bytes, batches_us(call, std::clamp(static_cast<int>(20e-3 / once), 1, 1000)));
}

struct Arrays {
    char *device, *host;
    std::uint64_t* word;
    std::vector<char> ordinary;
};

void measure(const atl::Context& context, Arrays& a) {
    char* from = a.device + most;
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{65536}, std::size_t{1} << 20, most}) {
        row("put and quiet, ordinary host to device heap", bytes, [&] {
            context.put_bytes(a.device, a.ordinary.data(), bytes, 1);
            context.quiet();
        });
        row("put and quiet, device heap to device heap", bytes, [&] {
            context.put_bytes(a.device, from, bytes, 1);
            context.quiet();
        });
        row("get, device heap to ordinary host", bytes,
            [&] { context.get_bytes(a.ordinary.data(), a.device, bytes, 1); });
        row("get, device heap to device heap", bytes, [&] { context.get_bytes(from, a.device, bytes, 1); });
        row("put and quiet, host to host heap", bytes, [&] {
            context.put_bytes(a.host, a.ordinary.data(), bytes, 1);
            context.quiet();
        });
        row("get, host heap to host", bytes, [&] { context.get_bytes(a.ordinary.data(), a.host, bytes, 1); });
    }
    row("fetch_add", 8, [&] { context.atomic_fetch_add(a.word, std::uint64_t{1}, 1); });
    row("add and quiet", 8, [&] {
        context.atomic_add(a.word, std::uint64_t{1}, 1);
        context.quiet();
    });
}

void measure_stream(const atl::Context& context, Arrays& a) {
    const atl::StreamContext stream(context, {});
    char* from = a.device + most;
    const auto both = [&](const char* operation, std::size_t bytes, const std::function<void()>& call) {
        row(operation, bytes, [&] {
            call();
            stream.synchronize();
        });
    };
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20, most}) {
        both("stream put, device heap to device heap", bytes,
             [&] { stream.put_bytes(a.device, from, bytes, 1); });
        both("stream get, device heap to device heap", bytes,
             [&] { stream.get_bytes(from, a.device, bytes, 1); });
    }
    both("stream fetch_add", 8, [&] {
        stream.atomic_fetch_add(reinterpret_cast<std::uint64_t*>(from), a.word, std::uint64_t{1}, 1);
    });
}

/// Both PEs make the same number of calls.
void measure_team(const atl::Job& job, const Arrays& a) {
    const atl::StreamTeam team(job.world(), {});
    const atl::StreamContext stream(job.context(), {});
    const auto both = [&](const char* operation, std::size_t bytes, int repeats,
                          const std::function<void()>& call) {
        const auto whole = [&] {
            call();
            stream.synchronize();
        };
        seconds(whole, 2);
        const std::vector<double> us = batches_us(whole, repeats);
        if (job.my_pe() == 0) print_row(operation, bytes, us);
    };
    both("stream barrier", 0, 200, [&] { team.barrier(); });
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{65536}, std::size_t{1} << 20, most}) {
        auto* numbers = reinterpret_cast<float*>(a.device);
        const std::size_t count = bytes / sizeof(float);
        both("stream all-reduce", bytes, bytes < most ? 100 : 2, [&] {
            team.sum_reduce(std::span(numbers, count), std::span<const float>(numbers + most / 4, count));
        });
    }
    both("stream send and recv", 8, 200, [&] {
        atl::StreamMessageGroup group(job.world(), {});
        group.send_bytes(a.device, 8, 1 - job.my_pe());
        group.recv_bytes(a.device + most, 8, 1 - job.my_pe());
        group.run();
    });
}

}  // namespace

int main() {
    atl::Job& job = atl::init();
    Arrays a{static_cast<char*>(job.malloc(2 * most, atl::Memory::device)),
             static_cast<char*>(job.malloc(most)),
             static_cast<std::uint64_t*>(job.calloc(1, 8, atl::Memory::device)), std::vector<char>(most, 1)};
    job.world().barrier();
    if (job.my_pe() == 0) {
        measure(job.context(), a);
        measure_stream(job.context(), a);
    }
    job.world().barrier();
    measure_team(job, a);
    // Both at once: a signal in each direction.
    constexpr int rounds = 500;
    const double total = seconds(
        [&] {
            static std::uint64_t round = 0;
            ++round;
            if (job.my_pe() == 0) job.context().signal_set(a.word, (std::uint64_t{1} << 40) + round, 1);
            job.context().signal_wait_until(a.word, atl::Compare::eq, (std::uint64_t{1} << 40) + round);
            if (job.my_pe() == 1) job.context().signal_set(a.word, (std::uint64_t{1} << 40) + round, 0);
        },
        rounds);
    if (job.my_pe() == 0)
        std::printf(
            "{\"side\": \"atoll\", \"op\": \"signal one way, words of device heaps\", \"bytes\": 8, "
            "\"pes\": 2, \"median_us\": %.3f}\n",
            total / rounds / 2 * 1e6);
    job.world().barrier();
    atl::finalize();
}
