#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "bench/measure/random.h"
#include "bench/registry.h"
#include "bench/sweep.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A device whose step takes t0 + batch/T∞, plus seeded noise, and whose memory is a line.
struct Machine {
  std::string dtype = "fp32";
  double t0_ns = 4e6;
  double per_s = 100;
  std::int64_t fixed_bytes = 100 << 20;
  std::int64_t sample_bytes = 10 << 20;
  double noise = 0.002;
};

MeasuredPoint measure(const Machine& machine, std::int64_t batch, std::mt19937_64& engine) {
  const auto size = static_cast<double>(batch);
  const double noise = 1 + machine.noise * (2 * unit_draw(engine) - 1);
  const double step = (machine.t0_ns + size * 1e9 / machine.per_s) * noise;
  MeasuredPoint point;
  point.name = "batch/tiny/infer/" + machine.dtype + "/batch:" + std::to_string(batch);
  point.params = {{"batch", batch}, {"dtype", machine.dtype}};
  point.items_per_step = size;
  point.stats.median_ns = step;
  point.stats.ci95_ns = {step * (1 - machine.noise), step * (1 + machine.noise)};
  point.stats.rounds = 3;
  point.memory.peak_measured = machine.fixed_bytes + batch * machine.sample_bytes;
  point.work = {
      {"flops", 4e9 * size}, {"fixed_bytes", 100e6}, {"sample_bytes", 50e6 * size}, {"launches", 53}};
  return point;
}

ResultDocument document_of(const std::vector<Machine>& machines, std::int64_t last, std::int64_t cap = 0) {
  std::mt19937_64 engine(17);
  ResultDocument document;
  document.sweep["axes"] = {{"dtype", Json::array()}};
  for (const Machine& machine : machines) {
    document.sweep["axes"]["dtype"].push_back(machine.dtype);
    document.context["device"]["peaks"][machine.dtype] = {{"flops_per_s", 500e9}, {"bytes_per_s", 50e9}};
    for (std::int64_t batch = 1; batch <= last; batch *= 2) {
      document.benchmarks.push_back(measure(machine, batch, engine));
    }
  }
  if (cap > 0) {
    document.sweep["memory_cap_bytes"] = cap;
  }
  return document;
}

std::vector<Finding> findings_of(const ResultDocument& document) {
  return registry<Sweep>().find("batch")->findings(document);
}

Finding find(const ResultDocument& document, const std::string& name) {
  for (const Finding& finding : findings_of(document)) {
    if (finding.name == name) {
      return finding;
    }
  }
  ADD_FAILURE() << "no finding " << name;
  return {};
}

std::vector<std::string> names_of(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  names.reserve(findings.size());
  for (const Finding& finding : findings) {
    names.push_back(finding.name);
  }
  return names;
}

TEST(BatchFindings, OneDtypeNeedsNoSuffix) {
  EXPECT_THAT(names_of(findings_of(document_of({{}}, 64))),
              ElementsAre("t0", "t_inf", "ceiling_batch", "limit_below_ceiling", "memory_line",
                          "largest_batch", "recommendation"));
}

TEST(BatchFindings, NamesFollowTheAxisSoThatTheyDoNotChangeAsPointsArrive) {
  ResultDocument document = document_of({{}}, 4);
  document.sweep["axes"]["dtype"] = {"fp32", "bf16"};
  EXPECT_THAT(names_of(findings_of(document)), AllOf(Contains("t0/fp32"), Not(Contains("t0"))));
}

