// Registers the CUDA device on the libraries this program was built with.
#include "bench/registry.h"
#include "kernels/device/cuda/deferred/deferred.h"
#include "kernels/device/cuda/libraries.h"
#include "kernels/device/cuda/listing.h"

namespace bench::kernels::cuda {
namespace {

Backend backend() {
  return {.runtime = cuda_runtime(),
          .monitor = [](const std::string& pci_bus_id) { return open_nvml(pci_bus_id); },
          .why_missing = deferred::why_missing,
          .versions =
              [] {
                return std::map<std::string, std::string>{{"cudnn", cudnn_version()},
                                                          {"cublas", cublaslt_version()}};
              },
          .matmul_rate = cublaslt_matmul_rate,
          .compiled_for = architectures_of(BENCH_CUDA_ARCHITECTURES)};
}

const Registration<DeviceKind> registered{
    {.name = "cuda",
     .preference = 10,
     .list = [] { return list_cards(backend()); },
     .open = [](const std::string& id) { return open_card(backend(), id); }}};

}  // namespace
}  // namespace bench::kernels::cuda
