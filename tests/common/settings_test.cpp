#include "common/settings/settings.hpp"
#include "common/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sched.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "atoll/error.hpp"
#include "common/cgroup.hpp"
#include "common/settings/nearest_name.hpp"

namespace atl::common {
namespace {

/// Sets an environment variable for the duration of a test.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old, had_ = true;
        setenv(name, value, 1);
    }
    ~Variable() { had_ ? setenv(name_.c_str(), old_.c_str(), 1) : unsetenv(name_.c_str()); }

  private:
    std::string name_, old_;
    bool had_ = false;
};

std::string refusal(const char* name, const char* value) {
    Variable variable(name, value);
    try {
        read_settings();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        return error.what();
    }
    return "accepted";
}

TEST(Settings, HowMuchFreedMemoryAPeKeeps) {
    EXPECT_EQ(read_settings().heap_keep_bytes, keep_by_heap_limit);
    const Variable variable("ATOLL_HEAP_KEEP", "256m");
    EXPECT_EQ(read_settings().heap_keep_bytes, std::uint64_t{256} << 20);
    EXPECT_NE(refusal("ATOLL_HEAP_KEEP", "much").find("ATOLL_HEAP_KEEP=much"), std::string::npos);
}

TEST(Settings, TheGpuIsOursToNameElseTheLaunchersToNumber) {
    Variable rank("LOCAL_RANK", "3");
    EXPECT_EQ(read_settings().device, 3);
    EXPECT_FALSE(read_settings().device_exact);
    {
        // That of `atoll run` numbers the PEs of one launcher, of which a machine may have several.
        Variable record("ATOLL_RUN_RANKS", "RANK=7 LOCAL_RANK=3"), global("RANK", "7");
        EXPECT_EQ(read_settings().device, -1);
        Variable of_another("RANK", "6");
        EXPECT_EQ(read_settings().device, 3);
    }
    {
        Variable ours("ATOLL_DEVICE", "1");
        EXPECT_EQ(read_settings().device, 1);
        EXPECT_TRUE(read_settings().device_exact);
    }
    Variable not_launched("LOCAL_RANK", "-1");
    EXPECT_EQ(read_settings().device, -1);
    EXPECT_NE(refusal("ATOLL_DEVICE", "gpu0").find("number of a GPU"), std::string::npos);
    EXPECT_NE(refusal("ATOLL_DEVICE", "-1").find("number of a GPU"), std::string::npos);
}

TEST(ParseSize, TakesBytesAndSuffixes) {
    EXPECT_EQ(parse_size("4096", "X"), 4096u);
    EXPECT_EQ(parse_size("0", "X"), 0u);
    EXPECT_EQ(parse_size("512m", "X"), 512u << 20);
    EXPECT_EQ(parse_size("512M", "X"), 512u << 20);
    EXPECT_EQ(parse_size("1.5G", "X"), 3ull << 29);
    EXPECT_EQ(parse_size(".5m", "X"), 1u << 19);
    EXPECT_EQ(parse_size("64KiB", "X"), 64u << 10);
    EXPECT_EQ(parse_size("2 TB", "X"), 2ull << 40);
    EXPECT_EQ(parse_size("100b", "X"), 100u);
}

TEST(ParseSize, RefusesTheRest) {
    for (const char* text :
         {"", "lots", "-1", "inf", "nan", "1x", "m", "1m2", "1..5m", "0x10", "1e30", "99999999999g", " 1"}) {
        try {
            parse_size(text, "ATOLL_HEAP_SIZE");
            ADD_FAILURE() << "accepted \"" << text << '"';
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::settings);
            EXPECT_EQ(std::string(error.what()).find("ATOLL_HEAP_SIZE=" + std::string(text) + " "), 0u)
                << error.what();
        }
    }
}

TEST(ReadSettings, HeapSizeGoesByOursThenTheStandardsNames) {
    Variable oldest("SMA_SYMMETRIC_SIZE", "1m");
    EXPECT_EQ(read_settings().heap_bytes, 1u << 20);
    Variable standard("SHMEM_SYMMETRIC_SIZE", "2m");
    EXPECT_EQ(read_settings().heap_bytes, 2u << 20);
    Variable ours("ATOLL_HEAP_SIZE", "3m");
    EXPECT_EQ(read_settings().heap_bytes, 3u << 20);
    Variable empty("ATOLL_HEAP_SIZE", "");
    EXPECT_EQ(read_settings().heap_bytes, 2u << 20);
}

