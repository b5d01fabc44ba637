// The kernels of bench/gpu/kernels.py in CUDA C++. nvcc compiles them to a cubin; CuPy's NVRTC compiles this
// text.
#include <atoll/device/device.hpp>

namespace dev = atl::device;
using Word = unsigned long long;

extern "C" __global__ void flags(dev::Team team, Word* flag, Word first, int rounds) {
    const int peer = 1 - team.my_pe;
    for (Word i = first; i < first + rounds; ++i) {
        if (team.my_pe == 0) dev::p(team, flag, i, peer);
        dev::signal_wait_until(team, flag, dev::Compare::ge, i);
        if (team.my_pe == 1) dev::p(team, flag, i, peer);
    }
}

/// The lower bound: no ordering, and a wait that ends only by the word.
extern "C" __global__ void bare_flags(dev::Team team, Word* flag, Word first, int rounds) {
    Word* there = dev::peer(team, flag, 1 - team.my_pe);
    const auto tell = [&](Word i) {
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(there), "l"(i) : "memory");
    };
    for (Word i = first; i < first + rounds; ++i) {
        if (team.my_pe == 0) tell(i);
        Word seen = 0;
        do asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
        while (seen < i);
        if (team.my_pe == 1) tell(i);
    }
}

extern "C" __global__ void put_signals(dev::Team team, int* dst, const int* src, long long n, Word* flag,
                                       Word first, int rounds) {
    const int peer = 1 - team.my_pe;
    for (Word i = first; i < first + rounds; ++i) {
        if (team.my_pe == 0) dev::put_signal(team, dst, src, n, flag, i, peer, dev::Block{});
        dev::signal_wait_until(team, flag, dev::Compare::ge, i, dev::Block{});
        if (team.my_pe == 1) dev::put_signal(team, dst, src, n, flag, i, peer, dev::Block{});
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    messages(dev::Team team, dev::Mailbox box, int* dst, const int* src, long long n, int rounds) {
    const int peer = 1 - team.my_pe;
    for (int i = 0; i < rounds; ++i) {
        if (team.my_pe == 0) dev::post(team, box, src, n, peer, dev::Block{});
        dev::receive(team, box, dst, n, peer, dev::Block{});
        if (team.my_pe == 1) dev::post(team, box, src, n, peer, dev::Block{});
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    ways(dev::Team team, dev::Mailbox box, int* dst, const int* src, long long n, int rounds) {
    const int peer = 1 - team.my_pe;
    dev::Outbox<dev::Block> out(team, box, peer);
    dev::Inbox<dev::Block> in(team, box, peer);
    for (int i = 0; i < rounds; ++i) {
        if (team.my_pe == 0) out.post(src, n);
        in.receive(dst, n);
        if (team.my_pe == 1) out.post(src, n);
    }
    out.close();
    in.close();
}

extern "C" __global__ void syncs(dev::Team team, int rounds) {
    for (int i = 0; i < rounds; ++i) dev::sync(team, dev::Block{});
}

extern "C" __global__ void meetings(dev::Team team, int rounds) {
    dev::Meeting<dev::Block> met(team);
    for (int i = 0; i < rounds; ++i) met.sync();
    met.close();
}

extern "C" __global__ void barriers(dev::Team team, int rounds) {
    for (int i = 0; i < rounds; ++i) dev::barrier(team, dev::Block{});
}

extern "C" __global__ void reduces(dev::Team team, float* dst, const float* src, long long n, int rounds) {
    for (int i = 0; i < rounds; ++i) dev::reduce(team, dst, src, n, dev::Sum{}, dev::Block{});
}

extern "C" __global__ void tiles(dev::Team team, float* dst, const float* src, int rows, Word* flag,
                                 Word first, int rounds) {
    const int peer = 1 - team.my_pe;
    const auto to = dev::make_tile(dst, rows, 64, 256);
    const auto from = dev::make_tile(src, rows, 64, 256);
    const auto send = [&](Word i) {
        dev::tile_put(team, to, from, peer, dev::Block{});
        if (threadIdx.x == 0) dev::signal_set(team, flag, i, peer);
    };
    for (Word i = first; i < first + rounds; ++i) {
        if (team.my_pe == 0) send(i);
        dev::signal_wait_until(team, flag, dev::Compare::ge, i, dev::Block{});
        if (team.my_pe == 1) send(i);
    }
}

extern "C" __global__ void tile_reduces(dev::Team team, float* dst, const float* src, int rows, int rounds) {
    const auto to = dev::make_tile(dst, rows, 64, 256);
    const auto from = dev::make_tile(src, rows, 64, 256);
    for (int i = 0; i < rounds; ++i) dev::tile_reduce(team, to, from, dev::Sum{}, dev::Block{});
}
