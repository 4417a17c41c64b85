// Stands in for the CUDA device in a program built without it: says why there is none.
#include "bench/device.h"
#include "bench/component.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench_cuda_missing.h"  // written by CMakeLists.txt

namespace bench::kernels {
namespace {

const std::string kMissing = "built without the CUDA device: " BENCH_CUDA_MISSING;

const Registration<DeviceKind> BENCH_REGISTERED{
    {.name = "cuda",
     .preference = 10,
     .list =
         [] {
           return std::vector<DeviceKind::Listing>{{"cuda", "", kMissing}};
         },
     .open = [](const std::string& /*id*/) -> std::unique_ptr<Device> { throw UsageError(kMissing); }}};

const Registration<Component> toolkit{{.name = "CUDA", .describe = [] { return kMissing; }}};

}  // namespace
}  // namespace bench::kernels
