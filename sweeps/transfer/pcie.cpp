#include "sweeps/transfer/pcie.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace bench::sweeps {

double PcieLink::bytes_per_s() const {
  // Gigatransfers a second and the share of the bits that is payload.
  struct Rate {
    double transfers = 0;
    double payload = 0;
  };
  constexpr std::array<Rate, 6> kRates{{{2.5e9, 0.8},
                                        {5e9, 0.8},
                                        {8e9, 128.0 / 130},
                                        {16e9, 128.0 / 130},
                                        {32e9, 128.0 / 130},
                                        {64e9, 236.0 / 256}}};
  if (generation < 1 || static_cast<std::size_t>(generation) > kRates.size()) {
    return 0;
  }
  const Rate& rate = kRates[static_cast<std::size_t>(generation) - 1];
  return rate.transfers * rate.payload * width / 8;
}

std::optional<PcieLink> pcie_link(std::string_view text) {
  PcieLink link;
  if (!text.starts_with("gen")) {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  const auto generation = std::from_chars(text.data() + 3, end, link.generation);
  if (generation.ec != std::errc{} || end - generation.ptr < 3 ||
      std::string_view(generation.ptr, 2) != " x") {
    return std::nullopt;
  }
  const auto width = std::from_chars(generation.ptr + 2, end, link.width);
  if (width.ec != std::errc{} || width.ptr != end || link.generation < 1 || link.width < 1) {
    return std::nullopt;
  }
  return link;
}

}  // namespace bench::sweeps
