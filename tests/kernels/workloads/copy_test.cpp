// The workload `copy` on the CPU: its contents, its ring, its options, and a copy that goes wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/devices/cpu/memory.h"
#include "kernels/devices/cpu/transfers.h"
#include "kernels/devices/host/pages.h"
#include "kernels/workloads/copy/copy_workload.h"
#include "kernels/workloads/copy/pattern.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

// The CPU's copies, of which one byte may go wrong, by a device with no other abilities.
class HostDevice final : public Device, public CpuTransfers {
 public:
  HostDevice() { info_.id = info_.kind = "cpu"; }
  const DeviceInfo& info() const override { return info_; }
  std::optional<std::string> unsupported(Dtype /*dtype*/) const override { return std::nullopt; }
  void upload(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void download(void* to, const void* from, std::int64_t bytes) override { upload(to, from, bytes); }
  void fill(void* to, std::byte value, std::int64_t bytes) override {
    std::memset(to, std::to_integer<int>(value), static_cast<std::size_t>(bytes));
  }
  bool host_accessible() const override { return true; }
  void synchronize() override {}
  std::int64_t time(const std::function<void()>& step) override {
    step();
    return 1;
  }
  std::int64_t driver_used() const override { return 0; }
  DeviceState state() const override { return {}; }
  Peaks peaks(Dtype /*dtype*/) override { return {}; }

  void copy(std::span<const Copy> copies) override {
    CpuTransfers::copy(copies);
    if (flips >= 0) {
      copies.back().to[flips] ^= std::byte{0x10};
    }
    largest_batch = std::max(largest_batch, copies.size());
  }

  std::int64_t flips = -1;  // this byte of the last copy
  std::size_t largest_batch = 0;

 protected:
  std::byte* raw_allocate(std::int64_t bytes) override { return cpu_allocate(bytes); }
  void raw_free(std::byte* data, std::int64_t bytes) noexcept override { cpu_free(data, bytes); }

 private:
  DeviceInfo info_;
};

WorkloadSpec spec_of(const std::string& mode, const std::map<std::string, std::string>& changes = {},
                     std::int64_t batch = 1) {
  WorkloadSpec spec;
  spec.mode = mode;
  spec.batch = batch;
  for (const CommandOption& option : registry<WorkloadType>().find("copy")->options) {
    spec.options[option.name] = option.default_value;
  }
  for (const auto& [name, value] : changes) {
    spec.options[name] = value;
  }
  return spec;
}

TEST(CopyPattern, AnyStretchIsTheSameStream) {
  std::vector<std::byte> whole(1000);
  write_pattern(whole, 7);
  for (const std::int64_t offset : {1, 7, 8, 100, 991}) {
    std::vector<std::byte> part(static_cast<std::size_t>(1000 - offset));
    write_pattern(part, 7, offset);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + offset)) << offset;
    EXPECT_FALSE(find_mismatch(part, 7, offset));
  }
  std::vector<std::byte> other(1000);
  write_pattern(other, 8);
  EXPECT_GT(find_mismatch(other, 7)->bytes, 900);
  write_pattern(other, 7, 8);  // shifted by a word
  EXPECT_GT(find_mismatch(other, 7)->bytes, 900);
}

TEST(CopyPattern, FindsEveryFlippedByte) {
  std::vector<std::byte> bytes(300);
  write_pattern(bytes, 3, 5);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= std::byte{1};
    const auto mismatch = find_mismatch(bytes, 3, 5);
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->first, static_cast<std::int64_t>(at) + 5);
    EXPECT_EQ(mismatch->bytes, 1);
    bytes[at] ^= std::byte{1};
  }
}

