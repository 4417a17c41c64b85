#include "sweeps/cards/options.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "sweeps/cards/workload.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kDefaultBatch = 8;

// One of two words.
std::string word_in(const SweepRequest& request, const std::string& option, const std::string& one,
                    const std::string& other) {
  const std::string& given = request.sweep_options.at(option);
  if (given != one && given != other) {
    throw UsageError(fmt::format("--{}: {} was given; accepted: {} or {}", option, quote(given), one, other));
  }
  return given;
}

bool shards_optimizer(const SweepRequest& request) {
  return word_in(request, "shard", "none", "optimizer") == "optimizer";
}

std::string balance_in(const SweepRequest& request) {
  return word_in(request, "balance", "compute", "memory");
}

std::string modes_in_words(const SweepRequest& request) {
  return quote(fmt::format("{}", fmt::join(request.modes, ",")));
}

void require_trainable(const SweepRequest& request) {
  const WorkloadType& type = *request.workload;
  if (std::ranges::find(type.modes, "train") == type.modes.end() || type.kind != "network") {
    const auto lacks = type.missing_modes.find("train");
    throw UsageError(fmt::format("--workload: {} cannot be trained{}; --sweep cards needs a network that can",
                                 quote(type.name),
                                 lacks == type.missing_modes.end() ? "" : ": " + lacks->second));
  }
}

void require_training(const SweepRequest& request) {
  require_trainable(request);
  if (request.modes != std::vector<std::string>{"train"}) {
    throw UsageError(
        fmt::format("--mode: {} was given; accepted by --sweep cards: train, and infer with --split layers",
                    modes_in_words(request)));
  }
  if (const auto launch = request.workload_options.find("launch");
      launch != request.workload_options.end() && launch->second != std::vector<std::string>{"stream"}) {
    throw UsageError(fmt::format("--launch: {} was given; accepted by --sweep cards: stream",
                                 quote(fmt::format("{}", fmt::join(launch->second, ",")))));
  }
  for (const char* option : {"micro-batches", "balance"}) {
    if (request.given_sweep_options.contains(option)) {
      throw UsageError(fmt::format("--{}: {} was given, but belongs to --split layers", option,
                                   quote(request.sweep_options.at(option))));
    }
  }
}

// A batch through stages is one of all ranks.
void require_stages(const SweepRequest& request) {
  if (request.workload->kind != "network") {
    throw UsageError(fmt::format("--workload: {} has no layers; --split layers needs a network",
                                 quote(request.workload->name)));
  }
  if (shards_optimizer(request)) {
    throw UsageError("--shard: 'optimizer' was given with --split layers; give one of the two");
  }
  for (const char* option : {"bucket", "loader"}) {
    if (request.given_sweep_options.contains(option)) {
      throw UsageError(fmt::format("--{}: {} was given, but says nothing of --split layers; leave it out",
                                   option, quote(request.sweep_options.at(option))));
    }
  }
  if (request.modes == std::vector<std::string>{"train"}) {
    require_trainable(request);
  } else if (request.modes != std::vector<std::string>{"infer"}) {
    throw UsageError(fmt::format("--mode: {} was given; accepted with --split layers: train or infer",
                                 modes_in_words(request)));
  } else if (balance_in(request) != "compute") {
    throw UsageError("--balance: 'memory' was given, but belongs to --mode train");
  }
  if (request.given_sweep_options.contains("scaling") && !is_strong(request)) {
    throw UsageError(
        "--scaling: 'weak' was given; accepted with --split layers: strong, --batch is of all ranks");
  }
}

// The points' specs but for ranks and batch. Throws UsageError.
WorkloadSpec spec_in(const SweepRequest& request) {
  WorkloadSpec spec;
  spec.mode = request.modes.front();
  spec.seed = request.seed;
  for (const auto& [name, values] : option_values(request, spec.mode)) {
    spec.options[name] = values.front();
  }
  if (!request.dtypes.empty() && request.dtypes != std::vector{Dtype::fp32}) {
    throw UsageError("--dtype: accepted by --sweep cards: fp32, in which ranks add up gradients");
  }
  return spec;
}

std::vector<std::int64_t> batches_in(const SweepRequest& request) {
  return request.batches.empty() ? std::vector{kDefaultBatch} : request.batches;
}

std::vector<WorkloadSpec> stage_specs(const SweepRequest& request) {
  require_stages(request);
  WorkloadSpec spec = spec_in(request);
  const auto micro_batches = parse_axis("--micro-batches", request.sweep_options.at("micro-batches"));
  std::vector<WorkloadSpec> specs;
  for (const std::int64_t count : counts_in(request)) {
    for (const std::int64_t batch : batches_in(request)) {
      spec.ranks = static_cast<int>(count);
      spec.batch = batch;
      if (count == 1) {
        specs.push_back(spec);
        continue;
      }
      for (const std::int64_t parts : micro_batches) {
        specs.push_back(spec);
        split_layers(specs.back(), parts, balance_in(request));
      }
    }
  }
  return specs;
}

// With strong scaling each with its share of the batch.
std::vector<WorkloadSpec> training_specs(const SweepRequest& request) {
  require_training(request);
  WorkloadSpec spec = spec_in(request);
  spec.bucket = bucket_in(request);
  const bool strong = is_strong(request);
  const bool shard = shards_optimizer(request);
  std::vector<WorkloadSpec> specs;
  for (const std::int64_t count : counts_in(request)) {
    for (const std::int64_t batch : batches_in(request)) {
      if (strong && batch % count != 0) {
        throw UsageError(
            fmt::format("--batch: {} was given, which {} ranks cannot share; accepted with --scaling strong: "
                        "multiples of every number of ranks",
                        batch, count));
      }
      spec.ranks = static_cast<int>(count);
      spec.shard_optimizer = shard && count > 1;
      spec.batch = strong ? batch / count : batch;
      specs.push_back(spec);
    }
  }
  return specs;
}

}  // namespace

bool is_strong(const SweepRequest& request) {
  return word_in(request, "scaling", "weak", "strong") == "strong";
}

bool is_split(const SweepRequest& request) {
  return word_in(request, "split", "none", "layers") == "layers";
}

std::vector<std::int64_t> counts_in(const SweepRequest& request) {
  const auto started = static_cast<std::int64_t>(request.places.size());
  const std::string& given = request.sweep_options.at("cards");
  std::vector<std::int64_t> counts;
  if (given != "auto") {
    counts = parse_axis("--cards", given);
    if (counts.back() > started) {
      throw UsageError(fmt::format("--cards: {} was given; accepted: up to {}, the ranks that were started",
                                   quote(given), started));
    }
    return counts;
  }
  for (std::int64_t count = 1; count < started; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(started);
  return counts;
}

std::int64_t bucket_in(const SweepRequest& request) {
  constexpr std::int64_t kMost = std::int64_t{8} << 30;  // that an MPI sends at a time
  const std::int64_t bytes = parse_bytes("--bucket", request.sweep_options.at("bucket"));
  if (bytes < 1 || bytes > kMost) {
    throw UsageError(fmt::format("--bucket: {} was given; accepted: 1B to {}",
                                 quote(request.sweep_options.at("bucket")), format_bytes(kMost)));
  }
  return bytes;
}

std::vector<WorkloadSpec> specs_in(const SweepRequest& request) {
  return is_split(request) ? stage_specs(request) : training_specs(request);
}

}  // namespace bench::sweeps
