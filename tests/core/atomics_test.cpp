// Atomics: every operation on every type against plain arithmetic, under contention, type-erased, and
// misused.
#include "support/setups.hpp"

#include <cstring>
#include <limits>

namespace atl::testing {
namespace {

class Atomics : public WithPes {};

template <class T> void extended(Job& job) {
    SymmetricArray<T> x(job, 3);
    const Context& c = job.context();
    const int pe = right_of(job);
    T* word = &x[1];
    c.atomic_set(word, T(40), pe);
    c.quiet();
    EXPECT_EQ(c.atomic_fetch(word, pe), T(40));
    EXPECT_EQ(c.atomic_swap(word, T(7), pe), T(40));
    EXPECT_EQ(c.atomic_fetch_add(word, T(3), pe), T(7));
    EXPECT_EQ(c.atomic_fetch_inc(word, pe), T(10));
    c.atomic_add(word, T(4), pe);
    c.quiet();
    c.atomic_inc(word, pe);
    c.quiet();
    T fetched{};
    c.atomic_fetch_nbi(&fetched, word, pe);
    c.quiet();
    EXPECT_EQ(fetched, T(16));
    c.atomic_swap_nbi(&fetched, word, T(1), pe);
    c.quiet();
    EXPECT_EQ(fetched, T(16));
    c.atomic_fetch_add_nbi(&fetched, word, T(2), pe);
    c.quiet();
    EXPECT_EQ(fetched, T(1));
    c.atomic_fetch_inc_nbi(&fetched, word, pe);
    c.quiet();
    EXPECT_EQ(fetched, T(3));
    c.atomic_set(word, std::numeric_limits<T>::lowest(), pe);
    c.quiet();
    EXPECT_EQ(c.atomic_fetch(word, pe), std::numeric_limits<T>::lowest());
    job.world().barrier();
    EXPECT_EQ(x[0], T{});  // the neighbours are untouched
    EXPECT_EQ(x[2], T{});
    job.world().barrier();
}

template <class T> void standard(Job& job) {
    extended<T>(job);
    SymmetricArray<T> x(job, 1);
    const Context& c = job.context();
    const int pe = right_of(job);
    T* word = x.data();
    c.atomic_set(word, T(5), pe);
    c.quiet();
    EXPECT_EQ(c.atomic_compare_swap(word, T(4), T(9), pe), T(5));
    EXPECT_EQ(c.atomic_compare_swap(word, T(5), T(9), pe), T(5));
    T fetched{};
    c.atomic_compare_swap_nbi(&fetched, word, T(9), T(0x0ff0), pe);
    c.quiet();
    EXPECT_EQ(fetched, T(9));
    EXPECT_EQ(c.atomic_fetch_and(word, T(0x00ff), pe), T(0x0ff0));
    EXPECT_EQ(c.atomic_fetch_or(word, T(0x0f00), pe), T(0x00f0));
    EXPECT_EQ(c.atomic_fetch_xor(word, T(0x0ff0), pe), T(0x0ff0));
    c.atomic_or(word, T(0x7), pe);
    c.quiet();
    c.atomic_and(word, T(0x5), pe);
    c.quiet();
    c.atomic_xor(word, T(0x1), pe);
    c.quiet();
    EXPECT_EQ(c.atomic_fetch(word, pe), T(0x4));
    c.atomic_fetch_and_nbi(&fetched, word, T(0xf), pe);
    c.quiet();
    EXPECT_EQ(fetched, T(4));
    c.atomic_fetch_or_nbi(&fetched, word, T(3), pe);
    c.quiet();
    EXPECT_EQ(fetched, T(4));
    c.atomic_fetch_xor_nbi(&fetched, word, T(7), pe);
    c.quiet();
    EXPECT_EQ(fetched, T(7));
    // The largest value wraps to the smallest, signed or not.
    c.atomic_set(word, std::numeric_limits<T>::max(), pe);
    c.quiet();
    EXPECT_EQ(c.atomic_fetch_inc(word, pe), std::numeric_limits<T>::max());
    EXPECT_EQ(c.atomic_fetch(word, pe), std::numeric_limits<T>::min());
    job.world().barrier();
}

TEST_P(Atomics, EveryOperationOnEveryType) {
    run([](Job& job) {
        standard<int>(job);
        standard<unsigned>(job);
        standard<long>(job);
        standard<unsigned long>(job);
        standard<long long>(job);
        standard<unsigned long long>(job);
        extended<float>(job);
        extended<double>(job);
    });
}

template <class T> void contend(Job& job, int rounds) {
    SymmetricArray<T> x(job, 2);
    const Context& c = job.context();
    T last = T(-1);
    for (int i = 0; i < rounds; ++i) {
        const T before = c.atomic_fetch_add(x.data(), T(1), 0);
        ASSERT_GT(before, last);  // the values that one PE fetches only grow
        last = before;
        c.atomic_add(x.data() + 1, T(2), job.n_pes() - 1);
    }
    job.world().barrier();
    EXPECT_EQ(c.atomic_fetch(x.data(), 0), T(rounds * job.n_pes()));
    EXPECT_EQ(c.atomic_fetch(x.data() + 1, job.n_pes() - 1), T(2 * rounds * job.n_pes()));
    job.world().barrier();
}

TEST_P(Atomics, NoIncrementIsLostUnderContention) {
    run([](Job& job) {
        const int rounds = is_near(job) ? 5000 : 1000;
        contend<int>(job, rounds);
        contend<long>(job, rounds);
        contend<float>(job, rounds);
        contend<double>(job, rounds);
    });
}

TEST_P(Atomics, CompareSwapHasOneWinner) {
    run([](Job& job) {
        SymmetricArray<long> owner(job, 1), wins(job, 1);
        const Context& c = job.context();
        constexpr long rounds = 200;
        long mine = 0;
        for (long i = 0; i < rounds; ++i) {
            if (c.atomic_compare_swap(owner.data(), i, i + 1, 0) == i) ++mine;
            while (c.atomic_fetch(owner.data(), 0) <= i) std::this_thread::yield();
        }
        c.atomic_add(wins.data(), mine, 0);
        job.world().barrier();
        EXPECT_EQ(c.atomic_fetch(wins.data(), 0), rounds);
        job.world().barrier();
    });
}

TEST_P(Atomics, BitsSetByManyAreAllThere) {
    run([](Job& job) {
        SymmetricArray<std::uint64_t> bits(job, 1);
        for (int i = job.my_pe(); i < 64; i += job.n_pes())
            job.context().atomic_or(bits.data(), std::uint64_t{1} << i, 0);
        job.world().barrier();
        EXPECT_EQ(job.context().atomic_fetch(bits.data(), 0), ~std::uint64_t{0});
        job.world().barrier();
        for (int i = job.my_pe(); i < 64; i += job.n_pes())
            job.context().atomic_xor(bits.data(), std::uint64_t{1} << i, 0);
        job.world().barrier();
        EXPECT_EQ(job.context().atomic_fetch(bits.data(), 0), 0u);
        job.world().barrier();
    });
}

template <class T> std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T> void erased(Job& job) {
    SymmetricArray<T> x(job, 1);
    const Context& c = job.context();
    const int pe = right_of(job);
    const auto apply = [&](AtomicOp op, T value, T compare = T{}) {
        return c.atomic_erased(op, dtype<T>, x.data(), bits_of(value), bits_of(compare), pe);
    };
    apply(AtomicOp::set, T(12));
    c.quiet();
    EXPECT_EQ(apply(AtomicOp::fetch, T{}), bits_of(T(12)));
    EXPECT_EQ(apply(AtomicOp::swap, T(-3)), bits_of(T(12)));
    EXPECT_EQ(apply(AtomicOp::fetch_add, T(5)), bits_of(T(-3)));
    apply(AtomicOp::add, T(1));
    c.quiet();
    EXPECT_EQ(apply(AtomicOp::fetch, T{}), bits_of(T(3)));
    if constexpr (StandardAtomic<T>) {
        EXPECT_EQ(apply(AtomicOp::compare_swap, T(6), T(3)), bits_of(T(3)));
        EXPECT_EQ(apply(AtomicOp::fetch_and, T(4)), bits_of(T(6)));
        EXPECT_EQ(apply(AtomicOp::fetch_or, T(3)), bits_of(T(4)));
        EXPECT_EQ(apply(AtomicOp::fetch_xor, T(5)), bits_of(T(7)));
        apply(AtomicOp::bit_or, T(8));
        c.fence();
        apply(AtomicOp::bit_and, T(9));
        c.fence();
        apply(AtomicOp::bit_xor, T(1));
        c.quiet();
        EXPECT_EQ(apply(AtomicOp::fetch, T{}), bits_of(T(9)));
    } else {
        expect_error(ErrorCode::dtype_mismatch, {}, [&] { apply(AtomicOp::fetch_and, T(4)); });
        expect_error(ErrorCode::dtype_mismatch, {}, [&] { apply(AtomicOp::bit_xor, T(4)); });
        EXPECT_EQ(apply(AtomicOp::fetch, T{}), bits_of(T(3)));
    }
    job.world().barrier();
}

TEST_P(Atomics, ErasedForms) {
    run([](Job& job) {
        erased<std::int32_t>(job);
        erased<std::uint32_t>(job);
        erased<std::int64_t>(job);
        erased<std::uint64_t>(job);
        erased<float>(job);
        erased<double>(job);
        SymmetricArray<short> x(job, 8);
        for (const DType type :
             {DType::int8, DType::uint16, DType::boolean, DType::complex64, DType::long_double})
            expect_error(ErrorCode::dtype_mismatch, {"32- or 64-bit"},
                         [&] { job.context().atomic_erased(AtomicOp::add, type, x.data(), 1, 0, 0); });
        job.world().barrier();
    });
}

TEST_P(Atomics, MisuseIsNamed) {
    run([](Job& job) {
        SymmetricArray<long> x(job, 2);
        const Context& c = job.context();
        auto* crooked = reinterpret_cast<long*>(reinterpret_cast<char*>(x.data()) + 4);
        long local = 0;
        expect_error(ErrorCode::invalid_argument, {"multiple of 8"}, [&] { c.atomic_add(crooked, 1, 0); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { c.atomic_fetch(&local, 0); });
        c.atomic_inc(x.data(), 0);
        job.world().barrier();
        EXPECT_EQ(c.atomic_fetch(x.data(), 0), job.n_pes());
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Atomics, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
