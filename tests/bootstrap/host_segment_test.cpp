// The memory that the PEs of a host share.
#include "bootstrap/host/host_segment.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace atl::bootstrap {
namespace {

TEST(SharedBoard, HasTheLogsThatItIsMadeWith) {
    common::Fd fd;
    const MappedBoard board = MappedBoard::create_shared(2, fd, {1000, true});
    EXPECT_EQ(board.view().header().log_events, 1000u);
    EXPECT_TRUE(MappedBoard::adopt(fd.get(), 2, "from a test").view().header().traces_kernels());
}

TEST(SharedBoard, HasNoLogsWithoutAddressesForThem) {
    constexpr std::uint64_t beyond_addresses = std::uint64_t{1} << 45;
    common::Fd fd;
    const MappedBoard board = MappedBoard::create_shared(2, fd, {beyond_addresses, true});
    EXPECT_EQ(board.view().header().log_events, 0u);
    EXPECT_FALSE(MappedBoard::adopt(fd.get(), 2, "from a test").view().header().traces_kernels());
}

}  // namespace
}  // namespace atl::bootstrap
