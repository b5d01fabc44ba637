// The calls of mistakes.tsv, made by PE 0, in C++: lines of "CASE CALL PLACE LOCAL COUNT PE" on standard
// input. Prints "CASE", a tab, and the call's error, or "came back".
#include <atoll/atoll.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

namespace {

constexpr std::size_t elements = 9;  // 72 bytes: the rest of their second granule belongs to the block

struct Places {
    long *heap, *block, *freed, *on_stack, *peer;
    std::size_t heap_bytes;

    long* operator[](const std::string& name) const {
        char* end = reinterpret_cast<char*>(heap) + heap_bytes;
        const auto from_end = [&](std::ptrdiff_t bytes) { return reinterpret_cast<long*>(end + bytes); };
        if (name == "block") return block;
        if (name == "past") return block + elements / 2;
        if (name == "behind") return block + elements;
        if (name == "freed") return freed;
        if (name == "never") return from_end(-4096);
        if (name == "end") return from_end(-32);
        if (name == "last") return from_end(-8);
        if (name == "before") return heap - elements / 2;
        if (name == "beyond") return from_end(4096);
        if (name == "stack" || name == "own") return on_stack;
        if (name == "peer") return peer;
        if (name == "odd") return reinterpret_cast<long*>(reinterpret_cast<char*>(block) + 1);
        if (name == "null") return nullptr;
        std::fprintf(stderr, "no such place: %s\n", name.c_str());
        std::exit(2);
    }
};

void call(const atoll::Context& on, const std::string& name, long* remote, long* local, std::size_t count,
          int pe, std::uint64_t* word) {
    const auto strange = static_cast<atoll::Compare>(9);
    if (name == "put")
        on.put(remote, local, count, pe);
    else if (name == "get")
        on.get(local, remote, count, pe);
    else if (name == "p")
        on.p(remote, 1L, pe);
    else if (name == "g")
        static_cast<void>(on.g(remote, pe));
    else if (name == "iput")
        on.iput(remote, local, 1, 1, count, pe);
    else if (name == "add")
        on.atomic_add(remote, 1L, pe);
    else if (name == "fetch_add")
        static_cast<void>(on.atomic_fetch_add(remote, 1L, pe));
    else if (name == "signal_set")
        on.signal_set(reinterpret_cast<std::uint64_t*>(remote), 1, pe);
    else if (name == "put_signal")
        on.put_signal(remote, local, count, word, 1, atoll::SignalOp::set, pe);
    else if (name == "wait" || name == "wait_9")
        on.wait_until(remote, name == "wait" ? atoll::Compare::ne : strange, 77);
    else if (name == "test" || name == "test_9")
        static_cast<void>(on.test(remote, name == "test" ? atoll::Compare::ne : strange, 77));
    else
        std::exit(3);
}

}  // namespace

int main() {
    atoll::Job job;
    const atoll::Context& context = job.context();
    long on_stack[elements] = {};
    Places places{};
    places.on_stack = on_stack;
    places.heap = static_cast<long*>(job.malloc(64));  // the first block of a heap is its start
    places.block = static_cast<long*>(job.calloc(elements, sizeof(long)));
    places.freed = static_cast<long*>(job.calloc(elements, sizeof(long)));
    auto* word = static_cast<std::uint64_t*>(job.calloc(1, sizeof(std::uint64_t)));
    job.free(places.freed);
    places.heap_bytes = job.heap_use().limit_bytes;
    places.peer = context.ptr(places.block, 1);
    std::string line;
    while (job.my_pe() == 0 && std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string id, name, place, local, pe;
        std::size_t count = 0;
        words >> id >> name >> place >> local >> count >> pe;
        const int target = pe == "me" ? 0 : pe == "other" ? 1 : pe == "none" ? job.n_pes() : -1;
        try {
            call(context, name, places[place], places[local], count, target, word);
            std::cout << id << "\tcame back" << std::endl;
        } catch (const atoll::Error& error) {
            std::cout << id << '\t' << error.what() << std::endl;
        }
    }
    job.world().barrier();
    std::cout << "heap\t" << places.heap_bytes << std::endl;
    job.finalize();
    return 0;
}
