#include "bench/host/host_info.h"

#include <gmock/gmock.h>

#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using testing::TemporaryFolder;
using testing::write_file;

constexpr std::int64_t kGiB = 1LL << 30;

TEST(Host, CpuName) {
  EXPECT_EQ(cpu_name("processor\t: 0\nmodel name\t: Example CPU @ 2.6GHz\nflags\t: fpu: x\n"),
            "Example CPU @ 2.6GHz");
  EXPECT_EQ(cpu_name("processor : 0\nHardware : Board 7\n"), "Board 7");
  EXPECT_EQ(cpu_name(""), "");
}

TEST(Host, Meminfo) {
  const char* text = "MemTotal:       24684088 kB\nMemFree:  1 kB\nMemAvailable:   20000000 kB\n";
  EXPECT_EQ(meminfo_bytes(text, "MemTotal"), 24684088LL * 1024);
  EXPECT_EQ(meminfo_bytes(text, "MemAvailable"), 20000000LL * 1024);
  EXPECT_EQ(meminfo_bytes(text, "Mem"), std::nullopt);
  EXPECT_EQ(meminfo_bytes("MemTotal: many kB\n", "MemTotal"), std::nullopt);
}

TEST(Host, CpuQuota) {
  EXPECT_EQ(quota_v2("max 100000\n"), std::nullopt);
  EXPECT_EQ(quota_v2("150000 100000\n"), 1.5);
  EXPECT_EQ(quota_v2(""), std::nullopt);
  EXPECT_EQ(quota_v1("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(quota_v1("400000\n", "100000\n"), 4.0);
  EXPECT_EQ(quota_v1("400000\n", "0\n"), std::nullopt);
}

TEST(Host, MemoryLimit) {
  EXPECT_EQ(memory_limit("max\n"), std::nullopt);
  EXPECT_EQ(memory_limit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(memory_limit("2147483648\n"), 2 * kGiB);
  EXPECT_EQ(memory_limit(""), std::nullopt);
}

TEST(Host, MemoryStat) {
  EXPECT_EQ(memory_stat("anon 12\ninactive_file 4096\n", "inactive_file"), 4096);
  EXPECT_EQ(memory_stat("total_inactive_file 8192\n", "inactive_file"), std::nullopt);
}

constexpr const char* kMountsV2 =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kMountsV1 =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(Host, FindsTheGroupOfV2) {
  const auto group = find_cgroup(kMountsV2, "0::/user.slice/app\n", "");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->mount, "/sys/fs/cgroup");
  EXPECT_EQ(group->folder, "/sys/fs/cgroup/user.slice/app");
  EXPECT_FALSE(find_cgroup(kMountsV2, "0::/user.slice/app\n", "cpu"));
}

TEST(Host, FindsTheGroupOfV1ByItsController) {
  const char* self = "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc/def\n0::/\n";
  EXPECT_EQ(find_cgroup(kMountsV1, self, "cpu")->folder, "/sys/fs/cgroup/cpu,cpuacct/docker/abc/def");
  EXPECT_EQ(find_cgroup(kMountsV1, self, "memory")->folder, "/sys/fs/cgroup/memory/docker/abc");
  EXPECT_FALSE(find_cgroup(kMountsV1, self, ""));
}

TEST(Host, AContainersMountShowsOnlyItsOwnPart) {
  const char* mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  const auto group = find_cgroup(mounts, "4:memory:/docker/abc\n", "memory");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->folder, "/sys/fs/cgroup/memory");
}

// A machine of 8 cores and 16 GiB laid out in a folder.
class LaidOutHost : public ::testing::Test {
 protected:
  LaidOutHost() {
    put("proc/cpuinfo", "model name : Example\n");
    put("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 12582912 kB\n");
  }
  void put(const std::string& path, const std::string& text) { write_file(root_.path() / path, text); }
  HostInfo read() { return host_info(root_.path(), 8); }

 private:
  TemporaryFolder root_;
};

TEST_F(LaidOutHost, WithoutAnyCgroup) {
  const HostInfo host = read();
  EXPECT_EQ(host.cpu, "Example");
  EXPECT_EQ(host.usable_cores, 8);
  EXPECT_EQ(host.cpu_quota, std::nullopt);
  EXPECT_EQ(host.memory_bytes, 16 * kGiB);
  EXPECT_EQ(host.available_bytes, 12 * kGiB);
}

TEST_F(LaidOutHost, TheTightestGroupOnTheWayUpCounts) {
  put("proc/self/mountinfo", kMountsV2);
  put("proc/self/cgroup", "0::/outer/inner\n");
  put("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
  put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  put("sys/fs/cgroup/outer/memory.max", "4294967296\n");
  put("sys/fs/cgroup/outer/memory.current", "2147483648\n");
  put("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 1073741824\n");
  const HostInfo host = read();
  EXPECT_EQ(host.cpu_quota, 2.5);
  EXPECT_EQ(host.usable_cores, 2);
  EXPECT_EQ(host.memory_bytes, 4 * kGiB);
  EXPECT_EQ(host.available_bytes, 3 * kGiB) << "page cache the kernel gives back is not in use";
}

TEST_F(LaidOutHost, V1Limits) {
  put("proc/self/mountinfo", kMountsV1);
  put("proc/self/cgroup", "4:memory:/job\n1:cpu,cpuacct:/job\n");
  put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
  put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2147483648\n");
  const HostInfo host = read();
  EXPECT_EQ(host.cpu_quota, 0.5);
  EXPECT_EQ(host.usable_cores, 1) << "half a core is still one thread";
  EXPECT_EQ(host.memory_bytes, kGiB);
  EXPECT_EQ(host.available_bytes, 0);
}

TEST_F(LaidOutHost, APathOfTheHostThatTheContainerDoesNotSee) {
  put("proc/self/mountinfo", kMountsV2);
  put("proc/self/cgroup", "0::/host/only\n");
  put("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(read().usable_cores, 3);
}

TEST_F(LaidOutHost, ALimitAboveTheMachineChangesNothing) {
  put("proc/self/mountinfo", kMountsV2);
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/cpu.max", "9900000 100000\n");
  put("sys/fs/cgroup/memory.max", "1099511627776\n");
  put("sys/fs/cgroup/memory.current", "0\n");
  const HostInfo host = read();
  EXPECT_EQ(host.usable_cores, 8);
  EXPECT_EQ(host.memory_bytes, 16 * kGiB);
  EXPECT_EQ(host.available_bytes, 12 * kGiB);
}

TEST(Host, ThisMachine) {
  const HostInfo host = host_info();
  EXPECT_GE(host.usable_cores, 1);
  EXPECT_GT(host.memory_bytes, 0);
  EXPECT_LE(host.available_bytes, host.memory_bytes);
}

}  // namespace
}  // namespace bench
