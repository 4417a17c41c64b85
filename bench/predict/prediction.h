// A network's curves on GPUs that are not here, from their data sheets: what `bench predict` shows and `bench
// evaluate` compares.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/dtype.h"
#include "bench/evaluate/evaluated_device.h"
#include "bench/model/coefficients.h"
#include "bench/model/curve.h"
#include "bench/model/gpu.h"
#include "bench/model/gpu_model.h"
#include "bench/predict/engine_reference.h"
#include "bench/workload.h"

namespace bench {

// A dtype as the command line has it: "half" is fp16 without autocast.
struct PredictedDtype {
  Dtype dtype = Dtype::fp32;
  bool cast_whole = false;

  std::string name() const { return cast_whole ? "half" : std::string(name_of(dtype)); }
};
// Throws UsageError naming the option.
std::vector<PredictedDtype> parse_predicted_dtypes(std::string_view option, std::string_view text);

struct PredictionRequest {
  const WorkloadType* workload = nullptr;
  // Of batch 1, with the mode and its options; the dtype is not read.
  WorkloadSpec spec;
  std::vector<PredictedDtype> dtypes;  // empty: fp32, bf16 and fp16, where a card has units for them
  std::vector<std::int64_t> batches;   // empty: powers of two, up to the largest that fits
  std::int64_t LargestBatch::*last = &LargestBatch::most;  // of batches asked for
  std::vector<Gpu> gpus;
  Framework framework = Framework::pytorch;
  std::optional<double> host_launch_s;       // of the user's host, measured
  std::optional<AttentionForm> attention{};  // none: not known
  bool channels_last = false;                // torch.channels_last; a language model has no images
  const EngineReference* engine = nullptr;   // with Framework::bench
};

// One card in one dtype.
struct CardPrediction {
  std::size_t gpu = 0;  // in Prediction::gpus
  std::string dtype;
  Curve curve;
  std::int64_t family_rows = 0;  // measured of the card's chip, that its coefficients rest on
  bool has_own_result = false;   // in the dtype, of --from
};

struct CalibrationRows {
  std::string set;  // "fp32", "16-bit"
  std::int64_t rows = 0;
  std::size_t machines = 0;
};

struct Prediction {
  std::string workload;
  std::string mode;
  std::string optimizer{};  // in training
  Framework framework = Framework::pytorch;
  std::vector<Gpu> gpus;
  std::vector<std::string> dtypes;
  std::vector<CardPrediction> cards;  // dtype by dtype, in the order of `gpus`
  bool has_attention = false;
  bool counts_dropout = false;          // of a language model that trains
  std::optional<bool> channels_last{};  // of images in 16 bits, where convolutions are; none: it matters not
  std::optional<AttentionForm> attention{};  // given, or as the network tells
  std::optional<double> host_launch_s;       // given; none: the mean of the machines measured
  double assumed_launch_s = 0;               // that mean
  std::vector<CalibrationRows> calibration;  // of the sets that were used
  std::vector<std::string> references;       // of the engine: "RTX 3060 (run.json)"
  // The cards of a dtype that have batches, the fastest at its saturation batch first.
  std::vector<const CardPrediction*> ranked(const std::string& dtype) const;
  // Throws UsageError where no card can be predicted, with the first one's reason.
  void refuse_nothing() const;
};

// `catalogue`: of the cards that the coefficients were fitted to. Throws UsageError where the model knows no
// time of the workload.
Prediction predict(const PredictionRequest& request, const GpuCatalogue& catalogue,
                   const ModelCoefficients& coefficients);

// The cards that have a curve with points. `left_out`: a sentence for each that has none.
EvaluatedDevices devices_of(const Prediction& prediction, const PredictionRequest& request,
                            const ModelCoefficients& coefficients, std::vector<std::string>& left_out);

// Rows that were measured of cards of this chip; a row's source ends with its card's id or alias.
std::int64_t rows_of_chip(const std::vector<MeasuredRows>& measured, const std::string& chip,
                          const GpuCatalogue& catalogue);

}  // namespace bench
