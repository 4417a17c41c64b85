#include "kernels/devices/cuda/listing.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/shared_library.h"
#include "bench/text/quote.h"
#include "kernels/devices/cuda/describe.h"
#include "kernels/devices/cuda/errors.h"

namespace bench::kernels::cuda {
namespace {

// The runtime has one code for a driver that is missing and one that is too old; the driver's version, 0
// without a driver, tells them apart.
std::string why_no_driver(Runtime& runtime) {
  int wanted = 0;
  int served = 0;
  runtime.runtime_version(wanted);
  const bool known = runtime.driver_version(served) == status::kSuccess && served > 0;
  return known ? fmt::format(
                     "the NVIDIA driver supports CUDA {} at most, and this program was built with CUDA {}; "
                     "install a newer driver",
                     version_text(served), version_text(wanted))
               : std::string("no NVIDIA driver is installed on this machine");
}

std::string why_none(Runtime& runtime, int error) {
  switch (error) {
    case status::kInsufficientDriver:
      return why_no_driver(runtime);
    case status::kNoDevice:
      return "the NVIDIA driver is there but shows no card; nvidia-smi -L lists those it has, and "
             "CUDA_VISIBLE_DEVICES may hide them";
    case status::kSuccess:
      return "the NVIDIA driver counts no card";
    default:
      return fmt::format("the CUDA runtime does not start: {} ({}: {})", error, runtime.error_name(error),
                         runtime.error_text(error));
  }
}

// Why a card of that capability runs none of our kernels; empty where it does.
std::string why_no_code(const std::vector<Architecture>& compiled, int capability) {
  if (capability < kOldestCapability) {
    return fmt::format("this program needs {} or later", capability_text(kOldestCapability));
  }
  if (compiled.empty() || runs_on(compiled, capability)) {
    return "";
  }
  return fmt::format("this program was compiled for {}; rebuild it with: make build ARCH={}",
                     described(compiled), capability);
}

DeviceKind::Listing card_listing(Runtime& runtime, const std::vector<Architecture>& compiled, int ordinal) {
  DeviceKind::Listing listing{.id = fmt::format("cuda:{}", ordinal), .description = "", .missing = ""};
  CardProperties card;
  if (const int error = runtime.properties(ordinal, card); error != status::kSuccess) {
    listing.missing = fmt::format("it does not answer: {} ({}: {})", error, runtime.error_name(error),
                                  runtime.error_text(error));
    runtime.last_error();
  } else if (const std::string why = why_no_code(compiled, 10 * card.major + card.minor); !why.empty()) {
    listing.missing =
        fmt::format("{} has compute capability {}.{}, and {}", card.name, card.major, card.minor, why);
  } else {
    listing.description =
        fmt::format("{}, {} SMs, {:.1f} GiB, compute capability {}.{}", card.name, card.multiprocessors,
                    static_cast<double>(card.memory_bytes) / 0x1p30, card.major, card.minor);
  }
  return listing;
}

}  // namespace

std::vector<DeviceKind::Listing> list_cards(const Backend& backend) {
  Runtime& runtime = backend.runtime;
  // The runtime's first call opens the driver's library.
  if (std::string why = why_damaged("libcuda.so.1"); !why.empty()) {
    return {{.id = "cuda", .description = "", .missing = std::move(why)}};
  }
  int count = 0;  // left as it is by a call that fails
  const int error = runtime.device_count(count);
  if (error != status::kSuccess || count <= 0) {
    runtime.last_error();
    return {{.id = "cuda", .description = "", .missing = why_none(runtime, error)}};
  }
  std::vector<DeviceKind::Listing> cards;
  cards.reserve(static_cast<std::size_t>(count));
  const std::string why_missing = backend.why_missing();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cards.push_back(card_listing(runtime, backend.compiled_for, ordinal));
    if (cards.back().missing.empty() && !why_missing.empty()) {
      cards.back().missing = fmt::format("a library it needs does not open: {}", why_missing);
    }
  }
  return cards;
}

std::unique_ptr<Device> open_card(const Backend& backend, const std::string& id) {
  const std::vector<DeviceKind::Listing> cards = list_cards(backend);
  std::vector<std::string> usable;
  for (std::size_t ordinal = 0; ordinal < cards.size(); ++ordinal) {
    const DeviceKind::Listing& card = cards[ordinal];
    if (card.missing.empty() && card.id == id) {
      return std::make_unique<CudaDevice>(backend, static_cast<int>(ordinal));
    }
    if (card.missing.empty()) {
      usable.push_back(card.id);
    }
  }
  throw UsageError(fmt::format("--device: {} is not a card that can be used here; accepted: {}", quote(id),
                               usable.empty() ? fmt::format("none: {}", cards.front().missing)
                                              : fmt::format("{}", fmt::join(usable, ", "))));
}

}  // namespace bench::kernels::cuda
