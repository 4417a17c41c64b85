// The colours of charts, by number: each has a light and a dark one, with a contrast of 3 to the page.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace bench::plots {

struct Colour {
  const char* light;  // on white
  const char* dark;   // on #14171b
};

// The first six are for series: Okabe and Ito's, darkened or lightened. Then memory categories: Paul Tol's
// muted ones, likewise. Then those of a cap, of what stands back, and of the page's text.
inline constexpr std::array<Colour, 16> kColours{{{"#0072b2", "#58b3ec"},
                                                  {"#c24a00", "#ff8a4c"},
                                                  {"#00795a", "#3fd0a2"},
                                                  {"#a8437f", "#e38fc0"},
                                                  {"#8a6200", "#e9bd4a"},
                                                  {"#57606a", "#b4bcc4"},
                                                  {"#332288", "#9a8fe8"},
                                                  {"#5fa8d3", "#88ccee"},
                                                  {"#2f9484", "#4fc3b3"},
                                                  {"#b89b2e", "#ddcc77"},
                                                  {"#cc6677", "#e58a99"},
                                                  {"#117733", "#55b878"},
                                                  {"#9aa0a6", "#80878e"},
                                                  {"#c4162a", "#ff7b86"},
                                                  {"#57606a", "#a3abb4"},
                                                  {"#1b1f24", "#e6e9ec"}}};
inline constexpr std::size_t kSeriesColours = 6;
inline constexpr std::size_t kCategoryColour = kSeriesColours;  // and on
inline constexpr std::size_t kCapColour = 13;
inline constexpr std::size_t kQuietColour = 14;
inline constexpr std::size_t kTextColour = 15;

// One colour for a dtype in every picture.
constexpr std::size_t colour_of_dtype(std::string_view dtype) {
  return dtype == "fp32"   ? 0
         : dtype == "bf16" ? 1
         : dtype == "fp16" ? 2
         : dtype == "tf32" ? 3
                           : kSeriesColours - 1;
}

}  // namespace bench::plots