TEST(BatchFindings, FindsTheModelBehindThePoints) {
  const ResultDocument document = document_of({{}}, 256);
  const Finding t0 = find(document, "t0");
  EXPECT_NEAR(*t0.value, 4e6, 0.2e6);
  EXPECT_LE(t0.ci95->low, 4e6);
  EXPECT_GE(t0.ci95->high, 4e6);
  EXPECT_EQ(t0.unit, "ns");
  EXPECT_EQ(t0.evidence.size(), 9U);
  EXPECT_THAT(t0.claim, HasSubstr("before its first sample"));

  const Finding t_inf = find(document, "t_inf");
  EXPECT_NEAR(*t_inf.value, 100, 1);
  EXPECT_EQ(t_inf.unit, "samples/s");
  EXPECT_EQ(t_inf.details["t0_ns"], std::llround(*t0.value));
  EXPECT_EQ(t_inf.details["t_inf_per_s"], *t_inf.value);
  EXPECT_THAT(t_inf.claim, HasSubstr("samples/s"));
}

// 100 MB of weights at 50 GB/s take 2 ms.
TEST(BatchFindings, SaysWhatTheFixedCostIsMadeOf) {
  EXPECT_THAT(find(document_of({{.t0_ns = 2.2e6}}, 64), "t0").claim,
              HasSubstr("reading the weights once accounts for 2.00 ms of it"));
  EXPECT_THAT(find(document_of({{.t0_ns = 20e6}}, 64), "t0").claim, Not(HasSubstr("weights")));
}

TEST(BatchFindings, AFixedCostNearZeroIsNotDistinguishable) {
  const Finding t0 = find(document_of({{.t0_ns = 0, .noise = 0.02}}, 256), "t0");
  EXPECT_THAT(t0.claim, HasSubstr("not distinguishable from zero"));
  EXPECT_EQ(t0.details["distinguishable_from_zero"], false);
}

TEST(BatchFindings, SaysWhereTheModelDoesNotHold) {
  ResultDocument document = document_of({{}}, 64);
  document.benchmarks[2].stats.median_ns *= 2;
  document.benchmarks[2].stats.ci95_ns = {document.benchmarks[2].stats.median_ns,
                                          document.benchmarks[2].stats.median_ns};
  EXPECT_THAT(find(document, "t_inf").claim, HasSubstr("does not follow t0 + batch/T∞"));
  EXPECT_EQ(find(document, "t_inf").details["model_holds"], false);
}

// t0 of 4 ms against 10 ms a sample: 95 % of the best at 256 (99.8/s) is reached by batch 8 (95.2/s).
TEST(BatchFindings, PlacesTheCeilingAndRecommendsItNotTheLargest) {
  const ResultDocument document = document_of({{}}, 256, 12LL << 30);
  const Finding ceiling = find(document, "ceiling_batch");
  EXPECT_EQ(ceiling.value, 8);
  EXPECT_LE(ceiling.ci95->low, 8);
  EXPECT_GE(ceiling.ci95->high, 8);
  EXPECT_THAT(ceiling.claim, HasSubstr("batch 8 gives 95"));
  EXPECT_EQ(ceiling.evidence.front(), "batch/tiny/infer/fp32/batch:8");

  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.value, 8);
  EXPECT_THAT(recommendation.claim,
              AllOf(HasSubstr("Use batch 8 in fp32"), HasSubstr("180 MiB"), HasSubstr("12.0 GiB cap (safe)"),
                    HasSubstr("up to batch 1218 would fit")));
}

TEST(BatchFindings, TheCeilingMayLieBeyondTheLargestBatch) {
  const ResultDocument document = document_of({{.t0_ns = 400e6}}, 16);
  const Finding ceiling = find(document, "ceiling_batch");
  EXPECT_EQ(ceiling.value, 16);
  EXPECT_EQ(ceiling.details["may_lie_beyond"], true);
  EXPECT_THAT(ceiling.claim, HasSubstr("may lie beyond"));
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("still growing"));
}

