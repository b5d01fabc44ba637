// One-sided operations of a round: drawn by all PEs, executed by one, and applied to the model on all.
#pragma once

#include "fuzz.hpp"

#include <type_traits>

namespace fuzz {

/// Blocks of elements to put or get; contiguous if there is one block.
struct Transfer {
    int origin, target, index;
    bool is_put, nbi, from_private, signals;
    int type, dest_place, source_place;
    int block, count, dest_stride, source_stride;  ///< in elements
    int dest_shift, source_shift;                  ///< in elements, from the cell, from the half
    int context;
    std::uint64_t seed;  ///< seed of a private source's bytes
};

inline Transfer draw_transfer(Random& random, int n, int origin, int index) {
    Transfer t{};
    t.origin = origin;
    t.index = index;
    t.target = random.below(n);
    t.is_put = random.chance(60);
    t.nbi = random.chance(40);
    t.signals = t.is_put && random.chance(30);
    t.from_private = t.is_put && random.chance(50);
    t.type = random.below(9);
    t.dest_place = random.below(places);
    t.source_place = random.below(places);
    t.context = random.below(1000);
    t.seed = random.bits();
    const int room = cell_bytes / 16;  // elements of the widest type
    t.count = t.signals || random.chance(40) ? 1 : random.between(0, 4);
    t.block = random.between(t.count == 1 ? 0 : 1, t.count == 1 ? room : room / 4);
    const int widest = t.count > 1 ? (room - t.block) / (t.count - 1) : room;
    t.dest_stride = t.count > 1 ? random.between(t.block, widest) : 1;
    t.source_stride = t.count > 1 ? random.between(1, widest) : 1;
    t.dest_shift = random.below(room - (t.count > 0 ? (t.count - 1) * t.dest_stride + t.block : 0) + 1);
    t.source_shift = random.below(half_bytes / 16 - 2 * room);
    return t;
}

/// A round's halves.
struct Halves {
    int read, write;
    unsigned char* dest(Memory& memory, const Transfer& t, std::size_t width) const {
        return memory.bytes + write * half_bytes + (t.origin * ops + t.index) * cell_bytes +
               static_cast<std::size_t>(t.dest_shift) * width;
    }
    unsigned char* source(Memory& memory, const Transfer& t, std::size_t width) const {
        return memory.bytes + read * half_bytes + static_cast<std::size_t>(t.source_shift) * width;
    }
};

inline void fill_private(unsigned char* bytes, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    for (int i = 0; i < cell_bytes; ++i) bytes[i] = static_cast<unsigned char>(engine());
}

inline void apply(Model& model, const Halves& halves, const Transfer& t) {
    with_type(t.type, [&](auto* typed) {
        constexpr std::size_t width = sizeof *typed;
        Memory& to = model.at(t.is_put ? t.target : t.origin, t.dest_place);
        unsigned char bytes[cell_bytes];
        fill_private(bytes, t.seed);
        const unsigned char* source =
            t.from_private
                ? bytes
                : halves.source(model.at(t.is_put ? t.origin : t.target, t.source_place), t, width);
        unsigned char* dest = halves.dest(to, t, width);
        for (int i = 0; i < t.count; ++i)
            std::memcpy(dest + static_cast<std::size_t>(i * t.dest_stride) * width,
                        source + static_cast<std::size_t>(i * t.source_stride) * width,
                        static_cast<std::size_t>(t.block) * width);
    });
    if (t.signals) model.at(t.target, t.dest_place).signals[t.origin * ops + t.index] += t.seed >> 8 | 1;
}

template <class T>
void perform_typed(shmem_ctx_t ctx, int pe, const Transfer& t, T* dest, const T* source,
                   std::uint64_t* signal) {
    const auto block = static_cast<std::size_t>(t.block), count = static_cast<std::size_t>(t.count);
    if (t.signals) {
        const std::uint64_t value = t.seed >> 8 | 1;
        if (t.nbi)
            shmem_put_signal_nbi(ctx, dest, source, block, signal, value, SHMEM_SIGNAL_ADD, pe);
        else
            shmem_put_signal(ctx, dest, source, block, signal, value, SHMEM_SIGNAL_ADD, pe);
    } else if (t.count == 1 && t.block == 1 && !t.nbi && sizeof(T) <= 8) {  // a value keeps no padding
        if (t.is_put)
            shmem_p(ctx, dest, *source, pe);
        else
            *dest = shmem_g(ctx, source, pe);
    } else if (t.count == 1 && t.is_put) {
        if (t.nbi)
            shmem_put_nbi(ctx, dest, source, block, pe);
        else if (t.seed & 1)
            shmem_put(ctx, dest, source, block, pe);
        else
            shmem_ctx_putmem(ctx, dest, source, block * sizeof(T), pe);
    } else if (t.count == 1) {
        if (t.nbi)
            shmem_get_nbi(ctx, dest, source, block, pe);
        else if (t.seed & 1)
            shmem_get(ctx, dest, source, block, pe);
        else
            shmem_ctx_getmem(ctx, dest, source, block * sizeof(T), pe);
    } else if (t.block == 1) {
        if (t.is_put)
            shmem_iput(ctx, dest, source, t.dest_stride, t.source_stride, count, pe);
        else
            shmem_iget(ctx, dest, source, t.dest_stride, t.source_stride, count, pe);
    } else {
        if (t.is_put)
            shmem_ibput(ctx, dest, source, t.dest_stride, t.source_stride, block, count, pe);
        else
            shmem_ibget(ctx, dest, source, t.dest_stride, t.source_stride, block, count, pe);
    }
}

/// `mine` is this PE's memory. `private_bytes` must live until the round's quiet.
inline void perform(Memory* const* mine, const Halves& halves, const Transfer& t, shmem_ctx_t ctx, int pe,
                    unsigned char* private_bytes) {
    fill_private(private_bytes, t.seed);
    with_type(t.type, [&](auto* typed) {
        using T = std::remove_pointer_t<decltype(typed)>;
        auto* dest = reinterpret_cast<T*>(halves.dest(*mine[t.dest_place], t, sizeof(T)));
        auto* source = reinterpret_cast<const T*>(
            t.from_private ? private_bytes : halves.source(*mine[t.source_place], t, sizeof(T)));
        perform_typed(ctx, pe, t, dest, source, &mine[t.dest_place]->signals[t.origin * ops + t.index]);
    });
}

// ---- atomics on words that one PE changes in a round, so that every result is known
struct Atomic {
    int origin, target, index, kind, type, place, context;
    std::uint64_t value;
    bool hits;  ///< compare_swap: with the current value
};

inline Atomic draw_atomic(Random& random, int n, int origin, int index) {
    Atomic a{};
    a.origin = origin;
    a.index = index;
    a.target = random.below(n);
    a.type = random.below(6);
    a.kind = random.below(a.type >= 4 ? 3 : a.type >= 2 ? 14 : 8);  // the last kinds need integers
    a.place = random.below(places);
    a.context = random.below(1000);
    a.value = static_cast<std::uint64_t>(random.below(1 << 20));
    a.hits = random.chance(50);
    return a;
}

enum Kind {
    k_fetch,
    k_set,
    k_swap,
    k_cswap,
    k_fadd,
    k_add,
    k_finc,
    k_inc,
    k_fand,
    k_and,
    k_for,
    k_or,
    k_fxor,
    k_xor
};

template <class T> T next_value(int kind, T old, T value, T cond) {
    if (kind == k_fetch) return old;
    if (kind == k_set || kind == k_swap) return value;
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        const U o = static_cast<U>(old), v = static_cast<U>(value);
        switch (kind) {
            case k_cswap:
                return old == cond ? value : old;
            case k_fadd:
            case k_add:
                return static_cast<T>(o + v);
            case k_finc:
            case k_inc:
                return static_cast<T>(o + 1);
            case k_fand:
            case k_and:
                return static_cast<T>(o & v);
            case k_for:
            case k_or:
                return static_cast<T>(o | v);
            default:
                return static_cast<T>(o ^ v);
        }
    }
    return old;
}

