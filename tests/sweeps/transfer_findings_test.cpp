// The transfer sweep's points, findings and tables, on a made-up machine.
#include "sweeps/transfer/findings.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/transfer/points.h"
#include "sweeps/transfer/tables.h"
#include "tests/sweeps/fake_device.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The sweep plans with whatever is registered as "copy".
const Registration<WorkloadType> copy_type{WorkloadType{.name = "copy",
                                                        .kind = "operation",
                                                        .description = "",
                                                        .modes = {"h2d", "d2h", "both"},
                                                        .options = {{"bytes", "1MiB", ""},
                                                                    {"host-memory", "pinned", ""},
                                                                    {"pages", "touched", ""},
                                                                    {"queue", "device", ""},
                                                                    {"node", "any", ""}},
                                                        .check = {},
                                                        .unsupported = {},
                                                        .plan = {},
                                                        .make = {}}};

// What the verdict is about.
const Registration<WorkloadType> stepping{WorkloadType{.name = "stepping",
                                                       .kind = "network",
                                                       .description = "",
                                                       .modes = {"infer"},
                                                       .options = {{"launch", "stream", ""}},
                                                       .check =
                                                           [](const WorkloadSpec& spec) {
                                                             if (spec.options.at("launch") != "stream") {
                                                               throw UsageError("--launch: accepted: stream");
                                                             }
                                                           },
                                                       .unsupported = {},
                                                       .plan = {},
                                                       .make = {}}};

const Sweep& sweep() {
  return *registry<Sweep>().find("transfer");
}

SweepRequest request(const std::map<std::string, std::string>& changes = {}) {
  SweepRequest request;
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
  testing::FakeDevice device({Dtype::fp32});
  const SweepPlan plan = sweep().plan(request(), device);
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
  testing::FakeDevice device({Dtype::fp32});
  const SweepPlan plan = sweep().plan(
      request(
          {{"sizes", "4KiB:64KiB:x4"}, {"directions", "h2d"}, {"host-kinds", "pinned"}, {"in-flight", "1"}}),
      device);
  EXPECT_THAT(names(plan), ElementsAre("transfer/h2d/pinned/bytes:4096", "transfer/h2d/pinned/bytes:16384",
                                       "transfer/h2d/pinned/bytes:65536"));
  EXPECT_EQ(plan.points[1].spec.options.at("bytes"), "16384B");
  EXPECT_EQ(plan.points[1].spec.mode, "h2d");
}

TEST(TransferPlan, RefusesAWrongStepBeforeAnythingIsMeasured) {
  testing::FakeDevice device({Dtype::fp32});
  const auto refusal = [&](const SweepRequest& asked) -> std::string {
    try {
      sweep().plan(asked, device);
      return "nothing";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  SweepRequest wrong = request();
  wrong.workload_options = {{"launch", {"foo"}}};
  EXPECT_THAT(refusal(wrong), HasSubstr("--launch"));
  SweepRequest two = request();
  two.dtypes = {Dtype::bf16, Dtype::fp32};
  EXPECT_THAT(refusal(two), AllOf(HasSubstr("--dtype"), HasSubstr("bf16, fp32")));
  EXPECT_THAT(refusal(request({{"in-flight", "8"}, {"host-kinds", "staged"}})),
              AllOf(HasSubstr("--in-flight"), HasSubstr("staged")));
  EXPECT_THAT(refusal(request({{"in-flight", "8"}, {"directions", "both"}})), HasSubstr("both"));
}

TEST(TransferPlan, SeveralAtOnceAloneBringNoSingleCopies) {
  testing::FakeDevice device({Dtype::fp32});
  for (const std::string& name : names(sweep().plan(request({{"in-flight", "4,8"}}), device))) {
    EXPECT_THAT(name, HasSubstr("in-flight:"));
  }
}

TEST(TransferPlan, WhatIsWrongIsNamed) {
  testing::FakeDevice device({Dtype::fp32});
  for (const auto& [option, value] :
       {std::pair{"sizes", "4"}, std::pair{"directions", "up"}, std::pair{"host-kinds", "pinned,fast"},
        std::pair{"in-flight", "1000"}, std::pair{"workers", "-1"}, std::pair{"prefetch", "0"},
        std::pair{"numa-node", "nearest"}}) {
    try {
      sweep().plan(request({{option, value}}), device);
      ADD_FAILURE() << option;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(fmt::format("--{}: ", option)));
    }
  }
}

void add_series(ResultDocument& document, const std::string& direction, const std::string& kind,
                double latency_ns, double bytes_per_s, std::int64_t at_once = 1,
                const std::string& pages = "touched") {
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 30; bytes *= 4) {
    MeasuredPoint point;
    point.name = fmt::format("transfer/{}/{}/{}/{}/{}", direction, kind, pages, at_once, bytes);
    point.params = {{"direction", direction},
                    {"host-memory", kind},
                    {"bytes", bytes},
                    {"in-flight", at_once},
                    {"pages", pages}};
    const double moved = static_cast<double>(bytes * at_once) * (direction == "both" ? 2 : 1);
    point.work = {{"sample_bytes", moved}};
    point.stats.median_ns = latency_ns + moved / bytes_per_s * 1e9;
    point.stats.ci95_ns = {0.99 * point.stats.median_ns, 1.01 * point.stats.median_ns};
    document.benchmarks.push_back(std::move(point));
  }
}

