#include "bench/predict/engine_reference.h"

#include <functional>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/predict/prediction.h"
#include "bench/predict/prediction_report.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/predict/small_network.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::ElementsAre;

Point measured(std::int64_t batch, double step_ns, const char* dtype = "fp32") {
  Point point;
  point.params = {{"batch", batch}, {"dtype", dtype}};
  point.items_per_step = static_cast<double>(batch);
  point.stats.median_ns = step_ns;
  return point;
}

EngineReference::File result_on(const char* name, std::vector<Point> points) {
  EngineReference::File file{.path = "run.json", .document = {}};
  file.document.context.device = {.id = "cuda:0", .kind = "cuda", .name = name, .details = {}};
  file.document.sweep.name = "batch";
  file.document.sweep.workload = "small";
  file.document.sweep.mode = "infer";
  file.document.points = std::move(points);
  return file;
}

class EngineReferenceTest : public ::testing::Test {
 protected:
  EngineReferenceTest() {
    spec_.mode = "infer";
    spec_.options = {{"image-size", "224"}, {"launch", "stream"}};
  }
  EngineReference reference(const std::vector<EngineReference::File>& files) const {
    return {files, type_, spec_, testing::catalogue(), {}};
  }
  std::string refusal_of(const std::function<void(EngineReference::File&)>& change) const {
    EngineReference::File file = result_on("Tesla T4", {measured(8, 1e7)});
    change(file);
    try {
      reference({file});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  NetworkTerms terms() const { return *type_.configure(spec_)->eager_terms({}); }
  double eager_gpu_ns(const char* card, std::int64_t batch) const {
    return GpuModel(testing::card(card), Framework::pytorch, testing::coefficients())
        .step(terms(), {.batch = batch})
        .gpu_ns;
  }
  GpuEvidence evidence(const EngineReference& reference, const char* card, std::int64_t batch) const {
    return reference.evidence(testing::card(card), terms(), {.batch = batch}, testing::coefficients())
        .value();
  }

  WorkloadType type_ = testing::small_network();
  WorkloadSpec spec_;
};

TEST_F(EngineReferenceTest, PredictsTheMeasuredBatchesOfItsCard) {
  const EngineReference engine = reference({result_on("Tesla T4", {measured(1, 2e6), measured(16, 20e6)})});
  EXPECT_THAT(engine.batches(Dtype::fp32), ElementsAre(1, 16));
  EXPECT_THAT(engine.batches(Dtype::fp16), ElementsAre());
  for (const auto& [batch, step_ns] : {std::pair{1, 2e6}, std::pair{16, 20e6}}) {
    const GpuEvidence here = evidence(engine, "t4", batch);
    EXPECT_EQ(here.reference, GpuEvidence::Reference::same_network);
    const GpuModel model(testing::card("t4"), Framework::bench, testing::coefficients(), here);
    EXPECT_NEAR(model.step(terms(), {.batch = batch}).step_ns, step_ns, 1e-6 * step_ns);
  }
}

TEST_F(EngineReferenceTest, InterpolatesTheFactorOverTheBatch) {
  const EngineReference engine = reference({result_on(
      "Tesla T4", {measured(1, 2 * eager_gpu_ns("t4", 1)), measured(16, 0.5 * eager_gpu_ns("t4", 16))})});
  EXPECT_NEAR(evidence(engine, "t4", 4).gpu_factor, 1, 1e-9) << "halfway, by the logarithms";
  EXPECT_NEAR(evidence(engine, "t4", 256).gpu_factor, 0.5, 1e-9);
}

TEST_F(EngineReferenceTest, AnotherCardTakesTheFactor) {
  const EngineReference engine =
      reference({result_on("Tesla T4", {measured(8, 0.8 * eager_gpu_ns("t4", 8))}),
                 result_on("NVIDIA L4", {measured(8, 0.6 * eager_gpu_ns("l4", 8))})});
  EXPECT_NEAR(evidence(engine, "l4", 8).gpu_factor, 0.6, 1e-9) << "its own result alone";
  const GpuEvidence other = evidence(engine, "a100-40gb", 8);
  EXPECT_EQ(other.reference, GpuEvidence::Reference::other_card);
  EXPECT_GT(other.gpu_factor, 0.59);
  EXPECT_LT(other.gpu_factor, 0.81);
}

TEST_F(EngineReferenceTest, TakesNoStepThatNoCardCanRun) {
  Point impossible = measured(16, 1e3);
  impossible.validity.flags = {"above_peak"};
  const EngineReference engine = reference({result_on("Tesla T4", {measured(8, 1e7), impossible})});
  EXPECT_THAT(engine.batches(Dtype::fp32), ElementsAre(8));
}

TEST_F(EngineReferenceTest, RefusesWhatIsOfSomethingElse) {
  using File = EngineReference::File;
  EXPECT_EQ(refusal_of([](File&) {}), "");
  EXPECT_EQ(refusal_of([](File& file) { file.document.context.device.kind = "cpu"; }),
            "--from: 'run.json' was measured on a CPU; give a result that was measured on a GPU");
  EXPECT_EQ(refusal_of([](File& file) {
              file.document.context.device.name = "NVIDIA GeForce RTX 3060";
              file.document.context.device.memory_bytes = std::int64_t{12} << 30;
            }),
            "");
  expect_words(refusal_of([](File& file) {
    file.document.context.device.name = "NVIDIA GeForce RTX 3060";
    file.document.context.device.memory_bytes = std::int64_t{8} << 30;
  }));
  expect_words(refusal_of([](File& file) { file.document.sweep.workload = "resnet50"; }));
  expect_words(refusal_of([](File& file) { file.document.sweep.mode = "train"; }));
  expect_words(refusal_of([](File& file) { file.document.sweep.name = "kernels"; }));
  expect_words(refusal_of([](File& file) { file.document.sweep.workload_options["image-size"] = "64"; }));
  EXPECT_EQ(refusal_of([](File& file) { file.document.sweep.workload_options["launch"] = "graph"; }), "");
  expect_words(refusal_of([](File& file) { file.document.context.device.name = "Voodoo 2"; }));
  expect_words(refusal_of([](File& file) { file.document.points.clear(); }));
  expect_words(refusal_of([](File& file) {
    file.document.points.clear();
    file.document.points.emplace_back().origin = Origin::predicted;
  }));
}

TEST_F(EngineReferenceTest, PredictionOfTheEngine) {
  const EngineReference engine = reference({result_on("Tesla T4", {measured(1, 2e6), measured(16, 20e6)})});
  PredictionRequest request;
  request.workload = &type_;
  request.spec = spec_;
  request.dtypes = parse_predicted_dtypes("--dtype", "fp32");
  request.gpus = {testing::card("t4"), testing::card("a100-40gb")};
  request.framework = Framework::bench;
  request.engine = &engine;
  const Prediction prediction = predict(request, testing::catalogue(), testing::coefficients());
  const PredictedStep& here = prediction.cards[0].curve.points[1].step;
  const PredictedStep& there = prediction.cards[1].curve.points[1].step;
  EXPECT_NEAR(here.step_ns, 20e6, 20);
  EXPECT_GT(there.deviation, here.deviation);
  const std::string text = page_text(prediction_page(prediction, false, true), 100);
  expect_words(text);
  EXPECT_THAT(prediction.references, ElementsAre("t4 (run.json)"));
  EXPECT_TRUE(prediction.cards[0].has_own_result);
  EXPECT_FALSE(prediction.cards[1].has_own_result);
}

}  // namespace
}  // namespace bench
