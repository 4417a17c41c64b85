// Whether a batch fits below a memory cap: what the memory sweep answers. Findings put it into words.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/dtype.h"
#include "sweeps/memory/limits.h"
#include "sweeps/memory/soak.h"
#include "sweeps/series/findings.h"

namespace bench::sweeps {

enum class FitsCap {
  yes,    // every series, below 90 % of the cap
  tight,  // every series, but not all of them below 90 %
  some,   // not every series
  no,
};
std::string_view name_of(FitsCap fit);

// The batches of a mode in one dtype: of its options those that take most.
struct DtypeFit {
  Dtype dtype = Dtype::fp32;
  std::int64_t safe_batch = 0;
  std::int64_t largest_batch = 0;
};

struct ModeFit {
  std::string mode;         // "train"
  std::string hungriest;    // "training with adam": the series that takes most, without its dtype
  bool of_several = false;  // options; `hungriest` is one of them
  std::vector<DtypeFit> dtypes{};
};

struct FitAnswer {
  std::int64_t cap_bytes = 0;
  std::optional<std::int64_t> asked{};  // the batch asked for; none: whether any fits
  FitsCap fit = FitsCap::no;
  std::vector<ModeFit> modes{};
};

// Below the largest batch that is proved, where one was tried; below 90 % of the cap by plan.
std::int64_t safe_batch(const Limit& limit);

// `limits`: of one cap, at least one. `asked`: the batch, where exactly one was asked for.
FitAnswer fit_of(const std::vector<Limit>& limits, std::optional<std::int64_t> asked);

// "Yes, batch 32 fits in 8.00 GiB".
std::string verdict_in_words(const FitAnswer& answer);
// "up to batch 37 in fp32, 64 in bf16 and fp16 (training with adam, which takes most)".
std::string batches_in_words(const FitAnswer& answer);

// The memory line, with how far from proportional it is.
Finding claim_growing_memory(const BatchSeries& series);
// Where in a step memory peaks; nullopt where the plan does not tell.
std::optional<Finding> claim_peak(const BatchSeries& series);
// Weights, gradients and optimizer state as multiples of the weights, for each optimizer; nullopt without
// training in the dtype.
std::optional<Finding> claim_multiples(const std::vector<BatchSeries>& all, Dtype dtype);
// Memory of a sample in training and in inference, compared with its feature maps; nullopt where one of the
// two was not measured in the dtype.
std::optional<Finding> claim_activations(const std::vector<BatchSeries>& all, Dtype dtype);
// The system's count of memory, compared with the plan, and with the plan calibrated on two small batches.
std::optional<Finding> claim_system(const std::vector<BatchSeries>& all);

// What a long run shows; none where its samples are too few.
struct SoakAnswer {
  Soak soak;
  std::optional<MemoryGrowth> growth{};
};

// What the sweep knows when it ends; a file of it holds the same.
struct MemoryAnswer {
  std::vector<BatchSeries> series;
  std::map<std::int64_t, std::int64_t> largest{};  // batch of any series, by cap; 0: none fits
  std::vector<SoakAnswer> soaks{};
};
MemoryAnswer memory_answer(const ResultDocument& document, const std::vector<Limit>& limits,
                           const std::vector<Soak>& soaks);
// Of a file. Throws UsageError where its limits or its soak are not so.
MemoryAnswer memory_answer(const ResultDocument& document);

// memory_growth/<series>.
Finding claim_growth(const SoakAnswer& answer, const ResultDocument& document);

// A leak first, then the batches that fit, then the memory by cause. Of a file's findings too.
void choose_memory_headlines(const MemoryAnswer& answer, std::vector<Finding>& findings);

}  // namespace bench::sweeps
