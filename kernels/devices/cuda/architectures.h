// The architectures that the program's own kernels were compiled for, and which cards run them. Pure; needs
// no CUDA header.
//
// Machine code runs on cards of its own major version whose minor one is not lower. NVIDIA promises this for
// desktops and servers; embedded cards such as 8.7 are not distinguished here. PTX is compiled by the driver
// for every card that is not older. Code for one architecture only ("90a") runs on that one, code for a
// family ("100f") on cards of the same major version whose minor one is not lower.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::kernels::cuda {

inline constexpr int kOldestCapability = 75;  // T4: what cuDNN 9 and CUDA 13 begin with

struct Architecture {
  enum class Reach { any, family, exact };
  int capability = 0;  // 86 is 8.6
  bool code = true;
  bool ptx = true;
  Reach reach = Reach::any;
};

// CMAKE_CUDA_ARCHITECTURES between commas, as "75-real,80-real,90,120-virtual". Throws std::invalid_argument
// for anything else.
std::vector<Architecture> architectures_of(std::string_view list);

// Whether a card of that capability runs what was compiled.
bool runs_on(std::span<const Architecture> compiled, int capability);

// "7.5, 8.6, 9.0, and PTX of 9.0 for later ones"; without machine code of 8.6 "PTX of 8.6, for that and later
// ones"; with code for one card or its family "9.0a, and PTX of 10.0f".
std::string described(std::span<const Architecture> compiled);

std::string capability_text(int capability);  // "8.6"

}  // namespace bench::kernels::cuda
