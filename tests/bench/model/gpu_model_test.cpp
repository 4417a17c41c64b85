#include "bench/model/gpu_model.h"

#include <cmath>

#include <gmock/gmock.h>

#include "bench/model/coefficients.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/model/worked_steps.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::IsEmpty;

constexpr double kMilli = 1e-6;  // of nanoseconds

GpuModel model_of(const char* id, Framework framework = Framework::pytorch, GpuEvidence evidence = {}) {
  return {testing::card(id), framework, testing::coefficients(), evidence};
}

NetworkTerms terms_of(const char* start) {
  for (const testing::WorkedStep& worked : testing::worked_steps()) {
    if (worked.name.starts_with(start)) {
      return worked.terms();
    }
  }
  ADD_FAILURE() << start;
  return {};
}

void expect_close(double value, double expected, const char* what) {
  EXPECT_NEAR(value, expected, 1e-3 * expected + 6e-5) << what;  // four decimals are given
}

TEST(GpuModel, WorkedSteps) {
  for (const testing::WorkedStep& worked : testing::worked_steps()) {
    SCOPED_TRACE(worked.name + " on " + worked.card);
    const GpuModel model = model_of(worked.card.c_str());
    EXPECT_EQ(model.unsupported(worked.setting), std::nullopt);
    const PredictedStep step = model.step(worked.terms(), worked.setting);
    expect_close(step.products_ns * kMilli, worked.products_ms, "products");
    expect_close(step.memory_ns * kMilli, worked.memory_ms, "memory");
    expect_close(step.tiles_ns * kMilli, worked.tiles_ms, "tiles");
    expect_close(step.launches_ns * kMilli, worked.launches_ms, "launches");
    expect_close(step.gpu_ns * kMilli, worked.gpu_ms, "gpu");
    expect_close(step.host_ns * kMilli, worked.host_ms, "host");
    expect_close(step.step_ns * kMilli, worked.step_ms, "step");
    expect_close(step.interval80_ns.low * kMilli, worked.low_ms, "low");
    expect_close(step.interval80_ns.high * kMilli, worked.high_ms, "high");
  }
}

TEST(GpuModel, PartsAddUp) {
  const PredictedStep step =
      model_of("a100-40gb")
          .step(terms_of("resnet50, train, fp16"), {.dtype = Dtype::fp16, .cast_whole = true, .train = true});
  EXPECT_NEAR(step.products_ns + step.memory_ns + step.tiles_ns + step.launches_ns, step.gpu_ns,
              1e-9 * step.gpu_ns);
}

TEST(GpuModel, AStepIsItsSamplesAndWhatItHasOnce) {
  NetworkTerms terms;
  terms.per_sample.flops[0] = 1e9;
  terms.per_sample.grads[1] = 3e9;
  terms.per_sample.bytes[2] = 1e7;
  terms.per_step.bytes[8] = 5e8;
  terms.per_step.launches = 40;
  terms.per_step.tile = 1e8;
  NetworkTerms at_eight = terms;
  at_eight.per_sample = {};
  at_eight.per_step.flops[0] = 8e9;
  at_eight.per_step.grads[1] = 24e9;
  at_eight.per_step.bytes[2] = 8e7;
  const GpuModel model = model_of("t4");
  EXPECT_DOUBLE_EQ(model.step(terms, {.batch = 8}).step_ns, model.step(at_eight, {.batch = 1}).step_ns);
}

// Of the logarithm.
double half_width(const PredictedStep& step) {
  return std::log(step.interval80_ns.high / step.interval80_ns.low) / 2;
}

TEST(GpuModel, Fp32IsNeverFasterThanTf32) {
  for (const testing::WorkedStep& worked : testing::worked_steps()) {
    if (worked.setting.cast_whole) {
      continue;
    }
    for (const Gpu& gpu : testing::catalogue().all()) {
      const GpuModel model(gpu, Framework::pytorch, testing::coefficients());
      StepSetting setting = worked.setting;
      setting.dtype = Dtype::tf32;
      if (!model.unsupported(setting)) {
        const PredictedStep tf32 = model.step(worked.terms(), setting);
        setting.dtype = Dtype::fp32;
        const PredictedStep fp32 = model.step(worked.terms(), setting);
        EXPECT_GE(fp32.gpu_ns, (1 - 1e-9) * tf32.gpu_ns) << gpu.id << ", " << worked.name;
        EXPECT_GE(fp32.step_ns, (1 - 1e-9) * tf32.step_ns) << gpu.id << ", " << worked.name;
      }
    }
  }
}

