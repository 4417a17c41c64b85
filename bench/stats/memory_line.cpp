#include "bench/stats/memory_line.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace bench {
namespace {

using Run = std::span<const MemoryPoint>;

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

double without_weights(const MemoryPoint& point) {
  return as_double(point.bytes - point.weights);
}

// Relative weights: the allocator's rounding grows with what is allocated. Bytes are whole numbers: a slope
// that changes them by less than half a one over the run is the arithmetic's rounding, and becomes 0.
std::optional<LineFit> fit_run(Run run) {
  std::vector<double> batches;
  std::vector<double> bytes;
  std::vector<double> weights;
  for (const MemoryPoint& point : run) {
    batches.push_back(as_double(point.batch));
    bytes.push_back(without_weights(point));
    weights.push_back(1 / (as_double(point.bytes) * as_double(point.bytes)));
  }
  auto line = fit_line(batches, bytes, weights);
  if (line && std::abs(line->slope.value) * (batches.back() - batches.front()) < 0.5) {
    line->slope = {.value = 0, .ci95 = Interval{.low = 0, .high = 0}};
  }
  return line;
}

bool lies_on(const LineFit& line, const MemoryPoint& point) {
  const double off = line.at(as_double(point.batch)) - without_weights(point);
  return std::abs(off) <= kMemoryTolerance * as_double(point.bytes);
}

std::vector<MemoryPoint> by_batch(std::span<const MemoryPoint> points) {
  std::vector<MemoryPoint> ascending(points.begin(), points.end());
  std::ranges::sort(ascending, [](const MemoryPoint& a, const MemoryPoint& b) {
    return a.batch != b.batch ? a.batch < b.batch : a.bytes > b.bytes;
  });
  const auto repeated =
      std::unique(ascending.begin(), ascending.end(),
                  [](const MemoryPoint& a, const MemoryPoint& b) { return a.batch == b.batch; });
  ascending.erase(repeated, ascending.end());
  return ascending;
}

// How many points at the end of `points` lie on one line. Tries twice as many each time, then halves the gap:
// a run of n costs O(n log n), so that thousands of points stay cheap.
std::size_t length_of_last_run(Run points) {
  const auto consistent = [&](std::size_t length) {
    const Run run = points.last(length);
    const auto line = fit_run(run);
    return !line || std::ranges::all_of(run, [&](const MemoryPoint& p) { return lies_on(*line, p); });
  };
  std::size_t good = 1;
  std::size_t bad = points.size() + 1;
  while (good + 1 < bad) {
    const std::size_t next = std::min(good * 2, good + (bad - good) / 2 + (bad - good) % 2);
    const std::size_t length = std::min(next, points.size());
    if (consistent(length)) {
      good = length;
    } else {
      bad = length;
    }
  }
  return good;
}

// Two points lie on any line, so a run of two above a longer one may hold that one's last point by accident.
void return_borrowed_point(std::vector<Run>& descending) {
  for (std::size_t i = 0; i + 1 < descending.size(); ++i) {
    Run& upper = descending[i];
    Run& lower = descending[i + 1];
    if (upper.size() == 2 && lower.size() >= 2 && lies_on(*fit_run(lower), upper.front())) {
      lower = Run(lower.data(), lower.size() + 1);
      upper = upper.last(1);
    }
  }
}

std::vector<Run> split(Run points) {
  std::vector<Run> runs;
  while (!points.empty()) {
    const std::size_t length = length_of_last_run(points);
    runs.push_back(points.last(length));
    points = points.first(points.size() - length);
  }
  return_borrowed_point(runs);
  std::ranges::reverse(runs);
  return runs;
}

// Line through the bytes other than weights.
MemoryLine::Segment segment_of(Run run, double common_slope) {
  if (const auto line = fit_run(run)) {
    return {run.front().batch, line->intercept.value, line->slope.value};
  }
  const MemoryPoint& only = run.front();
  return {only.batch, without_weights(only) - common_slope * as_double(only.batch), common_slope};
}

// One segment for each stretch of the run with the same weights, which count as fixed.
void add_segments(MemoryLine& line, Run run, const MemoryLine::Segment& bare) {
  const MemoryPoint* before = nullptr;
  for (const MemoryPoint& point : run) {
    if (before == nullptr || before->weights != point.weights) {
      line.segments.push_back({point.batch, bare.fixed + as_double(point.weights), bare.slope});
    }
    before = &point;
  }
}

Estimate shifted(Estimate estimate, double by) {
  estimate.value += by;
  if (estimate.ci95) {
    estimate.ci95 = Interval{estimate.ci95->low + by, estimate.ci95->high + by};
  }
  return estimate;
}

}  // namespace

std::optional<MemoryLine> fit_memory_line(std::span<const MemoryPoint> points) {
  const std::vector<MemoryPoint> ascending = by_batch(points);
  if (ascending.size() < 2) {
    return std::nullopt;
  }
  const std::vector<Run> runs = split(ascending);
  // The first longest from above.
  const Run longest = *std::max_element(runs.rbegin(), runs.rend(),
                                        [](const Run& a, const Run& b) { return a.size() < b.size(); });
  const LineFit fit = fit_run(longest).value();

  MemoryLine line;
  line.fixed_bytes = shifted(fit.intercept, as_double(ascending.back().weights));
  line.slope_bytes = fit.slope;
  line.points = longest.size();
  line.first_batch = longest.front().batch;
  line.last_batch = longest.back().batch;
  for (std::size_t i = 0; i < longest.size(); ++i) {
    const double off = std::abs(fit.residuals[i]);
    line.max_residual_bytes = std::max(line.max_residual_bytes, off);
    line.max_relative_residual = std::max(line.max_relative_residual, off / as_double(longest[i].bytes));
  }
  std::optional<MemoryLine::Segment> before;
  for (const Run& run : runs) {
    const MemoryPoint& first = run.front();
    if (before) {
      const double expected = before->fixed + before->slope * as_double(first.batch);
      line.steps.push_back({first.batch, std::llround(without_weights(first) - expected)});
    }
    before = segment_of(run, fit.slope.value);
    add_segments(line, run, *before);
  }
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    if (ascending[i].weights != ascending[i - 1].weights) {
      line.weight_steps.push_back({ascending[i].batch, ascending[i - 1].weights, ascending[i].weights});
    }
  }
  return line;
}

std::optional<std::int64_t> MemoryLine::largest_batch(std::int64_t cap_bytes) const {
  if (!(slope_bytes.value > 0) || segments.empty() || !(segments.back().slope > 0)) {
    return std::nullopt;
  }
  constexpr double kEndless = 0x1.0p62;
  double end = kEndless;  // largest batch that this segment describes
  for (auto at = segments.rbegin(); at != segments.rend(); ++at) {
    const Segment& segment = *at;
    const bool lowest = std::next(at) == segments.rend();
    const double room = as_double(cap_bytes) - segment.fixed;
    // A rounding error of the fit must not cost the batch that fills the cap exactly.
    const double fits = segment.slope > 0 ? std::floor(room / segment.slope + 1e-6) : (room >= 0 ? end : 0);
    const double batch = std::min(fits, end);
    if (lowest || batch >= as_double(segment.first_batch)) {
      return static_cast<std::int64_t>(std::max(batch, 0.0));
    }
    end = as_double(segment.first_batch) - 1;
  }
  return 0;
}

}  // namespace bench
