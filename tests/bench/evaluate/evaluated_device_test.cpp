#include "bench/evaluate/evaluated_device.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "tests/bench/evaluate/documents.h"
#include "tests/bench/support/golden_words.h"

namespace bench::testing {
namespace {

using ::testing::ElementsAre;

EvaluatedDevices devices_of(const std::vector<ResultDocument>& documents) {
  std::vector<EvaluatedFile> files;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    files.push_back({.path = "file" + std::to_string(i + 1) + ".json", .document = documents[i]});
  }
  return evaluated_devices(files);
}

std::string refusal_of(const std::vector<ResultDocument>& documents) {
  try {
    devices_of(documents);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(EvaluatedDevices, TakeRatesFromStepTimes) {
  ResultDocument document = batch_document("a cpu");
  add_measured(document, "fp32", 4, 100, 0.25, 700);
  const EvaluatedDevices evaluated = devices_of({document});
  const CurvePoint& point = evaluated.devices.front().curves.front().points.front();
  EXPECT_DOUBLE_EQ(point.per_s, 100);
  EXPECT_DOUBLE_EQ(point.interval->low, 80);
  EXPECT_DOUBLE_EQ(point.interval->high, 100 / 0.75);
  EXPECT_EQ(point.bytes, 700);
  EXPECT_FALSE(point.is_predicted);
}

TEST(EvaluatedDevices, TakeWhatAnotherRunWouldGiveWhereItIsKnown) {
  ResultDocument document = batch_document("a cpu");
  add_measured(document, "fp32", 1, 100, 0.01);
  document.points.front().stats.ci95_between_ns = Interval{.low = 5e6, .high = 2e7};
  const EvaluatedDevices evaluated = devices_of({document});
  EXPECT_DOUBLE_EQ(evaluated.devices.front().curves.front().points.front().interval->low, 50);
}

TEST(EvaluatedDevices, SortCurvesAndPoints) {
  ResultDocument document = batch_document("a cpu");
  add_measured(document, "bf16", 8, 200);
  add_measured(document, "fp32", 4, 100);
  add_measured(document, "fp32", 1, 50);
  const auto curves = devices_of({document}).devices.front().curves;
  EXPECT_EQ(curves[0].dtype, "fp32");
  EXPECT_EQ(curves[1].dtype, "bf16");
  EXPECT_EQ(curves[0].points[0].batch, 1);
  EXPECT_EQ(curves[0].points[1].batch, 4);
}

TEST(EvaluatedDevices, FindTheSaturationBatchByMediansWherePredicted) {
  ResultDocument document = predicted_document("t4");
  for (const auto& [batch, per_s] : {std::pair{1, 50.0}, {2, 94.0}, {4, 96.0}, {8, 100.0}}) {
    add_predicted(document, "fp32", batch, per_s);
  }
  EXPECT_EQ(devices_of({document}).devices.front().curves.front().at_saturation().batch, 4);
}

TEST(EvaluatedDevices, FindTheSaturationBatchByIntervalsWhereMeasured) {
  ResultDocument document = batch_document("a cpu");
  add_measured(document, "fp32", 1, 92, 0.02);
  add_measured(document, "fp32", 2, 96, 0.03);
  add_measured(document, "fp32", 4, 98, 0.001);
  add_measured(document, "fp32", 8, 100, 0.001);
  EXPECT_EQ(devices_of({document}).devices.front().curves.front().at_saturation().batch, 4);
  ResultDocument flat = batch_document("a cpu");
  add_measured(flat, "fp32", 1, 96, 0.03);
  add_measured(flat, "fp32", 2, 98, 0.001);
  add_measured(flat, "fp32", 4, 100, 0.001);
  EXPECT_EQ(devices_of({flat}).devices.front().curves.front().at_saturation().batch, 1);
}

TEST(EvaluatedDevices, HoldTheLargestBatchOfTheMemoryLine) {
  ResultDocument document = batch_document("a cpu");
  add_measured(document, "fp32", 1, 50, 0.01, 210);
  add_measured(document, "fp32", 2, 60, 0.01, 220);
  add_measured(document, "fp32", 4, 70, 0.01, 240);
  const Curve curve = devices_of({document}).devices.front().curves.front();
  EXPECT_EQ(curve.largest, 80);  // 200 + 10·80 = 1000 bytes
  EXPECT_TRUE(curve.extrapolated);
}

TEST(EvaluatedDevices, TakeTheModelsOwnLargestBatch) {
  ResultDocument document = predicted_document("t4");
  add_predicted(document, "fp16", 1, 50, 0.1, 110);
  add_predicted(document, "fp16", 2, 60, 0.1, 120);
  EXPECT_EQ(devices_of({document}).devices.front().curves.front().largest,
            80);  // by the line: 900 usable bytes
  Finding finding = finding_of("largest_batch/fp16", "samples");
  finding.value = 79;
  document.findings = {finding};
  const Curve curve = devices_of({document}).devices.front().curves.front();
  EXPECT_EQ(curve.largest, 79);
  EXPECT_FALSE(curve.extrapolated);
}

TEST(EvaluatedDevices, TakeThePeakOfTheDtype) {
  ResultDocument document = predicted_document("t4");
  add_predicted(document, "fp32", 1, 50);
  add_predicted(document, "fp16", 1, 50);
  add_predicted(document, "half", 1, 50);
  add_predicted(document, "bf16", 1, 50);
  const EvaluatedDevice device = devices_of({document}).devices.front();
  EXPECT_DOUBLE_EQ(device.in("fp32")->peak_flops_per_s.value(), 1e12);
  EXPECT_DOUBLE_EQ(device.in("fp16")->peak_flops_per_s.value(), 4e12);
  EXPECT_DOUBLE_EQ(device.in("half")->peak_flops_per_s.value(), 4e12);
  EXPECT_DOUBLE_EQ(device.in("bf16")->peak_flops_per_s.value(), 1e12);  // on the fp32 cores
  EXPECT_EQ(device.in("bf16")->peak_dtype, "fp32");
}

TEST(EvaluatedDevices, AreOneWhereFilesOfOneDeviceDoNotMeet) {
  ResultDocument first = batch_document("a cpu");
  add_measured(first, "fp32", 1, 50);
  ResultDocument second = batch_document("a cpu");
  add_measured(second, "fp32", 2, 60);
  add_measured(second, "bf16", 1, 70);
  const EvaluatedDevices merged = devices_of({first, second});
  ASSERT_EQ(merged.devices.size(), 1U);
  EXPECT_EQ(merged.devices.front().in("fp32")->points.size(), 2U);
  EXPECT_NE(merged.devices.front().in("bf16"), nullptr);
  EXPECT_THAT(merged.devices.front().files, ElementsAre("file1.json", "file2.json"));

  const EvaluatedDevices apart = devices_of({first, first});
  ASSERT_EQ(apart.devices.size(), 2U);
  EXPECT_EQ(apart.devices[0].label, "a cpu");
  EXPECT_EQ(apart.devices[1].label, "a cpu #2");
}

// Batch 8, on a machine of a fleet.
EvaluatedFile on_machine(const std::string& host, double per_s) {
  ResultDocument document = batch_document("Card");
  document.context.machine = "id of " + host;
  document.context.google_benchmark["host_name"] = host;
  add_measured(document, "fp32", 8, per_s, 0.01, static_cast<std::int64_t>(per_s));
  return {.path = host + ".json", .document = document};
}

TEST(EvaluatedDevices, OfSeveralMachinesAreOneWithTheSpreadBetweenThem) {
  const EvaluatedDevices devices =
      evaluated_devices({on_machine("node1", 100), on_machine("node2", 101), on_machine("node3", 102),
                         on_machine("node4", 80), on_machine("node5", 101.5)});
  ASSERT_EQ(devices.devices.size(), 1U);
  const EvaluatedDevice& fleet = devices.devices.front();
  EXPECT_EQ(fleet.label, "Card");
  EXPECT_EQ(fleet.files.size(), 5U);
  const CurvePoint& point = fleet.curves.front().points.front();
  EXPECT_DOUBLE_EQ(point.per_s, 101);
  EXPECT_NEAR(point.interval->low, 80 / 1.01, 1e-9) << "the slowest machine's low end";
  EXPECT_NEAR(point.interval->high, 102 / 0.99, 1e-9);
  EXPECT_EQ(point.bytes, 102);
  expect_words(fleet.caveats);
}

TEST(EvaluatedDevices, OfOneMachineTwiceAreNoFleet) {
  EXPECT_EQ(evaluated_devices({on_machine("node1", 100), on_machine("node1", 101)}).devices.size(), 2U);
  EXPECT_EQ(evaluated_devices({on_machine("node1", 100), on_machine("node1", 101), on_machine("node2", 99)})
                .devices.size(),
            1U);
}

TEST(EvaluatedDevices, TellTheCardFromItsPrediction) {
  ResultDocument predicted = predicted_document("t4");
  add_predicted(predicted, "fp16", 1, 50);
  ResultDocument measured = predicted_document("t4");
  measured.context.device.name = "Tesla T4";
  add_measured(measured, "fp16", 1, 60);
  const EvaluatedDevices evaluated = devices_of({predicted, measured});
  EXPECT_EQ(evaluated.devices[0].label, "t4 (predicted)");
  EXPECT_EQ(evaluated.devices[1].label, "t4 (measured)");
  EXPECT_TRUE(evaluated.devices[1].is_called("tesla t4"));
  EXPECT_TRUE(evaluated.devices[1].is_called("alias-of-T4"));
  EXPECT_FALSE(evaluated.devices[1].is_called("t"));
}

TEST(EvaluatedDevices, LeaveOutADataSheetOfAnotherSize) {
  ResultDocument document = predicted_document("rtx3060-12gb");
  document.context.device.name = "NVIDIA GeForce RTX 3060";
  document.context.device.memory_bytes = 667;  // of 1000
  add_measured(document, "fp32", 1, 50);
  const EvaluatedDevice device = devices_of({document}).devices.front();
  EXPECT_EQ(device.label, "RTX 3060");
  EXPECT_FALSE(device.tdp_w);
}

TEST(EvaluatedDevices, RefuseOtherWork) {
  ResultDocument first = batch_document("a");
  add_measured(first, "fp32", 1, 50);
  ResultDocument other = first;
  other.sweep.workload = "resnet18";
  expect_words(refusal_of({first, other}));
  other = first;
  other.sweep.mode = "train";
  expect_words(refusal_of({first, other}));
  other = first;
  other.sweep.workload_options["image-size"] = "256";
  expect_words(refusal_of({first, other}));
  other.sweep.workload_options["image-size"] = "224";
  other.sweep.workload_options["launch"] = "graph";  // the same work
  EXPECT_EQ(refusal_of({first, other}), "accepted");
  other = first;
  other.sweep.name = "memory";
  expect_words(refusal_of({first, other}));
  other = first;
  other.points.clear();
  expect_words(refusal_of({first, other}));
}

TEST(EvaluatedDevices, RefuseAnotherGraphOfOneName) {
  ResultDocument first = batch_document("a");
  add_measured(first, "fp32", 1, 50);
  first.context.workload_file =
      WorkloadFile{.format = "onnx", .path = "net.onnx", .name = "net", .hash = "12"};
  ResultDocument other = first;
  other.context.workload_file->hash = "34";
  expect_words(refusal_of({first, other}));
}

}  // namespace
}  // namespace bench::testing
