// Puts and gets on the device heap, with memory of every kind as the local side.
#include "gpu/support.hpp"
#include "support/multi_main.hpp"

#include <algorithm>
#include <numeric>

namespace atl::testing {
namespace {

enum class Kind { ordinary, pinned, host_heap, cuda, device_heap };
constexpr Kind kinds[] = {Kind::ordinary, Kind::pinned, Kind::host_heap, Kind::cuda, Kind::device_heap};
constexpr std::size_t most = (std::size_t{8} << 20) + 64;
constexpr std::size_t sizes[] = {0, 1, 3, 8, 100, 1024, 65537, std::size_t{8} << 20};

/// `most` bytes of one kind of memory; allocated and freed collectively.
class Local {
  public:
    Local(Job& job, Kind kind) : job_(job), kind_(kind) {
        switch (kind) {
            case Kind::ordinary:
                address_ = ::operator new(most);
                break;
            case Kind::pinned:
                check_cuda(cudaMallocHost(&address_, most));
                break;
            case Kind::cuda:
                check_cuda(cudaMalloc(&address_, most));
                break;
            default:
                address_ = job.malloc(most, kind == Kind::host_heap ? Memory::host : Memory::device);
        }
    }
    ~Local() {
        if (kind_ == Kind::ordinary)
            ::operator delete(address_);
        else if (kind_ == Kind::pinned)
            cudaFreeHost(address_);
        else if (kind_ == Kind::cuda)
            cudaFree(address_);
        else
            job_.free(address_);
    }
    Local(const Local&) = delete;
    Local& operator=(const Local&) = delete;
    unsigned char* data() const { return static_cast<unsigned char*>(address_); }