// At batch 1, 4 GFLOP at 500 GFLOP/s are 8 ms and 150 MB at 50 GB/s are 3 ms.
TEST(BatchFindings, NamesTheLimitBelowTheCeiling) {
  const Finding compute = find(document_of({{}}, 8), "limit_below_ceiling");  // a step of 14 ms
  EXPECT_EQ(compute.details["limit"], "compute");
  EXPECT_NEAR(*compute.value, 8.0 / 14, 0.01);
  EXPECT_THAT(compute.claim, HasSubstr("compute limits it"));

  const Finding overhead = find(document_of({{.t0_ns = 30e6}}, 8), "limit_below_ceiling");  // 40 ms
  EXPECT_EQ(overhead.details["limit"], "launch/overhead");
  EXPECT_THAT(overhead.claim, AllOf(HasSubstr("20 %"), HasSubstr("7.5 %"), HasSubstr("53 operations")));

  ResultDocument slow_memory = document_of({{}}, 8);
  slow_memory.context["device"]["peaks"]["fp32"]["bytes_per_s"] = 12e9;  // 12.5 ms
  EXPECT_EQ(find(slow_memory, "limit_below_ceiling").details["limit"], "memory");

  ResultDocument unknown = document_of({{}}, 8);
  unknown.context = nullptr;
  EXPECT_FALSE(find(unknown, "limit_below_ceiling").value);
  EXPECT_THAT(find(unknown, "limit_below_ceiling").claim, HasSubstr("cannot be told"));
}

TEST(BatchFindings, DrawsTheMemoryLine) {
  const ResultDocument document = document_of({{}}, 64, 1LL << 30);
  const Finding line = find(document, "memory_line");
  EXPECT_NEAR(*line.value, 10 << 20, 1);
  EXPECT_EQ(line.unit, "bytes/sample");
  EXPECT_EQ(line.details["fixed_bytes"], 100 << 20);
  EXPECT_EQ(line.details["slope_bytes"], 10 << 20);
  EXPECT_TRUE(line.details["steps"].empty());
  EXPECT_THAT(line.claim, AllOf(HasSubstr("100 MiB fixed"), HasSubstr("10.0 MiB a sample")));
  EXPECT_EQ(find(document, "largest_batch").value, 92);  // (1024 - 100) / 10
}

TEST(BatchFindings, ShowsAStepInMemory) {
  ResultDocument document = document_of({{}}, 64);
  for (MeasuredPoint& point : document.benchmarks) {
    if (point.params["batch"] >= 16) {
      point.memory.peak_measured += 64 << 20;
    }
  }
  const Finding line = find(document, "memory_line");
  ASSERT_EQ(line.details["steps"].size(), 1U);
  EXPECT_EQ(line.details["steps"][0]["batch"], 16);
  EXPECT_NEAR(line.details["steps"][0]["bytes"].get<double>(), 64 << 20, 2);
  EXPECT_THAT(line.claim, HasSubstr("64.0 MiB more from batch 16"));
}

TEST(BatchFindings, TheLargestBatchStandsBesideWhatRanOutOfMemory) {
  ResultDocument document = document_of({{}}, 64, 1LL << 30);
  for (const std::int64_t batch : {256, 128}) {
    document.unmeasured.push_back({"", {{"batch", batch}, {"dtype", "fp32"}}, "oom", ""});
  }
  document.unmeasured.push_back({"", {{"batch", 1}, {"dtype", "fp32"}}, "skipped", ""});
  const Finding largest = find(document, "largest_batch");
  EXPECT_EQ(largest.details["smallest_oom"], 128);
  EXPECT_THAT(largest.claim, AllOf(HasSubstr("batch 92"), HasSubstr("batch 128 does not fit")));
}

TEST(BatchFindings, WithoutACapThereIsNoLargestBatch) {
  const Finding largest = find(document_of({{}}, 64), "largest_batch");
  EXPECT_FALSE(largest.value);
  EXPECT_THAT(largest.claim, HasSubstr("without a memory cap"));
}

TEST(BatchFindings, ClassifiesTheHeadroom) {
  const auto claim_at = [](double share) {
    const double needed = 180 << 20;  // at the ceiling, batch 8
    return find(document_of({{}}, 256, std::llround(needed / share)), "recommendation").details["headroom"];
  };
  EXPECT_EQ(claim_at(0.89), "safe");
  EXPECT_EQ(claim_at(0.92), "tight");
  EXPECT_EQ(claim_at(0.97), "danger");
}