TEST(ReadSettings, ReadsEveryKind) {
    Variable check("ATOLL_CHECK", "all"), timeout("ATOLL_WAIT_TIMEOUT", "2.5"),
        stall("ATOLL_STALL_WARN", "0");
    Variable spin("ATOLL_SPIN", "10"), info("SHMEM_INFO", "please"), transport("ATOLL_TRANSPORT", "loopback");
    Variable nontemporal("ATOLL_NONTEMPORAL", "128k"), collective("ATOLL_COLLECTIVE", "reduce=slices"),
        engines("ATOLL_REDUCE_ENGINES", "16M");
    const Settings settings = read_settings();
    EXPECT_EQ(settings.check, CheckLevel::all);
    EXPECT_EQ(settings.wait_timeout_s, 2.5);
    EXPECT_EQ(settings.stall_warn_s, 0);
    EXPECT_EQ(settings.spin, 10);
    EXPECT_TRUE(settings.info);
    EXPECT_EQ(settings.transport, TransportChoice::loopback);
    EXPECT_EQ(settings.nontemporal_bytes, 128u << 10);
    ASSERT_EQ(settings.algorithms.size(), 1u);
    EXPECT_EQ(settings.algorithms[0].collective, Collective::reduce);
    EXPECT_EQ(settings.algorithms[0].algorithm, Algorithm::slices);
    EXPECT_EQ(settings.reduce_engines_bytes, 16u << 20);
    EXPECT_NE(agreed_settings(settings).find("ATOLL_REDUCE_ENGINES=16777216"), std::string::npos);
}

TEST(ReadSettings, SaysVariableValueAndWhatIsExpected) {
    EXPECT_EQ(
        refusal("ATOLL_HEAP_SIZE", "lots"),
        "ATOLL_HEAP_SIZE=lots cannot be read: expected a size in bytes, or one such as 512k, 64m, 1.5G, 2t");
    EXPECT_EQ(refusal("ATOLL_CHECK", "some"),
              "ATOLL_CHECK=some cannot be read: expected one of none, basic, args, all");
    EXPECT_EQ(refusal("ATOLL_INFO", "maybe"), "ATOLL_INFO=maybe cannot be read: expected 1 or 0");
    EXPECT_NE(refusal("ATOLL_WAIT_TIMEOUT", "-3"), "accepted");
    EXPECT_NE(refusal("ATOLL_WAIT_TIMEOUT", "soon"), "accepted");
    EXPECT_NE(refusal("ATOLL_SPIN", "1.5"), "accepted");
    EXPECT_NE(refusal("ATOLL_BOOTSTRAP", "magic"), "accepted");
}

TEST(ReadSettings, WarnsOnceAboutAMisspeltName) {
    Variable misspelt("ATOLL_HAEP_SIZE", "1g");
    // The launcher reports it, not each PE.
    if (std::getenv("ATOLL_LAUNCHED")) GTEST_SKIP() << "started by atoll run";
    ::testing::internal::CaptureStderr();
    read_settings();
    read_settings();
    EXPECT_EQ(
        ::testing::internal::GetCapturedStderr(),
        "atoll: ATOLL_HAEP_SIZE is set, but Atoll has no such setting; did you mean ATOLL_HEAP_SIZE?\n");
}

TEST(DescribeSettings, TellsValueAndSource) {
    Variable standard("SHMEM_SYMMETRIC_SIZE", "2m"), wrong("ATOLL_SPIN", "x"), check("ATOLL_CHECK", "none");
    std::map<std::string, std::string> shown;
    for (const SettingRow& row : describe_settings()) {
        EXPECT_FALSE(row.meaning.empty()) << row.name;
        shown[row.name] = row.value + " by " + row.source;
    }
    EXPECT_EQ(shown.count("ATOLL_LAUNCHED"), 0u);
    EXPECT_EQ(shown["ATOLL_HEAP_SIZE"], "2m by SHMEM_SYMMETRIC_SIZE");
    EXPECT_EQ(shown["ATOLL_CHECK"], "none by environment");
    EXPECT_EQ(shown["ATOLL_SPIN"].find("ATOLL_SPIN=x cannot be read"), 0u) << shown["ATOLL_SPIN"];
    EXPECT_EQ(shown["ATOLL_INIT_TIMEOUT"], "60 by default");
}

TEST(NearestName, SuggestsOnlyWhatIsNear) {
    const std::vector<std::string> known = {"ATOLL_HEAP_SIZE", "ATOLL_CHECK", "ATOLL_SPIN"};
    EXPECT_EQ(nearest_name("ATOLL_HEAPSIZE", known), "ATOLL_HEAP_SIZE");
    EXPECT_EQ(nearest_name("ATOLL_CHEKC", known), "ATOLL_CHECK");
    EXPECT_EQ(nearest_name("ATOLL_SOMETHING_QUITE_DIFFERENT", known), "");
}