/// The operation's result; `old` if it returns nothing.
template <class T> T atomic_call(shmem_ctx_t ctx, int kind, T* word, T value, T cond, int pe, T old) {
    if (kind == k_fetch) return shmem_atomic_fetch(ctx, const_cast<const T*>(word), pe);
    if (kind == k_set) return shmem_atomic_set(ctx, word, value, pe), old;
    if (kind == k_swap) return shmem_atomic_swap(ctx, word, value, pe);
    if constexpr (std::is_integral_v<T>) {
        if (kind == k_cswap) return shmem_atomic_compare_swap(ctx, word, cond, value, pe);
        if (kind == k_fadd) return shmem_atomic_fetch_add(ctx, word, value, pe);
        if (kind == k_add) return shmem_atomic_add(ctx, word, value, pe), old;
        if (kind == k_finc) return shmem_atomic_fetch_inc(ctx, word, pe);
        if (kind == k_inc) return shmem_atomic_inc(ctx, word, pe), old;
        if constexpr (std::is_unsigned_v<T>) {
            if (kind == k_fand) return shmem_atomic_fetch_and(ctx, word, value, pe);
            if (kind == k_and) return shmem_atomic_and(ctx, word, value, pe), old;
            if (kind == k_for) return shmem_atomic_fetch_or(ctx, word, value, pe);
            if (kind == k_or) return shmem_atomic_or(ctx, word, value, pe), old;
            if (kind == k_fxor) return shmem_atomic_fetch_xor(ctx, word, value, pe);
            if (kind == k_xor) return shmem_atomic_xor(ctx, word, value, pe), old;
        }
    }
    return old;
}

/// Executes the atomic if `mine` is given (on its origin), and applies it to the model everywhere.
inline void act(Model& model, Memory* const* mine, const Atomic& a, shmem_ctx_t ctx, int pe) {
    const int where = a.origin * ops + a.index;
    with_word(a.type, [&](auto* typed) {
        using T = std::remove_pointer_t<decltype(typed)>;
        std::uint64_t& cell = model.at(a.target, a.place).words[where];
        T old;
        std::memcpy(&old, &cell, sizeof old);
        const T value = static_cast<T>(a.value), cond = a.hits ? old : static_cast<T>(value + T{1});
        const T next = next_value(a.kind, old, value, cond);
        if (mine) {
            auto* word = reinterpret_cast<T*>(&mine[a.place]->words[where]);
            const T seen = atomic_call(ctx, a.kind, word, value, cond, pe, old);
            expect(std::memcmp(&seen, &old, sizeof old) == 0, "what an atomic returned", a.kind);
        }
        std::memcpy(&cell, &next, sizeof next);
    });
}

}  // namespace fuzz
