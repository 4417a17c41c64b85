// Registers the CUDA device on the libraries this program was built with.
#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include "bench/component.h"
#include "bench/registry.h"
#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/devices/cuda/architectures.h"
#include "kernels/devices/cuda/listing.h"
#include "kernels/devices/cuda/toolkit/dynload.h"
#include "kernels/operations/fma/fma.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/stream/stream.h"

namespace bench::kernels::cuda {
namespace {

std::map<std::string, std::string> versions() {
  const std::size_t cublas = dynload::cublaslt().cublasLtGetVersion();  // 130100 is 13.1.0
  return {{"cudnn", version_text({.number = dynload::cudnn().cudnnGetVersion()})},
          {"cublas", fmt::format("{}.{}.{}", cublas / 10'000, cublas / 100 % 100, cublas % 100)}};
}

// By the stream kernel that only sums up: it writes a number for each of its blocks.
void read_memory(Device& device, std::byte* from, std::int64_t bytes, std::byte* scratch) {
  const auto sum = make_operation(Stream{.kind = Stream::Kind::read, .count = bytes / bytes_of(Dtype::fp32)},
                                  device, "cuda");
  SlotPointers pointers;
  for (const SlotInfo& slot : sum->slots()) {
    pointers[slot.slot] = slot.role == Role::input ? from : scratch;
    scratch += slot.role == Role::input ? 0 : before_library_scratch(slot.bytes);
  }
  sum->run(pointers);
}

double multiply_add(Device& device, Dtype dtype, std::byte* data, std::int64_t elements, std::int64_t steps) {
  const Fma fma{.count = elements,
                .steps = steps,
                .dtype = dtype,
                .kind = bytes_of(dtype) == 2 ? Fma::Kind::tiles : Fma::Kind::chains};
  const auto made = make_operation(fma, device, "cuda");
  SlotPointers pointers;
  for (const SlotInfo& slot : made->slots()) {
    pointers[slot.slot] = slot.role == Role::input ? data : data + elements * bytes_of(dtype);
  }
  made->run(pointers);
  return fma.flops();
}

const Backend& backend() {
  static const Backend made{.runtime = cuda_runtime(),
                            .monitor = [](const std::string& pci_bus_id) { return open_nvml(pci_bus_id); },
                            .why_missing = dynload::why_missing,
                            .versions = versions,
                            .matmul_rate = cublaslt::matmul_rate,
                            .read_memory = read_memory,
                            .multiply_add = multiply_add,
                            .compiled_for = architectures_of(BENCH_CUDA_ARCHITECTURES)};
  return made;
}

const Registration<DeviceKind> BENCH_REGISTERED{
    {.name = "cuda",
     .preference = 10,
     .list = [] { return list_cards(backend()); },
     .open = [](const std::string& id) { return open_card(backend(), id); }}};

std::string found_at(const std::string& path) {
  return path.empty()
             ? "not found, neither in LD_LIBRARY_PATH nor next to the program nor in the system's folders"
             : path;
}

const Registration<Component> toolkit{
    {.name = "CUDA", .describe = [] {
       const auto compiled_for = architectures_of(BENCH_CUDA_ARCHITECTURES);
       return fmt::format("{}.{}{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
                          compiled_for.empty() ? "" : ", compiled for " + described(compiled_for));
     }}};
const Registration<Component> cudnn_library{
    {.name = "cuDNN", .describe = [] {
       const dynload::Places places = dynload::places();
       if (places.cudnn.empty() || !places.why_no_cudnn.empty()) {
         return places.cudnn.empty() ? found_at("") : places.why_no_cudnn;
       }
       return version_text(places.cudnn_version) + ", " + places.cudnn;
     }}};
const Registration<Component> cublaslt_library{
    {.name = "cuBLASLt", .describe = [] { return found_at(dynload::places().cublaslt); }}};
const Registration<Component> nvrtc_library{
    {.name = "NVRTC", .describe = [] { return found_at(dynload::places().nvrtc); }}};

}  // namespace
}  // namespace bench::kernels::cuda
