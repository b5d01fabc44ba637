// The few types of PMIx that src/bootstrap/pmi/pmix.cpp declares, against its headers where these are
// installed.
#if __has_include(<pmix_common.h>)
#include <pmix_common.h>
#define ATOLL_HAS_PMIX_HEADERS 1
#endif

#include <gtest/gtest.h>

#include <cstddef>

namespace {

TEST(PmixLayout, IsThatOfTheHeaders) {
#ifdef ATOLL_HAS_PMIX_HEADERS
    EXPECT_EQ(sizeof(pmix_proc_t), 260u);
    EXPECT_EQ(offsetof(pmix_proc_t, rank), 256u);
    EXPECT_EQ(sizeof(pmix_value_t), 32u);
    EXPECT_EQ(offsetof(pmix_value_t, data), 8u);
    EXPECT_EQ(sizeof(pmix_info_t), 552u);
    EXPECT_EQ(offsetof(pmix_info_t, flags), 512u);
    EXPECT_EQ(offsetof(pmix_info_t, value), 520u);
    EXPECT_EQ(PMIX_BOOL, 1);
    EXPECT_EQ(PMIX_UINT32, 14);
    EXPECT_EQ(PMIX_BYTE_OBJECT, 27);
    EXPECT_EQ(PMIX_GLOBAL, 3);
    EXPECT_EQ(PMIX_RANK_WILDCARD, UINT32_MAX - 1);
    EXPECT_STREQ(PMIX_JOB_SIZE, "pmix.job.size");
    EXPECT_STREQ(PMIX_COLLECT_DATA, "pmix.collect");
#else
    GTEST_SKIP() << "the headers of PMIx are not installed (libpmix-dev)";
#endif
}

}  // namespace
