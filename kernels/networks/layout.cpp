#include "kernels/networks/layout.h"

#include "bench/registry.h"

namespace bench::kernels {
namespace {

// With AVX-512, oneDNN's fp32 Winograd and its fastest direct convolutions work on channels in groups of 16,
// and its stem convolutions read NCHW images as they are. Its bf16 kernels for AMX and AVX-512 want NHWC.
NetworkLayouts cpu_layouts(const Device& device, Dtype dtype) {
  const auto& details = device.info().details;
  const auto isa = details.find("isa");
  const bool avx512 = isa != details.end() && isa->second.find("avx512") != std::string::npos;
  const bool amx = isa != details.end() && isa->second.find("amx") != std::string::npos;
  if (dtype == Dtype::fp32 && (avx512 || amx)) {
    return {Layout::nchw, Layout::nchw16c};
  }
  return {Layout::nhwc, Layout::nhwc};
}

const Registration<LayoutPolicy> registered{{"cpu", cpu_layouts}};

}  // namespace

NetworkLayouts layouts_for(const Device& device, Dtype dtype) {
  const LayoutPolicy* policy = registry<LayoutPolicy>().find(device.info().kind);
  return policy == nullptr ? NetworkLayouts{} : policy->choose(device, dtype);
}

}  // namespace bench::kernels
