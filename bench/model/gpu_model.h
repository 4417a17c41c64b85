// Predicted step time and memory of eager PyTorch on a GPU that is not here: pure arithmetic on a data sheet
// and the coefficients of results/calibration.json. docs/predict-model.md has formulas and errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/dtype.h"
#include "bench/memory.h"
#include "bench/model/gpu.h"
#include "bench/model/network_terms.h"
#include "bench/stats/estimate.h"

namespace bench {

struct ModelCoefficients;

enum class Framework {
  pytorch,           // eager
  pytorch_compiled,  // torch.compile: inference in 16 bits only
  bench,             // this program's own engine: needs a measured reference
};
std::string_view name_of(Framework framework);  // "pytorch-compiled"
std::optional<Framework> parse_framework(std::string_view text);

// How weights are updated: what it keeps of each.
enum class UpdateRule {
  sgd,       // nothing
  momentum,  // one value
  adam,      // two values
};

// How a step is computed.
struct StepSetting {
  Dtype dtype = Dtype::fp32;                 // fp16, bf16: autocast
  bool cast_whole = false;                   // the model in fp16, without autocast
  std::optional<AttentionForm> attention{};  // none: not known
  bool train = false;
  UpdateRule update = UpdateRule::sgd;
  bool channels_last = false;
  std::int64_t batch = 1;
};

struct PredictedStep {
  double step_ns = 0;
  Interval interval80_ns;
  double deviation = 0;        // of the logarithm, one standard deviation
  double host_deviation = 0;   // its part that cards on one host share: the host's time a launch is not known
  double ratio_deviation = 0;  // what this card adds to the deviation of a ratio to another card
  double batch_deviation = 0;  // what this batch adds to that of a ratio to another batch on the card
  double gpu_ns = 0;           // combined with host_ns to step_ns
  double host_ns = 0;          // launching; 0 where the model does not count it
  double products_ns = 0;      // parts of gpu_ns
  double memory_ns = 0;
  double tiles_ns = 0;
  double launches_ns = 0;
  std::vector<std::string> caveats{};  // what the model has no measurement of, one clause each
};

struct PredictedMemory {
  MemoryByCategory at_peak;
  std::int64_t peak = 0;
  Interval peak80{};  // bytes
};

struct LargestBatch {
  std::int64_t safe = 0;    // by the upper end of memory's interval: it runs
  std::int64_t likely = 0;  // by the likely memory
  std::int64_t bound = 0;   // by the lower end: more than these hardly run
  std::int64_t most = 0;    // by the lower end of the form of code that saves least: more do not run
};

// Measurements of one card in addition to its data sheet.
struct GpuEvidence {
  enum class Reference {
    none,
    same_network,  // on this card: only the batch may differ
    same_card,     // its bias is known
    other_card,    // the engine's factor is known, with the other card's bias in it
  };
  std::optional<double> host_launch_s{};  // of the user's host, measured; none: other machines'
  double gpu_factor = 1;                  // measured over predicted GPU time of the reference
  Reference reference = Reference::none;
};

// One card with the coefficients: what a modelled device holds. The coefficients outlive it.
class GpuModel {
 public:
  GpuModel(Gpu gpu, Framework framework, const ModelCoefficients& coefficients, GpuEvidence evidence = {});

  const Gpu& gpu() const { return gpu_; }
  Framework framework() const { return framework_; }
  const GpuEvidence& evidence() const { return evidence_; }
  const ModelCoefficients& coefficients() const { return coefficients_; }
  // Why the card cannot compute in this dtype; nullopt where it can.
  std::optional<std::string> lacks_units(Dtype dtype) const;
  // Why it cannot predict this setting; nullopt where it can.
  std::optional<std::string> unsupported(const StepSetting& setting) const;
  // Of a setting that is not unsupported.
  PredictedStep step(const NetworkTerms& terms, const StepSetting& setting) const;
  PredictedMemory memory(const NetworkTerms& terms, const StepSetting& setting) const;
  // The same bytes in all, of which so many are named workspace: the total was fitted with them in it, in the
  // allocator's slack and in what does not grow with the batch. At most that slack and half of the latter.
  PredictedMemory memory(const NetworkTerms& terms, const StepSetting& setting,
                         std::int64_t workspace_bytes) const;
  // Bytes of the card that a program may use: without the driver's share.
  std::int64_t usable_bytes() const;
  // The largest batches whose memory fits; 0 where none does. `setting`'s batch is not read.
  LargestBatch largest_batch(const NetworkTerms& terms, const StepSetting& setting) const;

 private:
  Gpu gpu_;
  Framework framework_;
  const ModelCoefficients& coefficients_;
  GpuEvidence evidence_;
};

// Of a prediction's logarithm: half its 80 % interval, the longer side, and the deviation of the part that
// the host adds.
struct PredictedWidth {
  double half_width80 = 0;
  double host_deviation = 0;
};
// Half the 80 % interval of the logarithm of one card's ratio between two dtypes. The host is one, so its
// error cancels; those of the card and the network are taken as independent, as the fit of each dtype is its
// own.
double gain_half_width80(const PredictedWidth& a, const PredictedWidth& b);

}  // namespace bench