TEST(GpuModel, DoubledFp32CoresDoNotHalveTheTime) {
  const NetworkTerms terms = terms_of("resnet18, infer, fp32, nchw, batch 64");
  const PredictedStep rtx2080ti = model_of("rtx2080ti").step(terms, {});
  const PredictedStep rtx3090 = model_of("rtx3090").step(terms, {});
  const double sheets = testing::card("rtx3090").flops_per_s.at(Dtype::fp32) /
                        testing::card("rtx2080ti").flops_per_s.at(Dtype::fp32);
  EXPECT_LT(rtx2080ti.products_ns / rtx3090.products_ns, 0.85 * sheets);
  expect_words(rtx3090.caveats);
  EXPECT_GT(half_width(rtx3090), half_width(rtx2080ti)) << "no fp32 step was measured on its generation";
}

// Fit and measurement know of tf32 in networks of convolutions alone.
TEST(GpuModel, Tf32OfAttentionLiesBetween16BitsAndFp32) {
  const NetworkTerms terms = terms_of("vit_base_patch16_224, infer, amp");
  const GpuModel model = model_of("a6000");
  const PredictedStep tf32 = model.step(terms, {.dtype = Dtype::tf32});
  const PredictedStep fp32 = model.step(terms, {});
  const PredictedStep fp16 = model.step(terms, {.dtype = Dtype::fp16});
  EXPECT_LT(fp16.gpu_ns, tf32.gpu_ns);
  EXPECT_LT(tf32.gpu_ns, fp32.gpu_ns);
  EXPECT_GT(tf32.interval80_ns.high, fp32.step_ns) << "the interval spans both";
  expect_words(tf32.caveats);
}

TEST(GpuModel, AKindThatNobodyMeasuredIsWider) {
  const NetworkTerms convolutions = terms_of("resnet50, train, amp, nhwc");
  const NetworkTerms attention = terms_of("vit_base_patch16_224, train");
  const StepSetting train{.dtype = Dtype::fp16, .train = true};
  const GpuEvidence host{.host_launch_s = 40e-6};
  const auto known = [&](const char* card, const NetworkTerms& terms, const StepSetting& setting) {
    return half_width(model_of(card, Framework::pytorch, host).step(terms, setting));
  };
  EXPECT_GT(known("rtx4090", convolutions, train), known("rtx3090", convolutions, train))
      << "autocast training was measured on the latter's chip alone";
  EXPECT_GT(known("a6000", attention, {.dtype = Dtype::tf32, .train = true}),
            known("a6000", convolutions, {.dtype = Dtype::tf32, .train = true}));
  EXPECT_GT(known("t4", terms_of("resnet18, infer, fp32, nchw, batch 64"), {}),
            1.2 * known("titanv", terms_of("resnet18, infer, fp32, nchw, batch 64"), {}))
      << "what 70 W allow differs between machines";
}

TEST(GpuModel, AnUnknownHostLeavesTheGpusTime) {
  const NetworkTerms terms = terms_of("resnet18, infer, fp32, nchw, batch 1");
  const PredictedStep step = model_of("t4").step(terms, {});
  const double above = step.interval80_ns.high / step.step_ns;
  const double below = step.step_ns / step.interval80_ns.low;
  EXPECT_GT(above, below) << "a faster host leaves the GPU's time, a slower one the whole of its own";
  EXPECT_GT(above, 1.8);
  EXPECT_GT(step.interval80_ns.low, 0.6 * step.gpu_ns);
}

TEST(GpuModel, NormsThatAFileMayLackWidenTheInterval) {
  NetworkTerms terms = terms_of("resnet18, infer, fp32, nchw, batch 64");
  const PredictedStep with = model_of("t4").step(terms, {});
  terms.may_lack_norms = true;
  const PredictedStep folded = model_of("t4").step(terms, {});
  EXPECT_NEAR(folded.step_ns / with.step_ns, std::sqrt(4.0 / 3), 1e-6);
  EXPECT_LT(folded.interval80_ns.low, with.step_ns);
  EXPECT_GT(folded.interval80_ns.high, 4.0 / 3 * with.step_ns);
  EXPECT_GT(half_width(folded), half_width(with));
}

