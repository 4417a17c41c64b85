#include "bench/cli/table.h"

#include <sstream>

#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

Point point(std::int64_t batch, const std::string& dtype, double step_ns) {
  Point measured;
  measured.name = "batch/net/infer/" + dtype + "/batch:" + std::to_string(batch);
  measured.params = {{"batch", batch}, {"dtype", dtype}, {"mode", "infer"}};
  measured.items_per_step = static_cast<double>(batch);
  measured.stats.median_ns = step_ns;
  measured.stats.rounds = 3;
  measured.stats.ci95_ns = Interval{.low = step_ns * 0.99, .high = step_ns * 1.03};
  measured.memory.peak_predicted = 1 << 20;
  measured.memory.peak_measured = 2 << 20;
  measured.memory.driver_used = 3 << 20;
  return measured;
}

UnmeasuredPoint left_out(const std::string& name, const std::string& status, const std::string& reason) {
  return {.name = name, .params = {}, .status = status, .reason = reason};
}

std::string points_of(const ResultDocument& document) {
  Page page{.title = ""};
  page.table(points_table(document));
  return page_text(page, 200);
}

TEST(Table, RowsGrowWithTheBatchWithinADtype) {
  ResultDocument document;
  document.points = {point(16, "fp32", 64e6), point(2, "fp32", 10e6), point(2, "bf16", 5e6)};
  document.points[0].validity.flags = {"noisy", "above_peak"};
  EXPECT_EQ(points_of(document),
            "batch  dtype  samples/s (95 %)  step time    memory   planned    driver\n"
            "    2  fp32      200 (194–202)    10.0 ms  2.00 MiB  1.00 MiB  3.00 MiB\n"
            "   16  fp32      250 (243–253)    64.0 ms  2.00 MiB  1.00 MiB  3.00 MiB  ○\n"
            "    2  bf16      400 (388–404)    5.00 ms  2.00 MiB  1.00 MiB  3.00 MiB\n");
}

Point predicted_point(std::int64_t batch, double step_ns, const Json& workspace) {
  Point predicted{.name = "p", .params = {{"batch", batch}, {"dtype", "fp16"}}, .origin = Origin::predicted};
  predicted.prediction = {.step_ns = {.value = step_ns}, .model = {{"workspace", workspace}}};
  predicted.items_per_step = static_cast<double>(batch);
  predicted.memory.by_category[MemoryCategory::workspace] = workspace.contains("planned_by") ? 1 << 20 : 0;
  predicted.memory.peak_predicted = 3 << 20;
  return predicted;
}

TEST(Table, SaysWhoPlannedTheWorkspaceOrWhyItIsEstimated) {
  const Json planned = {{"planned_by", "cuDNN 9.19 for sm_75"}, {"planned_bytes", 1 << 20}};
  const Json estimated = {{"why_not", "planning took longer than 10.0 s"}};
  ResultDocument document;
  document.context.device.name = "Tesla T4";
  document.context.device.details["framework"] = "pytorch";
  document.points = {predicted_point(1, 1e6, planned)};
  EXPECT_EQ(
      predicted_title(document),
      "Predicted for pytorch on Tesla T4; nothing was measured; workspace planned by cuDNN 9.19 for sm_75");
  EXPECT_EQ(points_of(document),
            "batch  dtype  samples/s (80 %)  step time    memory  workspace\n"
            "    1  fp16               1000    1.00 ms  3.00 MiB   1.00 MiB\n");
  document.points.push_back(predicted_point(2, 1e6, estimated));
  expect_words(predicted_title(document));
  expect_words(points_of(document));
  document.points.erase(document.points.begin());
  expect_words(predicted_title(document));
}

TEST(Table, APlannedPointHasNoTime) {
  ResultDocument document;
  document.points = {predicted_point(1, 0, {{"planned_by", "cuDNN 9.19 for sm_75"}})};
  expect_words(points_of(document));
}

TEST(Table, AFlagOfEveryPointMarksNone) {
  ResultDocument document;
  document.points = {point(1, "fp32", 1e6), point(2, "fp32", 2e6)};
  for (Point& each : document.points) {
    each.validity.flags = {"few_rounds"};
  }
  expect_words(points_of(document));
  document.points[1].validity.flags = {};
  expect_words(points_of(document));
}

TEST(Table, ThePlanIsShownWhereItIsNotWhatWasTracked) {
  ResultDocument document;
  document.points = {point(1, "fp32", 1e6), point(2, "fp32", 2e6)};
  document.points[0].memory.peak_predicted = 2 << 20;
  expect_words(points_of(document));
  document.points[1].memory.peak_predicted = 2 << 20;
  expect_words(points_of(document));
}