/// A tree that looks like /sys/fs/cgroup.
class CgroupTree : public ::testing::Test {
  protected:
    CgroupTree() {
        std::string pattern = ::testing::TempDir() + "atoll_cgroup_XXXXXX";
        root = mkdtemp(pattern.data());
    }
    ~CgroupTree() override { std::filesystem::remove_all(root); }
    void write(const std::string& path, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
        std::ofstream(root + path) << text << '\n';
    }
    std::string root;
};

TEST_F(CgroupTree, NoFilesMeanNoLimits) {
    EXPECT_EQ(cgroup_limits("0::/a/b\n", root).memory_bytes, no_memory_limit);
    EXPECT_EQ(cgroup_limits("", root).cpus, no_cpu_limit);
}

TEST_F(CgroupTree, Version2TakesTheSmallestUpTheHierarchy) {
    write("/a/b/memory.max", "max");
    write("/a/memory.max", "1000000");
    write("/memory.max", "2000000");
    write("/a/b/cpu.max", "350000 100000");
    write("/a/cpu.max", "max 100000");
    const CgroupLimits limits = cgroup_limits("0::/a/b\n", root);
    EXPECT_EQ(limits.memory_bytes, 1000000u);
    EXPECT_EQ(limits.cpus, 3.5);
}

TEST_F(CgroupTree, Version1HasAHierarchyForEachController) {
    write("/memory/job/memory.limit_in_bytes", "5000000");
    write("/memory/memory.limit_in_bytes", "9223372036854771712");
    write("/cpu/cpu.cfs_quota_us", "50000");
    write("/cpu/cpu.cfs_period_us", "100000");
    const CgroupLimits limits =
        cgroup_limits("9:name=systemd:/\n4:memory:/job\n2:cpuacct,cpu:/not/there\n0::/\n", root);
    EXPECT_EQ(limits.memory_bytes, 5000000u);
    EXPECT_EQ(limits.cpus, 0.5);
}

TEST_F(CgroupTree, MemoryLeftCountsFileCachesAsFree) {
    write("/a/b/memory.max", "1000000");
    write("/a/b/memory.current", "900000");
    write("/a/b/memory.stat", "anon 100\ninactive_file 300000\nslab 5");
    write("/a/memory.max", "2000000");
    write("/a/memory.current", "1700000");
    EXPECT_EQ(cgroup_limits("0::/a/b\n", root).memory_left_bytes, 300000u)
        << "the nearest limit is the parent's";
    write("/memory/job/memory.limit_in_bytes", "500");
    write("/memory/job/memory.usage_in_bytes", "600");
    write("/memory/job/memory.stat", "total_inactive_file 10");
    EXPECT_EQ(cgroup_limits("4:memory:/job\n", root).memory_left_bytes, 0u);
    EXPECT_EQ(cgroup_limits("0::/elsewhere\n", root).memory_left_bytes, no_memory_limit);
}

TEST(Machine, HasMemoryAndCpus) {
    EXPECT_GE(usable_cpus(), 1);
    EXPECT_GT(memory_limit_bytes(), 0u);
    EXPECT_EQ(default_heap_bytes(4), memory_limit_bytes() / 2 / 4);
    EXPECT_EQ(default_heap_bytes(0), memory_limit_bytes() / 2);
    EXPECT_GT(available_memory_bytes(), 0u);
}

TEST(Machine, CountsTheCpusOfALauncherThatBindsItsProcesses) {
    const int cpus = usable_cpus();
    const auto quota = static_cast<int>(std::min(std::ceil(cgroup_limits().cpus), 1e6));
    const pid_t child = ::fork();
    if (child == 0) {
        cpu_set_t all, one;
        constexpr int cannot_bind = 1;
        if (sched_getaffinity(0, sizeof all, &all) != 0) _exit(cannot_bind);
        CPU_ZERO(&one);
        int first = 0;
        while (!CPU_ISSET(first, &all)) ++first;
        CPU_SET(first, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0 || usable_cpus() != 1) _exit(cannot_bind);
        for (const char* name : {"SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"}) ::unsetenv(name);
        ::setenv("PMIX_RANK", "0", 1);
        if (usable_cpus_of_job() != cpus) _exit(4);
        ::unsetenv("PMIX_RANK");
        if (usable_cpus_of_job() != 1) _exit(5);  // bound by the user
        ::setenv("SLURM_PROCID", "0", 1);
        ::setenv("SLURM_CPUS_ON_NODE", "3", 1);
        _exit(usable_cpus_of_job() != std::max(1, std::min(3, quota)) ? 6 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 1) GTEST_SKIP() << "processes cannot be bound to a core here";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace atl::common
