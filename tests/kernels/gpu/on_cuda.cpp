#include "on_cuda.h"

#include "bench/registry.h"

namespace bench::kernels::testing {
namespace {

// The first CUDA device that is usable, or what its listing says is missing.
struct Found {
  std::unique_ptr<Device> device;
  std::string missing = "this program was built without the CUDA device";
};

Found& found() {
  static Found first = [] {
    Found result;
    const DeviceKind* const kind = registry<DeviceKind>().find("cuda");
    if (kind != nullptr) {
      for (const DeviceKind::Listing& listing : kind->list()) {
        if (listing.missing.empty()) {
          return Found{.device = kind->open(listing.id), .missing = {}};
        }
        result.missing = listing.missing;
      }
    }
    return result;
  }();
  return first;
}

}  // namespace

Device* cuda_device() {
  return found().device.get();
}

std::string why_no_cuda() {
  return found().missing;
}

}  // namespace bench::kernels::testing
