// Collectives of teams and of active sets: drawn by all PEs, called by the members, applied to the model.
#pragma once

#include "fuzz.hpp"

#include <type_traits>

namespace fuzz {

struct Collective {
    int operation, type, root, dest_place, source_place;
    int count, dest_shift, source_shift, dest_stride, source_stride;
    bool in_place;
};
constexpr int operations = 15;

inline Collective draw_collective(Random& random, int size) {
    Collective c{};
    c.operation = random.below(operations);
    c.type = random.below(4);
    c.root = random.below(size);
    c.dest_place = random.below(places);
    c.source_place = random.below(places);
    c.count = random.chance(10) ? 0 : random.between(1, 20);
    c.dest_stride = random.between(1, 3);
    c.source_stride = random.between(1, 3);
    c.dest_shift = random.below(100);
    c.source_shift = random.below(100);
    c.in_place = random.chance(30);
    return c;
}

/// Unsigned types: every result is defined, and independent of the order.
template <class Body> void with_unsigned(int k, Body&& body) {
    switch (k % 4) {
        case 0:
            return body(static_cast<unsigned char*>(nullptr));
        case 1:
            return body(static_cast<unsigned short*>(nullptr));
        case 2:
            return body(static_cast<unsigned*>(nullptr));
        default:
            return body(static_cast<unsigned long*>(nullptr));
    }
}

template <class T> T folded(int operation, T a, T b) {
    const auto x = static_cast<unsigned long>(a), y = static_cast<unsigned long>(b);
    switch (operation) {
        case 6:
            return static_cast<T>(x & y);
        case 7:
            return static_cast<T>(x | y);
        case 8:
            return static_cast<T>(x ^ y);
        case 9:
            return a > b ? a : b;
        case 10:
            return a < b ? a : b;
        case 12:
            return static_cast<T>(x * y);
        default:
            return static_cast<T>(x + y);
    }
}

template <class T>
int call(const Collective& c, shmem_team_t team, T* dest, const T* source, std::size_t mine) {
    const auto n = static_cast<std::size_t>(c.count);
    switch (c.operation) {
        case 0:
            return shmem_broadcast(team, dest, source, n, c.root);
        case 1:
            return shmem_fcollect(team, dest, source, n);
        case 2:
            return shmem_collect(team, dest, source, mine);
        case 3:
            return shmem_alltoall(team, dest, source, n);
        case 4:
            return shmem_alltoalls(team, dest, source, c.dest_stride, c.source_stride, n);
        case 5:
            return shmem_broadcastmem(team, dest, source, n * sizeof(T), c.root);
        case 6:
            return shmem_and_reduce(team, dest, source, n);
        case 7:
            return shmem_or_reduce(team, dest, source, n);
        case 8:
            return shmem_xor_reduce(team, dest, source, n);
        case 9:
            return shmem_max_reduce(team, dest, source, n);
        case 10:
            return shmem_min_reduce(team, dest, source, n);
        case 11:
            return shmem_sum_reduce(team, dest, source, n);
        case 12:
            return shmem_prod_reduce(team, dest, source, n);
        case 13:
            return shmem_sum_inscan(team, dest, source, n);
        default:
            return shmem_sum_exscan(team, dest, source, n);
    }
}

/// The effect of one collective on its members' targets and sources in the model, which the caller chose.
template <class T> struct Effect {
    const Collective& c;
    int size;
    std::vector<std::vector<T>> sources;
    std::vector<T*> dests;

    std::size_t length(int member) const { return static_cast<std::size_t>((c.count + member) % 21); }
    const T& source(int member, int i) const {
        return sources[static_cast<std::size_t>(member)][static_cast<std::size_t>(i)];
    }
    void apply(int me) const {
        T* dest = dests[static_cast<std::size_t>(me)];
        switch (c.operation) {
            case 0:
            case 5:
                for (int i = 0; i < c.count; ++i) dest[i] = source(c.root, i);
                return;
            case 1:
                for (int i = 0; i < size * c.count; ++i) dest[i] = source(i / c.count, i % c.count);
                return;
            case 2:
                for (int m = 0; m < size; ++m)
                    for (int i = 0; i < static_cast<int>(length(m)); ++i) *dest++ = source(m, i);
                return;
            case 3:
            case 4:
                return exchange(dest, me);
            case 13:
            case 14:
                return scan(dest, me);
            default:
                for (int i = 0; i < c.count; ++i) {
                    T value = source(0, i);
                    for (int m = 1; m < size; ++m) value = folded(c.operation, value, source(m, i));
                    dest[i] = value;
                }
        }
    }
    void exchange(T* dest, int me) const {
        const int to = c.operation == 4 ? c.dest_stride : 1, from = c.operation == 4 ? c.source_stride : 1;
        for (int m = 0; m < size; ++m)
            for (int i = 0; i < c.count; ++i)
                dest[(m * c.count + i) * to] = source(m, (me * c.count + i) * from);
    }
    void scan(T* dest, int me) const {
        for (int i = 0; i < c.count; ++i) {
            T value = 0;
            for (int m = 0; m < me + (c.operation == 13 ? 1 : 0); ++m)
                value = folded(11, value, source(m, i));
            dest[i] = value;
        }
    }
};

/// Runs it on `group` from half `read` to half `write`; `mine` is this PE's memory.
inline void collective_round(Model& model, Memory* const* mine, const Group& group, const Collective& c,
                             int read, int write, int me) {
    with_unsigned(c.type, [&](auto* typed) {
        using T = std::remove_pointer_t<decltype(typed)>;
        const bool in_place = c.in_place && c.operation >= 6;
        const auto dest_of = [&](Memory& memory) {
            return reinterpret_cast<T*>(memory.bytes + write * half_bytes) + c.dest_shift;
        };
        const auto source_of = [&](Memory& memory) {
            return reinterpret_cast<T*>(memory.bytes + read * half_bytes) + c.source_shift;
        };
        Effect<T> effect{c, group.size(), {}, {}};
        for (const int pe : group.members) {
            const T* source =
                in_place ? dest_of(model.at(pe, c.dest_place)) : source_of(model.at(pe, c.source_place));
            effect.sources.emplace_back(source, source + 3 * 20 * max_pes);
            effect.dests.push_back(dest_of(model.at(pe, c.dest_place)));
        }
        const int place = group.place_of(me);
        if (place >= 0) {
            T* dest = dest_of(*mine[c.dest_place]);
            const T* source = in_place ? dest : source_of(*mine[c.source_place]);
            expect(call(c, group.handle, dest, source, effect.length(place)) == 0, "a collective's status",
                   c.operation);
        }
        for (int m = 0; m < group.size(); ++m) effect.apply(m);
    });
}

/// The deprecated ones: PE `first` and every 2^log-th after it, `size` PEs.
inline void active_set_round(Random& random, Model& model, Memory* const* mine, int read, int write, int me,
                             int n, long* sync) {
    const int log = random.below(3), first = random.below(n);
    const int most = ((n - 1 - first) >> log) + 1, size = random.between(1, most);
    Collective c = draw_collective(random, size);
    const int kinds[] = {0, 1, 2, 3, 8};
    c.operation = kinds[random.below(5)];
    Effect<unsigned long> effect{c, size, {}, {}};
    const auto at = [&](Memory& memory, int half, int shift) {
        return reinterpret_cast<unsigned long*>(memory.bytes + half * half_bytes) + shift;
    };
    for (int m = 0; m < size; ++m) {
        const int pe = first + (m << log);
        const unsigned long* source = at(model.at(pe, c.source_place), read, c.source_shift);
        effect.sources.emplace_back(source, source + 20 * max_pes);
        effect.dests.push_back(at(model.at(pe, c.dest_place), write, c.dest_shift));
    }
    const int distance = me - first, place = distance >> log;
    if (distance >= 0 && distance % (1 << log) == 0 && place < size) {
        unsigned long* dest = at(*mine[c.dest_place], write, c.dest_shift);
        const unsigned long* source = at(*mine[c.source_place], read, c.source_shift);
        static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 20];
        const auto count = static_cast<std::size_t>(c.count);
        switch (c.operation) {
            case 0:
                shmem_broadcast64(dest, source, count, c.root, first, log, size, sync);
                break;
            case 1:
                shmem_fcollect64(dest, source, count, first, log, size, sync);
                break;
            case 2:
                shmem_collect64(dest, source, effect.length(place), first, log, size, sync);
                break;
            case 3:
                shmem_alltoall64(dest, source, count, first, log, size, sync);
                break;
            default:
                shmem_long_xor_to_all(reinterpret_cast<long*>(dest), reinterpret_cast<const long*>(source),
                                      c.count, first, log, size, work, sync);
        }
    }
    for (int m = 0; m < size; ++m)
        if (c.operation != 0 || m != c.root) effect.apply(m);
}

}  // namespace fuzz
