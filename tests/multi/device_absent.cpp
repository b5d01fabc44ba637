// A job without a GPU: a request for GPU memory throws the same error, with a reason, on all PEs. Everything
// else works.
#include "support/multi_main.hpp"
#include "support/setups.hpp"

#include <cstdlib>

namespace atl::testing {
namespace {

TEST(DeviceAbsent, IsReportedAndTheRestWorks) {
    ::setenv("CUDA_VISIBLE_DEVICES", "", 1);  // the driver, if present, reads it at its first use
    Job& job = current_job();
    for (int i = 0; i < 2; ++i) {
        expect_error(ErrorCode::unsupported, {"GPU"}, [&] { job.malloc(64, Memory::device); });
        expect_error(ErrorCode::unsupported, {"GPU"}, [&] { job.calloc(8, 8, Memory::device); });
    }
    EXPECT_EQ(job.malloc(0, Memory::device), nullptr);
    EXPECT_EQ(job.device_heap_use().number, -1);
    SymmetricArray<int> x(job, 1);
    job.context().p(x.data(), 5, right_of(job));
    job.world().barrier();
    EXPECT_EQ(x[0], 5);
}

}  // namespace
}  // namespace atl::testing
