// A source compiled with address checks: asymmetric addresses are refused by name. The program's other
// sources have no checks, and separate functions.
#define ATOLL_DEVICE_CHECK_ADDRESSES 1
#include "device/pes.hpp"

#include <array>
#include <cstdio>

namespace atl::testing {
namespace {

using Words = std::array<std::uint64_t, 4096>;

class CheckedAddresses : public ::testing::Test {
  protected:
    template <class Calls> void refused_on(int n_pes, Calls calls) {
        run_pes(n_pes, [&](Job& job) {
            SymmetricArray<std::uint64_t> x(job, Words{}.size() * 2);
            calls(job.world().device(Memory::host), x.data());
            job.world().barrier();
        });
    }
    template <class Call> static void refused(const char* name, const void* address, Call call) {
        char at[32];
        std::snprintf(at, sizeof at, "%p", address);
        expect_error(ErrorCode::not_symmetric,
                     {"in " + std::string(name) + " at " + at, "symmetric memory is 0x"}, call);
    }
};

TEST_F(CheckedAddresses, OfElementsAndBlocks) {
    refused_on(2, [](const device::Team& team, std::uint64_t* x) {
        std::uint64_t mine = 0;
        device::p(team, x, 1, 0);
        device::put(team, x + 1, &mine, 1, 1 - team.my_pe);
        refused("p", &mine, [&] { device::p(team, &mine, 1, 0); });
        refused("g", &mine, [&] { device::g(team, &mine, 0); });
        refused("put", &mine, [&] { device::put(team, &mine, x, 1, 0); });
        refused("get", &mine, [&] { device::get(team, x, &mine, 1, 0); });
        refused("put_nbi", &mine, [&] { device::put_nbi(team, &mine, x, 1, 0); });
        refused("get_nbi", &mine, [&] { device::get_nbi(team, x, &mine, 1, 0); });
        refused("iput", &mine, [&] { device::iput(team, &mine, x, 1, 1, 1, 0); });
        refused("iget", &mine, [&] { device::iget(team, x, &mine, 1, 1, 1, 0); });
        refused("async_put", &mine, [&] { device::async_put(team, &mine, x, 1, 0); });
        refused("peer", &mine, [&] { device::peer(team, &mine, 0); });
        refused("ptr", &mine, [&] { device::ptr(team, &mine, 0); });
        const auto ours = device::make_tile(&mine, 1, 1, 1), theirs = device::make_tile(x, 1, 1, 1);
        refused("tile_put", &mine, [&] { device::tile_put(team, ours, theirs, 0); });
        refused("tile_get", &mine, [&] { device::tile_get(team, theirs, ours, 0); });
    });
}

TEST_F(CheckedAddresses, OfSignalsAndAtomics) {
    refused_on(2, [](const device::Team& team, std::uint64_t* x) {
        std::uint64_t mine = 0;
        device::put_signal(team, x, &mine, 1, x + 1, 1, 1 - team.my_pe);
        refused("signal_set", &mine, [&] { device::signal_set(team, &mine, 1, 0); });
        refused("signal_add", &mine, [&] { device::signal_add(team, &mine, 1, 0); });
        refused("put_signal", &mine, [&] { device::put_signal(team, &mine, x, 1, x, 1, 0); });
        refused("put_signal", &mine, [&] { device::put_signal(team, x, x, 1, &mine, 1, 0); });
        refused("put_signal_nbi", &mine,
                [&] { device::put_signal_nbi(team, &mine, x, 1, x, 1, SignalOp::set, 0); });
        refused("atomic_fetch", &mine, [&] { device::atomic_fetch(team, &mine, 0); });
        refused("atomic_set", &mine, [&] { device::atomic_set(team, &mine, 1, 0); });
        refused("atomic_swap", &mine, [&] { device::atomic_swap(team, &mine, 1, 0); });
        refused("atomic_compare_swap", &mine, [&] { device::atomic_compare_swap(team, &mine, 0, 1, 0); });
        refused("atomic_add", &mine, [&] { device::atomic_add(team, &mine, 1, 0); });
        refused("atomic_fetch_add", &mine, [&] { device::atomic_fetch_add(team, &mine, 1, 0); });
        refused("atomic_fetch_xor", &mine, [&] { device::atomic_fetch_xor(team, &mine, 1, 0); });
    });
}

/// Small collectives use the team's own memory, and accept any address.
TEST_F(CheckedAddresses, OfLargeCollectivesAndOfMailboxes) {
    refused_on(1, [](const device::Team& team, std::uint64_t* x) {
        const auto mine = std::make_unique<Words>();
        const auto n = mine->size();
        std::uint64_t* ours = mine->data();
        device::reduce(team, ours, ours, 1, device::Sum{});
        refused("broadcast", ours, [&] { device::broadcast(team, ours, x, n, 0); });
        refused("fcollect", ours, [&] { device::fcollect(team, ours, x, n); });
        refused("collect", ours, [&] { device::collect(team, ours, x, 1); });
        refused("alltoall", ours, [&] { device::alltoall(team, ours, x, n); });
        refused("reduce", ours, [&] { device::reduce(team, ours, x, n, device::Sum{}); });
        refused("reduce", ours, [&] { device::reduce(team, x, ours, n, device::Sum{}); });
        refused("reduce_scatter", ours, [&] { device::reduce_scatter(team, x, ours, n, device::Sum{}); });
        const auto tile = device::make_tile(ours, 1, 4, 4), there = device::make_tile(x, 1, 4, 4);
        refused("tile_reduce", ours, [&] { device::tile_reduce(team, tile, there, device::Sum{}); });
        refused("tile_reduce", ours, [&] { device::tile_reduce(team, there, tile, device::Sum{}); });
        refused("tile_allgather", ours, [&] { device::tile_allgather(team, tile, there); });
        const device::Mailbox box{reinterpret_cast<char*>(ours), 8};
        expect_error(ErrorCode::not_symmetric, {"in post at"}, [&] { device::post(team, box, x, 1, 0); });
        expect_error(ErrorCode::not_symmetric, {"in receive at"},
                     [&] { device::receive(team, box, x, 1, 0); });
    });
}

TEST_F(CheckedAddresses, OfAPeersCopy) {
    refused_on(2, [](const device::Team& team, std::uint64_t* x) {
        std::uint64_t* there = device::peer(team, x, 1 - team.my_pe);
        refused("p", there, [&] { device::p(team, there, 1, 1 - team.my_pe); });
    });
}

}  // namespace
}  // namespace atl::testing
