#include <limits>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json sample_json() {
  return Json::parse(to_text(to_json(testing::sample_document())));
}

TEST(ResultJson, RoundTripLosesNothing) {
  ResultDocument before = testing::sample_document();
  before.points[0].algorithms = {{"brgconv:avx2", 17}, {"jit \"quoted\"", 3}};
  before.points[0].timeline = {.parts = {{.ready_ns = 7.5, .bytes = 4000}, {.ready_ns = 9, .bytes = 96}},
                               .backward_ns = 9.5,
                               .update_ns = 2};
  const ResultDocument after = document_from_json(Json::parse(to_text(to_json(before))));

  EXPECT_EQ(to_json(after)["context"], to_json(before)["context"]);
  EXPECT_EQ(after.sessions, before.sessions);
  EXPECT_EQ(to_json(after)["sweep"], to_json(before)["sweep"]);
  ASSERT_EQ(after.points.size(), before.points.size());
  for (std::size_t i = 0; i < before.points.size(); ++i) {
    const Point& a = after.points[i];
    const Point& b = before.points[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.params, b.params);
    EXPECT_EQ(a.samples_ns, b.samples_ns);
    EXPECT_EQ(a.rounds, b.rounds);
    EXPECT_EQ(a.cpu_time_ns, b.cpu_time_ns);
    EXPECT_EQ(a.items_per_step, b.items_per_step);
    EXPECT_EQ(a.work, b.work);
    EXPECT_EQ(a.algorithms, b.algorithms);
    EXPECT_EQ(a.timeline, b.timeline);
    EXPECT_EQ(a.stats.median_ns, b.stats.median_ns);
    EXPECT_EQ(a.stats.p05_ns, b.stats.p05_ns);
    EXPECT_EQ(a.stats.p95_ns, b.stats.p95_ns);
    EXPECT_EQ(a.stats.cv, b.stats.cv);
    EXPECT_EQ(a.stats.ci95_ns, b.stats.ci95_ns);
    EXPECT_EQ(a.stats.rounds, b.stats.rounds);
    EXPECT_EQ(a.memory.by_category, b.memory.by_category);
    EXPECT_EQ(a.memory.peak_predicted, b.memory.peak_predicted);
    EXPECT_EQ(a.memory.peak_measured, b.memory.peak_measured);
    EXPECT_EQ(a.memory.driver_used, b.memory.driver_used);
    EXPECT_EQ(a.validity.flags, b.validity.flags);
    EXPECT_EQ(a.validity.sm_clock_mhz, b.validity.sm_clock_mhz);
    EXPECT_EQ(a.validity.temperature_c, b.validity.temperature_c);
    EXPECT_EQ(a.validity.power_w, b.validity.power_w);
    ASSERT_TRUE(a.verification.has_value());
    EXPECT_EQ(a.verification->error, b.verification->error);
    EXPECT_EQ(a.verification->tolerance, b.verification->tolerance);
    EXPECT_EQ(a.verification->detail, b.verification->detail);
  }
  ASSERT_EQ(after.unmeasured.size(), 1U);
  EXPECT_EQ(after.unmeasured[0].status, "unsupported");
  EXPECT_EQ(after.unmeasured[0].reason, before.unmeasured[0].reason);
  EXPECT_EQ(after.unmeasured[0].params, before.unmeasured[0].params);
  ASSERT_EQ(after.findings.size(), 2U);
  EXPECT_EQ(after.findings[0].value, 2.0);
  EXPECT_EQ(after.findings[0].ci95, before.findings[0].ci95);
  EXPECT_EQ(after.findings[0].interval_kind, "range");
  EXPECT_EQ(after.findings[1].interval_kind, "none");
  EXPECT_EQ(after.findings[0].evidence, before.findings[0].evidence);
  EXPECT_EQ(after.findings[0].details, before.findings[0].details);
  EXPECT_EQ(after.findings[1].value, std::nullopt);
  EXPECT_EQ(after.findings[1].ci95, std::nullopt);
  EXPECT_TRUE(after.findings[1].details.is_null());
  // And the second writing is the first one again, byte for byte.
  EXPECT_EQ(to_text(to_json(after)), to_text(to_json(before)));
}

