// take, put_at and add_at on GPU arrays, on streams and blocking, for PEs in the window and for PEs that a
// transport reaches. The GPU is simulated in memory of the host (tests/simulated); ATOLL_TEST_GPU selects a
// real one.
#include "atoll/stream.hpp"
#include "support/device_far.hpp"
#include "support/gpu_streams.hpp"
#include "support/multi_main.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace atl::testing {
namespace {

/// Random elements of random PEs, as many as a test can move to them.
struct Draw {
    std::vector<std::int64_t> index;
    std::vector<std::int32_t> pe;
};

class DeviceElements : public DeviceFar {
  protected:
    std::size_t some() const { return is_far() ? 200 : 20'000; }
    Draw draw(std::size_t n, std::int64_t size, int seed) const {
        std::mt19937 next(static_cast<unsigned>(seed));
        Draw drawn;
        for (std::size_t i = 0; i < n; ++i) {
            drawn.index.push_back(static_cast<std::int64_t>(next() % (2 * static_cast<unsigned>(size))) -
                                  size);
            drawn.pe.push_back(static_cast<int>(next() % static_cast<unsigned>(job_.n_pes())));
        }
        return drawn;
    }
    static std::size_t at(std::int64_t index, std::size_t size) {
        return static_cast<std::size_t>(index < 0 ? index + static_cast<std::int64_t>(size) : index);
    }
    /// A copy of the numbers in memory that this PE's GPU reads.
    template <class T> T* there(const std::vector<T>& numbers) {
        T* memory = zeros<T>(numbers.size());
        set(memory, numbers);
        return memory;
    }
    template <class F> static std::string said(F&& call, ErrorCode code) {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "nothing was thrown";
        return {};
    }
};

template <class T> T value_of(int pe, std::size_t k) {
    T value{};
    std::memcpy(&value, &k, std::min(sizeof value, sizeof k));
    reinterpret_cast<unsigned char*>(&value)[sizeof value - 1] = static_cast<unsigned char>(pe + 1);
    return value;
}

template <std::size_t N> using Bytes = std::array<unsigned char, N>;

template <class T> class DeviceElementsOf : public DeviceElements {};
using Sizes = ::testing::Types<Bytes<1>, Bytes<2>, Bytes<3>, std::uint32_t, std::uint64_t, Bytes<12>,
                               std::array<std::uint64_t, 2>, std::array<std::uint64_t, 3>>;
TYPED_TEST_SUITE(DeviceElementsOf, Sizes);

TYPED_TEST(DeviceElementsOf, AreTakenFromAllPes) {
    using T = TypeParam;
    const std::size_t size = 101, n = this->some();
    Job& job = this->job_;
    T* x = this->template zeros<T>(size);
    T* out = this->template zeros<T>(n);
    std::vector<T> mine(size);
    for (std::size_t k = 0; k < size; ++k) mine[k] = value_of<T>(job.my_pe(), k);
    this->set(x, mine);
    const Draw drawn = this->draw(n, size, job.my_pe());
    auto* index = this->there(drawn.index);
    auto* pe = this->there(drawn.pe);
    job.world().barrier();
    const StreamContext stream(this->context_, GpuStream(job));
    stream.take(out, {x, size}, index, pe, n);
    stream.synchronize();
    const std::vector<T> found = this->values(out, n);
    for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(found[i], value_of<T>(drawn.pe[i], this->at(drawn.index[i], size))) << i;
    stream.take(out, {x, size}, -1, job.n_pes() - 1, 1);
    stream.synchronize();
    EXPECT_EQ(this->values(out, 1)[0], value_of<T>(job.n_pes() - 1, size - 1));
    this->free({pe, index, out, x});
}

TYPED_TEST(DeviceElementsOf, AreScatteredToAllPes) {
    using T = TypeParam;
    Job& job = this->job_;
    const int n_pes = job.n_pes(), me = job.my_pe();
    // Each PE has a part of every array, so no element has two writers.
    const std::size_t each = this->some() / static_cast<std::size_t>(n_pes);
    const auto n = each * static_cast<std::size_t>(n_pes);
    T* x = this->template zeros<T>(n);
    std::vector<std::int64_t> index;
    std::vector<std::int64_t> pe;
    std::vector<T> values;
    for (std::size_t i = 0; i < n; ++i) {
        pe.push_back(static_cast<std::int64_t>(i) % n_pes);
        const auto place = static_cast<std::size_t>(me) * each + i / static_cast<std::size_t>(n_pes);
        index.push_back(static_cast<std::int64_t>(place) - (i % 3 == 0 ? static_cast<std::int64_t>(n) : 0));
        values.push_back(value_of<T>(me, place));
    }
    auto* indices = this->there(index);
    auto* pes = this->there(pe);
    T* from = this->there(values);
    job.world().barrier();
    const StreamContext stream(this->context_, GpuStream(job));
    stream.put_at({x, n}, indices, from, pes, n);
    stream.synchronize();
    job.world().barrier();
    std::vector<T> found = this->values(x, n);
    for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(found[k], value_of<T>(static_cast<int>(k / each), k)) << k;
    job.world().barrier();
    if constexpr (sizeof(T) <= 16) {
        const T one = value_of<T>(77, 5);
        stream.put_at(std::span<T>(x, n), indices, one, pes, n);
        stream.synchronize();
        job.world().barrier();
        found = this->values(x, n);
        for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(found[k], one) << k;
        job.world().barrier();
    }
    this->free({from, pes, indices, x});
}

template <class T> class DeviceAdditionsOf : public DeviceElements {};
using Words = ::testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(DeviceAdditionsOf, Words);

TYPED_TEST(DeviceAdditionsOf, CountEveryValueOfEveryPe) {
    using T = TypeParam;
    Job& job = this->job_;
    const std::size_t size = 7, n = this->some();
    T* x = this->template zeros<T>(size);
    const Draw drawn = this->draw(n, size, 5 + job.my_pe());
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(i % 5);
    auto* index = this->there(drawn.index);
    auto* pe = this->there(drawn.pe);
    T* from = this->there(values);
    job.world().barrier();
    const StreamContext stream(this->context_, GpuStream(job));
    stream.add_at({x, size}, index, from, pe, n);
    stream.add_at(std::span<T>(x, size), index, 2, pe, n);
    stream.synchronize();
    job.world().barrier();
    std::vector<T> expected(size);
    for (int who = 0; who < job.n_pes(); ++who) {
        const Draw theirs = this->draw(n, size, 5 + who);
        for (std::size_t i = 0; i < n; ++i)
            if (theirs.pe[i] == job.my_pe())
                expected[this->at(theirs.index[i], size)] += static_cast<T>(i % 5 + 2);
    }
    EXPECT_EQ(this->values(x, size), expected);
    this->free({from, pe, index, x});
}

TEST_F(DeviceElements, OfArraysOfAnyStepCompleteOnReturnFromAnyMemory) {
    const std::size_t size = 50, n = is_far() ? 300 : 120'000;  // of more than a lane's pinned memory
    auto* x = zeros<int>(3 * size);
    auto* out = zeros<int>(n);
    std::vector<int> mine(3 * size);
    for (std::size_t k = 0; k < mine.size(); ++k) mine[k] = static_cast<int>(k) + 1000 * job_.my_pe();
    set(x, mine);
    Draw drawn = draw(n, size, job_.my_pe());
    job_.world().barrier();
    for (const int step : {3, -3, -1}) {
        int* first = step > 0 ? x : x + 3 * size - 1;
        std::vector<int> found(n, -1);
        Elements take{ElementsOp::take,
                      first,
                      step * 4,
                      size,
                      4,
                      DType::int32,
                      drawn.index.data(),
                      drawn.pe.data(),
                      found.data(),
                      ElementsValues::each,
                      n};
        const auto check = [&](const std::vector<int>& which) {
            for (std::size_t i = 0; i < n; ++i) {
                const int k = static_cast<int>(first - x) + step * static_cast<int>(at(drawn.index[i], size));
                ASSERT_EQ(which[i], k + 1000 * drawn.pe[i]) << i << " by " << step;
            }
        };
        move_elements(context_, take);
        check(found);
        take.values = out;
        move_elements(context_, take);
        check(values(out, n));
    }
    job_.world().barrier();
    set(x, std::vector<int>(3 * size));
    job_.world().barrier();
    std::vector<int> ones(n, 1);
    move_elements(context_, {ElementsOp::add_at, x, 12, size, 4, DType::int32, drawn.index.data(),
                             std::int64_t{right_of(job_)}, ones.data(), ElementsValues::each, n});
    int one = 1;
    move_elements(context_, {ElementsOp::add_at, x, 12, size, 4, DType::int32, drawn.index.data(),
                             std::int64_t{right_of(job_)}, &one, ElementsValues::copied, n});
    job_.world().barrier();
    std::vector<int> expected(3 * size);
    for (const std::int64_t index : draw(n, size, left_of(job_)).index) expected[3 * at(index, size)] += 2;
    EXPECT_EQ(values(x, 3 * size), expected);
    free({out, x});
}

TEST_F(DeviceElements, OutOfRangeAreRefusedBeforeAnyTransfer) {
    auto* x = zeros<int>(10);
    auto* out = zeros<int>(10);
    const StreamContext stream(context_, GpuStream(job_));
    const auto no_element = ErrorCode::invalid_argument;
    EXPECT_NE(said(
                  [&] {
                      stream.take(out, {x, 10}, 10, 0, 1);
                  },
                  no_element)
                  .find("element 10"),
              std::string::npos);
    EXPECT_NE(said(
                  [&] {
                      stream.take(out, {x, 10}, -11, 0, 1);
                  },
                  no_element)
                  .find("-10 to 9"),
              std::string::npos);
    said([&] { stream.take(out, {x, 10}, 0, job_.n_pes(), 1); }, ErrorCode::pe);
    said([&] { stream.take(out, {x, 10}, 0, -1, 1); }, ErrorCode::pe);
    said([&] { stream.take(out, {x, 0}, 0, 0, 1); }, no_element);
    const std::vector<std::int64_t> index{0, 1, 12}, good{0, 1, 2}, pes{0, 0, job_.n_pes()};
    std::vector<int> sevens(3, 7);
    Elements put{ElementsOp::put_at,   x, 4, 10, 4, DType::int32, index.data(), job_.my_pe(), sevens.data(),
                 ElementsValues::each, 3};
    said([&] { move_elements(context_, put); }, no_element);
    put.index = good.data();
    put.pe = pes.data();
    said([&] { move_elements(context_, put); }, ErrorCode::pe);
    put.pe = job_.my_pe();
    put.first = sevens.data();
    said([&] { move_elements(context_, put); }, ErrorCode::not_symmetric);
    put.first = reinterpret_cast<char*>(x) + 2;
    put.size = 9;
    put.op = ElementsOp::add_at;
    said([&] { move_elements(context_, put); }, no_element);
    put.type = DType::int16;
    said([&] { move_elements(context_, put); }, ErrorCode::dtype_mismatch);
    stream.take(out, {x, 0}, 0, 0, 0);
    EXPECT_EQ(values(x, 10), std::vector<int>(10));
    free({out, x});
}

/// For numbers in GPU memory, only the kernel can check them. (On a real GPU that ends the context:
/// tests/gpu/ends.)
TEST_F(DeviceElements, OutOfRangeAreReportedByTheKernel) {
    if (has_real_gpu()) GTEST_SKIP() << "a report of a kernel ends the GPU context";
    auto* x = zeros<int>(10);
    auto* out = zeros<int>(10);
    auto* index = there(std::vector<std::int32_t>{3, -11, 2});
    auto* pe = there(std::vector<std::int64_t>{0, 0, job_.n_pes()});
    const StreamContext stream(context_, GpuStream(job_));
    const std::string words = said(
        [&] {
            stream.take(out, {x, 10}, index, 0, 3);
        },
        ErrorCode::invalid_argument);
    EXPECT_NE(words.find("take for element -11, index 1 of the call; the array has 10 elements, so indices "
                         "are -10 to 9"),
              std::string::npos)
        << words;
    const std::string pes = said([&] { stream.add_at(std::span<int>(x, 10), 4, 1, pe, 3); }, ErrorCode::pe);
    EXPECT_NE(pes.find("add_at for team PE " + std::to_string(job_.n_pes()) + "; the team has PEs 0 to"),
              std::string::npos)
        << pes;
    free({pe, index, out, x});
}

TEST_F(DeviceElements, OfATeamHaveItsNumbers) {
    const int me = job_.my_pe(), n = job_.n_pes();
    // The teams of even and odd PEs, each in reverse order.
    const Team team = job_.world().split(me % 2, -me);
    auto* x = zeros<std::int64_t>(4);
    auto* out = zeros<std::int64_t>(n);
    set(x, std::vector<std::int64_t>(4, 100 + me));
    std::vector<std::int64_t> pes(static_cast<std::size_t>(team.n_pes()));
    std::iota(pes.begin(), pes.end(), 0);
    auto* pe = zeros<std::int64_t>(static_cast<std::size_t>(n));
    set(pe, pes);
    job_.world().barrier();
    const StreamContext stream(team.context(), GpuStream(job_));
    stream.take(out, {x, 4}, 1, pe, pes.size());
    stream.synchronize();
    const auto found = values(out, pes.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(found[i], 100 + team.world_pe(static_cast<int>(i)));
    free({pe, out, x});
}

/// A graph reads the numbers that are in memory when it is replayed. (The simulated GPU has no graphs.)
TEST_F(DeviceElements, AreCapturedAndReplayed) {
    const GpuStream gpu(job_);
    const std::size_t n = 64;
    auto* x = zeros<std::uint64_t>(n);
    auto* index = zeros<std::int64_t>(n);
    job_.world().barrier();
    const StreamContext stream(context_, gpu);
    const auto record = [&] { stream.add_at(std::span<std::uint64_t>(x, n), index, 1, right_of(job_), n); };
    const std::function<void()> replay = has_real_gpu() ? gpu.graph(record) : record;
    for (int round = 0; round < 10; ++round) {
        set(index, std::vector<std::int64_t>(n, round));
        replay();
        stream.synchronize();
    }
    job_.world().barrier();
    std::vector<std::uint64_t> expected(n);
    for (std::size_t k = 0; k < 10; ++k) expected[k] = n;
    EXPECT_EQ(values(x, n), expected);
    free({index, x});
}

TEST_F(DeviceElements, AMillionOfThem) {
    const std::size_t n = is_far() ? 500 : has_real_gpu() ? 1'000'000 : 50'000, size = 4096;
    auto* x = zeros<float>(size);
    const Draw drawn = draw(n, size, job_.my_pe());
    auto* index = there(drawn.index);
    auto* pe = there(drawn.pe);
    job_.world().barrier();
    const StreamContext stream(context_, GpuStream(job_));
    stream.add_at(std::span<float>(x, size), index, 1, pe, n);
    stream.synchronize();
    job_.world().barrier();
    std::vector<float> expected(size);
    for (int who = 0; who < job_.n_pes(); ++who) {
        const Draw theirs = draw(n, size, who);
        for (std::size_t i = 0; i < n; ++i)
            if (theirs.pe[i] == job_.my_pe()) expected[at(theirs.index[i], size)] += 1;
    }
    EXPECT_EQ(values(x, size), expected);
    free({pe, index, x});
}

}  // namespace
}  // namespace atl::testing
