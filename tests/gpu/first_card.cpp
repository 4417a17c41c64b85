#include "tests/gpu/first_card.h"

#include "bench/registry.h"

namespace bench::kernels::testing {

FirstCard open_first_card() {
  FirstCard card{.device = nullptr, .missing = "this program was built without the CUDA device"};
  const DeviceKind* const kind = registry<DeviceKind>().find("cuda");
  if (kind != nullptr) {
    for (const DeviceKind::Listing& listing : kind->list()) {
      if (listing.missing.empty()) {
        return {.device = kind->open(listing.id), .missing = {}};
      }
      card.missing = listing.missing;
    }
  }
  return card;
}

}  // namespace bench::kernels::testing