ResultDocument predicted_document() {
  ResultDocument document = testing::sample_document();
  document.points.clear();
  Point point;
  point.name = "batch/resnet18/infer/fp32/batch:8";
  point.params = {{"batch", 8}, {"dtype", "fp32"}};
  point.origin = Origin::predicted;
  point.prediction.step_ns = {.value = 1e7 / 3, .ci95 = Interval{.low = 3e6, .high = 4e6}};
  point.items_per_step = 8;
  point.memory.by_category[MemoryCategory::weights] = 7;
  point.memory.by_category[MemoryCategory::activations] = 49;
  point.memory.peak_predicted = 56;
  point.prediction.model = {{"gpu_ns", 3e6}, {"caveats", {"one \"clause\""}}};
  Point planned;
  planned.name = "batch/resnet18/infer/fp32/batch:16";
  planned.params = {{"batch", 16}, {"dtype", "fp32"}};
  planned.items_per_step = 16;
  planned.origin = Origin::planned;
  document.points = {point, planned};
  return document;
}

TEST(ResultJson, PredictedPointsAreNoBenchmarks) {
  const ResultDocument before = predicted_document();
  const std::string text = to_text(to_json(before));
  EXPECT_EQ(testing::schema_errors(text), "");
  EXPECT_EQ(Json::parse(text).at("benchmarks").size(), 0U);
  const ResultDocument after = document_from_json(Json::parse(text));
  const Point& read = after.points.at(0);
  const Point& written = before.points[0];
  EXPECT_EQ(read.origin, Origin::predicted);
  EXPECT_EQ(read.step_ns().value, written.step_ns().value);
  EXPECT_EQ(read.step_ns().ci95, written.step_ns().ci95);
  EXPECT_EQ(read.memory.by_category, written.memory.by_category);
  EXPECT_EQ(read.peak(), 56);
  EXPECT_EQ(read.prediction.model, written.prediction.model);
  EXPECT_EQ(after.points.at(1).step_ns().ci95, std::nullopt);
  EXPECT_EQ(after.points[1].origin, Origin::planned);
  EXPECT_EQ(to_text(to_json(after)), text);
}

TEST(ResultJson, WhatOnlyAMeasurementTellsIsReadFromMeasuredPointsAlone) {
  ResultDocument document = testing::sample_document();
  const std::size_t measured = document.points.size();
  EXPECT_TRUE(modelled_points(document).empty());
  set_modelled_points(document, predicted_document().points);
  set_modelled_points(document, predicted_document().points);
  EXPECT_FALSE(is_predicted(document)) << "some of it was measured";
  const Json json = to_json(document);
  EXPECT_EQ(json.at("benchmarks").size(), measured);
  EXPECT_EQ(json.at("predicted").size(), 2U);
  const ResultDocument after = document_from_json(json);
  EXPECT_EQ(measured_points(after).size(), measured);
  EXPECT_EQ(modelled_points(after).front().name, "batch/resnet18/infer/fp32/batch:8");
}

TEST(ResultJson, PredictedPointsAreChecked) {
  for (const auto& [pointer, value] :
       {std::pair("/predicted/0/status", Json("guessed")), std::pair("/predicted/0/real_time", Json(-1)),
        std::pair("/predicted/1/name", Json("batch/resnet18/infer/fp32/batch:8")),
        std::pair("/predicted/0/memory/weights", Json(-7))}) {
    Json json = to_json(predicted_document());
    json[Json::json_pointer(pointer)] = value;
    expect_words(message_of<UsageError>([&] { document_from_json(json); }));
  }
}

TEST(ResultJson, WhatIsWrittenFollowsTheSchema) {
  EXPECT_EQ(testing::schema_errors(to_text(to_json(testing::sample_document()))), "");
}

TEST(ResultJson, AlgorithmsFollowTheSchemaAndAreCounts) {
  ResultDocument document = testing::sample_document();
  document.points[0].algorithms = {{"brgconv:avx2", 17}};
  Json json = Json::parse(to_text(to_json(document)));
  EXPECT_EQ(testing::schema_errors(to_text(json)), "");
  EXPECT_FALSE(json["benchmarks"][1].contains("algorithms"));
  json["benchmarks"][0]["algorithms"]["brgconv:avx2"] = "17";
  EXPECT_THROW(document_from_json(json), UsageError);
}

