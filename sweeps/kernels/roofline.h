// The roofline model (Williams, Waterman, Patterson 2009, doi 10.1145/1498765.1498785): an operation that
// does I floating-point operations for each byte it moves can run no faster than min(arithmetic peak, I ·
// bandwidth).
//
// Both ceilings are measured, by the points of the same result: the best arithmetic rate in a dtype, and the
// best that a stream kernel gets out of memory with cold caches and arrays beyond them. An operation whose
// data stay in a cache may pass the sloped part; bytes count each operand once, whatever the caches make of
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "bench/stats/estimate.h"
#include "bench/stats/paired_ratio.h"

namespace bench::sweeps {

inline constexpr std::string_view kTensorCores = "tensor-cores";  // a mode of multiply-adds

// A point's params, as far as findings ask for them.
struct KernelParams {
  std::string workload;  // "gemm"
  std::string mode;
  std::string dtype;
  bool cold = false;  // caches
};
// nullopt for no object. Throws Json::exception where a param is of another type.
std::optional<KernelParams> read_kernel_params(const Json& params);

// A point, measured or predicted.
struct KernelResult : KernelParams {
  std::string name{};
  double samples = 0;  // of a step, as all below
  std::int64_t launches = 0;
  double flops = 0;
  double bytes = 0;
  Estimate step_ns{};
  RoundTimes rounds{};
  bool above_peak = false;  // it computed something else, or read what it should not have: it proves nothing
  std::string mark{};       // "○": it carries a flag that others lack
  std::optional<Interval> step80_ns{};  // of a predicted one

  Estimate bandwidth() const { return inverse(step_ns, bytes * 1e9); }        // B/s
  Estimate rate() const { return inverse(step_ns, flops * 1e9); }             // FLOP/s
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }          // FLOP/B
  bool is_stream() const { return workload == "stream"; }                     // moves data, and little else
  std::string short_name() const { return name.substr(name.find('/') + 1); }  // without the sweep's
};

// In the order of the file, measured or predicted; points without KernelParams are left out.
std::vector<KernelResult> read_results(const ResultDocument& document);

struct RoofCeiling {
  Estimate rate{};     // FLOP/s or B/s
  std::string name{};  // of the point that reached it
  std::vector<std::string>
      rivals{};  // names of others that may be as fast: `rate` counts them, see best_estimate()
};

// The fastest of some points by one of their rates; nullopt for no points, or where none has a rate.
std::optional<RoofCeiling> ceiling_of(const std::vector<const KernelResult*>& points,
                                      Estimate (KernelResult::*rate)() const);

// The cost of starting a kernel and waiting for its end, from the point of the `launch` workload that starts
// one; nullptr where there is none, as without a GPU.
const KernelResult* launch_point(const std::vector<KernelResult>& points);

struct Roofline {
  std::optional<RoofCeiling> memory;  // best stream kernel that shows_memory(); B/s, reads and writes
  std::map<std::string, RoofCeiling> compute;  // by dtype; FLOP/s
  std::optional<Estimate> launch_ns;           // of launch_point()

  // FLOP/s; nullopt where a ceiling that it needs was not measured.
  std::optional<Estimate> limit(const KernelResult& point) const;
  // FLOP/B above which arithmetic is the limit.
  std::optional<Estimate> ridge(const std::string& dtype) const;
};

// Bytes of the largest cache that the document's device is known to have; 0: unknown.
double last_cache_bytes(const RunContext& context);

// At least twice the last cache, and 16 MiB: what a cache keeps of them from one step to the next, or does
// not write back within the step, hardly counts.
bool is_beyond_caches(double bytes, double cache_bytes);

// A cold stream kernel that touches so much. Beyond that a rate still depends a little on the size, and the
// largest arrays are not always the fastest.
bool shows_memory(const KernelResult& point, double cache_bytes);

// Memory's ceiling is the best of the points that show it, whatever their kernel and size; the arithmetic
// ones come from other points that memory does not limit. best_estimate() takes the luck out of the choice.
Roofline roofline_of(const std::vector<KernelResult>& points, double cache_bytes);

// Whether the run ended after the points that set the roofline, with no other to compare with it.
// `references`: their names.
bool only_references_timed(const ResultDocument& document, const std::set<std::string>& references);

// roofline_of() the document's points; empty where only_references_timed(); of the data sheet where the
// device is not here, under this name.
inline constexpr const char* kDataSheet = "data sheet";
Roofline roofline_in(const ResultDocument& document, const std::set<std::string>& references);

}  // namespace bench::sweeps
