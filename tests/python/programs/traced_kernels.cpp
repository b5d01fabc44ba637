// Kernels on hosts whose operations and ranges are in the trace, if compiled with -DATOLL_DEVICE_TRACE=1.
// With `host` hosts and kernels signal each other. With `gpu` they use the memory of the simulated GPU, as
// its kernels.
#include <atoll/atoll.hpp>
#include <atoll/device/device.hpp>

#include <csignal>
#include <cstdint>
#include <string_view>
#include <thread>

namespace device = atl::device;

constexpr int steps = 3;

int main(int count, char** arguments) {
    const std::string_view mode = count > 1 ? arguments[1] : "";
    atl::Job& job = atl::init();
    const atl::Memory memory = mode == "gpu" ? atl::Memory::device : atl::Memory::host;
    const int me = job.my_pe(), right = (me + 1) % job.n_pes();
    auto* data = static_cast<double*>(job.calloc(1024, sizeof(double), memory));
    auto* signal = static_cast<std::uint64_t*>(job.calloc(1, sizeof(std::uint64_t), memory));
    const device::Team team = job.world().device(memory);
    job.world().barrier();
    const auto kernel = [&](int first, int last) {
        for (int step = first; step <= last; ++step) {
            const device::TraceRange range(team, "step");
            device::put_signal(team, data, data + 512, 512, signal, step, right);
            device::signal_wait_until(team, signal, atl::Compare::ge, step);
            const unsigned long long began = device::trace_begin(team);
            device::trace_end(team, began, "a name of more than twenty-four bytes");
            device::barrier(team);
        }
    };
    if (mode == "host") {  // a signal of PE 0's host to a kernel of PE 1, and one of the kernel back
        const atl::Context& context = job.context();
        if (me == 0) {
            context.put_signal(data, data + 512, 512, signal, 1, atl::SignalOp::set, 1);
            context.signal_wait_until(signal, atl::Compare::ge, 1);
        } else if (me == 1) {
            device::signal_wait_until(team, signal, atl::Compare::ge, 1);
            device::put_signal(team, data, data + 512, 512, signal, 1, 0);
        }
        atl::finalize();
        return 0;
    }
    kernel(1, steps);
    if (mode == "killed" && me == 1) std::raise(SIGKILL);
    if (mode == "many") kernel(steps + 1, 100);
    std::thread([&] { device::quiet(team); }).join();
    double sum = 0;
    const double one = 1;
    device::reduce(team, &sum, &one, 1, device::Sum{});
    const bool is_right = sum == job.n_pes();
    atl::finalize();
    return is_right ? 0 : 1;
}