TEST(ResultJson, ATimelineFollowsTheSchemaAndGoesForward) {
  ResultDocument document = testing::sample_document();
  document.points[0].timeline = {
      .parts = {{.ready_ns = 3, .bytes = 8}, {.ready_ns = 5, .bytes = 8}}, .backward_ns = 6, .update_ns = 1};
  const Json json = Json::parse(to_text(to_json(document)));
  EXPECT_EQ(testing::schema_errors(to_text(json)), "");
  EXPECT_FALSE(json["benchmarks"][1].contains("timeline"));
  const auto refused = [&](const char* pointer, const Json& value) {
    Json broken = json;
    broken["benchmarks"][0]["timeline"][Json::json_pointer(pointer)] = value;
    EXPECT_THROW(document_from_json(broken), UsageError) << pointer << value;
  };
  refused("/gradients/1/ready_ns", 2);
  refused("/gradients/1/ready_ns", 7);
  refused("/gradients/0/bytes", -1);
  refused("/gradients", Json::array());
  refused("/backward_ns", -1);
  refused("/backward_ns", "soon");
}

TEST(ResultJson, WhatWasNotCheckedHasNotPassed) {
  ResultDocument document = testing::sample_document();
  Verification& partly = document.points.at(0).verification.value();
  partly.not_checked = "the gradient";
  document.points.at(1).verification =
      Verification{.passed = false, .error = 0, .tolerance = 0, .detail = "", .not_checked = "no reference"};
  const Json json = to_json(document);
  EXPECT_EQ(testing::schema_errors(to_text(json)), "");
  EXPECT_EQ(json["benchmarks"][0]["verification"]["not_checked"], "the gradient");
  EXPECT_EQ(json["benchmarks"][1]["verification"], Json({{"not_checked", "no reference"}}));

  ResultDocument after = document_from_json(Json::parse(to_text(json)));
  EXPECT_TRUE(after.points.at(0).verification->passed);
  EXPECT_EQ(after.points.at(0).verification->not_checked, "the gradient");
  EXPECT_FALSE(after.points.at(1).verification->passed);
  EXPECT_EQ(after.points.at(1).verification->not_checked, "no reference");

  Json neither = json;
  neither["benchmarks"][1]["verification"] = Json::object();
  EXPECT_NE(testing::schema_errors(to_text(neither)), "");
  EXPECT_THROW(document_from_json(neither), UsageError);
}

TEST(ResultJson, EntriesAreGoogleBenchmarks) {
  const Json entry = sample_json()["benchmarks"][1];
  EXPECT_EQ(entry["name"], "batch/resnet18/infer/fp32/batch:2");
  EXPECT_EQ(entry["run_name"], entry["name"]);
  EXPECT_EQ(entry["run_type"], "iteration");
  EXPECT_EQ(entry["family_index"], 0);
  EXPECT_EQ(entry["per_family_instance_index"], 1);
  EXPECT_EQ(entry["iterations"], 6);
  EXPECT_EQ(entry["real_time"], 30'000'000.5);
  EXPECT_EQ(entry["time_unit"], "ns");
  EXPECT_DOUBLE_EQ(entry["items_per_second"].get<double>(), 2 * 1e9 / 30'000'000.5);
}

TEST(ResultJson, FamiliesAreNumberedByNameUpToTheLastPart) {
  ResultDocument document = testing::sample_document();
  document.points.resize(1);
  for (const char* name : {"batch/resnet18/infer/bf16/batch:1", "batch/resnet18/infer/fp32/batch:2"}) {
    document.points.push_back(testing::sample_point(1, 100));
    document.points.back().name = name;
  }
  std::vector<std::pair<int, int>> indices;
  const Json json = to_json(document);
  for (const Json& entry : json["benchmarks"]) {
    indices.emplace_back(entry["family_index"], entry["per_family_instance_index"]);
  }
  EXPECT_THAT(indices, ElementsAre(std::pair(0, 0), std::pair(1, 0), std::pair(0, 1)));
}

TEST(ResultJson, IntegersStayIntegersInText) {
  const std::string text = to_text(to_json(testing::sample_document()));
  EXPECT_THAT(text, HasSubstr("\"seed\": 9007199254740995"));
  EXPECT_THAT(text, HasSubstr("9007199254740993"));
  EXPECT_THAT(text, HasSubstr("\"peak_measured\":46000128,"));
}

TEST(ResultJson, OneLineAPoint) {
  const std::string text = to_text(to_json(testing::sample_document()));
  EXPECT_THAT(text, HasSubstr("\n    {\"name\":\"batch/resnet18/infer/fp32/batch:2\""));
  EXPECT_THAT(text, HasSubstr("\n    \"date\": \"2026-03-01T12:34:56+01:00\""));
  EXPECT_TRUE(text.ends_with("\n  ]\n}\n"));
}

TEST(ResultJson, AnEmptyDocumentIsReadBack) {
  const Json json = to_json({});
  EXPECT_EQ(json["benchmarks"], Json::array());
  EXPECT_EQ(to_json(document_from_json(Json::parse(to_text(json)))), json);
}

