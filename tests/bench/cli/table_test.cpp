#include "bench/cli/table.h"

#include <sstream>

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

MeasuredPoint point(std::int64_t batch, const std::string& dtype, double step_ns) {
  MeasuredPoint measured;
  measured.name = "batch/net/infer/" + dtype + "/batch:" + std::to_string(batch);
  measured.params = {{"batch", batch}, {"dtype", dtype}, {"mode", "infer"}};
  measured.items_per_step = static_cast<double>(batch);
  measured.stats.median_ns = step_ns;
  measured.stats.rounds = 3;
  measured.stats.ci95_ns = {.low = step_ns * 0.99, .high = step_ns * 1.03};
  measured.memory.peak_predicted = 1 << 20;
  measured.memory.peak_measured = 2 << 20;
  measured.memory.driver_used = 3 << 20;
  return measured;
}

std::string table(const ResultDocument& document) {
  std::ostringstream out;
  print_points(out, document, 100);
  return out.str();
}

TEST(Table, RowsGrowWithTheBatchWithinADtype) {
  ResultDocument document;
  document.benchmarks = {point(16, "fp32", 64e6), point(2, "fp32", 10e6), point(2, "bf16", 5e6)};
  document.benchmarks[0].validity.flags = {"noisy", "above_peak"};
  EXPECT_EQ(table(document),
            "batch  dtype  items/s (95 %)  step time    memory   planned    driver\n"
            "    2  fp32      200 ± 2.0 %    10.0 ms  2.00 MiB  1.00 MiB  3.00 MiB\n"
            "   16  fp32      250 ± 2.0 %    64.0 ms  2.00 MiB  1.00 MiB  3.00 MiB  ○\n"
            "    2  bf16      400 ± 2.0 %    5.00 ms  2.00 MiB  1.00 MiB  3.00 MiB\n");
}

TEST(Table, AFlagOfEveryPointMarksNone) {
  ResultDocument document;
  document.benchmarks = {point(1, "fp32", 1e6), point(2, "fp32", 2e6)};
  for (MeasuredPoint& each : document.benchmarks) {
    each.validity.flags = {"few_rounds"};
  }
  EXPECT_THAT(table(document), Not(HasSubstr("○")));
  document.benchmarks[1].validity.flags = {};
  EXPECT_THAT(table(document), HasSubstr("○"));
}

TEST(Table, ThePlanIsShownWhereItIsNotWhatWasTracked) {
  ResultDocument document;
  document.benchmarks = {point(1, "fp32", 1e6), point(2, "fp32", 2e6)};
  document.benchmarks[0].memory.peak_predicted = 2 << 20;
  EXPECT_THAT(table(document), HasSubstr("planned"));
  document.benchmarks[1].memory.peak_predicted = 2 << 20;
  EXPECT_THAT(table(document), Not(HasSubstr("planned")));
}

TEST(Table, DtypesStandAsAskedFor) {
  ResultDocument document;
  document.sweep.axes = {{"dtype", {"tf32", "fp32", "bf16"}}};
  document.benchmarks = {point(1, "bf16", 1e6), point(1, "fp32", 1e6), point(1, "tf32", 1e6),
                         point(1, "fp16", 1e6)};
  const std::string text = table(document);
  EXPECT_LT(text.find("tf32"), text.find("fp32"));
  EXPECT_LT(text.find("fp32"), text.find("bf16"));
  EXPECT_LT(text.find("bf16"), text.find("fp16")) << "what no axis names comes last";
}

TEST(Table, OneRoundHasNoSpread) {
  ResultDocument document;
  document.benchmarks = {point(1, "fp32", 1e6)};
  document.benchmarks[0].stats.rounds = 1;
  EXPECT_THAT(table(document), HasSubstr("1000 ± ?  "));
}

TEST(Table, ASpreadBeyondTheValueIsNotSpelledOut) {
  ResultDocument document;
  document.benchmarks = {point(1, "fp32", 1e6), point(2, "fp32", 1e6)};
  document.benchmarks[0].stats.ci95_ns = {.low = 1e5, .high = 2.2e6};
  document.benchmarks[1].stats.ci95_ns = {.low = 0, .high = 2e6};
  EXPECT_THAT(table(document), ::testing::AllOf(HasSubstr("1000 ± >100 %  "), HasSubstr("2000 ± 100 %  ")));
}

TEST(Table, AParameterThatChangesGetsAColumn) {
  ResultDocument document;
  document.benchmarks = {point(1, "fp32", 1e6), point(1, "fp32", 2e6)};
  document.benchmarks[1].params["mode"] = "train";
  EXPECT_THAT(table(document), HasSubstr("batch  dtype  mode   items/s"));
}

TEST(Table, WhatWasNotMeasuredStandsWithItsReason) {
  ResultDocument document;
  document.unmeasured = {{.name = "batch/net/infer/fp16/batch:1",
                          .params = {},
                          .status = "unsupported",
                          .reason = "the processor has no fp16 arithmetic"}};
  EXPECT_EQ(table(document),
            "No point was measured.\n"
            "\n✕ batch/net/infer/fp16/batch:1 unsupported: the processor has no fp16 arithmetic\n");
}

TEST(Table, PointsThatShareAReasonShareAParagraph) {
  ResultDocument document;
  const auto add = [&](const std::string& name, const std::string& status, const std::string& reason) {
    document.unmeasured.push_back({.name = name, .params = {}, .status = status, .reason = reason});
  };
  add("a", "skipped", "no time");
  add("b", "oom", "needs 2 GiB");
  add("c", "skipped", "no time");
  add("d", "unsupported", "no time");
  add("e", "unsupported", "no time");
  for (const char* name : {"f", "g", "h"}) {
    add(name, "skipped", "no time");
  }
  EXPECT_EQ(table(document),
            "No point was measured.\n"
            "\n✕ 5 points (a, c, f and 2 more) skipped: no time\n"
            "✕ b oom: needs 2 GiB\n"
            "✕ 2 points (d, e) unsupported: no time\n");
}

TEST(Table, AStepOfNoTimeHasNoRate) {
  ResultDocument document;
  document.benchmarks = {point(1, "fp32", 0)};
  EXPECT_THAT(table(document), HasSubstr("    1  fp32                -       0 ns"));
}

TEST(Planned, PointsWithTheirMemory) {
  std::ostringstream out;
  print_planned(out,
                {{"batch:1", 1 << 20, ""},
                 {"batch:1024", 1 << 30, "oom: more than the memory cap"},
                 {"fp16", 0, "unsupported: no"}},
                4 << 20, true);
  EXPECT_EQ(out.str(),
            "point       memory plan  of the cap\n"
            "batch:1        1.00 MiB        25 %\n"
            "batch:1024     1.00 GiB     25600 %  oom: more than the memory cap\n"
            "fp16                  -           -  unsupported: no\n"
            "\n3 points, memory cap 4.00 MiB; nothing was run.\n"
            "The batch grows until the cap or the time budget ends it, whichever is first.\n");
}

}  // namespace
}  // namespace bench