// Code that moves less, or more, takes as long as what it moves.
TEST(GpuModel, FormsOfCodeWidenTheInterval) {
  NetworkTerms terms = terms_of("resnet18, infer, fp32, nchw, batch 64");
  const PredictedStep one = model_of("t4").step(terms, {});
  for (double& bytes : terms.spared) {
    bytes = 1e9;
  }
  const PredictedStep less = model_of("t4").step(terms, {});
  EXPECT_EQ(less.step_ns, one.step_ns);
  EXPECT_EQ(less.interval80_ns.high, one.interval80_ns.high);
  EXPECT_LT(less.interval80_ns.low, 0.98 * one.interval80_ns.low);
  terms.added = terms.spared;
  EXPECT_GT(model_of("t4").step(terms, {}).interval80_ns.high, 1.02 * one.interval80_ns.high);
}

// Boxes of an image, times anchors, times the tensors that a detector's loss makes of them.
TEST(GpuModel, TheLossOfADetectorWidensItsMemory) {
  NetworkTerms terms = terms_of("resnet50, train, amp, nhwc");
  terms.peak_bytes_per_sample = 2e8;
  const StepSetting training{.dtype = Dtype::fp16, .train = true, .batch = 36};
  const GpuModel t4 = model_of("t4");
  const PredictedMemory classes = t4.memory(terms, training);
  const LargestBatch batch = t4.largest_batch(terms, training);
  terms.has_other_loss = true;
  EXPECT_EQ(t4.memory(terms, training).peak, classes.peak);
  EXPECT_EQ(t4.memory(terms, training).peak80.low, classes.peak80.low);
  EXPECT_GT(t4.memory(terms, training).peak80.high, 1.3 * classes.peak80.high);
  EXPECT_LT(t4.largest_batch(terms, training).safe, 0.75 * static_cast<double>(batch.safe));
}

TEST(GpuModel, NothingTakesNoTime) {
  EXPECT_EQ(model_of("t4").step({}, {}).step_ns, 0);
}

TEST(GpuModel, AKnownHostNarrowsTheInterval) {
  const NetworkTerms terms = terms_of("resnet18, infer, fp32, nchw, batch 1");
  const PredictedStep unknown = model_of("t4").step(terms, {});
  const PredictedStep known = model_of("t4", Framework::pytorch, {.host_launch_s = 30e-6}).step(terms, {});
  EXPECT_LT(known.deviation, unknown.deviation);
  EXPECT_EQ(known.host_deviation, 0);
  EXPECT_NEAR(known.host_ns, 68 * 30e3, 1);
  expect_words(unknown.caveats);
  EXPECT_THAT(known.caveats, IsEmpty());
}

TEST(GpuModel, AMeasurementOnTheCardTakesItsBiasAway) {
  const NetworkTerms terms = terms_of("resnet18, infer, fp32, nchw, batch 64");
  const GpuEvidence here{.gpu_factor = 1.2, .reference = GpuEvidence::Reference::same_card};
  const PredictedStep without = model_of("t4").step(terms, {});
  const PredictedStep with = model_of("t4", Framework::pytorch, here).step(terms, {});
  EXPECT_NEAR(with.gpu_ns / without.gpu_ns, 1.2, 1e-9);
  const ModelSpread& spread = testing::coefficients().image;
  EXPECT_NEAR(with.deviation, spread.scale * spread.rest * std::sqrt(2), 2e-3) << "and a little of the host";
  const GpuEvidence same{.gpu_factor = 1.2, .reference = GpuEvidence::Reference::same_network};
  EXPECT_NEAR(model_of("t4", Framework::pytorch, same).step(terms, {}).deviation,
              with.deviation / std::sqrt(8), 1e-4);
}

TEST(GpuModel, TheEnginesFactorOfAnotherCardWidensTheInterval) {
  const NetworkTerms terms = terms_of("resnet18, infer, fp32, nchw, batch 64");
  expect_words(model_of("t4", Framework::bench).unsupported({}).value_or(""));
  const GpuEvidence there{.gpu_factor = 0.8, .reference = GpuEvidence::Reference::other_card};
  const GpuModel engine = model_of("t4", Framework::bench, there);
  EXPECT_EQ(engine.unsupported({}), std::nullopt);
  const PredictedStep step = engine.step(terms, {});
  const PredictedStep eager = model_of("t4").step(terms, {});
  EXPECT_EQ(step.host_ns, 0);
  EXPECT_NEAR(step.step_ns, 0.8 * eager.gpu_ns, 1e-6 * step.step_ns);
  const ModelSpread& spread = testing::coefficients().image;
  EXPECT_NEAR(step.deviation,
              std::hypot(eager.deviation, spread.scale * std::hypot(spread.card, spread.rest)), 2e-3);
}

