#include "kernels/devices/cuda/architectures.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench::kernels::cuda {
namespace {

Architecture architecture_of(std::string_view name) {
  Architecture architecture;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, architecture.capability);
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (suffix.starts_with('a')) {
    architecture.reach = Architecture::Reach::exact;
  } else if (suffix.starts_with('f')) {
    architecture.reach = Architecture::Reach::family;
  }
  suffix.remove_prefix(architecture.reach == Architecture::Reach::any ? 0 : 1);
  architecture.code = suffix != "-virtual";
  architecture.ptx = suffix != "-real";
  if (error != std::errc() || (architecture.code && architecture.ptx && !suffix.empty())) {
    throw std::invalid_argument(fmt::format("'{}' is no CUDA architecture", name));
  }
  return architecture;
}

bool same_major_not_below(int card, int compiled) {
  return card / 10 == compiled / 10 && card >= compiled;
}

bool runs_on(const Architecture& compiled, int card) {
  switch (compiled.reach) {
    case Architecture::Reach::exact:
      return card == compiled.capability;
    case Architecture::Reach::family:
      return same_major_not_below(card, compiled.capability);
    case Architecture::Reach::any:
      return (compiled.code && same_major_not_below(card, compiled.capability)) ||
             (compiled.ptx && card >= compiled.capability);
  }
  return false;
}

std::string name_of(const Architecture& architecture) {
  const char* const suffix = architecture.reach == Architecture::Reach::exact    ? "a"
                             : architecture.reach == Architecture::Reach::family ? "f"
                                                                                 : "";
  return capability_text(architecture.capability) + suffix;
}

}  // namespace

std::vector<Architecture> architectures_of(std::string_view list) {
  std::vector<Architecture> architectures;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    architectures.push_back(architecture_of(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return architectures;
}

bool runs_on(std::span<const Architecture> compiled, int capability) {
  return std::ranges::any_of(compiled, [&](const Architecture& one) { return runs_on(one, capability); });
}

std::string described(std::span<const Architecture> compiled) {
  std::vector<std::string> code;
  std::vector<std::string> ptx_that_stays;  // for one card or its family, without machine code
  std::vector<std::string> ptx;
  bool begins_later = true;  // of each PTX there is machine code for the card that it begins with
  for (const Architecture& one : compiled) {
    const bool any = one.reach == Architecture::Reach::any;
    if (one.code) {
      code.push_back(name_of(one));
    }
    if (one.ptx && any) {
      ptx.push_back(name_of(one));
      begins_later = begins_later && std::ranges::any_of(compiled, [&](const Architecture& other) {
                       return other.code && other.capability == one.capability;
                     });
    } else if (one.ptx && !one.code) {
      ptx_that_stays.push_back(name_of(one));
    }
  }
  std::vector<std::string> parts;
  if (!code.empty()) {
    parts.push_back(fmt::format("{}", fmt::join(code, ", ")));
  }
  if (!ptx_that_stays.empty()) {
    parts.push_back(fmt::format("PTX of {}", fmt::join(ptx_that_stays, ", ")));
  }
  if (!ptx.empty()) {
    parts.push_back(fmt::format("PTX of {}{} later ones", fmt::join(ptx, ", "),
                                begins_later      ? " for"
                                : ptx.size() == 1 ? ", for that and"
                                                  : ", for those and"));
  }
  return fmt::format("{}", fmt::join(parts, ", and "));
}

std::string capability_text(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

}  // namespace bench::kernels::cuda
