#include "sweeps/transfer/pcie.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

namespace bench::sweeps {

double PcieLink::bytes_per_s() const {
  // Gigatransfers a second, times the share of the bits that is payload.
  constexpr std::array<double, 6> kBits{2.5e9 * 0.8,        5e9 * 0.8,          8e9 * 128.0 / 130,
                                        16e9 * 128.0 / 130, 32e9 * 128.0 / 130, 64e9 * 236.0 / 256};
  return generation >= 1 && static_cast<std::size_t>(generation) <= kBits.size()
             ? kBits[static_cast<std::size_t>(generation) - 1] * width / 8
             : 0;
}

namespace {

// A number at the front of the text, which is taken off it; 0 where there is none.
int take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? number : 0;
}

}  // namespace

std::optional<PcieLink> pcie_link(std::string_view text) {
  constexpr std::string_view kGeneration = "gen";
  constexpr std::string_view kWidth = " x";
  PcieLink link;
  std::string_view rest = text;
  if (!rest.starts_with(kGeneration)) {
    return std::nullopt;
  }
  rest.remove_prefix(kGeneration.size());
  link.generation = take_number(rest);
  if (!rest.starts_with(kWidth)) {
    return std::nullopt;
  }
  rest.remove_prefix(kWidth.size());
  link.width = take_number(rest);
  // No sign, no leading zeros, nothing behind.
  const bool exact = fmt::format("gen{} x{}", link.generation, link.width) == text;
  return exact && link.generation > 0 && link.width > 0 ? std::optional(link) : std::nullopt;
}

}  // namespace bench::sweeps
