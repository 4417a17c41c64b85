// What `bench inspect` prints, of a network that is made up.
#include "bench/commands/inspect_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

InspectReport report() {
  InspectReport report{
      .workload = "net-0123abcd",
      .file = WorkloadFile{.format = "onnx",
                           .path = "net.onnx",
                           .name = "net",
                           .hash = "0123abcd",
                           .inputs = {{"x", "batch x 8", "seeded values"}},
                           .assumptions = {"Dropout is off."}},
      .missing_modes = {{"train", "relu9 cannot be trained"}},
      .device = "cpu",
      .dtype = "fp32",
      .composed_mode = "infer",
      .composed_batch = 1,
      .composition = {.operations = {{.kind = "conv2d", .count = 3, .macs = 900, .bytes = 600},
                                     {.kind = "linear", .count = 1, .macs = 100, .bytes = 300},
                                     {.kind = "pool", .count = 2, .macs = 0, .bytes = 100}},
                      .parameters = 25'557'032,
                      .statistics = 53'120,
                      .macs = 4.0892e9,
                      .activations = 1.1115e7},
      .steps = {}};
  InspectedStep step{.mode = "infer", .batch = 8, .memory = {}, .problem = {}};
  step.memory.at_peak[MemoryCategory::weights] = 3 << 20;
  step.memory.at_peak[MemoryCategory::activations] = 1 << 20;
  step.memory.peak = 4 << 20;
  step.memory.peak_at = "forward conv1";
  report.steps = {step, {.mode = "infer", .batch = 32, .memory = {}, .problem = "out of memory: too much"}};
  return report;
}

// A processor that does not compute the dtype: the command that is named plans the step.
TEST(InspectReport, NamesACardWhereTheProcessorLacksTheDtype) {
  InspectReport lacking = report();
  lacking.dtype = "fp16";
  for (InspectedStep& step : lacking.steps) {
    step.problem = "unsupported: no fp16 here";
  }
  const std::string page = page_text(page_of(lacking), 100);
  const std::size_t start = page.find("no step can be planned");
  ASSERT_NE(start, std::string::npos);
  expect_words(page.substr(start, page.find('\n', start) - start));
  lacking.dtype = "fp32";
  EXPECT_EQ(page_text(page_of(lacking), 100).find("--device t4"), std::string::npos);
}

TEST(InspectReport, AsText) {
  EXPECT_EQ(
      page_text(page_of(report()), 100),
      "net-0123abcd: 25.6 M parameters and 53.1 k statistics; 4.09 G multiply-adds and 11.1 M activations "
      "a\n"
      "  sample\n"
      "\nreads x (batch x 8): seeded values\n"
      "Dropout is off.\n"
      "cannot train: relu9 cannot be trained\n"
      "\n"
      "Operations of a step, infer at batch 1, 1000 B moved\n"
      "operation  count  multiply-adds  bytes\n"
      "conv2d         3           90 %   60 %\n"
      "linear         1           10 %   30 %\n"
      "pool           2                  10 %\n"
      "\n"
      "Memory at its peak, planned for cpu in fp32\n"
      "mode   batch   weights  activations     total\n"
      "infer      8  3.00 MiB     1.00 MiB  4.00 MiB\n"
      "\n"
      "infer at batch 32: out of memory: too much\n");
}

// Weights are packed before the first step, each next to its plain form.
TEST(InspectReport, TellsWhereThePeakIsNotAStep) {
  InspectReport early = report();
  expect_words(page_text(page_of(early), 100));
  early.steps.front().memory.setup_peak = early.steps.front().memory.peak;
  early.steps.front().memory.peak_at = "packing fc";
  expect_words(page_text(page_of(early), 100));
}

TEST(InspectReport, AsJson) {
  const Json json = to_json(report());
  EXPECT_EQ(json["parameters"], 25'557'032);
  EXPECT_EQ(json["file"]["hash"], "0123abcd");
  EXPECT_EQ(json["operations"][1],
            (Json{{"kind", "linear"}, {"count", 1}, {"macs", 100.0}, {"bytes", 300.0}}));
  EXPECT_EQ(json["memory"][0]["weights"], 3 << 20);
  EXPECT_EQ(json["memory"][0]["total"], 4 << 20);
  EXPECT_EQ(json["memory"][1],
            (Json{{"mode", "infer"}, {"batch", 32}, {"problem", "out of memory: too much"}}));
  EXPECT_EQ(json["missing_modes"]["train"], "relu9 cannot be trained");
}

TEST(InspectReport, UnsupportedNodesAreGroupedByOperationAndAllNamed) {
  const UnsupportedReport report{.path = "my net.onnx",
                                 .part = {.nodes = {{"a", "Loop", "it repeats"},
                                                    {"b\n", "NonZero", "its result's size depends on data"},
                                                    {"c", "Loop", "it repeats"}},
                                          .of = 40}};
  EXPECT_EQ(page_text(page_of(report), 100),
            "my net.onnx: 3 of the network's 40 nodes cannot be imported\n\n"
            "* 2 Loop, it repeats: a, c\n"
            "* 1 NonZero, its result's size depends on data: b\\n\n");
  const Json json = to_json(report);
  EXPECT_EQ(json["nodes"], 40);
  EXPECT_EQ(json["unsupported"].size(), 3U);
  EXPECT_EQ(json["unsupported"][1]["operation"], "NonZero");
}

}  // namespace
}  // namespace bench
