// Bandwidth of a PCI Express link.
#pragma once

#include <optional>
#include <string_view>

namespace bench::sweeps {

struct PcieLink {
  int generation = 0;
  int width = 0;  // lanes

  // Each way: transfers a second · lanes · the share that is payload (8 of 10 bits up to generation 2, 128 of
  // 130 from 3 on, 236 of 256 bytes of generation 6's flits). The packets' headers, some 5 to 10 % of it, are
  // not taken off: no copy gets there. 0 for a generation unknown here.
  double bytes_per_s() const;
};

// "gen4 x16", as context.device.pcie has it; nullopt for anything else.
std::optional<PcieLink> pcie_link(std::string_view text);

}  // namespace bench::sweeps
