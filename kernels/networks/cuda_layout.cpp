// A CUDA device's layouts: cuDNN's tensor core kernels read and write NHWC in every dtype, and converting
// from and to another costs a pass over the memory.
#include "bench/registry.h"
#include "kernels/networks/layout.h"

namespace bench::kernels {
namespace {

const Registration<LayoutPolicy> registered{{"cuda", [](const Device& /*device*/, Dtype /*dtype*/) {
                                               return NetworkLayouts{Layout::nhwc, Layout::nhwc};
                                             }}};

}  // namespace
}  // namespace bench::kernels
