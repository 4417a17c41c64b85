// Registers kernels/operations/attention/cuda.cuh for CUDA devices, its products by cuBLASLt.
#include "kernels/backends/cuda/gpu.cuh"
// gpu.cuh first
#include "bench/error.h"
#include "kernels/operations/attention/cuda.cuh"

namespace bench::kernels::cuda {
namespace {

class StreamProduct {
 public:
  StreamProduct(const cublaslt::Product& product, Device& device)
      : tuned_(product, device), device_(&device) {}

  std::int64_t workspace() const { return tuned_.workspace(); }
  std::string algorithm() const { return tuned_.algorithm(); }
  void run(const cublaslt::ProductArguments& arguments) { tuned_.run(stream_of(*device_), arguments); }

 private:
  cublaslt::TunedProduct tuned_;
  Device* device_;
};

std::optional<std::string> unsupported(const Attention& spec, const Device& device) {
  if (spec.statistics) {
    return "it keeps probabilities";
  }
  return cublaslt::unsupported(spec.dtype, device, [&] {
    const AttentionProducts products(spec);
    const auto plan = [&](const cublaslt::Product& product) {
      const cublaslt::TunedProduct planned(product, device);
    };
    if (spec.forward()) {
      plan(products.query_key);
      plan(products.probabilities_value);
    } else {
      plan(products.diff_value);
      plan(products.diff_probabilities);
      plan(products.diff_query);
      plan(products.diff_key);
    }
  });
}

const Registration<Implementation<Attention>> registered{{.name = "cublaslt",
                                                          .device_kind = Gpu::kDeviceKind,
                                                          .preference = Gpu::kPreference,
                                                          .unsupported = unsupported,
                                                          .make = [](const Attention& spec, Device& device) {
                                                            return make_attention<Gpu, StreamProduct>(spec,
                                                                                                      device);
                                                          }}};

}  // namespace
}  // namespace bench::kernels::cuda
