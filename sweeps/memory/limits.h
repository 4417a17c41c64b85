// Which batch of each series fits below each memory cap: by plan, then tried on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "bench/sweep.h"
#include "sweeps/memory/plan.h"

namespace bench::sweeps {

// One limit tried on the device with the device's cap set to it: an allocation beyond the cap is refused, as
// a smaller device would.
struct LimitTrial {
  std::optional<std::string> not_tried{};  // why; then nothing else is known
  std::int64_t largest_batch = 0;          // that could be allocated
  std::optional<std::int64_t> refused_batch{};
  int probes = 0;
  std::int64_t tracked_bytes = 0;  // of the largest batch
  bool ran_a_step = false;
};

// Why a limit was not tried: making its batch takes longer than the time budget leaves.
inline constexpr std::string_view kNoTimeToTry = "the time budget leaves less than a trial takes";

// Which batch of a series fits below a cap, by plan.
struct Limit {
  std::string label{};  // of the series
  Json params{};        // of the series: a point's, without the batch
  // Of these, see describe(). Not in the file.
  std::string mode{};
  Dtype dtype = Dtype::fp32;
  std::string kind{};  // the label without its dtype
  std::int64_t cap_bytes = 0;
  std::int64_t fixed_bytes = 0;  // weights, gradients and optimizer state
  std::int64_t setup_bytes = 0;  // held during setup
  std::int64_t smallest_batch = 0;
  std::int64_t smallest_bytes = 0;
  std::int64_t largest_batch = 0;  // below the cap; 0: none
  std::optional<std::int64_t> largest_bytes{};
  std::int64_t input_bytes = 0;  // of these, written when the batch is made; 0 in a limit read from a file
  std::optional<std::int64_t> next_bytes{};       // of the next larger batch
  std::optional<std::string> next_unsupported{};  // why there is none, whatever memory there were
  std::int64_t safe_batch = 0;                    // the largest that takes less than 90 % of the cap
  std::optional<LimitTrial> proof{};

  bool tried() const { return proof && !proof->not_tried; }
  // As tried, where it was tried.
  std::int64_t known_largest() const { return tried() ? proof->largest_batch : largest_batch; }
  bool fixed_part_is_too_large() const { return fixed_bytes > cap_bytes && known_largest() == 0; }
};

struct Limits {
  struct LeftOut {
    std::int64_t count = 0;
    std::string reason;
  };
  std::vector<Limit> all;           // one for each series and cap
  std::optional<LeftOut> left_out;  // were not planned

  const Limit* find(std::string_view label, std::int64_t cap_bytes) const;  // nullptr: not there
  // Takes over what an earlier process planned, without its proofs, where it is left out here.
  void adopt(const Limits& before);
};

// Sets mode, dtype and kind by the params, and says whether these are a point's.
bool describe(Limit& limit, const Json& axes);

// The file's "limits"; read, they are not described yet. Throws UsageError.
Json written_value(const Limit& limit);
void read_value(const Field& field, Limit& limit);

// Plans the limits that `limits` lacks, caps growing; a series that the device does not support has none.
// Nothing is allocated. Where `end` gives a reason, the rest is left out.
void predict_limits(const SweepRequest& request, const SweepPlan& plan, Device& device,
                    const PlanningEnd& end, Limits& limits);

// Tries the limits and saves the study after each. Those that `before`, of the process that lost the device,
// has tried are not tried again. If the device is lost, its limit records that and DeviceLost passes.
void prove_limits(SweepStudy& study, const std::vector<StudiedSeries>& all, const Limits& before,
                  Limits& limits);

// largest_batch/<cap> for each cap, over all series; by cap. `asked`: the batch, where exactly one was asked
// for.
std::vector<Finding> claim_largest(const Limits& limits, std::optional<std::int64_t> asked);
// limits_left_out; nullopt where none is.
std::optional<Finding> claim_left_out(const Limits& limits);

// A row for each cap and series: the largest batch, its headroom, the safe one, whether it was proved, and
// the saturation batch.
std::vector<TextTable> limit_tables(const Limits& limits, const std::vector<BatchSeries>& all);

}  // namespace bench::sweeps
