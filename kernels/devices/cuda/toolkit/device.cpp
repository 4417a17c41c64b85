// Registers the CUDA device on the libraries this program was built with.
#include <fmt/format.h>

#include "bench/registry.h"
#include "kernels/backends/cublaslt/tuned.h"
#include "kernels/backends/cuda/read_memory.h"
#include "kernels/devices/cuda/listing.h"
#include "kernels/devices/cuda/toolkit/dynload.h"

namespace bench::kernels::cuda {
namespace {

// 91900 of cuDNN is 9.19.0, 130100 of cuBLAS 13.1.0.
std::string version_of(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

std::map<std::string, std::string> versions() {
  return {{"cudnn", version_of(dynload::cudnn().cudnnGetVersion())},
          {"cublas", version_of(dynload::cublaslt().cublasLtGetVersion())}};
}

Backend backend() {
  return {.runtime = cuda_runtime(),
          .monitor = [](const std::string& pci_bus_id) { return open_nvml(pci_bus_id); },
          .why_missing = dynload::why_missing,
          .versions = versions,
          .matmul_rate = cublaslt::matmul_rate,
          .read_memory = read_memory,
          .compiled_for = architectures_of(BENCH_CUDA_ARCHITECTURES)};
}

const Registration<DeviceKind> registered{
    {.name = "cuda",
     .preference = 10,
     .list = [] { return list_cards(backend()); },
     .open = [](const std::string& id) { return open_card(backend(), id); }}};

}  // namespace
}  // namespace bench::kernels::cuda