TEST(BatchFindings, ComparesDtypes) {
  const Machine bf16{
      .dtype = "bf16", .t0_ns = 2e6, .per_s = 220, .fixed_bytes = 50 << 20, .sample_bytes = 5 << 20};
  const ResultDocument document = document_of({{}, bf16}, 256);
  const Finding speedup = find(document, "speedup_bf16");
  EXPECT_NEAR(*speedup.value, 2.2, 0.05);
  EXPECT_LT(speedup.ci95->low, *speedup.value);
  EXPECT_GT(speedup.ci95->high, *speedup.value);
  EXPECT_THAT(speedup.claim, HasSubstr("as fast as fp32 at batch 16"));
  EXPECT_THAT(speedup.evidence, Contains("batch/tiny/infer/bf16/batch:16"));

  const Finding memory = find(document, "memory_ratio_bf16");
  EXPECT_DOUBLE_EQ(*memory.value, 0.5);
  EXPECT_THAT(memory.claim, HasSubstr("At batch 256 bf16 needs 1.30 GiB"));

  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.details["dtype"], "bf16");
  EXPECT_THAT(recommendation.claim, HasSubstr("if its accuracy suffices"));
}

TEST(BatchFindings, EqualSpeedsShowNoDifference) {
  const ResultDocument document = document_of({{.noise = 0.02}, {.dtype = "bf16", .noise = 0.02}}, 64);
  EXPECT_THAT(find(document, "speedup_bf16").claim, HasSubstr("no difference in speed"));
}

TEST(BatchFindings, AGainWithinTheNoiseIsNoReasonToLeaveFp32) {
  const ResultDocument document =
      document_of({{.noise = 0.02}, {.dtype = "bf16", .per_s = 101, .noise = 0.02}}, 64);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

TEST(BatchFindings, SaysWhereMemoryEndsBeforeTheCeiling) {
  // 100 MiB and 10 MiB a sample: 16 need 260 MiB, and 300 MiB hold 20.
  ResultDocument document = document_of({{.t0_ns = 400e6}}, 16, 300 << 20);
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("memory ends at batch 20"));
  document.unmeasured.push_back({"", {{"batch", 32}, {"dtype", "fp32"}}, "oom", ""});
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("batch 32 does not fit"));
}

TEST(BatchFindings, NoisyPointsPlaceNoCeiling) {
  const ResultDocument document = document_of({{.noise = 0.2}}, 64);
  const Finding ceiling = find(document, "ceiling_batch");
  EXPECT_FALSE(ceiling.value);
  EXPECT_FALSE(ceiling.ci95);
  EXPECT_THAT(ceiling.claim, HasSubstr("too noisy to place the ceiling"));
  EXPECT_FALSE(find(document, "recommendation").value);
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("too noisy"));
}

TEST(BatchFindings, DtypesWithoutASharedBatchCannotBeCompared) {
  ResultDocument document = document_of({{}, {.dtype = "bf16"}}, 1);
  document.benchmarks[1].params["batch"] = 2;
  EXPECT_FALSE(find(document, "speedup_bf16").value);
  EXPECT_FALSE(find(document, "memory_ratio_bf16").value);
}

TEST(BatchFindings, PointsAboveThePeakProveNothing) {
  ResultDocument document = document_of({{}}, 256);
  MeasuredPoint& wrong = document.benchmarks[0];
  wrong.validity.flags = {"noisy", "above_peak"};
  wrong.stats.median_ns = 1;
  wrong.stats.ci95_ns = {1, 1};
  EXPECT_EQ(find(document, "ceiling_batch").value, 8);
  EXPECT_NEAR(*find(document, "t_inf").value, 100, 1);
  EXPECT_THAT(find(document, "t0").evidence, Not(Contains(wrong.name)));
  const Finding left_out = find(document, "left_out");
  EXPECT_EQ(left_out.value, 1);
  EXPECT_THAT(left_out.evidence, ElementsAre(wrong.name));
  EXPECT_THAT(left_out.claim, HasSubstr("above the device's peak"));
}

