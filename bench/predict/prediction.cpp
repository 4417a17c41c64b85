#include "bench/predict/prediction.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/model/step_setting.h"
#include "bench/model/step_time.h"
#include "bench/text/axis.h"
#include "bench/text/dtype_words.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

constexpr const char* kCastWhole = "half";
constexpr std::array<PredictedDtype, 3> kUsualDtypes{{{Dtype::fp32}, {Dtype::bf16}, {Dtype::fp16}}};

// Sets of coefficients that a card's dtype takes; the file has one for fp32 and one for 16 bits.
bool takes_16_bit_set(const Gpu& gpu, Dtype dtype) {
  return dtype != Dtype::fp32 && gpu.flops_per_s.contains(dtype);
}

const std::vector<MeasuredRows>& rows_for(const ModelCoefficients& coefficients, Framework framework,
                                          const Gpu& gpu, Dtype dtype) {
  return framework == Framework::pytorch_compiled ? coefficients.compiled.measured
         : takes_16_bit_set(gpu, dtype)           ? coefficients.bits16.measured
                                                  : coefficients.fp32.measured;
}

CalibrationRows counted_rows(const char* set, const std::vector<MeasuredRows>& measured) {
  CalibrationRows rows{.set = set, .rows = 0, .machines = measured.size()};
  for (const MeasuredRows& one : measured) {
    rows.rows += one.rows;
  }
  return rows;
}

// With a factor of its own at each batch.
Curve engine_curve(const PredictionRequest& request, const Gpu& gpu, const NetworkTerms& terms,
                   const StepSetting& setting, const ModelCoefficients& coefficients) {
  Curve curve{.dtype = std::string(name_of(setting.dtype)), .points = {}};
  std::vector<std::int64_t> batches =
      request.batches.empty() ? request.engine->batches(setting.dtype) : request.batches;
  for (const std::int64_t batch : batches) {
    StepSetting at = setting;
    at.batch = batch;
    const auto evidence = request.engine->evidence(gpu, terms, at, coefficients);
    const GpuModel model(gpu, Framework::bench, coefficients, evidence.value_or(GpuEvidence{}));
    if (const auto reason = model.unsupported(at)) {
      curve.problem = "unsupported: " + *reason;
      return curve;
    }
    curve.points.push_back(predicted_point(batch, static_cast<double>(batch), model.step(terms, at), {},
                                           flops_of(terms, batch)));
    curve.points.back().framework = name_of(Framework::bench);
  }
  if (curve.points.empty()) {
    curve.problem = fmt::format("--from holds no step in {}", name_of(setting.dtype));
    return curve;
  }
  complete_curve(curve, 0);
  return curve;
}

// Where no dtype is asked for: those that the card has units for, and fp32 where it has none.
bool is_asked(const PredictionRequest& request, const Gpu& gpu, const PredictedDtype& dtype,
              const ModelCoefficients& coefficients) {
  const GpuModel model(gpu, request.framework, coefficients);
  const auto runs = [&](const PredictedDtype& one) { return !model.unsupported({.dtype = one.dtype}); };
  return !request.dtypes.empty() || runs(dtype) ||
         (dtype.dtype == Dtype::fp32 && std::ranges::none_of(kUsualDtypes, runs));
}

// Of a training step.
std::string optimizer_of(const WorkloadSpec& spec) {
  const auto found = spec.options.find("optimizer");
  return spec.mode != "train" ? "" : found == spec.options.end() ? "sgd" : found->second;
}

EagerForm form_of(const PredictionRequest& request, const PredictedDtype& dtype) {
  return {
      .cast_whole = dtype.cast_whole, .attention = request.attention, .channels_last = request.channels_last};
}

NetworkTerms terms_of(const PredictionRequest& request, const PredictedDtype& dtype) {
  WorkloadSpec spec = request.spec;
  spec.dtype = dtype.dtype;
  const std::optional<NetworkTerms> terms =
      request.workload->configure(spec)->eager_terms(form_of(request, dtype));
  if (!terms) {
    throw UsageError(fmt::format("--gpu: the model of GPUs knows no time of {} with these options",
                                 request.workload->name));
  }
  return *terms;
}

}  // namespace

std::vector<PredictedDtype> parse_predicted_dtypes(std::string_view option, std::string_view text) {
  std::vector<PredictedDtype> dtypes;
  for (const std::string_view name : split(text, ',')) {
    const std::optional<Dtype> dtype = name == kCastWhole ? Dtype::fp16 : dtype_of_word(name);
    if (!dtype) {
      throw UsageError(unknown_value(option, name, {"fp32", "tf32", "fp16", "bf16", kCastWhole}));
    }
    const PredictedDtype added{.dtype = *dtype, .cast_whole = name == kCastWhole};
    if (std::ranges::find(dtypes, added.name(), &PredictedDtype::name) == dtypes.end()) {
      dtypes.push_back(added);
    }
  }
  return dtypes;
}

std::int64_t rows_of_chip(const std::vector<MeasuredRows>& measured, const std::string& chip,
                          const GpuCatalogue& catalogue) {
  std::int64_t rows = 0;
  for (const MeasuredRows& one : measured) {
    const Gpu* const gpu = catalogue.find(one.source.substr(one.source.rfind(' ') + 1));
    rows += gpu != nullptr && gpu->chip == chip ? one.rows : 0;
  }
  return rows;
}