// The reference of tools/calibrate/compiled.py with the file's coefficients.
TEST(GpuModel, Compiled) {
  const GpuModel model = model_of("rtx4090", Framework::pytorch_compiled);
  const NetworkTerms terms = terms_of("efficientnet_b0");
  const StepSetting setting{.dtype = Dtype::fp16};
  const PredictedStep step = model.step(terms, setting);
  const PredictedStep eager = model_of("rtx4090").step(terms, {.dtype = Dtype::fp16, .channels_last = true});
  EXPECT_EQ(step.host_ns, 0);
  EXPECT_EQ(step.step_ns, step.gpu_ns);
  EXPECT_NEAR(step.launches_ns, 321 * 1.799e3, 1);
  EXPECT_NEAR(step.products_ns, 0.931 * eager.products_ns, 1);
  EXPECT_LT(step.memory_ns, 0.7 * eager.memory_ns);
  expect_words(step.caveats);
  EXPECT_GT(step.deviation, 0.17);
  EXPECT_GT(model_of("t4", Framework::pytorch_compiled).step(terms, setting).deviation, step.deviation);
  expect_words(model.unsupported({.dtype = Dtype::fp16, .train = true}).value_or(""));
  expect_words(model.unsupported({}).value_or(""));
  expect_words(model_of("gtx1080ti", Framework::pytorch_compiled).unsupported(setting).value_or(""));
}

TEST(GpuModel, RefusesDtypesThatTheCardHasNoUnitsFor) {
  EXPECT_EQ(model_of("t4").unsupported({.dtype = Dtype::bf16}).value_or(""),
            "Tesla T4 has no units for bf16");
  EXPECT_TRUE(model_of("v100-16gb").unsupported({.dtype = Dtype::tf32}));
  EXPECT_FALSE(model_of("a100-40gb").unsupported({.dtype = Dtype::tf32}));
  EXPECT_FALSE(model_of("gtx1080ti").unsupported({.dtype = Dtype::fp16})) << "its fp32 cores compute it";
  EXPECT_TRUE(model_of("a100-40gb").unsupported({.dtype = Dtype::bf16, .cast_whole = true}));
}

TEST(GpuModel, SaysWhatWasNotMeasured) {
  const NetworkTerms terms = terms_of("resnet50, infer, amp, nchw");
  const auto caveats = [&](const char* card, const StepSetting& setting) {
    return model_of(card).step(terms, setting).caveats;
  };
  EXPECT_THAT(caveats("t4", {.dtype = Dtype::fp16}), IsEmpty());
  expect_words(caveats("a100-40gb", {.dtype = Dtype::fp16, .train = true}));
  EXPECT_THAT(caveats("rtx3090", {.dtype = Dtype::fp16, .train = true}), IsEmpty());
  expect_words(caveats("rtx5090", {.dtype = Dtype::fp16}));
  expect_words(caveats("gtx960", {}));
  expect_words(caveats("a100-40gb", {}));
  expect_words(caveats("k80", {}));
  expect_words(caveats("orin-nano", {.dtype = Dtype::fp16}));
  expect_words(caveats("l4", {.dtype = Dtype::bf16}));
  expect_words(caveats("gtx1080ti", {.dtype = Dtype::fp16}));
  expect_words(caveats("t4", {.channels_last = true}));
  expect_words(caveats("t4", {.dtype = Dtype::fp16, .cast_whole = true}));
  for (const char* const unseen : {"rtx5090", "h100-sxm"}) {
    EXPECT_GT(model_of(unseen).step(terms, {.dtype = Dtype::fp16}).deviation,
              1.2 * model_of("rtx3090").step(terms, {.dtype = Dtype::fp16}).deviation);
  }
  NetworkTerms detector = terms;
  detector.has_other_loss = true;
  EXPECT_THAT(model_of("t4").step(detector, {.dtype = Dtype::fp16}).caveats, IsEmpty());
  expect_words(model_of("rtx3090").step(detector, {.dtype = Dtype::fp16, .train = true}).caveats);
  NetworkTerms odd = terms;
  odd.unknown_share = 0.125;
  odd.unknown = {"fft", "sort"};
  const PredictedStep step = model_of("rtx3090").step(odd, {.dtype = Dtype::fp16});
  expect_words(step.caveats);
  EXPECT_GT(step.deviation, model_of("rtx3090").step(terms, {.dtype = Dtype::fp16}).deviation + 0.1);
}