void flag(ResultDocument& document, const std::string& name, const std::vector<std::string>& flags) {
  for (MeasuredPoint& point : document.benchmarks) {
    if (point.name.find(name) != std::string::npos) {
      point.validity.flags = flags;
    }
  }
}

// Widens the interval of a dtype's points so far that no ceiling can be placed.
void blur(ResultDocument& document, const std::string& dtype, double by) {
  for (MeasuredPoint& point : document.benchmarks) {
    if (point.params["dtype"] == dtype) {
      point.stats.ci95_ns = {point.stats.median_ns * (1 - by), point.stats.median_ns * (1 + by)};
    }
  }
}

TEST(BatchFindings, ADtypeThatIsSurelyFasterWinsWithoutACeiling) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .t0_ns = 2e6, .per_s = 232}}, 64);
  blur(document, "bf16", 0.1);
  ASSERT_FALSE(find(document, "ceiling_batch/bf16").value);
  const Finding speedup = find(document, "speedup_bf16");
  EXPECT_GT(speedup.ci95->low, 1);
  const Finding recommendation = find(document, "recommendation");
  EXPECT_EQ(recommendation.details["dtype"], "bf16");
  EXPECT_EQ(recommendation.details["ceiling_placed"], false);
  EXPECT_THAT(recommendation.claim,
              AllOf(HasSubstr("Use batch 64 in bf16"), HasSubstr("its ceiling is unclear")));
}

TEST(BatchFindings, ADtypeWithoutACeilingThatIsNotSurelyFasterDoesNotWin) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 104}}, 64);
  blur(document, "bf16", 0.1);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

// A ceiling is up to 5 % below the best, which the other dtype's best surely passes though both are as fast.
TEST(BatchFindings, ACeilingBelowTheBestIsNoReasonToLeaveFp32) {
  const ResultDocument document = document_of({{.noise = 0.002}, {.dtype = "bf16", .noise = 0.002}}, 256);
  EXPECT_EQ(find(document, "recommendation").details["dtype"], "fp32");
}

TEST(BatchFindings, FewRoundsStayOutOfSpeedClaimsWhereOthersRemain) {
  ResultDocument document = document_of({{}}, 256);
  MeasuredPoint& odd = document.benchmarks[0];
  odd.validity.flags = {"few_rounds"};
  odd.stats.median_ns *= 3;
  odd.stats.ci95_ns = {odd.stats.median_ns, odd.stats.median_ns};
  EXPECT_NEAR(*find(document, "t0").value, 4e6, 0.4e6);
  EXPECT_THAT(find(document, "t0").evidence, Not(Contains(odd.name)));
  EXPECT_THAT(find(document, "t0").claim, Not(HasSubstr("few_rounds")));
  EXPECT_THAT(find(document, "memory_line").evidence, Contains(odd.name));
}

TEST(BatchFindings, TheLargestMeasuredIsNotOneOfFewRounds) {
  ResultDocument document = document_of({{.t0_ns = 400e6}}, 32);
  flag(document, "batch:32", {"few_rounds"});
  EXPECT_THAT(find(document, "ceiling_batch").claim,
              HasSubstr("at batch 16, the largest measured in at least 3 rounds"));
}

TEST(BatchFindings, FewRoundsAloneAreSaidAndProveNoRatio) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 84'000}}, 16);
  flag(document, "", {"few_rounds", "throttled:cpu_contention"});
  for (const std::string name : {"t_inf/fp32", "ceiling_batch/fp32", "limit_below_ceiling/bf16"}) {
    EXPECT_THAT(find(document, name).claim,
                AllOf(HasSubstr("few_rounds"), HasSubstr("other work held the cores")))
        << name;
  }
  EXPECT_FALSE(find(document, "speedup_bf16").value);
  EXPECT_FALSE(find(document, "speedup_bf16").ci95);
  EXPECT_THAT(find(document, "speedup_bf16").claim, HasSubstr("few_rounds"));
  EXPECT_FALSE(find(document, "recommendation").value);
  EXPECT_THAT(find(document, "recommendation").claim, HasSubstr("few_rounds"));
  EXPECT_TRUE(find(document, "memory_line/fp32").value);
}

