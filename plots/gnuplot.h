// Writes a picture as a gnuplot script (5.4 and later) that draws it as picture.png and picture.svg into the
// current folder. The script reads nothing and runs no other program; foreign text in it stays text.
#pragma once

#include <string>

#include "plots/chart.h"

namespace bench::plots {

std::string gnuplot_script(const Picture& picture);

}  // namespace bench::plots