TEST(Table, DtypesStandAsAskedFor) {
  ResultDocument document;
  document.sweep.axes = {{"dtype", {"tf32", "fp32", "bf16"}}};
  document.points = {point(1, "bf16", 1e6), point(1, "fp32", 1e6), point(1, "tf32", 1e6),
                     point(1, "fp16", 1e6)};
  const std::string text = points_of(document);
  EXPECT_LT(text.find("tf32"), text.find("fp32"));
  EXPECT_LT(text.find("fp32"), text.find("bf16"));
  EXPECT_LT(text.find("bf16"), text.find("fp16")) << "what no axis names comes last";
}

TEST(Table, OneRoundHasNoSpread) {
  ResultDocument document;
  document.points = {point(1, "fp32", 1e6)};
  document.points[0].stats.rounds = 1;
  expect_words(points_of(document));
}

TEST(Table, AFigureHasTheDigitsThatItsIntervalAllows) {
  ResultDocument document;
  document.points = {point(1, "fp32", 1e6), point(2, "fp32", 1e6), point(4, "fp32", 1e6),
                     point(8, "fp32", 1e6)};
  document.points[0].stats.ci95_ns = Interval{.low = 0.9999e6, .high = 1.0001e6};
  document.points[1].stats.ci95_ns = Interval{.low = 0.9e6, .high = 1.1e6};
  document.points[2].stats.ci95_ns = Interval{.low = 0.1e6, .high = 2.2e6};
  document.points[3].stats.ci95_ns = Interval{.low = 0, .high = 2e6};
  expect_words(points_of(document));
}

TEST(Table, AParameterThatChangesGetsAColumn) {
  ResultDocument document;
  document.points = {point(1, "fp32", 1e6), point(1, "fp32", 2e6)};
  document.points[1].params["mode"] = "train";
  expect_words(points_of(document));
}

std::string unmeasured(const ResultDocument& document, std::size_t width, bool verbose) {
  Page page{.title = ""};
  for (const Paragraph& line : unmeasured_in_words(document, verbose)) {
    page.blocks.emplace_back(line);
  }
  return page_text(page, width);
}

TEST(Unmeasured, APointHasItsNameAndReason) {
  ResultDocument document;
  document.unmeasured = {
      left_out("batch/net/infer/fp16/batch:1", "unsupported", "the processor has no fp16 arithmetic")};
  EXPECT_EQ(unmeasured(document, 100, false),
            "✕ batch/net/infer/fp16/batch:1 unsupported: the processor has no fp16 arithmetic\n");
  document.sweep.name = "batch";
  document.sweep.workload = "net";
  EXPECT_EQ(unmeasured(document, 100, false),
            "✕ infer/fp16/batch:1 unsupported: the processor has no fp16 arithmetic\n");
}

TEST(Unmeasured, PointsThatShareAReasonShareALine) {
  const char* const interrupted = "interrupted before it was timed";
  ResultDocument document;
  document.unmeasured = {left_out("a", "skipped", interrupted), left_out("b", "oom", "needs 2 GiB"),
                         left_out("c", "skipped", interrupted), left_out("d", "unsupported", "no time"),
                         left_out("e", "unsupported", "no time")};
  for (const char* name : {"f", "g", "h"}) {
    document.unmeasured.push_back(left_out(name, "skipped", interrupted));
  }
  EXPECT_EQ(unmeasured(document, 100, false),
            "✕ 5 points (a and 4 more) skipped: interrupted before it was timed\n"
            "✕ 3 more points: oom, unsupported (--verbose)\n");
}

TEST(Unmeasured, ALineIsCutToWhatMattersUnlessVerbose) {
  const std::string reason = "the device has no room for 3 copies of 4.00 GiB; give a smaller --memory-cap";
  ResultDocument document;
  for (const char* name : {"infer/fp32/batch:2", "infer/fp32/batch:4", "infer/fp32/batch:8"}) {
    document.unmeasured.push_back(left_out(name, "oom", reason));
  }
  EXPECT_EQ(unmeasured(document, 110, false), "✕ 3 points oom: " + reason + " (--verbose)\n");
  EXPECT_EQ(unmeasured(document, 80, false),
            "✕ 3 points oom: the device has no room for 3 copies of 4.00 GiB… (--verbose)\n");
  EXPECT_EQ(unmeasured(document, 50, false), "✕ 3 points oom: the device has no… (--verbose)\n");
  document.unmeasured.resize(1);
  EXPECT_EQ(unmeasured(document, 40, false), "✕ 1 point oom: the device… (--verbose)\n");
  EXPECT_EQ(unmeasured(document, 40, true),
            "✕ infer/fp32/batch:2 oom: the device has\n"
            "  no room for 3 copies of 4.00 GiB; give\n"
            "  a smaller --memory-cap\n");
}