NetworkTerms resnet18_memory() {
  NetworkTerms terms;
  terms.parameters = 11'689'512;
  terms.peak_bytes_per_sample = 22'980'608;
  terms.input_bytes_per_sample = 12 * 224 * 224;
  return terms;
}

// The total was fitted with the workspace in it.
TEST(GpuModel, APlannedWorkspaceIsPartOfTheTotal) {
  const GpuModel t4 = model_of("t4");
  const NetworkTerms terms = resnet18_memory();
  const StepSetting setting{.train = true, .batch = 100};
  const PredictedMemory estimated = t4.memory(terms, setting);
  EXPECT_EQ(estimated.at_peak[MemoryCategory::workspace], 0);
  for (const std::int64_t bytes : {std::int64_t{1} << 20, std::int64_t{500} << 20}) {
    const PredictedMemory planned = t4.memory(terms, setting, bytes);
    EXPECT_EQ(planned.peak, estimated.peak);
    EXPECT_EQ(planned.at_peak.total(), estimated.peak);
    EXPECT_EQ(planned.at_peak[MemoryCategory::workspace], bytes);
    EXPECT_EQ(planned.at_peak.fixed_part(), estimated.at_peak.fixed_part());
  }
  const PredictedMemory small = t4.memory(terms, setting, 1 << 20);
  EXPECT_EQ(small.at_peak[MemoryCategory::other], 900'000'000) << "the allocator's slack held it";
  const PredictedMemory vast = t4.memory(terms, setting, std::int64_t{1} << 40);
  EXPECT_EQ(vast.at_peak.total(), estimated.peak);
  EXPECT_EQ(vast.at_peak[MemoryCategory::other], 450'000'000) << "the driver's context";
  EXPECT_NEAR(static_cast<double>(vast.at_peak[MemoryCategory::workspace]), 450e6 + 0.08 * 100 * 22'980'608,
              2);
}