std::vector<const CardPrediction*> Prediction::ranked(const std::string& dtype) const {
  std::vector<const CardPrediction*> ranked;
  for (const CardPrediction& card : cards) {
    if (card.dtype == dtype && !card.curve.points.empty()) {
      ranked.push_back(&card);
    }
  }
  std::ranges::stable_sort(ranked, [](const CardPrediction* a, const CardPrediction* b) {
    return a->curve.at_saturation().per_s > b->curve.at_saturation().per_s;
  });
  return ranked;
}

void Prediction::refuse_nothing() const {
  if (std::ranges::all_of(cards, [](const CardPrediction& card) { return card.curve.points.empty(); })) {
    const CardPrediction& first = cards.front();
    throw UsageError(fmt::format("predict: no step can be predicted; {} in {}: {}; give another --{}",
                                 gpus[first.gpu].id, first.dtype, first.curve.problem,
                                 first.curve.beyond.empty() ? "dtype" : "batch"));
  }
}

EvaluatedDevices devices_of(const Prediction& prediction, const PredictionRequest& request,
                            const ModelCoefficients& coefficients, std::vector<std::string>& left_out) {
  EvaluatedDevices all{.task = modelled_task(*request.workload, request.spec), .devices = {}};
  for (std::size_t gpu = 0; gpu < prediction.gpus.size(); ++gpu) {
    std::vector<Curve> curves;
    std::string problem;
    for (const CardPrediction& card : prediction.cards) {
      if (card.gpu != gpu) {
        continue;
      }
      if (!card.curve.points.empty()) {
        curves.push_back(card.curve);
      } else if (problem.empty()) {
        problem = card.curve.problem;
      }
    }
    if (curves.empty()) {
      left_out.push_back(fmt::format("{} is left out: {}.", prediction.gpus[gpu].id, problem));
      continue;
    }
    all.devices.push_back(
        modelled_device({prediction.gpus[gpu], request.framework, coefficients}, std::move(curves)));
  }
  return all;
}

Prediction predict(const PredictionRequest& request, const GpuCatalogue& catalogue,
                   const ModelCoefficients& coefficients) {
  Prediction prediction{.workload = request.workload->name,
                        .mode = request.spec.mode,
                        .optimizer = optimizer_of(request.spec),
                        .framework = request.framework,
                        .gpus = request.gpus,
                        .dtypes = {},
                        .cards = {},
                        .host_launch_s = request.host_launch_s,
                        .assumed_launch_s = coefficients.bits16.host_launch_s,
                        .calibration = {},
                        .references = {}};
  bool uses_fp32 = false;
  bool uses_16_bit = false;
  const std::vector<PredictedDtype> usual(kUsualDtypes.begin(), kUsualDtypes.end());
  for (const PredictedDtype& dtype : request.dtypes.empty() ? usual : request.dtypes) {
    prediction.dtypes.push_back(dtype.name());
    const NetworkTerms terms = terms_of(request, dtype);
    prediction.has_attention = terms.has_attention;
    prediction.attention = terms.attention;
    prediction.counts_dropout = terms.is_language && request.spec.mode == "train";
    if (request.framework == Framework::pytorch && !terms.is_language && is_16_bit(dtype.dtype)) {
      prediction.channels_last = request.channels_last;
    }
    WorkloadSpec spec = request.spec;
    spec.dtype = dtype.dtype;
    StepSetting setting = step_setting(spec, form_of(request, dtype));
    setting.channels_last = setting.channels_last && !terms.is_language;
    for (std::size_t i = 0; i < request.gpus.size(); ++i) {
      const Gpu& gpu = request.gpus[i];
      if (!is_asked(request, gpu, dtype, coefficients)) {
        continue;
      }
      prediction.cards.push_back(
          {.gpu = i,
           .dtype = dtype.name(),
           .curve = request.engine != nullptr
                        ? engine_curve(request, gpu, terms, setting, coefficients)
                        : predicted_curve(GpuModel(gpu, request.framework, coefficients,
                                                   {.host_launch_s = request.host_launch_s}),
                                          terms, setting, request.batches, request.last),
           .family_rows =
               rows_of_chip(rows_for(coefficients, request.framework, gpu, dtype.dtype), gpu.chip, catalogue),
           .has_own_result = request.engine != nullptr &&
                             std::ranges::any_of(request.engine->steps(), [&](const ReferenceStep& step) {
                               return step.gpu.id == gpu.id && step.dtype == dtype.dtype;
                             })});
      if (!prediction.cards.back().curve.points.empty()) {
        (takes_16_bit_set(gpu, dtype.dtype) ? uses_16_bit : uses_fp32) = true;
      }
    }
  }
  if (request.framework == Framework::pytorch_compiled) {
    prediction.calibration.push_back(counted_rows("torch.compile", coefficients.compiled.measured));
  }
  if (uses_fp32) {
    prediction.calibration.push_back(counted_rows("fp32", coefficients.fp32.measured));
  }
  if (uses_16_bit) {
    prediction.calibration.push_back(counted_rows("16-bit", coefficients.bits16.measured));
  }
  for (const ReferenceStep& step :
       request.engine != nullptr ? request.engine->steps() : std::vector<ReferenceStep>{}) {
    constexpr std::size_t kLongestPath = 4096;
    std::string text = fmt::format("{} ({})", step.gpu.id, printable(step.path, kLongestPath));
    if (std::ranges::find(prediction.references, text) == prediction.references.end()) {
      prediction.references.push_back(std::move(text));
    }
  }
  return prediction;
}

}  // namespace bench