// A short run leaves points out for many reasons, which all end in the same advice.
TEST(Unmeasured, PointsThatTheWarningCountsHaveNoLine) {
  ResultDocument document;
  document.unmeasured = {left_out("a", "skipped", "no time; give a larger --time-budget"),
                         left_out("b", "skipped", "no room for 3 rounds; give a larger --time-budget"),
                         left_out("c", "skipped", "interrupted before it was timed")};
  EXPECT_EQ(unmeasured(document, 100, false), "✕ c skipped: interrupted before it was timed\n");
  EXPECT_EQ(unmeasured(document, 100, true),
            "✕ a skipped: no time; give a larger --time-budget\n"
            "✕ b skipped: no room for 3 rounds; give a larger --time-budget\n"
            "✕ c skipped: interrupted before it was timed\n");
}

TEST(Unmeasured, OneLineForAStatusUnlessItIsAnError) {
  ResultDocument document;
  document.unmeasured = {left_out("a", "unsupported", "no fp16"), left_out("b", "error", "wrong answer"),
                         left_out("c", "unsupported", "no bf16"), left_out("d", "error", "an exception"),
                         left_out("e", "unsupported", "no fp16")};
  EXPECT_EQ(unmeasured(document, 100, false),
            "✕ b error: wrong answer\n"
            "✕ 4 more points: error, unsupported (--verbose)\n");
  EXPECT_EQ(unmeasured(document, 100, true),
            "✕ 2 points (a, e) unsupported: no fp16\n"
            "✕ b error: wrong answer\n"
            "✕ c unsupported: no bf16\n"
            "✕ d error: an exception\n");
}

TEST(Table, AStepOfNoTimeHasNoRate) {
  ResultDocument document;
  document.points = {point(1, "fp32", 0)};
  expect_words(points_of(document));
}

TEST(Planned, PointsWithTheirMemory) {
  const TextTable table = planned_table({{"batch:1", 1 << 20, ""},
                                         {"batch:1024", 1 << 30, "oom: more than the memory cap"},
                                         {"fp16", 0, "unsupported: no"}},
                                        4 << 20);
  Page page{.title = ""};
  page.table(table);
  EXPECT_EQ(page_text(page, 100),
            "point       memory plan  of the cap\n"
            "batch:1        1.00 MiB        25 %\n"
            "batch:1024     1.00 GiB     25600 %  oom: more than the memory cap\n"
            "fp16                  –           –  unsupported: no\n");
}

TEST(Planned, PointsThatMayTakeMoreAreJudgedByTheMost) {
  Page page{.title = ""};
  page.table(planned_table(
      {{.name = "batch:1", .predicted_bytes = 1 << 20, .most_bytes = 2 << 20},
       {.name = "batch:4", .predicted_bytes = 3 << 20, .most_bytes = 6 << 20},
       {.name = "batch:8", .predicted_bytes = 6 << 20, .problem = kBeyondCap, .most_bytes = 12 << 20}},
      4 << 20));
  EXPECT_EQ(page_text(page, 100),
            "point    memory plan   at most  of the cap\n"
            "batch:1     1.00 MiB  2.00 MiB        50 %\n"
            "batch:4     3.00 MiB  6.00 MiB       150 %  may be too large\n"
            "batch:8     6.00 MiB  12.0 MiB       300 %  oom: more than the memory cap\n");
}

TEST(Planned, PointsWithWhatFillsTheirMemory) {
  MemoryByCategory memory;
  memory[MemoryCategory::weights] = 1 << 20;
  memory[MemoryCategory::activations] = 3 << 20;
  Page page{.title = ""};
  page.table(
      planned_table({{.name = "memory/net/fp32/batch:1", .predicted_bytes = 4 << 20, .memory = memory},
                     {.name = "memory/net/fp16/batch:1", .predicted_bytes = 0, .problem = "oom: much"}},
                    8 << 20, true));
  EXPECT_EQ(page_text(page, 100),
            "point         memory plan  of the cap   weights  activations\n"
            "fp32/batch:1     4.00 MiB        50 %  1.00 MiB     3.00 MiB\n"
            "fp16/batch:1            –           –         –            –  oom: much\n");
}

}  // namespace
}  // namespace bench