TEST(BatchFindings, ClaimsFromThrottledPointsSaySo) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 220}}, 64);
  flag(document, "bf16/batch:", {"throttled:cpu_contention"});
  const auto says_so =
      HasSubstr("; measured while other work held the cores (throttled:cpu_contention): run again");
  for (const std::string name : {"t_inf/bf16", "ceiling_batch/bf16", "speedup_bf16", "recommendation"}) {
    EXPECT_THAT(find(document, name).claim, says_so) << name;
  }
  EXPECT_THAT(find(document, "t_inf/fp32").claim, Not(HasSubstr("throttled")));

  const Finding conditions = find(document, "conditions");
  EXPECT_EQ(conditions.value, 7);
  EXPECT_EQ(conditions.evidence.size(), 7U);
  EXPECT_THAT(conditions.claim,
              AllOf(HasSubstr("7 of 14 points were"), HasSubstr("OMP_WAIT_POLICY=passive")));

  flag(document, "", {"throttled:sw_power_cap"});
  EXPECT_THAT(names_of(findings_of(document)), Not(Contains("conditions")));
  EXPECT_THAT(find(document, "t_inf/fp32").claim, HasSubstr("held back (throttled:sw_power_cap)"));
}

// As a library does that takes Winograd's algorithm at some batches, with weights transformed for it.
ResultDocument with_changing_weights(std::int64_t sample_bytes) {
  ResultDocument document =
      document_of({{.fixed_bytes = 0, .sample_bytes = sample_bytes}}, 16, std::int64_t{18} << 30);
  const std::vector<std::int64_t> weights_mib = {45, 49, 45, 45, 45};
  for (std::size_t i = 0; i < weights_mib.size(); ++i) {
    const std::int64_t weights = weights_mib[i] << 20;
    document.benchmarks[i].memory.by_category[MemoryCategory::weights] = weights;
    document.benchmarks[i].memory.peak_measured += weights;
  }
  return document;
}

TEST(BatchFindings, WeightsThatChangeWithTheBatchDoNotBendTheMemoryLine) {
  const ResultDocument document = with_changing_weights(300 << 10);
  const Finding line = find(document, "memory_line");
  EXPECT_NEAR(*line.value, 300 << 10, 1);
  EXPECT_EQ(line.details["fixed_bytes"], 45 << 20);
  EXPECT_TRUE(line.details["steps"].empty());
  ASSERT_EQ(line.details["weight_steps"].size(), 2U);
  EXPECT_EQ(line.details["weight_steps"][0]["batch"], 2);
  EXPECT_EQ(line.details["segments"][1]["fixed_bytes"], 49 << 20);
  EXPECT_THAT(line.claim, AllOf(HasSubstr("45.0 MiB fixed (with the weights of batch 4 on)"),
                                HasSubstr("weights change from 45.0 MiB to 49.0 MiB at batch 2"),
                                HasSubstr("another algorithm's")));
  EXPECT_EQ(find(document, "largest_batch").value, ((std::int64_t{18} << 30) - (45 << 20)) / (300 << 10));
}

TEST(BatchFindings, MemoryThatDoesNotGrowProvesNoLargestBatch) {
  const ResultDocument document = with_changing_weights(0);
  const Finding largest = find(document, "largest_batch");
  EXPECT_FALSE(largest.value);
  EXPECT_THAT(largest.claim,
              AllOf(HasSubstr("cannot be told from these batches"), Not(HasSubstr("sets no"))));
  EXPECT_FALSE(find(document, "memory_line").value);
}

