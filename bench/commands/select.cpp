#include "bench/commands/select.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/registry.h"

namespace bench {

std::unique_ptr<Device> open_device(const std::string& id) {
  const DeviceKind* best = nullptr;
  std::string best_id;
  std::string usable = "auto";
  std::string missing;
  for (const auto& kind : registry<DeviceKind>().entries()) {
    for (const DeviceKind::Listing& listing : kind->list()) {
      if (!listing.missing.empty()) {
        missing += fmt::format("; {} cannot be used here: {}", listing.id, listing.missing);
        if (listing.id == id) {
          throw UsageError(fmt::format("--device: {} cannot be used here: {}", quote(id), listing.missing));
        }
        continue;
      }
      usable += fmt::format(", {}", listing.id);
      const bool wanted =
          id == "auto" ? best == nullptr || kind->preference > best->preference : listing.id == id;
      if (wanted) {
        best = kind.get();
        best_id = listing.id;
      }
    }
  }
  if (best == nullptr) {
    throw UsageError(
        fmt::format("--device: there is no device {} here; accepted are {}{}", quote(id), usable, missing));
  }
  return best->open(best_id);
}

}  // namespace bench
