// The roofline model (Williams, Waterman, Patterson 2009, doi 10.1145/1498765.1498785): an operation that
// does I floating-point operations for each byte it moves can run no faster than min(arithmetic peak, I ·
// bandwidth).
//
// Both ceilings are measured, by the points of the same result: the best arithmetic rate in a dtype, and the
// best that a stream kernel gets out of memory with cold caches and arrays beyond them. An operation whose
// data stay in a cache may pass the sloped part; bytes count each operand once, whatever the caches make of
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

struct KernelPoint {
  std::string name;
  std::string workload;  // "gemm"
  std::string mode;
  std::string dtype;
  std::string caches;  // "hot" or "cold"
  double samples = 0;  // of a step
  double flops = 0;    // of a step
  double bytes = 0;    // of a step
  double median_ns = 0;
  Interval ci95_ns{};
  std::vector<std::string> flags{};

  double bytes_per_s() const { return bytes / (median_ns * 1e-9); }
  double flops_per_s() const { return flops / (median_ns * 1e-9); }
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }  // FLOP/B
};

// A point above the peak computed something else, or read what it should not have: it proves nothing.
bool trusted(const KernelPoint& point);

// Measured points of a known form, in the order of the file.
std::vector<KernelPoint> kernel_points(const ResultDocument& document);

struct RoofCeiling {
  double rate = 0;  // FLOP/s or B/s
  Interval ci95{};
  std::string name{};  // of the point that reached it
};

struct Roofline {
  std::optional<RoofCeiling> memory;  // best stream kernel that shows_memory(); B/s, reads and writes
  std::map<std::string, RoofCeiling> compute;  // by dtype; FLOP/s

  // FLOP/s; nullopt where a ceiling that it needs was not measured.
  std::optional<double> limit(const KernelPoint& point) const;
  // The same from the ceilings' lower and from their upper ends.
  std::optional<Interval> limit_ci95(const KernelPoint& point) const;
  // FLOP/B above which arithmetic is the limit.
  std::optional<double> ridge(const std::string& dtype) const;
};

// Bytes of the largest cache that the document's device is known to have; 0 where nothing tells.
double last_cache_bytes(const ResultDocument& document);

// A cold stream kernel that touches at least twice the last cache (and 16 MiB). Beyond that a rate still
// depends a little on the size, and the largest arrays are not always the fastest.
bool shows_memory(const KernelPoint& point, double cache_bytes);

// Memory's ceiling is the best of the points that show it, whatever their kernel and size; the arithmetic
// ones come from other points that memory does not limit.
Roofline roofline_of(const std::vector<KernelPoint>& points, double cache_bytes);

}  // namespace bench::sweeps
