#include "kernels/networks/passes/pipeline.h"

#include <algorithm>

namespace bench::kernels {

std::vector<PipelinePass> pipeline_passes(int stage, int stages, std::int64_t micro_batches) {
  std::vector<PipelinePass> passes;
  std::int64_t forward = 0;
  for (std::int64_t backward = 0; backward < micro_batches; ++backward) {
    for (; forward < std::min(micro_batches, backward + stages - stage); ++forward) {
      passes.push_back({PassKind::forward, forward});
    }
    passes.push_back({PassKind::backward, backward});
  }
  return passes;
}

std::int64_t most_in_flight(int stage, int stages, std::int64_t micro_batches) {
  return std::min<std::int64_t>(micro_batches, stages - stage);
}

}  // namespace bench::kernels