TEST(GpuModel, MemoryOfTraining) {
  const GpuModel t4 = model_of("t4");
  const NetworkTerms terms = resnet18_memory();
  const StepSetting setting{.train = true, .update = UpdateRule::momentum, .batch = 100};
  const PredictedMemory memory = t4.memory(terms, setting);
  EXPECT_EQ(memory.at_peak.total(), memory.peak);
  EXPECT_EQ(memory.at_peak.fixed_part(), 12 * 11'689'512);
  EXPECT_EQ(memory.at_peak[MemoryCategory::other], 900'000'000);
  EXPECT_EQ(memory.at_peak[MemoryCategory::input], 100 * 12 * 224 * 224);
  EXPECT_NEAR(static_cast<double>(memory.peak), 1'040'274'144 + 1.08 * 100 * 22'980'608, 2);
  EXPECT_EQ(t4.usable_bytes(), 15'109LL << 20) << "as two sources tell of a card with error correction";
  EXPECT_EQ(model_of("rtx3090").usable_bytes(), (24LL << 30) - (308LL << 20));
}

// Its interval: the slack's measured one, doubled where the kind of step was not measured, and the context's.
TEST(GpuModel, MemoryHasAnInterval) {
  const GpuModel t4 = model_of("t4");
  const NetworkTerms terms = resnet18_memory();
  const double held = 100 * 22'980'608.0;
  const double context_low = 0.5 * (1 << 30) - 0.9e9;
  const double context_high = 1.3 * (1 << 30) - 0.9e9;
  const PredictedMemory measured = t4.memory(terms, {.dtype = Dtype::fp16, .train = true, .batch = 100});
  const auto peak = static_cast<double>(measured.peak);
  EXPECT_NEAR(measured.peak80.low, peak - std::hypot((1.08 - 1.029) * held, context_low), 2);
  EXPECT_NEAR(measured.peak80.high, peak + std::hypot((1.09 - 1.08) * held, context_high), 2);
  const PredictedMemory other = t4.memory(terms, {.train = true, .batch = 100});
  const double middle = std::sqrt(1.029 * 1.09);
  EXPECT_NEAR(
      other.peak80.high,
      static_cast<double>(other.peak) + std::hypot((middle * 1.09 / 1.029 - 1.08) * held, context_high), 2);
}

// What code saves more or less, and the reserve of sequences that vary in length, count on top of each other.
TEST(GpuModel, MemorySpansTheFormsOfCode) {
  const GpuModel t4 = model_of("t4");
  NetworkTerms terms = resnet18_memory();
  const StepSetting setting{.dtype = Dtype::fp16, .train = true, .batch = 100};
  const PredictedMemory plain = t4.memory(terms, setting);
  terms.saving = {.low = 0.5, .high = 1.5};
  const PredictedMemory spanned = t4.memory(terms, setting);
  const double held = 1.08 * 100 * 22'980'608.0;
  EXPECT_EQ(spanned.peak, plain.peak);
  EXPECT_NEAR(spanned.peak80.low, plain.peak80.low - 0.5 * held, 0.02 * held);
  EXPECT_NEAR(spanned.peak80.high, plain.peak80.high + 0.5 * held, 0.02 * held);
  terms.reads_tokens = true;
  EXPECT_NEAR(t4.memory(terms, setting).peak80.high, spanned.peak80.high + 0.2 * 1.5 * held, 0.02 * held);
}

// The interval's upper end fits, so that it runs; beyond the bound, not even its lower end does.
TEST(GpuModel, TheLargestBatchRuns) {
  const GpuModel t4 = model_of("t4");
  const NetworkTerms terms = resnet18_memory();
  const StepSetting setting{.dtype = Dtype::fp16, .train = true, .update = UpdateRule::momentum};
  const LargestBatch largest = t4.largest_batch(terms, setting);
  const auto usable = static_cast<double>(t4.usable_bytes());
  const auto peak80_at = [&](std::int64_t batch) {
    StepSetting at = setting;
    at.batch = batch;
    return t4.memory(terms, at).peak80;
  };
  EXPECT_LE(peak80_at(largest.safe).high, usable);
  EXPECT_GT(peak80_at(largest.safe + 1).high, usable);
  EXPECT_LE(peak80_at(largest.bound).low, usable);
  EXPECT_GT(peak80_at(largest.bound + 1).low, usable);
  EXPECT_LT(largest.safe, 596) << "the batch that fills the card to the byte";
  EXPECT_GT(largest.safe, 560);
}

TEST(GpuModel, ParametersTakeWhatTheirDtypeAndOptimizerNeed) {
  const GpuModel a100 = model_of("a100-40gb");
  const NetworkTerms terms = resnet18_memory();
  const auto of_parameters = [&](const StepSetting& setting) {
    return static_cast<double>(a100.memory(terms, setting).at_peak.fixed_part()) / terms.parameters;
  };
  constexpr UpdateRule kMomentum = UpdateRule::momentum;
  EXPECT_EQ(of_parameters({.dtype = Dtype::fp16, .train = true, .update = kMomentum}), 14);
  EXPECT_EQ(of_parameters({.dtype = Dtype::fp16, .cast_whole = true, .train = true, .update = kMomentum}), 6);
  EXPECT_EQ(of_parameters({.dtype = Dtype::tf32, .train = true, .update = kMomentum}), 12);
  EXPECT_EQ(of_parameters({.train = true}), 8);
  EXPECT_EQ(of_parameters({.train = true, .update = UpdateRule::adam}), 16);
  EXPECT_EQ(of_parameters({}), 4);
}

TEST(GpuModel, NoBatchFitsWhereTheWeightsDoNot) {
  NetworkTerms terms = resnet18_memory();
  terms.parameters = 10e9;
  EXPECT_EQ(model_of("t4").largest_batch(terms, {.train = true}).bound, 0);
  NetworkTerms nothing;
  EXPECT_GT(model_of("t4").largest_batch(nothing, {}).safe, 1LL << 30);
}

TEST(GpuModel, TwoDtypesOfACardShareTheHostsErrorAlone) {
  constexpr double kNormal80 = 1.2816;
  EXPECT_DOUBLE_EQ(gain_half_width80({.half_width80 = 0.3}, {.half_width80 = 0.4}), 0.5);
  EXPECT_NEAR(gain_half_width80({.half_width80 = std::hypot(0.3, kNormal80 * 0.2), .host_deviation = 0.2},
                                {.half_width80 = std::hypot(0.4, kNormal80 * 0.2), .host_deviation = 0.2}),
              0.5, 1e-12);
  EXPECT_NEAR(gain_half_width80({.half_width80 = kNormal80 * 0.3, .host_deviation = 0.3}, {}),
              kNormal80 * 0.3, 1e-12);
}

TEST(GpuModel, NamesOfFrameworks) {
  for (const Framework framework : {Framework::pytorch, Framework::pytorch_compiled, Framework::bench}) {
    EXPECT_EQ(parse_framework(name_of(framework)), framework);
  }
  EXPECT_EQ(parse_framework("jax"), std::nullopt);
}

}  // namespace
}  // namespace bench
