// The transfer sweep's measured points by what was copied where.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/result.h"
#include "sweeps/series/size_curve.h"

namespace bench::sweeps {

// The memory that is copied, the direction, and how many copies at once.
struct CopyWay {
  std::string direction;  // "h2d", "d2h", "both"
  std::string kind;       // of host memory: "pinned", "pageable", "staged"
  std::int64_t in_flight = 1;
  bool first_touch = false;  // the destination's pages are fresh from the system

  std::string label() const;  // "h2d/pinned", "h2d/pinned/in-flight:8", "d2h/pageable/pages:cold"
  bool plain() const { return in_flight == 1 && !first_touch; }
};

// A point's params.
struct CopyParams {
  CopyWay way{};
  double bytes = 0;    // of one copy; a whole number
  std::string node{};  // NUMA node of the host memory

  Json to_json() const;
};
// Those that are missing have their defaults. Throws Json::exception.
std::optional<CopyParams> read_copy_params(const Json& params);

// Points that differ in size alone, growing.
struct CopySeries : CopyWay {
  std::vector<SizePoint> points{};
  std::optional<SizeCurve> curve{};  // of a plain one, where it can be fitted

  // Of at least three sizes; fewer tell no latency.
  bool has_model() const { return curve && points.size() >= 3; }
  std::string model_name() const { return "model/" + label(); }  // of the finding
  const SizePoint* at(double bytes) const;
  std::vector<std::string> names() const;
  // The point that copies so many bytes, or those on either side of it.
  std::vector<std::string> names_near(double bytes) const;
};

// In the order of directions and kinds; points without CopyParams are left out.
std::vector<CopySeries> copy_series(const ResultDocument& document);

const CopySeries* find_series(const std::vector<CopySeries>& all, const std::string& label);

// The largest size that both were measured at.
struct SameSize {
  const SizePoint* one = nullptr;
  const SizePoint* other = nullptr;
};
std::optional<SameSize> largest_of_both(const CopySeries* one, const CopySeries* other);

}  // namespace bench::sweeps
