// Predicted step time and memory of eager PyTorch on a GPU that is not here: pure arithmetic on a data sheet
// and the coefficients of results/calibration.json. docs/predict.md has formulas and errors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/dtype.h"
#include "bench/json.h"
#include "bench/measure/estimate.h"
#include "bench/memory.h"
#include "bench/model/gpu.h"
#include "bench/model/network_terms.h"

namespace bench {

enum class Framework {
  pytorch,           // eager
  pytorch_compiled,  // torch.compile: inference in 16 bits only
};

// Coefficients and residuals, as read from results/calibration.json.
class ModelCoefficients;

// How a step is computed.
struct StepSetting {
  Dtype dtype = Dtype::fp32;  // fp16, bf16: autocast
  bool cast_whole = false;    // the model in fp16, without autocast
  bool train = false;
  bool adam = false;
  bool channels_last = false;
  std::int64_t batch = 1;
};

struct PredictedStep {
  double step_ns = 0;
  Interval interval80_ns;
  double deviation = 0;    // of the logarithm, one standard deviation
  double gpu_ns = 0;       // combined with host_ns to step_ns
  double host_ns = 0;      // launching
  double products_ns = 0;  // parts of gpu_ns
  double memory_ns = 0;
  double tiles_ns = 0;
  double launches_ns = 0;
  std::vector<std::string> caveats;  // why the interval is wide, one clause each
};

struct PredictedMemory {
  MemoryByCategory at_peak;
  std::int64_t peak = 0;
};

// Measurements of one card in addition to its data sheet.
struct GpuEvidence {
  std::optional<double> host_launch_s;  // of the user's host, measured; none: other machines'
  double gpu_factor = 1;                // measured over predicted GPU time of a reference on this card
  bool reference_measured = false;
};

// One card with the coefficients: what a modelled device holds. The coefficients outlive it.
class GpuModel {
 public:
  GpuModel(Gpu gpu, Framework framework, const ModelCoefficients& coefficients, GpuEvidence evidence = {});

  const Gpu& gpu() const { return gpu_; }
  Framework framework() const { return framework_; }
  // Why it cannot predict this setting; nullopt where it can.
  std::optional<std::string> unsupported(const StepSetting& setting) const;
  PredictedStep step(const NetworkTerms& terms, const StepSetting& setting) const;
  PredictedMemory memory(const NetworkTerms& terms, const StepSetting& setting) const;
  // Bytes of the card that a program may use: without the driver's share.
  std::int64_t usable_bytes() const;
  // The largest batch whose memory fits; 0 where none does. `setting`'s batch is not read.
  std::int64_t largest_batch(const NetworkTerms& terms, const StepSetting& setting) const;

 private:
  Gpu gpu_;
  Framework framework_;
  const ModelCoefficients& coefficients_;
  GpuEvidence evidence_;
};

// a's throughput over b's for the same network, setting and host, with the 80 % interval that counts the
// error which both share once. Not significant where it holds 1.
struct ThroughputRatio {
  double value = 1;
  Interval interval80;
};
ThroughputRatio throughput_ratio(const PredictedStep& a, const PredictedStep& b,
                                 const ModelCoefficients& coefficients, bool is_language);

}  // namespace bench
