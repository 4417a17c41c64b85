#include "kernels/networks/graph/shape.h"

namespace bench::kernels {

std::string Shape::text() const {
  std::string text;
  for (std::size_t i = 0; i < rank_; ++i) {
    const auto& [size, per_sample] = extents_[i];
    text += i == 0 ? "" : " x ";
    text += !per_sample ? std::to_string(size) : size == 1 ? "batch" : std::to_string(size) + "*batch";
  }
  return rank_ == 0 ? "a single value" : text;
}

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

TensorDesc stored_as(const Shape& shape, const Target& target, Layout maps) {
  const std::size_t rank = shape.rank();
  TensorDesc tensor{.n = 1, .c = 1, .dtype = target.dtype};
  tensor.layout = shape.is_maps() ? maps : rank < 4 ? Layout::nhwc : Layout::nchw;
  for (std::size_t dimension = 0; dimension < rank; ++dimension) {
    const bool channels = dimension == shape.channel_dimension();
    std::int64_t& folded = channels         ? tensor.c
                           : dimension == 0 ? tensor.n
                           : dimension < 3  ? tensor.h
                                            : tensor.w;
    folded *= shape[dimension].at(target.batch);
  }
  return tensor;
}

Dims dims_of(const Shape& shape, std::int64_t batch) {
  Dims dims;
  for (std::size_t dimension = 0; dimension < shape.rank(); ++dimension) {
    dims.append(shape[dimension].at(batch));
  }
  return dims;
}

Array array_of(const Shape& shape, const StoredValue& value, std::int64_t batch) {
  return {.dims = dims_of(shape, batch),
          .layout = shape.rank() == 4 ? value.tensor.layout : Layout::nchw,
          .dtype = value.tensor.dtype};
}

Array flattened_maps(const StoredValue& value) {
  const TensorDesc& maps = value.flattened.value();
  return {.dims = {value.tensor.n, maps.c, maps.h, maps.w}, .layout = maps.layout, .dtype = maps.dtype};
}

}  // namespace bench::kernels