  private:
    Job& job_;
    Kind kind_;
    void* address_ = nullptr;
};

class DeviceRma : public OnDevice, public ::testing::WithParamInterface<Kind> {
  protected:
    Bytes with_middle(Bytes around, std::size_t at, const Bytes& middle) {
        std::copy(middle.begin(), middle.end(), around.begin() + static_cast<std::ptrdiff_t>(at));
        return around;
    }
};

TEST_P(DeviceRma, PutsReachTheRightNeighbourAndNothingElse) {
    Local source(job_, GetParam());
    auto* target = static_cast<unsigned char*>(job_.calloc(1, most, Memory::device));
    Bytes expected(most);
    int round = 0;
    for (const std::size_t bytes : sizes)
        for (const std::size_t shift : {0u, 5u}) {
            ++round;
            write(source.data() + shift, noise(bytes, 100 * round + job_.my_pe()));
            context_.put(target + 2 * shift, source.data() + shift, bytes, right_of(job_));
            job_.world().barrier();
            expected = with_middle(expected, 2 * shift, noise(bytes, 100 * round + left_of(job_)));
            EXPECT_TRUE(read(target, most) == expected) << bytes << " bytes, shifted by " << shift;
            job_.world().barrier();
        }
    job_.free(target);
}

TEST_P(DeviceRma, GetsBringTheRightNeighboursAndNothingElse) {
    Local target(job_, GetParam());
    auto* source = static_cast<unsigned char*>(job_.malloc(most, Memory::device));
    write(source, noise(most, job_.my_pe()));
    job_.world().barrier();
    const Bytes theirs = noise(most, right_of(job_));
    for (const std::size_t bytes : sizes)
        for (const std::size_t shift : {0u, 7u}) {
            write(target.data(), Bytes(most, 0xee));
            context_.get(target.data() + 2 * shift, source + shift, bytes, right_of(job_));
            const auto from = theirs.begin() + static_cast<std::ptrdiff_t>(shift);
            const Bytes expected = with_middle(Bytes(most, 0xee), 2 * shift,
                                               Bytes(from, from + static_cast<std::ptrdiff_t>(bytes)));
            EXPECT_TRUE(read(target.data(), most) == expected) << bytes << " bytes, shifted by " << shift;
        }
    job_.world().barrier();
    job_.free(source);
}

std::string kind_name(const ::testing::TestParamInfo<Kind>& info) {
    constexpr const char* names[] = {"Ordinary", "Pinned", "HostHeap", "CudaMalloc", "DeviceHeap"};
    return names[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(From, DeviceRma, ::testing::ValuesIn(kinds), kind_name);

class DeviceForms : public OnDevice {};

TEST_F(DeviceForms, EveryPeToEveryPe) {
    const int n = job_.n_pes();
    auto* x = static_cast<std::uint64_t*>(
        job_.calloc(static_cast<std::size_t>(n), sizeof(std::uint64_t), Memory::device));
    for (int pe = 0; pe < n; ++pe)
        context_.p(x + job_.my_pe(), static_cast<std::uint64_t>(100 * job_.my_pe() + pe), pe);
    job_.world().barrier();
    for (int owner = 0; owner < n; ++owner)
        for (int writer = 0; writer < n; ++writer)
            EXPECT_EQ(context_.g(x + writer, owner), static_cast<std::uint64_t>(100 * writer + owner));
    job_.world().barrier();
    job_.free(x);
}

TEST_F(DeviceForms, NonBlockingAndStrided) {
    auto* x = static_cast<int*>(job_.calloc(64, sizeof(int), Memory::device));
    const std::vector<int> mine{1, 2, 3, 4};
    const int right = right_of(job_);
    context_.iput(x, mine.data(), 3, 1, 4, right);
    context_.put_nbi(x + 32, mine.data(), 4, right);
    job_.world().barrier();
    std::vector<int> got(4), block(4);
    context_.iget(got.data(), x, 1, 3, 4, right);
    context_.get_nbi(block.data(), x + 32, 4, right);
    context_.quiet();
    EXPECT_EQ(got, mine);
    EXPECT_EQ(block, mine);
    job_.world().barrier();
    job_.free(x);
}

/// From and to each kind of memory, also more than is pinned at once.
TEST_F(DeviceForms, StridedFromAndToEveryMemory) {
    constexpr std::size_t n = 200000;
    auto* x = static_cast<std::uint64_t*>(job_.calloc(2 * n, 8, Memory::device));
    std::uint64_t* on_gpu = nullptr;
    check_cuda(cudaMalloc(&on_gpu, 3 * n * 8));
    std::uint64_t* pinned = nullptr;
    check_cuda(cudaMallocHost(&pinned, 3 * n * 8));
    auto* in_heap = static_cast<std::uint64_t*>(job_.malloc(3 * n * 8));
    std::vector<std::uint64_t> ordinary(3 * n), expected(2 * n), seen(2 * n);
    for (std::uint64_t* local : {on_gpu, pinned, in_heap, ordinary.data()})
        for (const std::size_t block : {1u, 2u, 100000u}) {
            std::vector<std::uint64_t> mine(3 * n);
            std::iota(mine.begin(), mine.end(), 1000000u * static_cast<unsigned>(job_.my_pe()) + block);
            check_cuda(cudaMemcpy(local, mine.data(), 3 * n * 8, cudaMemcpyDefault));
            check_cuda(cudaMemset(x, 0, 2 * n * 8));
            check_cuda(cudaDeviceSynchronize());
            job_.world().barrier();
            const std::size_t count = block == 1 ? n : block == 2 ? n / 2 : 2;
            const auto far = static_cast<std::ptrdiff_t>(block == 1   ? 2
                                                         : block == 2 ? 3
                                                                      : 150000),
                       near = static_cast<std::ptrdiff_t>(block == 1 ? 3 : block);
            context_.ibput(x, local, far, near, block, count, right_of(job_));
            job_.world().barrier();
            std::fill(expected.begin(), expected.end(), 0u);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t k = 0; k < block; ++k)
                    expected[i * static_cast<std::size_t>(far) + k] =
                        i * static_cast<std::size_t>(near) + k +
                        1000000u * static_cast<unsigned>(left_of(job_)) + block;
            check_cuda(cudaMemcpy(seen.data(), x, 2 * n * 8, cudaMemcpyDefault));
            EXPECT_TRUE(seen == expected) << "put of blocks of " << block;
            check_cuda(cudaMemset(on_gpu, 0, 3 * n * 8));
            check_cuda(cudaDeviceSynchronize());
            std::fill(ordinary.begin(), ordinary.end(), 0u);
            context_.ibget(local, x, near, far, block, count, right_of(job_));
            std::vector<std::uint64_t> back(3 * n);
            check_cuda(cudaMemcpy(back.data(), local, 3 * n * 8, cudaMemcpyDefault));
            bool right = true;
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t k = 0; k < block; ++k)
                    right = right && back[i * static_cast<std::size_t>(near) + k] ==
                                         mine[i * static_cast<std::size_t>(near) + k];
            EXPECT_TRUE(right) << "get of blocks of " << block;
            job_.world().barrier();
        }
    job_.free(in_heap);
    check_cuda(cudaFreeHost(pinned));
    check_cuda(cudaFree(on_gpu));
    job_.free(x);
}

TEST_F(DeviceForms, AnotherTeamCountsItsOwnPes) {
    Team reversed = job_.world().split(0, job_.n_pes() - job_.my_pe());
    auto* x = static_cast<int*>(job_.calloc(1, sizeof(int), Memory::device));
    const Context context = reversed.create_context();
    context.p(x, 10 + job_.my_pe(), 0);  // the world's last PE
    job_.world().barrier();
    if (job_.my_pe() == job_.n_pes() - 1) {
        EXPECT_GE(context_.g(x, job_.my_pe()), 10);
    } else {
        EXPECT_EQ(context_.g(x, job_.my_pe()), 0);
    }
    job_.world().barrier();
    job_.free(x);
}

TEST_F(DeviceForms, PointersIntoThePeersSlotsAreForTheGpu) {
    auto* x = static_cast<int*>(job_.malloc(sizeof(int), Memory::device));
    EXPECT_EQ(context_.ptr(x, job_.my_pe()), x);
    int value = 1000 + job_.my_pe();
    check_cuda(cudaMemcpy(context_.ptr(x, right_of(job_)), &value, sizeof value, cudaMemcpyDefault));
    check_cuda(cudaDeviceSynchronize());
    job_.world().barrier();
    EXPECT_EQ(context_.g(x, job_.my_pe()), 1000 + left_of(job_));
    job_.world().barrier();
    job_.free(x);
}

}  // namespace
}  // namespace atl::testing
