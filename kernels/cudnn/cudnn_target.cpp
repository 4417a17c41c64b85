#include "kernels/cudnn/plans.h"
#include "kernels/device/cuda/ordinal.h"
#include "kernels/device/cuda/stream.h"

namespace bench::kernels::cudnn {

Target target_of(const Device& device) {
  return {.compute_capability = cuda::compute_capability(device),
          .ordinal = cuda::ordinal_of(device),
          .properties = {}};
}

}  // namespace bench::kernels::cudnn
