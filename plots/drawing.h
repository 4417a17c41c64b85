// A chart laid out: where its lines, marks and texts lie, as shares of the frame. Its writers (svg.h,
// gnuplot.h) turn these into their own units, so that both show the same.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plots/chart.h"

namespace bench::plots {

// A share of the frame's width and height, from its lower left corner.
struct Place {
  double x = 0;
  double y = 0;
};
using Path = std::vector<Place>;

enum class Look {
  line,      // a path through its places
  dashed,    // likewise
  thin,      // likewise: a fitted curve
  level,     // likewise: dashed, across the frame
  interval,  // two places of one x
  band,      // a polygon
  bar,       // a rectangle between two corners
  block,     // likewise: without an edge, as its neighbours touch it
  mark,      // one place
  open,      // likewise: a mark drawn hollow
  ring,      // likewise: around a mark
  cross,     // likewise: a point without a value
  text,      // likewise: a text centred above it
};

// Paths that look the same.
struct Layer {
  Look look = Look::line;
  std::size_t colour = 0;
  std::size_t shape = 0;  // of marks
  std::vector<Path> paths{};
  std::vector<std::string> texts{};  // of Look::text, one a path
};

struct Label {
  double at = 0;  // share of the way along its axis
  std::string text{};
};

struct LegendEntry {
  std::vector<Look> looks{};  // line, dashed, level, mark, bar, ring, cross or thin
  std::size_t colour = 0;
  std::size_t shape = 0;
  std::string text{};
};

struct Drawing {
  std::vector<Label> x_labels{};
  std::vector<Label> y_labels{};
  std::string x_title{};
  std::string y_title{};
  bool ticks = true;                  // small lines at the labels below
  bool tilted = false;                // the labels below: names, none of which may be left out
  std::vector<Layer> layers{};        // the lowest first
  std::vector<LegendEntry> legend{};  // empty where one series without lines across needs none
};

// `letters`: how many digits the frame is wide. Labels that would touch are left out.
Drawing drawing_of(const Chart& chart, double letters);

}  // namespace bench::plots
