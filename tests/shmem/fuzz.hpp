// Shared by the fuzzed programs: the same random numbers on all PEs, and a model of all PEs' memory.
#pragma once

#include <shmem.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace fuzz {

constexpr int max_pes = 32, ops = 4, cell_bytes = 256;
constexpr int half_bytes = max_pes * ops * cell_bytes;  // one cell for each PE and operation of a round
constexpr int word_count = max_pes * ops;

/// The memory of each PE, once in the heap and once as a static object. In a round one half is read and the
/// other written.
struct Memory {
    alignas(64) unsigned char bytes[2 * half_bytes];
    std::uint64_t words[word_count];  ///< for atomics: one for each operation of each PE
    std::uint64_t shared[4];          ///< for atomics of all PEs at once: add, and, or, xor
    std::uint64_t signals[word_count];
    std::uint64_t guarded;  ///< changed under a lock
};
constexpr int places = 2;

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
    int between(int low, int high) { return low + below(high - low + 1); }
    bool chance(int percent) { return below(100) < percent; }
    std::uint64_t bits() { return engine_(); }

  private:
    std::mt19937_64 engine_;
};

/// Expected memory of all PEs after the next barrier.
class Model {
  public:
    Model(int n, Random& random) : all_(static_cast<std::size_t>(n * places)) {
        for (Memory& memory : all_) {
            std::memset(static_cast<void*>(&memory), 0, sizeof memory);
            for (unsigned char& byte : memory.bytes) byte = static_cast<unsigned char>(random.bits());
        }
    }
    Memory& at(int pe, int place) { return all_[static_cast<std::size_t>(pe * places + place)]; }

  private:
    std::vector<Memory> all_;
};

/// The position of a run, for the report of a failure.
struct Position {
    std::uint64_t seed = 0;
    long round = 0;
    const char* doing = "";
};
inline Position position;

[[noreturn]] inline void fail(const char* what, long where = -1) {
    std::fprintf(stderr, "PE %d: %s is wrong (at %ld) in round %ld, %s; repeat with seed %llu\n",
                 shmem_my_pe(), what, where, position.round, position.doing,
                 static_cast<unsigned long long>(position.seed));
    shmem_global_exit(1);
}
inline void expect(bool condition, const char* what, long where = -1) {
    if (!condition) fail(what, where);
}

/// Calls `body` with a null T* for the k-th type.
template <class Body> void with_type(int k, Body&& body) {
    switch (k % 9) {
        case 0:
            return body(static_cast<char*>(nullptr));
        case 1:
            return body(static_cast<short*>(nullptr));
        case 2:
            return body(static_cast<int*>(nullptr));
        case 3:
            return body(static_cast<long*>(nullptr));
        case 4:
            return body(static_cast<unsigned char*>(nullptr));
        case 5:
            return body(static_cast<unsigned long long*>(nullptr));
        case 6:
            return body(static_cast<float*>(nullptr));
        case 7:
            return body(static_cast<double*>(nullptr));
        default:
            return body(static_cast<long double*>(nullptr));
    }
}
template <class Body> void with_word(int k, Body&& body) {
    switch (k % 6) {
        case 0:
            return body(static_cast<int*>(nullptr));
        case 1:
            return body(static_cast<long*>(nullptr));
        case 2:
            return body(static_cast<unsigned*>(nullptr));
        case 3:
            return body(static_cast<unsigned long*>(nullptr));
        case 4:
            return body(static_cast<float*>(nullptr));
        default:
            return body(static_cast<double*>(nullptr));
    }
}

/// A team, known to all PEs; only its members have the handle.
struct Group {
    std::vector<int> members;
    shmem_team_t handle;
    int size() const { return static_cast<int>(members.size()); }
    int place_of(int pe) const {
        for (int i = 0; i < size(); ++i)
            if (members[static_cast<std::size_t>(i)] == pe) return i;
        return -1;
    }
    int pe(int place) const { return members[static_cast<std::size_t>(place)]; }
};

}  // namespace fuzz
