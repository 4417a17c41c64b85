// Shared by the tests of gradients: tensors of every layout, and gradients by central differences.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "run_operation.h"

namespace bench::kernels::testing {

// Whole blocks of 16 channels, blocks with padding, and less than a block, in every layout.
inline std::vector<TensorDesc> tensors_of_every_layout(Dtype dtype) {
  std::vector<TensorDesc> all;
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::nchw16c}) {
    for (const std::int64_t channels : {32, 37, 3}) {
      all.push_back({.n = 2, .c = channels, .h = 9, .w = 7, .layout = layout, .dtype = dtype});
    }
  }
  return all;
}

inline std::string trace(const TensorDesc& tensor) {
  return fmt::format("{} {} c{} {}x{}", name_of(tensor.dtype), name_of(tensor.layout), tensor.c, tensor.h,
                     tensor.w);
}

template <class Spec>
Values run_reference(const Spec& spec, const Values& inputs, Saved* saved = nullptr) {
  return run_operation(*make_operation(spec, cpu(), "reference"), inputs, Sum::apart, saved);
}

// The derivatives of Σ dst · diff_dst, where dst is the reference forward pass's result, for each value of
// one input: what a backward pass given diff_dst must find. Exact but for rounding where dst is linear over
// [value − step, value + step]; otherwise the error falls with step².
template <class Forward>
std::vector<float> central_differences(const Forward& forward, const Values& inputs,
                                       const std::vector<float>& diff_dst, Slot slot, float step) {
  const auto objective = [&](const Values& at) {
    const Values out = run_reference(forward, at);
    double sum = 0;
    for (std::size_t i = 0; i < diff_dst.size(); ++i) {
      sum += static_cast<double>(out.at(Slot::dst)[i]) * diff_dst[i];
    }
    return sum;
  };
  std::vector<float> derivatives;
  for (std::size_t i = 0; i < inputs.at(slot).size(); ++i) {
    Values up = inputs;
    Values down = inputs;
    up[slot][i] += step;
    down[slot][i] -= step;
    const double distance = static_cast<double>(up[slot][i]) - down[slot][i];
    derivatives.push_back(static_cast<float>((objective(up) - objective(down)) / distance));
  }
  return derivatives;
}

}  // namespace bench::kernels::testing
