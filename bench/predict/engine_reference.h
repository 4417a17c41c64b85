// `--from`: what this program's own engine took on a card, from results of the batch sweep. The engine's
// step over eager PyTorch's predicted GPU time is a factor, which is taken to other batches and cards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/model/coefficients.h"
#include "bench/model/gpu_model.h"
#include "bench/result/result.h"
#include "bench/workload.h"

namespace bench {

struct ReferenceStep {
  std::string path;
  Gpu gpu;
  Dtype dtype = Dtype::fp32;
  std::int64_t batch = 1;
  double step_ns = 0;
};

class EngineReference {
 public:
  struct File {
    std::string path;
    ResultDocument document;
  };
  // Of this workload, mode and its options. Throws UsageError, one sentence that names --from and the file: a
  // CPU's result, one of another sweep, workload, mode or option, of a card that is not among `gpus`, or that
  // measured nothing.
  EngineReference(const std::vector<File>& files, const WorkloadType& workload, const WorkloadSpec& spec,
                  const GpuCatalogue& catalogue, const std::vector<Gpu>& gpus);

  const std::vector<ReferenceStep>& steps() const { return steps_; }
  // Measured in this dtype, growing.
  std::vector<std::int64_t> batches(Dtype dtype) const;
  // By the target's own results, else by all others. Between measured batches the factor's logarithm is
  // interpolated over the batch's; beyond them it stays. nullopt where nothing was measured in this dtype.
  std::optional<GpuEvidence> evidence(const Gpu& target, const NetworkTerms& terms,
                                      const StepSetting& setting,
                                      const ModelCoefficients& coefficients) const;

 private:
  std::vector<ReferenceStep> steps_;
};

}  // namespace bench
