// `bench evaluate` and `advise` answer from a file what its sweep answered: one saturation batch, one
// largest.
#include <cstdint>
#include <string>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/evaluate/evaluated_device.h"
#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/run/result_file.h"
#include "sweeps/batch/answer.h"
#include "tests/program/golden_page.h"

namespace bench::sweeps {
namespace {

EvaluatedDevice evaluated(const ResultDocument& document) {
  EvaluatedDevices devices = evaluated_devices({{.path = "batch.json", .document = document}}, {});
  return devices.devices.at(0);
}

class StoredBatches : public ::testing::TestWithParam<const char*> {};

TEST_P(StoredBatches, AreEvaluatedAsTheirSweepAnswered) {
  const ResultDocument document =
      read_result(bench::testing::kGolden / "documents" / (std::string(GetParam()) + ".json"));
  const EvaluatedDevice device = evaluated(document);
  for (const BatchSeries& series : batch_series(document)) {
    const Curve* const curve = device.in(series.label);
    ASSERT_NE(curve, nullptr) << series.label;
    EXPECT_EQ(curve->at_saturation().batch, series.at_saturation().batch);
    const Finding* const largest = find_finding(document.findings, "largest_batch", series.label);
    if (largest != nullptr && largest->value) {
      EXPECT_EQ(curve->largest, static_cast<std::int64_t>(*largest->value));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfGoldenDocuments, StoredBatches,
                         ::testing::Values("batch", "batch-train", "batch-capped", "batch-again",
                                           "batch-one-thread"));

// It proves nothing, so it wins nothing.
TEST(EvaluatedBatches, APointAboveThePeakIsLeftOut) {
  ResultDocument document = read_result(bench::testing::kGolden / "documents/batch.json");
  Point& fast = document.points.at(3);
  fast.stats.median_ns /= 20;
  fast.validity.flags.emplace_back(kAbovePeak);
  const EvaluatedDevice device = evaluated(document);
  ASSERT_EQ(device.curves.size(), 1U);
  EXPECT_EQ(device.curves[0].points.size(), document.points.size() - 1);
  for (Point& point : document.points) {
    point.validity.flags.emplace_back(kAbovePeak);
  }
  EXPECT_THROW(evaluated(document), UsageError);
}

}  // namespace
}  // namespace bench::sweeps
