// Where an axis has its ticks, what they say, and where a value lies between its ends.
#pragma once

#include <string>
#include <vector>

#include "plots/chart.h"

namespace bench::plots {

struct Tick {
  double at = 0;
  std::string text;
};

class ScaledAxis {
 public:
  // `first` and `last`: the values to cover, made a little wider where the scale is logarithmic. A scale that
  // cannot show them (0 on a logarithmic one, no finite distance) falls back to a range that it can.
  ScaledAxis(Axis axis, double first, double last);

  // Share of the way from the axis's first to its last value, 0 to 1; beyond these for values outside.
  double place(double value) const;
  bool shows(double value) const;
  // At most `most`, growing.
  std::vector<Tick> ticks(std::size_t most) const;
  // "samples/s", "GB/s", "MiB": what the numbers at the ticks count.
  const std::string& title() const { return title_; }
  // To three digits, in the unit that title() names: a number within the picture.
  std::string short_text(double value) const;

 private:
  double transformed(double value) const;
  std::string text(double value) const;

  Axis axis_;
  double first_ = 0;
  double last_ = 1;
  double unit_ = 1;        // divides a value before it is written
  bool own_unit_ = false;  // every tick has a unit of its own: logarithmic axes reach over several
  std::string title_;
};

// A round number at or above the value: the end of a linear axis from 0.
double round_up(double value, Quantity quantity);

}  // namespace bench::plots
