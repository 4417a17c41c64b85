#include "kernels/networks/graph/target.h"

namespace bench::kernels {

// With AVX-512, oneDNN's fp32 Winograd and its fastest direct convolutions work on channels in groups of 16,
// and its stem convolutions read NCHW images as they are. Its bf16 kernels for AMX and AVX-512 want NHWC.
NetworkLayouts layouts_for(const Device& device, Dtype dtype) {
  const auto& details = device.info().details;
  const auto isa = details.find("isa");
  const bool blocks_channels = isa != details.end() && (isa->second.find("avx512") != std::string::npos ||
                                                        isa->second.find("amx") != std::string::npos);
  return dtype == Dtype::fp32 && blocks_channels ? NetworkLayouts{Layout::nchw, Layout::nchw16c}
                                                 : NetworkLayouts{};
}

TensorDesc stored_as(const Shape& shape, const Target& target, Layout layout) {
  TensorDesc tensor{1, 1, 1, 1, layout, target.dtype};
  const auto extent = [&](std::size_t dimension) { return shape[dimension].at(target.batch); };
  switch (shape.rank()) {
    case 0:
      return tensor;
    case 1:
      tensor.c = extent(0);
      return tensor;
    case 3:
      tensor.n = extent(0);
      tensor.h = extent(1);
      tensor.c = extent(2);
      return tensor;
    default:
      tensor.n = extent(0);
      tensor.c = extent(1);
      tensor.h = shape.rank() > 2 ? extent(2) : 1;
      for (std::size_t dimension = 3; dimension < shape.rank(); ++dimension) {
        tensor.w *= extent(dimension);
      }
      return tensor;
  }
}

}  // namespace bench::kernels