// As the file is written after every repetition: only what changed is converted again.
TEST(ResultJson, TheTextOfAGrowingDocumentIsThatOfTheWhole) {
  ResultText text;
  ResultDocument document = testing::sample_document();
  EXPECT_EQ(text.of(document), to_text(to_json(document)));
  document.points[1].samples_ns.push_back(30'000'001);
  document.points[1].rounds.back().samples += 1;
  document.findings.pop_back();
  EXPECT_EQ(text.of(document), to_text(to_json(document)));
  Point other = testing::sample_point(4, 50'000'000);
  other.name = "batch/resnet18/infer/bf16/batch:4";  // a family of its own, which moves the next one
  document.points.insert(document.points.begin(), other);
  EXPECT_EQ(text.of(document), to_text(to_json(document)));
  document.points.erase(document.points.begin() + 1);
  EXPECT_EQ(text.of(document), to_text(to_json(document)));
}

TEST(ResultJson, WhatASweepAddsIsReadBack) {
  ResultDocument document = testing::sample_document();
  document.sweep.mode = "train";
  document.sweep.workload_options = {{"image-size", "64"}};
  document.sweep.sweep_options = std::map<std::string, std::string>{{"soak", "0"}};
  document.sweep.memory_cap_bytes = 8LL << 30;
  document.sweep.memory_caps_bytes = {4LL << 30, 8LL << 30};
  document.sweep.time_budget_ns = 100'000'000'000;
  document.sweep.lost = {{"fp32 at 8 GiB", "illegal address"}};
  document.sweep.state = {{"tried", {{{"batch", 7}}}}};
  document.context.peaks[Dtype::bf16] = {2e12, 3e11, "measured: a product"};
  document.context.datasheet = {{"id", "t4"}};
  document.context.device.details["clocks.sm_mhz"] = "210";
  document.context.device.details["l2_bytes"] = "3145728";
  document.points[0].plan = PlannedMemory{"forward conv1", 1, 2, 3, 4};
  const Json json = Json::parse(to_text(to_json(document)));
  EXPECT_EQ(json["context"]["device"]["l2_bytes"], 3145728);
  EXPECT_EQ(json["context"]["device"]["clocks"]["sm_mhz"], 210);
  EXPECT_EQ(json["sweep"]["tried"][0]["batch"], 7);
  const ResultDocument after = document_from_json(json);
  EXPECT_EQ(to_json(after), json);
  EXPECT_EQ(after.context.detail("l2_bytes"), "3145728");
  EXPECT_EQ(after.context.peaks.at(Dtype::bf16).flops_per_s, 2e12);
  EXPECT_EQ(after.sweep.lost, document.sweep.lost);
  EXPECT_EQ(after.points[0].plan->feature_maps, 4);
}

TEST(ResultJson, NotANumberIsRefusedWhereverItStands) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto message_of = [](const auto& spoil) {
    ResultDocument document = testing::sample_document();
    spoil(document);
    try {
      to_json(document);
    } catch (const std::domain_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_EQ(message_of([&](auto& d) { d.points[1].stats.cv = nan; }),
            "benchmarks.1.stats.cv is not a finite number");
  EXPECT_EQ(message_of([&](auto& d) { d.findings[0].value = infinity; }),
            "findings.0.value is not a finite number");
  EXPECT_EQ(message_of([&](auto& d) { d.findings[0].ci95->high = -infinity; }),
            "findings.0.ci95.1 is not a finite number");
  EXPECT_EQ(message_of([&](auto& d) { d.points[0].work.flops = nan; }),
            "benchmarks.0.work.flops is not a finite number");
  EXPECT_EQ(message_of([&](auto& d) { d.context.google_benchmark["load_avg"][2] = nan; }),
            "context.load_avg.2 is not a finite number");
}

TEST(ResultJson, NoRateFromAMedianOfZero) {
  ResultDocument document = testing::sample_document();
  document.points[0].stats.median_ns = 0;
  const Json json = to_json(document);
  EXPECT_FALSE(json["benchmarks"][0].contains("items_per_second"));
  EXPECT_EQ(testing::schema_errors(to_text(json)), "");
}

TEST(ResultJson, InvalidUtf8IsReplaced) {
  ResultDocument document = testing::sample_document();
  document.context.google_benchmark["host_name"] = "lab\xff";
  EXPECT_EQ(Json::parse(to_text(to_json(document)))["context"]["host_name"], "lab\xEF\xBF\xBD");
}

}  // namespace
}  // namespace bench
