#include "plots/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/text/units.h"

namespace bench::plots {
namespace {

constexpr double kThousand = 1000;

// The unit of an axis that ends at `last`: its divisor and its name.
struct AxisUnit {
  double by = 1;
  std::string name;
};

AxisUnit bytes_unit(double last) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t at = 0;
  double by = 1;
  while (at + 1 < kUnits.size() && last >= 2 * 1024 * by) {
    by *= 1024;
    ++at;
  }
  return {by, kUnits.at(at)};
}

AxisUnit unit_of(const Axis& axis, double last) {
  switch (axis.quantity) {
    case Quantity::bytes:
      return bytes_unit(last);
    case Quantity::duration: {
      const Scale scale = duration_scale(last);
      return {scale.by, std::string(scale.prefix)};
    }
    case Quantity::per_second: {
      const Scale scale = rate_scale(last);
      return {scale.by, fmt::format("{}{}", scale.prefix, axis.label)};
    }
    case Quantity::number:
      break;
  }
  constexpr std::array<const char*, 4> kWords{"", "thousand ", "million ", "billion "};
  std::size_t at = 0;
  double by = 1;
  while (at + 1 < kWords.size() && last >= 10 * kThousand * by) {
    by *= kThousand;
    ++at;
  }
  return {by, kWords.at(at) + axis.label};
}

// 1, 2 or 5 times a power of ten, at least `value`.
double nice_step(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

// "1024", "0.25": no more digits than the number has.
std::string plain(double value) {
  return fmt::format("{:.6g}", value);
}

// "16 KiB", "100 M": one tick of a logarithmic axis.
std::string with_own_unit(double value, Quantity quantity) {
  if (quantity == Quantity::bytes) {
    constexpr std::array<const char*, 5> kUnits{"", " KiB", " MiB", " GiB", " TiB"};
    std::size_t at = 0;
    while (at + 1 < kUnits.size() && value >= 1024) {
      value /= 1024;
      ++at;
    }
    return plain(value) + (at == 0 ? " B" : kUnits.at(at));
  }
  if (quantity == Quantity::duration) {
    const Scale scale = duration_scale(value);
    return fmt::format("{} {}", plain(value / scale.by), scale.prefix);
  }
  const Scale scale = rate_scale(value);
  return scale.prefix.empty() ? plain(value) : fmt::format("{} {}", plain(value / scale.by), scale.prefix);
}

}  // namespace

ScaledAxis::ScaledAxis(Axis axis, double first, double last)
    : axis_(std::move(axis)), first_(first), last_(last) {
  const bool logarithmic = axis_.scale == AxisScale::log2 || axis_.scale == AxisScale::log10;
  if (logarithmic && first_ > 0 && last_ > 0) {
    // A decade has a tick at each end; points of one place would have none.
    const double least = axis_.scale == AxisScale::log10 ? std::sqrt(10 * first_ / last_) : 1.05;
    const double room = std::max({std::pow(last_ / first_, 0.03), 1.05, least});
    first_ /= room;
    last_ *= room;
  }
  if (axis_.scale == AxisScale::linear && axis_.whole) {  // room for the marks at both ends
    constexpr double kRoom = 0.06;
    const double room = std::max(kRoom * (last_ - first_), 0.1);
    first_ -= room;
    last_ += room;
  }
  if (axis_.scale == AxisScale::counts) {  // likewise
    constexpr double kRoom = 0.2;
    first_ -= kRoom;
    last_ *= 1 + kRoom / 2;
  }
  const double distance = transformed(last_) - transformed(first_);
  if (!std::isfinite(first_) || !std::isfinite(last_) || !(distance > 0) || !std::isfinite(distance)) {
    first_ = logarithmic ? 1 : 0;
    last_ = logarithmic ? 2 : 1;
  }
  own_unit_ = logarithmic && axis_.quantity != Quantity::number;
  if (own_unit_) {
    title_ = axis_.label;
  } else {
    const bool counts = logarithmic || axis_.scale == AxisScale::counts;
    const AxisUnit unit = counts ? AxisUnit{1, axis_.label} : unit_of(axis_, last_);
    unit_ = unit.by;
    title_ = unit.name;
  }
}

double ScaledAxis::transformed(double value) const {
  switch (axis_.scale) {
    case AxisScale::linear:
      return value;
    case AxisScale::log2:
    case AxisScale::log10:
      return std::log(value);
    case AxisScale::counts:
      return value < 1 ? value : 1 + std::log2(value);
  }
  return value;
}

double ScaledAxis::place(double value) const {
  const double from = transformed(first_);
  return (transformed(value) - from) / (transformed(last_) - from);
}

bool ScaledAxis::shows(double value) const {
  const double at = place(value);
  return at >= -1e-6 && at <= 1 + 1e-6;
}

std::string ScaledAxis::text(double value) const {
  return own_unit_ ? with_own_unit(value, axis_.quantity) : plain(value / unit_);
}

std::string ScaledAxis::short_text(double value) const {
  constexpr double kDigits = 100;
  const double scaled = value / unit_;
  return scaled >= kDigits ? fmt::format("{:.0f}", scaled) : fmt::format("{:.3g}", scaled);
}

std::vector<Tick> ScaledAxis::ticks(std::size_t most) const {
  std::vector<Tick> ticks;
  const auto add = [&](double value) {
    if (shows(value)) {
      ticks.push_back({value, text(value)});
    }
  };
  const auto count = static_cast<double>(std::max<std::size_t>(most, 2));
  if (axis_.scale == AxisScale::linear) {
    const double nice = nice_step((last_ - first_) / unit_ / count) * unit_;
    const double step = axis_.whole ? std::max(1.0, nice) : nice;
    const double first = std::ceil(first_ / step - 1e-6);
    for (std::size_t k = 0; k <= most; ++k) {  // counted: a step may be below the last digit of the values
      const double value = (first + static_cast<double>(k)) * step;
      add(std::abs(value) < step / 2 ? 0 : value);
    }
    return ticks;
  }
  if (axis_.scale == AxisScale::log10) {
    const double decades = std::log10(last_ / first_);
    const double stride = std::max(std::ceil(decades / count), 1.0);
    const double first = std::floor(std::log10(first_));
    const bool between = 3 * decades <= count;  // room for 2 and 5 as well
    const auto powers = static_cast<std::size_t>((std::log10(last_) + 1 - first) / stride);
    for (std::size_t k = 0; k <= powers; ++k) {
      for (const double factor : between ? std::vector{1.0, 2.0, 5.0} : std::vector{1.0}) {
        add(factor * std::pow(10, first + static_cast<double>(k) * stride));
      }
    }
    return ticks;
  }
  if (axis_.scale == AxisScale::counts) {
    add(0);
  }
  const double from = std::ceil(std::log2(std::max(first_, 1.0)) - 1e-6);
  const double to = std::floor(std::log2(std::max(last_, 1.0)) + 1e-6);
  const double stride = std::max(std::ceil((to - from + 1) / count), 1.0);
  for (std::size_t k = 0; from + static_cast<double>(k) * stride <= to; ++k) {
    add(std::exp2(from + static_cast<double>(k) * stride));
  }
  return ticks;
}

double round_up(double value, Quantity quantity) {
  if (!(value > 0) || !std::isfinite(value)) {
    return 1;
  }
  const double unit = quantity == Quantity::bytes ? bytes_unit(value).by : 1;
  const double step = nice_step(value / unit / 5) * unit;
  return std::ceil(value / step - 1e-9) * step;
}

}  // namespace bench::plots
