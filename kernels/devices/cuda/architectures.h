// What the program's own kernels were compiled for, and which cards run that. Pure; needs no CUDA header.
//
// Machine code runs on cards of its own major version whose minor one is not lower: NVIDIA promises it of
// desktops and servers, not of embedded cards such as 8.7, which are not told apart here. PTX is compiled by
// the driver for every card that is not older. What was compiled for one architecture only ("90a") runs on
// that one, what for its family ("100f") on those of its major version whose minor one is not lower.
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

// Of what CMAKE_CUDA_ARCHITECTURES says, between commas: "75-real,80-real,90,120-virtual". Throws
// std::invalid_argument where one is none.
std::vector<Architecture> architectures_of(std::string_view list);

// Whether a card of that capability runs what was compiled.
bool runs_on(std::span<const Architecture> compiled, int capability);

// "7.5, 8.6, 9.0, and PTX of 9.0 for later ones"; without machine code of 8.6 "PTX of 8.6, for that and later
// ones"; of what stays with one card or its family "9.0a, and PTX of 10.0f".
std::string described(std::span<const Architecture> compiled);

std::string capability_text(int capability);  // "8.6"

}  // namespace bench::kernels::cuda
