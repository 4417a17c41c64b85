// The transfer sweep's points, and what it refuses before anything is measured.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/transfers.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/fake_device.h"

namespace bench::sweeps {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class Idle : public Workload {
 public:
  void step() override {}
  Verification verify() override { return {}; }
  Work work() const override { return {}; }
};

class Configured : public ConfiguredWorkload {
 public:
  MemoryPlan plan(Device&) const override {
    MemoryPlan plan;
    plan.in_step[MemoryCategory::input] = 1 << 20;
    return plan;
  }
  std::unique_ptr<Workload> make(Device&) const override { return std::make_unique<Idle>(); }
};

// The sweep plans with whatever is registered as "copy".
const Registration<WorkloadType> copy_type{
    WorkloadType{.name = "copy",
                 .kind = "operation",
                 .description = "",
                 .modes = {"h2d", "d2h", "both"},
                 .options = {{"bytes", "1MiB", ""},
                             {"host-memory", "pinned", ""},
                             {"pages", "touched", ""},
                             {"queue", "device", ""},
                             {"node", "any", ""}},
                 .configure = [](const WorkloadSpec&) { return std::make_shared<Configured>(); }}};

// The steps of the verdict.
const Registration<WorkloadType> stepping{WorkloadType{.name = "stepping",
                                                       .kind = "network",
                                                       .description = "",
                                                       .modes = {"infer"},
                                                       .options = {{"launch", "stream", ""}},
                                                       .configure = [](const WorkloadSpec& spec) {
                                                         if (spec.options.at("launch") != "stream") {
                                                           throw UsageError("--launch: accepted: stream");
                                                         }
                                                         return std::make_shared<Configured>();
                                                       }}};

const SweepType& sweep() {
  return *registry<SweepType>().find("transfer");
}

SweepPlan plan_of(const SweepRequest& request, Device& device) {
  return sweep().make(request, device)->plan();
}

SweepRequest request(const std::map<std::string, std::string>& changes = {}) {
  static const testing::ManualClock clock;
  SweepRequest request(clock);
  for (const CommandOption& option : sweep().options) {
    request.sweep_options[option.name] = option.default_value;
  }
  for (const auto& [name, value] : changes) {
    request.sweep_options[name] = value;
  }
  request.memory_caps = {std::int64_t{1} << 34};
  request.workload = registry<WorkloadType>().find("stepping");
  request.modes = {"infer"};
  request.workload_options = {{"launch", {"stream"}}};
  return request;
}

std::vector<std::string> names(const SweepPlan& plan) {
  std::vector<std::string> names;
  for (const SweepPoint& point : plan.points) {
    names.push_back(point.name);
  }
  return names;
}

TEST(TransferPlan, CoversTheAxesOnceEach) {
  bench::testing::FakeDevice device({Dtype::fp32});
  const SweepPlan plan = plan_of(request(), device);
  const auto all = names(plan);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_THAT(all, Contains("transfer/h2d/pinned/bytes:1024"));
  EXPECT_THAT(all, Contains("transfer/d2h/pageable/bytes:1073741824"));
  EXPECT_THAT(all, Contains("transfer/both/staged/bytes:1024"));
  EXPECT_THAT(all, Contains("transfer/d2h/pageable/pages:cold/bytes:4096"));
  EXPECT_THAT(all, Contains("transfer/h2d/pinned/in-flight:8/bytes:1024"));
  for (std::size_t i = 1; i < plan.points.size(); ++i) {  // a short budget leaves out the largest
    EXPECT_LE(plan.points[i - 1].params["bytes"], plan.points[i].params["bytes"]);
  }
}

TEST(TransferPlan, GivesWhatIsAskedFor) {
  bench::testing::FakeDevice device({Dtype::fp32});
  const SweepPlan plan = plan_of(
      request(
          {{"sizes", "4KiB:64KiB:x4"}, {"directions", "h2d"}, {"host-kinds", "pinned"}, {"in-flight", "1"}}),
      device);
  EXPECT_THAT(names(plan), ElementsAre("transfer/h2d/pinned/bytes:4096", "transfer/h2d/pinned/bytes:16384",
                                       "transfer/h2d/pinned/bytes:65536"));
  EXPECT_EQ(plan.points[1].spec.options.at("bytes"), "16384B");
  EXPECT_EQ(plan.points[1].spec.mode, "h2d");
}

TEST(TransferPlan, RefusesAWrongStepBeforeAnythingIsMeasured) {
  bench::testing::FakeDevice device({Dtype::fp32});
  const auto refusal = [&](const SweepRequest& asked) -> std::string {
    try {
      plan_of(asked, device);
      return "nothing";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  SweepRequest wrong = request();
  wrong.workload_options = {{"launch", {"foo"}}};
  expect_words(refusal(wrong));
  SweepRequest two = request();
  two.dtypes = {Dtype::bf16, Dtype::fp32};
  expect_words(refusal(two));
  expect_words(refusal(request({{"in-flight", "8"}, {"host-kinds", "staged"}})));
  expect_words(refusal(request({{"in-flight", "8"}, {"directions", "both"}})));
}

TEST(TransferPlan, SeveralAtOnceAloneBringNoSingleCopies) {
  bench::testing::FakeDevice device({Dtype::fp32});
  for (const std::string& name : names(plan_of(request({{"in-flight", "4,8"}}), device))) {
    expect_words(name);
  }
}

TEST(TransferPlan, WhatIsWrongIsNamed) {
  bench::testing::FakeDevice device({Dtype::fp32});
  for (const auto& [option, value] :
       {std::pair{"sizes", "4"}, std::pair{"directions", "up"}, std::pair{"host-kinds", "pinned,fast"},
        std::pair{"in-flight", "1000"}, std::pair{"workers", "-1"}, std::pair{"prefetch", "0"},
        std::pair{"numa-node", "nearest"}}) {
    try {
      plan_of(request({{option, value}}), device);
      ADD_FAILURE() << option;
    } catch (const UsageError& error) {
      expect_words(error.what());
    }
  }
}

// A device near node 2 of a machine that has the nodes 0 and 2.
class TwoNodes : public bench::testing::FakeDevice, public Transfers {
 public:
  TwoNodes() : FakeDevice({Dtype::fp32}) {}
  bool crosses_bus() const override { return false; }
  std::vector<int> nodes() const override { return {2, 0}; }
  std::optional<std::string> cannot_hold(const HostMemoryRequest&) const override { return std::nullopt; }
  std::unique_ptr<HostMemory> host_memory(const HostMemoryRequest&) override { return nullptr; }
  void copy(std::span<const Copy>) override {}
  std::unique_ptr<CopyQueue> copy_queue() override { return nullptr; }
  void evict(const std::byte*, std::int64_t) override {}
  bool renew(std::byte*, std::int64_t) override { return false; }
  std::int64_t host_bytes_used() const override { return 0; }
};

TEST(TransferPlan, ANodeThatTheMachineLacksIsRefusedBeforeAnythingIsMeasured) {
  TwoNodes device;
  for (const char* there : {"0", "2", "near", "far", "any"}) {
    EXPECT_NO_THROW(plan_of(request({{"numa-node", there}}), device)) << there;
  }
  expect_words(message_of<UsageError>([&] { plan_of(request({{"numa-node", "1"}}), device); }));
}

}  // namespace
}  // namespace bench::sweeps
