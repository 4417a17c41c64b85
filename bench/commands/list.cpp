#include "bench/commands/list.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "bench/cli/text.h"
#include "bench/device.h"
#include "bench/dtype.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {
namespace {

void print_device(std::ostream& out, const DeviceKind& kind, const DeviceKind::Listing& listing) {
  if (!listing.missing.empty()) {
    fmt::print(out, "  {:<14} not usable: {}\n", listing.id, listing.missing);
    return;
  }
  fmt::print(out, "  {:<14} {}\n", listing.id, listing.description);
  std::unique_ptr<Device> device;
  try {
    device = kind.open(listing.id);
  } catch (const std::exception& error) {  // as a card that another process has to itself
    fmt::print(out, "  {:<14}   cannot be opened: {}\n", "", error.what());
    return;
  }
  for (const Dtype dtype : kAllDtypes) {
    const auto reason = device->unsupported(dtype);
    fmt::print(out, "  {:<14}   {}: {}\n", "", name_of(dtype), reason ? "no; " + *reason : "yes");
  }
}

}  // namespace

void print_list(std::ostream& out) {
  fmt::print(out, "Sweeps (--sweep)\n");
  for (const auto& sweep : registry<Sweep>().entries()) {
    fmt::print(out, "  {:<14} {} (default workload: {})\n", sweep->name, sweep->question,
               sweep->default_workload);
  }
  fmt::print(out, "\nWorkloads (--workload)\n");
  for (const auto& type : registry<WorkloadType>().entries()) {
    fmt::print(out, "  {:<14} {}: {}; --mode {}\n", type->name, type->kind, type->description,
               fmt::join(type->modes, "|"));
    for (const WorkloadType::Option& option : type->options) {
      fmt::print(out, "  {:<14}   --{} {}, {} (default {})\n", "", option.name, value_name(option),
                 option.help, option.default_value);
    }
  }
  fmt::print(out, "\nDevices (--device)\n");
  for (const auto& kind : registry<DeviceKind>().entries()) {
    for (const DeviceKind::Listing& listing : kind->list()) {
      print_device(out, *kind, listing);
    }
  }
}

}  // namespace bench