TEST(BatchFindings, AWideIntervalProvesNoProportion) {
  ResultDocument document = document_of({{.t0_ns = 0, .noise = 0.0}}, 8);
  document.benchmarks[1].stats.median_ns *= 1.2;
  document.benchmarks[2].stats.median_ns *= 0.85;
  const Finding t0 = find(document, "t0");
  EXPECT_LT(t0.ci95->low, 0);
  EXPECT_THAT(t0.claim, Not(HasSubstr("proportion")));
}

TEST(BatchFindings, WideRatiosCannotBeToldApart) {
  ResultDocument document = document_of({{}, {.dtype = "bf16", .per_s = 120}}, 4);
  blur(document, "bf16", 0.5);
  EXPECT_THAT(find(document, "speedup_bf16").claim,
              AllOf(HasSubstr("cannot be told apart"), Not(HasSubstr("no difference"))));
}

TEST(BatchFindings, OneOfAThingIsSingular) {
  ResultDocument document = document_of({{.t0_ns = 30e6}, {.dtype = "bf16", .per_s = 200}}, 8);
  document.benchmarks[0].work["launches"] = 1;
  EXPECT_THAT(find(document, "limit_below_ceiling/fp32").claim, HasSubstr("starting 1 operation and"));
  // One batch shared, and not the one at the ceiling.
  std::erase_if(document.benchmarks,
                [](const MeasuredPoint& p) { return p.params["dtype"] == "fp32" && p.params["batch"] != 1; });
  EXPECT_THAT(find(document, "speedup_bf16").claim, HasSubstr("at batch 1"));
  EXPECT_THAT(find(document, "speedup_bf16").claim, Not(HasSubstr("mean")));
}

TEST(BatchFindings, NoPointsSayWhatIsMissing) {
  const auto findings = findings_of(ResultDocument{});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].name, "recommendation");
  EXPECT_FALSE(findings[0].value);
  EXPECT_THAT(findings[0].claim, HasSubstr("at least 2 batch sizes"));
}

TEST(BatchFindings, OnePointSaysWhatIsMissing) {
  const ResultDocument document = document_of({{}}, 1, 1LL << 30);
  for (const Finding& finding : findings_of(document)) {
    if (finding.name != "limit_below_ceiling") {
      EXPECT_FALSE(finding.value) << finding.name;
      EXPECT_THAT(finding.claim, HasSubstr("2 batch sizes")) << finding.name;
    }
  }
}

TEST(BatchFindings, TwoPointsGiveLinesThatNothingTestsYet) {
  const ResultDocument document = document_of({{}}, 2, 1LL << 30);
  EXPECT_TRUE(find(document, "t0").value);
  EXPECT_FALSE(find(document, "t0").ci95);
  EXPECT_THAT(find(document, "t0").claim, HasSubstr("only a third would test it"));
  EXPECT_THAT(find(document, "t_inf").claim, HasSubstr("only a third would test it"));
  EXPECT_THAT(find(document, "memory_line").claim, HasSubstr("not yet tested by a third"));
}

TEST(BatchFindings, OnlyPointsAboveThePeakLeaveNothing) {
  ResultDocument document = document_of({{}}, 1);
  document.benchmarks[0].validity.flags = {"above_peak"};
  EXPECT_FALSE(find(document, "limit_below_ceiling").value);
  EXPECT_EQ(find(document, "left_out").value, 1);
}

// A file may hold whatever an older program or another tool wrote.
TEST(BatchFindings, SurvivesPointsWithoutTheirNumbers) {
  ResultDocument document = document_of({{}}, 64);
  document.benchmarks[0].params = nullptr;
  document.benchmarks[1].work = nullptr;
  document.benchmarks[2].stats = {};
  document.benchmarks[3].stats.ci95_ns = {0, 0};
  document.benchmarks[4].memory.peak_measured = 0;
  document.sweep = nullptr;
  for (const Finding& finding : findings_of(document)) {
    EXPECT_FALSE(finding.claim.empty()) << finding.name;
    EXPECT_TRUE(!finding.value || std::isfinite(*finding.value)) << finding.name;
  }
}

}  // namespace
}  // namespace bench