Json step_time(double ms) {
  return {{"median_ns", ms * 1e6}, {"ci95_ns", {ms * 0.999e6, ms * 1.001e6}}};
}

Json kind_steps(const char* kind, double copy, double serial, double beside) {
  return {{"host_memory", kind},
          {"copy", step_time(copy)},
          {"serial", step_time(serial)},
          {"beside", step_time(beside)},
          {"compute_beside", step_time(40)}};
}

// A card behind PCIe 4 x16, with pageable copies at a quarter of what pinned ones do.
ResultDocument card() {
  ResultDocument document;
  document.context["device"]["pcie"] = "gen4 x16";
  document.sweep["transfer"] = {{"crosses_bus", true}, {"workers", 4}, {"prefetch", 2}, {"node", "near"}};
  add_series(document, "h2d", "pinned", 10'000, 25e9);
  add_series(document, "h2d", "pageable", 5000, 6e9);
  add_series(document, "h2d", "staged", 30'000, 10e9);
  add_series(document, "d2h", "pinned", 10'000, 26e9);
  add_series(document, "both", "pinned", 12'000, 45e9);
  add_series(document, "h2d", "pinned", 10'000, 25e9, 8);
  add_series(document, "d2h", "pageable", 5000, 5e9);
  add_series(document, "d2h", "pageable", 5000, 2e9, 1, "cold");
  Json& transfer = document.sweep["transfer"];
  transfer["pinning"] = Json::array({{{"bytes", 1 << 20},
                                      {"pin_ns", 500e3},
                                      {"unpin_ns", 100e3},
                                      {"pageable_ns", 200e3},
                                      {"free_ns", 50e3},
                                      {"taken_bytes", 1 << 20}},
                                     {{"bytes", 1 << 26},
                                      {"pin_ns", 30e6},
                                      {"unpin_ns", 8e6},
                                      {"pageable_ns", 14e6},
                                      {"free_ns", 4e6},
                                      {"taken_bytes", 1 << 27}}});
  transfer["steps"] =
      Json::array({{{"workload", "net"},
                    {"mode", "train"},
                    {"dtype", "fp32"},
                    {"batch", 32},
                    {"bytes", 8 << 20},
                    {"rounds", 9},
                    {"compute", step_time(40)},
                    {"kinds", Json::array({kind_steps("pageable", 8, 48, 46), kind_steps("staged", 6, 46, 44),
                                           kind_steps("pinned", 4, 44, 41)})}}});
  return document;
}

Finding finding(const ResultDocument& document, const std::string& name) {
  const auto all = transfer_findings(document);
  const auto at = std::ranges::find(all, name, &Finding::name);
  EXPECT_NE(at, all.end()) << name;
  return at == all.end() ? Finding{} : *at;
}

TEST(TransferFindings, TheVerdictHasItsNumbers) {
  const Finding pin = finding(card(), "pin/batch:32");
  EXPECT_EQ(pin.value, 5e6);
  EXPECT_EQ(pin.details.at("verdict"), "pin");
  EXPECT_EQ(pin.details.at("locked_bytes"), 8 * (8 << 20));
  EXPECT_EQ(pin.details.at("pinning_ns"), 16e6);  // 30 ms less the 14 that ordinary memory takes
  EXPECT_THAT(pin.claim, AllOf(HasSubstr("Pin: "), HasSubstr("pageable 46.0 ms"), HasSubstr("pinned 41.0 ms"),
                               HasSubstr("saves 5.00 ms a step (11 %)"), HasSubstr("64.0 MiB"),
                               HasSubstr("earned back after 4 steps")));
}

TEST(TransferFindings, DontPinWhereItCosts) {
  ResultDocument document = card();
  document.sweep["transfer"]["steps"][0]["kinds"] =
      Json::array({kind_steps("pageable", 1, 41, 40.1), kind_steps("staged", 2, 42, 40.3),
                   kind_steps("pinned", 1, 41, 40.2)});
  const Finding pin = finding(document, "pin/batch:32");
  EXPECT_EQ(pin.details.at("verdict"), "don't");
  EXPECT_THAT(pin.claim, AllOf(HasSubstr("Don't pin: "), HasSubstr("costs 100 µs a step (0.2 %)")));
}

TEST(TransferFindings, ALockLimitLeavesTheVerdictOpenWithTheReason) {
  ResultDocument document = card();
  for (const std::size_t kind : {1U, 2U}) {
    const std::string name = document.sweep["transfer"]["steps"][0]["kinds"][kind]["host_memory"];
    document.sweep["transfer"]["steps"][0]["kinds"][kind] = {{"host_memory", name},
                                                             {"unsupported", "64 KiB may be locked"}};
  }
  document.sweep["transfer"]["pinning"] =
      Json::array({{{"bytes", 1 << 20}, {"unsupported", "64 KiB may be locked"}}});
  EXPECT_THAT(finding(document, "pin/batch:32").claim,
              AllOf(HasSubstr("cannot be told"), HasSubstr("64 KiB may be locked")));
  EXPECT_THAT(finding(document, "pinning_cost").claim, HasSubstr("64 KiB may be locked"));
}

TEST(TransferFindings, ModelsStandBesideTheBus) {
  const Finding model = finding(card(), "model/h2d/pinned");
  EXPECT_NEAR(*model.value, 25e9, 1e3);
  EXPECT_THAT(model.claim, AllOf(HasSubstr("10.0 µs + bytes / 25.0 GB/s"), HasSubstr("79 % of what the bus"),
                                 HasSubstr("244 KiB reach half")));
  const Finding both = finding(card(), "model/both/pinned");
  EXPECT_NEAR(*both.value, 45e9, 1e3);
  EXPECT_NEAR(finding(card(), "model_error").value.value_or(1), 0, 1e-9);
  EXPECT_THAT(finding(card(), "bus").claim,
              AllOf(HasSubstr("PCIe generation 4 with 16 lanes"), HasSubstr("31.5 GB/s")));
  ResultDocument host = card();
  host.sweep["transfer"]["crosses_bus"] = false;
  EXPECT_THAT(finding(host, "bus").claim, HasSubstr("No bus was crossed"));
  EXPECT_THAT(finding(host, "model/h2d/pinned").claim, Not(HasSubstr("bus")));
}

TEST(TransferFindings, CrossoversNameTheSize) {
  const Finding pinned = finding(card(), "crossover/h2d/pinned");
  EXPECT_EQ(pinned.value, 64 * 1024);  // the models meet at 39.5 kB; 64 KiB is the next size measured
  EXPECT_NEAR(pinned.details.at("models_cross_at_bytes").get<double>(), 5000 / (1 / 6.0 - 1 / 25.0), 1);
  EXPECT_THAT(pinned.claim, AllOf(HasSubstr("from 64.0 KiB on"), HasSubstr("at 1.00 GiB")));
  EXPECT_EQ(finding(card(), "crossover/h2d/staged").value, 1024 * 1024);
}

TEST(TransferFindings, SeveralAtOnceAndColdPages) {
  EXPECT_NEAR(*finding(card(), "at_once/h2d/pinned/in-flight:8").value, 1, 0.01);
  EXPECT_NEAR(*finding(card(), "at_once/both/pinned").value, 45.0 / 25, 0.01);
  EXPECT_NEAR(*finding(card(), "cold_pages/d2h/pageable/pages:cold").value, 2.5, 0.01);
}

TEST(TransferFindings, MemoryTakenBeyondWhatWasAskedForIsSaid) {
  const Finding cost = finding(card(), "pinning_cost");
  EXPECT_NEAR(*cost.value, 30e6 / 64, 1e-6);
  EXPECT_THAT(cost.claim, HasSubstr("2.00 times what was asked for"));
}

TEST(TransferFindings, CopesWithLittle) {
  EXPECT_EQ(transfer_findings({}).size(), 1U);  // that no bus was crossed
  ResultDocument document;
  add_series(document, "h2d", "pinned", 10, 1e9);
  document.benchmarks.resize(2);
  EXPECT_FALSE(transfer_findings(document).empty());
  EXPECT_EQ(transfer_tables(document).size(), 1U);
  EXPECT_TRUE(transfer_tables({}).empty());
}

TEST(TransferTables, HaveARowASize) {
  const auto tables = transfer_tables(card());
  ASSERT_EQ(tables.size(), 6U);  // three directions, the others, pinning, steps
  EXPECT_THAT(tables[0].rows[0], ElementsAre("bytes", "pinned", "pageable", "staged"));
  EXPECT_EQ(tables[0].rows.size(), 12U);
  EXPECT_TRUE(tables[0].lists_points);
  EXPECT_THAT(tables[5].rows[3], Contains("pinned"));
}

}  // namespace
}  // namespace bench::sweeps
