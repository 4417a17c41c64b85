// The transfer sweep's measured points by what was copied where.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/transfer/model.h"

namespace bench::sweeps {

struct TransferPoint {
  std::string name;
  double bytes = 0;  // of one copy
  double moved = 0;  // of all copies of a step, both ways
  double ns = 0;
  Interval ci95_ns;
  double cpu_ns = 0;
  bool flagged = false;

  double bytes_per_s() const { return moved / ns * 1e9; }
};

// Points that differ in size alone, growing.
struct TransferSeries {
  std::string direction;  // "h2d", "d2h", "both"
  std::string kind;       // "pinned", "pageable", "staged"
  std::int64_t at_once = 1;
  bool cold_pages = false;
  std::vector<TransferPoint> points;

  std::string label() const;  // "h2d/pinned", "h2d/pinned/in-flight:8", "d2h/pageable/pages:cold"
  bool plain() const { return at_once == 1 && !cold_pages; }
  std::vector<CopyTime> times() const;
  const TransferPoint* at(double bytes) const;
};

// In the order of directions and kinds.
std::vector<TransferSeries> transfer_series(const ResultDocument& document);

// The point of a series that copies so many bytes, or those on either side of it; none without the series.
std::vector<std::string> series_names_near(const std::vector<TransferSeries>& all, const std::string& label,
                                           double bytes);

const TransferSeries* find_series(const std::vector<TransferSeries>& all, const std::string& label);

}  // namespace bench::sweeps
