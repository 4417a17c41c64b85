// The batch sweep's findings on predicted points.
#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/batch_machine.h"

namespace bench {
namespace {

// The host launches in `host_ns`, whatever the batch; the GPU takes so long a sample. The longer counts.
void add_card(ResultDocument& document, const std::string& dtype, double host_ns, double sample_ns) {
  document.sweep.axes["dtype"].push_back(dtype);
  for (std::int64_t batch = 1; batch <= 64; batch *= 2) {
    const double gpu_ns = static_cast<double>(batch) * sample_ns;
    Point point;
    point.name = "batch/tiny/infer/" + dtype + "/batch:" + std::to_string(batch);
    point.params = {{"batch", batch}, {"dtype", dtype}};
    point.origin = Origin::predicted;
    const double step_ns = std::max(host_ns, gpu_ns);
    point.prediction.step_ns = {.value = step_ns, .ci95 = Interval{step_ns / 1.25, step_ns * 1.25}};
    point.items_per_step = static_cast<double>(batch);
    point.memory.by_category[MemoryCategory::other] = 1000;
    point.memory.by_category[MemoryCategory::activations] = 100 * batch;
    point.memory.peak_predicted = 1000 + 100 * batch;
    point.prediction.model = {{"gpu_ns", gpu_ns},
                              {"host_ns", host_ns},
                              {"products_ns", 0.75 * gpu_ns},
                              {"memory_ns", 0.25 * gpu_ns}};
    document.points.push_back(std::move(point));
  }
}

ResultDocument predicted_document() {
  ResultDocument document;
  document.sweep.axes = {{"dtype", Json::array()}};
  document.sweep.memory_cap_bytes = 10'000;
  document.context.device.kind = "modelled";
  return document;
}

const Finding& named(const std::vector<Finding>& findings, std::string_view name) {
  return *std::ranges::find(findings, name, &Finding::name);
}

TEST(BatchPredicted, SaturatesWhereTheGpuTakesLongerThanTheHost) {
  ResultDocument document = predicted_document();
  add_card(document, "fp32", 8e6, 1e6);
  const std::vector<Finding> findings = findings_of(std::move(document));
  const Finding& saturation = named(findings, "ceiling_batch");
  EXPECT_EQ(saturation.value, 8);
  expect_words(saturation.claim);
  EXPECT_NEAR(*named(findings, "t_inf").value, 1000, 1e-6);
  expect_words(named(findings, "limit_below_ceiling").claim);
  EXPECT_EQ(named(findings, "limit_at_ceiling").details.at("limit"), "compute");
  expect_words(named(findings, "recommendation").claim);
  EXPECT_NEAR(*named(findings, "memory_line").value, 100, 1e-6);
}

TEST(BatchPredicted, AnotherDtypeNeedsARatioWhoseIntervalExcludesOne) {
  for (const double gain : {1.2, 3.0}) {
    ResultDocument document = predicted_document();
    add_card(document, "fp32", 1e6, 1e6);
    add_card(document, "fp16", 1e6, 1e6 / gain);
    const std::vector<Finding> findings = findings_of(std::move(document));
    const Finding& speedup = named(findings, "speedup_fp16");
    EXPECT_NEAR(*speedup.value, gain, 0.01);
    const bool sure = gain > 2;  // the ratio's interval is a factor of 1.25^√2, 1.37
    EXPECT_EQ(speedup.claim.find("not significant") == std::string::npos, sure) << speedup.claim;
    EXPECT_EQ(named(findings, "recommendation").details.at("dtype"), sure ? "fp16" : "fp32");
  }
}

TEST(BatchPredicted, NoPointLeavesNoFigure) {
  const std::vector<Finding> findings = findings_of(predicted_document());
  EXPECT_FALSE(named(findings, "recommendation").value);
}

}  // namespace
}  // namespace bench
