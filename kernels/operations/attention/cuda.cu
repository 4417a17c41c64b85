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
  void run(const cublaslt::Arguments& arguments) { tuned_.run(stream_of(*device_), arguments); }

 private:
  cublaslt::TunedProduct tuned_;
  Device* device_;
};

// Asks for the products that making one would ask for; they are kept.
std::optional<std::string> unsupported(const Attention& spec, const Device& device) {
  if (auto reason = device.unsupported(spec.dtype)) {
    return reason;
  }
  const AttentionProducts products(spec);
  try {
    if (!spec.forward()) {
      for (const auto& product :
           {products.diff_value, products.diff_probabilities, products.diff_query, products.diff_key}) {
        const cublaslt::TunedProduct planned(product, device);
      }
    } else {
      for (const auto& product : {products.query_key, products.probabilities_value}) {
        const cublaslt::TunedProduct planned(product, device);
      }
    }
    return std::nullopt;
  } catch (const Unsupported& error) {
    return error.what();
  }
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
