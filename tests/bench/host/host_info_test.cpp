#include "bench/host/host_info.h"

#include <utility>

#include <gtest/gtest.h>

#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using testing::TemporaryFolder;
using testing::write_file;

constexpr std::int64_t kGiB = 1LL << 30;

constexpr const char* kMountsV2 =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kMountsV1 =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

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

TEST_F(LaidOutHost, SomeBoardsNameTheirHardware) {
  put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example CPU @ 2.6GHz\nflags\t: fpu: x\n");
  EXPECT_EQ(read().cpu, "Example CPU @ 2.6GHz");
  put("proc/cpuinfo", "processor : 0\nHardware : Board 7\n");
  EXPECT_EQ(read().cpu, "Board 7");
  put("proc/cpuinfo", "");
  EXPECT_EQ(read().cpu, "");
}

TEST_F(LaidOutHost, MemoryThatCannotBeReadIsNone) {
  put("proc/meminfo", "MemFree: 1 kB\nMemTotal: many kB\n");
  EXPECT_EQ(read().memory_bytes, 0);
}

TEST_F(LaidOutHost, WhatIsNoQuotaAndNoLimitChangesNothing) {
  put("proc/self/mountinfo", kMountsV1);
  put("proc/self/cgroup", "4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  for (const auto& [quota, period] :
       {std::pair("-1\n", "100000\n"), std::pair("400000\n", "0\n"), std::pair("", "100000\n")}) {
    put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", quota);
    put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", period);
    EXPECT_EQ(read().cpu_quota, std::nullopt) << quota;
    EXPECT_EQ(read().memory_bytes, 16 * kGiB);
  }
}

TEST_F(LaidOutHost, EachControllerOfV1HasAGroupOfItsOwn) {
  put("proc/self/mountinfo", kMountsV1);
  put("proc/self/cgroup", "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc/def\n0::/\n");
  put("sys/fs/cgroup/cpu,cpuacct/docker/abc/def/cpu.cfs_quota_us", "400000\n");
  put("sys/fs/cgroup/cpu,cpuacct/docker/abc/def/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(read().cpu_quota, 4.0);
  EXPECT_EQ(read().memory_bytes, 2 * kGiB);
}

TEST_F(LaidOutHost, AContainersMountShowsOnlyItsOwnPart) {
  put("proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  put("proc/self/cgroup", "4:memory:/docker/abc\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(read().memory_bytes, kGiB);
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
