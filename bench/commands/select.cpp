#include "bench/commands/select.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/registry.h"

namespace bench {

std::unique_ptr<Device> open_device(const std::string& id) {
  const DeviceKind* best = nullptr;
  std::string best_id;
  std::string known;
  for (const auto& kind : registry<DeviceKind>().entries()) {
    for (const DeviceKind::Listing& listing : kind->list()) {
      known += (known.empty() ? "" : ", ") + listing.id;
      if (!listing.missing.empty()) {
        known += fmt::format(" (not usable: {})", listing.missing);
        if (listing.id == id) {
          throw UsageError(fmt::format("--device: {} cannot be used here: {}", quote(id), listing.missing));
        }
        continue;
      }
      const bool wanted =
          id == "auto" ? best == nullptr || kind->preference > best->preference : listing.id == id;
      if (wanted) {
        best = kind.get();
        best_id = listing.id;
      }
    }
  }
  if (best == nullptr) {
    throw UsageError(fmt::format("--device: there is no device {} here; accepted are auto and {}", quote(id),
                                 known.empty() ? "none: the program was built without devices" : known));
  }
  return best->open(best_id);
}

}  // namespace bench