TEST(CopyWorkload, EveryKindArrives) {
  HostDevice device;
  for (const char* mode : {"h2d", "d2h", "both"}) {
    for (const char* memory : {"pinned", "pageable", "staged"}) {
      for (const char* pages : {"touched", "cold"}) {
        for (const char* queue : {"device", "own"}) {
          for (const auto& [bytes, in_flight] : {std::pair{"5000B", 3}, std::pair{"2500KiB", 1}}) {
            const WorkloadSpec spec =
                spec_of(mode, {{"host-memory", memory}, {"pages", pages}, {"queue", queue}, {"bytes", bytes}},
                        in_flight);
            const std::string label = fmt::format("{} {} {} {} {}", mode, memory, pages, queue, bytes);
            if (memory == std::string("pinned") && pages == std::string("cold")) {
              EXPECT_THROW(CopyWorkload(copy_spec(spec), device), Unsupported) << label;
              continue;
            }
            if (refused_by(lock_limit(), 3 * kMebi * 2)) {
              GTEST_SKIP() << "this process may not lock enough memory";
            }
            CopyWorkload workload(copy_spec(spec), device);
            workload.step();
            const Verification verification = workload.verify();
            EXPECT_TRUE(verification.passed) << label << ": " << verification.detail;
            const auto moved = static_cast<double>(copy_spec(spec).total_bytes());
            EXPECT_EQ(workload.work().sample_bytes, moved) << label;
          }
        }
      }
    }
  }
  EXPECT_EQ(device.memory().live().total(), 0);
}

TEST(CopyWorkload, AFlippedByteIsFoundAndPlaced) {
  HostDevice device;
  for (const char* mode : {"h2d", "d2h"}) {
    CopyWorkload workload(copy_spec(spec_of(mode, {{"host-memory", "pageable"}, {"bytes", "100000B"}}, 2)),
                          device);
    device.flips = -1;
    EXPECT_TRUE(workload.verify().passed);
    device.flips = 77'777;
    const Verification verification = workload.verify();
    EXPECT_FALSE(verification.passed);
    EXPECT_DOUBLE_EQ(verification.error, 1.0 / 200'000);
    expect_words(verification.detail);
  }
}

TEST(CopyWorkload, AllOfABatchAreStartedTogether) {
  HostDevice device;
  CopyWorkload workload(copy_spec(spec_of("both", {{"host-memory", "pageable"}, {"bytes", "4KiB"}}, 4)),
                        device);
  workload.step();
  EXPECT_EQ(device.largest_batch, 8U);
}

TEST(CopyWorkload, PlanAndTrackerAgree) {
  HostDevice device;
  for (const char* memory : {"pageable", "staged"}) {
    const CopySpec spec = copy_spec(spec_of("both", {{"host-memory", memory}, {"bytes", "10000B"}}, 2));
    device.memory().reset_peak();
    const CopyWorkload workload(spec, device);
    EXPECT_EQ(device.memory().peak(), copy_plan(spec, device).peak);
  }
}

TEST(CopyWorkload, SizesBeyondMemoryAndCountingAreRefused) {
  HostDevice device;
  device.memory().set_cap(kMebi);
  EXPECT_THROW(CopyWorkload(copy_spec(spec_of("h2d", {{"bytes", "1GiB"}})), device), OutOfMemory);
  EXPECT_EQ(device.memory().live().total(), 0);
  EXPECT_THROW(copy_plan(copy_spec(spec_of("h2d", {{"bytes", "1024GiB"}}, std::int64_t{1} << 40)), device),
               OutOfMemory);
  device.memory().set_cap(std::nullopt);
  EXPECT_THROW(
      CopyWorkload(copy_spec(spec_of("h2d", {{"bytes", "1024GiB"}, {"host-memory", "pageable"}})), device),
      OutOfMemory);
}

TEST(CopyWorkload, WhatIsWrongIsNamed) {
  const WorkloadType& type = *registry<WorkloadType>().find("copy");
  for (const auto& [option, value] :
       {std::pair{"bytes", "12"}, std::pair{"bytes", "2048GiB"}, std::pair{"host-memory", "fast"},
        std::pair{"pages", "warm"}, std::pair{"queue", "2"}, std::pair{"node", "-1"}}) {
    try {
      type.configure(spec_of("h2d", {{option, value}}));
      ADD_FAILURE() << option << " " << value;
    } catch (const UsageError& error) {
      expect_words(error.what());
    }
  }
}

TEST(CopyWorkload, OneNodeHasNoFarMemory) {
  HostDevice device;
  const WorkloadType& type = *registry<WorkloadType>().find("copy");
  EXPECT_FALSE(type.configure(spec_of("h2d", {{"node", "near"}}))->unsupported(device));
  EXPECT_THAT(*type.configure(spec_of("h2d", {{"node", "1000"}}))->unsupported(device),
              HasSubstr("NUMA node 1000"));
  if (online_nodes().size() == 1) {
    EXPECT_THAT(*type.configure(spec_of("h2d", {{"node", "far"}}))->unsupported(device),
                HasSubstr("second NUMA node"));
  }
}

}  // namespace
}  // namespace bench::kernels
