#include "kernels/device/cuda/architectures.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

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

// NVIDIA promises it of desktops and servers; the cards of embedded machines, such as 8.7, are not told
// apart.
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
  std::string code;
  std::string ptx;
  for (const Architecture& one : compiled) {
    if (one.code) {
      code += fmt::format("{}{}", code.empty() ? "" : ", ", capability_text(one.capability));
    }
    if (one.ptx && one.reach == Architecture::Reach::any) {
      ptx += fmt::format("{}{}", ptx.empty() ? "" : ", ", capability_text(one.capability));
    }
  }
  if (ptx.empty()) {
    return code;
  }
  return fmt::format("{}{}PTX of {} for later ones", code, code.empty() ? "" : ", and ", ptx);
}

std::string capability_text(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

}  // namespace bench::kernels::cuda
