// A PE that uses only its bootstrap: PEs find each other, exchange values, die, leave. PE 0's last line is
// "ok: N PEs on H hosts by NAME".
//
//     bootstrap_pe [exchange|die PE|abort PE|stop PE|wait]
#include "bootstrap/bootstrap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

namespace {

using atl::bootstrap::Bootstrap;
using atl::bootstrap::HostSegment;

void check(bool right, const char* what) {
    if (right) return;
    std::printf("WRONG: %s\n", what);
    std::exit(3);
}

/// Every PE of a host writes into the host's memory, and finds what the others wrote.
void use_memory(Bootstrap& bootstrap, const HostSegment& segment) {
    constexpr std::size_t bytes = 65536;
    if (segment.pes[0] == bootstrap.pe()) check(::ftruncate(segment.heap_fd.get(), bytes) == 0, "ftruncate");
    bootstrap.fence();
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment.heap_fd.get(), 0);
    check(memory != MAP_FAILED, "mmap");
    auto* words = static_cast<int*>(memory);
    words[bootstrap.pe()] = 1 + bootstrap.pe();
    bootstrap.fence();
    int written = 0;
    for (int pe = 0; pe < bootstrap.n_pes(); ++pe) written += words[pe] == 1 + pe;
    check(written == static_cast<int>(segment.pes.size()),
          "the memory is this host's PEs', and theirs alone");
}

int count_hosts(Bootstrap& bootstrap, const HostSegment& segment) {
    std::set<std::string> firsts;
    for (const std::string& first : bootstrap.allgather(std::to_string(segment.pes[0]))) firsts.insert(first);
    return static_cast<int>(firsts.size());
}

/// Waits until the board reports the end of the job. A PE that leaves then says goodbye, as a destroyed job
/// does; else it may be taken for the PE that died.
[[noreturn]] void wait_for_the_end(Bootstrap& bootstrap, const HostSegment& segment) {
    while (segment.board.header().abort.load() == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::fprintf(stderr, "the job is over: %s\n", segment.board.header().abort_text);
    bootstrap.goodbye(false);
    std::_Exit(9);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "exchange";
    const int who = argc > 2 ? std::atoi(argv[2]) : -1;
    try {
        const auto bootstrap = atl::bootstrap::choose({}, atl::common::read_settings());
        const int pe = bootstrap->pe();
        bootstrap->put("key" + std::to_string(pe), "value" + std::to_string(pe));
        const HostSegment segment = bootstrap->host_segment();
        segment.board.set_state(pe, atl::common::PeState::running);
        use_memory(*bootstrap, segment);
        const int hosts = count_hosts(*bootstrap, segment);
        const auto monitor = bootstrap->monitor(segment.board);
        const int next = (pe + 1) % bootstrap->n_pes();
        check(bootstrap->get("key" + std::to_string(next)) == "value" + std::to_string(next), "get");
        bootstrap->fence();
        bootstrap->put("past" + std::to_string(pe), "");
        // If a server dies, or its host is cut off, it may not have told all PEs of their start.
        if (pe == who || (pe == 0 && mode == "wait"))
            for (int other = 0; other < bootstrap->n_pes(); ++other)
                bootstrap->get("past" + std::to_string(other));
        if (pe == 0) std::printf("started\n");
        std::fflush(stdout);
        if (mode != "exchange") {
            if (pe == who && mode == "die") ::kill(::getpid(), SIGKILL);
            if (pe == who && mode == "stop") ::kill(::getpid(), SIGSTOP);  // the test continues it
            if (pe == who && mode == "abort") {
                bootstrap->abort(5, "PE " + std::to_string(pe) + " has had enough.");
                std::_Exit(5);
            }
            if (mode != "stop") wait_for_the_end(*bootstrap, segment);
        }
        bootstrap->fence();
        if (pe == 0)
            std::printf("ok: %d PEs on %d hosts by %s\n", bootstrap->n_pes(), hosts,
                        std::string(bootstrap->name()).c_str());
        std::fflush(stdout);
        bootstrap->goodbye(true);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bootstrap_pe: %s\n", error.what());
        return 4;
    }
    return 0;
}
