#include "bench/commands/stand_in.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/advise/measured_cards.h"
#include "bench/cli/workload_names.h"
#include "bench/commands/network_words.h"
#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/modelled.h"
#include "bench/predicted_step.h"
#include "bench/registry.h"
#include "bench/result/result.h"
#include "bench/run/gpu_files.h"
#include "bench/run/result_file.h"
#include "bench/run/whole_file.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

// A sequence of 0 selects the network's default.
std::set<std::int64_t> asked(std::int64_t now, const std::optional<std::int64_t>& proposed) {
  std::set<std::int64_t> values{now};
  if (proposed) {
    values.insert(*proposed);
  }
  return values;
}

std::set<std::int64_t> batches_of(const Observed& observed) {
  constexpr std::size_t kMostBatches = 8;
  std::set<std::int64_t> batches(observed.batches_tried.begin(), observed.batches_tried.end());
  for (const MemoryPoint& at : observed.memory_at_batch) {
    batches.insert(at.batch);
  }
  if (observed.runs_at_batch) {
    batches.insert(*observed.runs_at_batch);
  }
  if (batches.empty()) {
    batches = asked(std::max<std::int64_t>(observed.settings.batch, 1),
                    observed.proposed ? observed.proposed->batch : std::nullopt);
  }
  while (batches.size() > kMostBatches) {
    batches.erase(std::prev(batches.end()));
  }
  return batches;
}

// Fast and slow ones: who writes readings seldom knows the link.
std::vector<Link> typical_links() {
  std::vector<Link> links;
  for (const char* const id : {"nvlink2", "pcie4", "pcie3", "eth-25g", "eth-10g"}) {
    links.push_back(link_catalogue().get("--link", id));
  }
  return links;
}

}  // namespace

std::optional<StandIn> plan_stand_in(const Observed& observed) {
  if (observed.stand_in.empty()) {
    return std::nullopt;
  }
  const WorkloadType* const type = workload_called(observed.stand_in);
  if (type == nullptr || !is_network(*type)) {
    throw UsageError(
        unknown_value("--observed: " + observed.source + ": stand_in", observed.stand_in, network_names()));
  }
  constexpr const char* kCard = "t4";
  const auto& kinds = registry<ModelledDevices>().entries();
  if (kinds.empty()) {
    return std::nullopt;
  }
  const auto device = kinds.front()->open(kCard, {});
  StandIn stand_in{.name = type->name,
                   .planned_for = fmt::format("eager PyTorch by the model of a {}", kCard),
                   .optimizer = observed.optimizer.empty()      ? "sgd"
                                : observed.optimizer == "adamw" ? "adam"
                                                                : observed.optimizer,
                   .plans = {},
                   .links = {.links = typical_links(), .losses = {}, .slowed = link_catalogue().slowed}};
  const bool reads_text =
      std::ranges::find(type->options, "sequence", &CommandOption::name) != type->options.end();
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    for (const std::int64_t batch : batches_of(observed)) {
      const auto sequences = reads_text
                                 ? asked(observed.sequence.value_or(0),
                                         observed.proposed ? observed.proposed->sequence : std::nullopt)
                                 : std::set<std::int64_t>{0};
      for (const std::int64_t sequence : sequences) {
        WorkloadSpec spec{.mode = observed.mode, .dtype = dtype, .batch = batch, .options = {}};
        for (const CommandOption& option : type->options) {
          if (option.mode.empty() || option.mode == spec.mode) {
            spec.options[option.name] = option.default_value;
          }
        }
        if (spec.options.contains("optimizer")) {
          spec.options["optimizer"] = stand_in.optimizer;
        }
        if (sequence > 0) {
          spec.options["sequence"] = fmt::format("{}", sequence);
        }
        try {
          const auto workload = type->configure(spec);
          if (const auto composition =
                  stand_in.plans.empty() ? workload->composition(*device) : std::nullopt) {
            stand_in.largest_parameter = static_cast<double>(composition->largest_parameter) /
                                         static_cast<double>(composition->parameters);
          }
          stand_in.plans.push_back({.batch = batch,
                                    .sequence = sequence > 0 ? std::optional(sequence) : std::nullopt,
                                    .dtype = std::string(name_of(dtype)),
                                    .memory = plan_on(*device, *workload, spec)});
        } catch (const OutOfMemory&) {  // a batch too large to be counted: no row
        } catch (const Unsupported&) {
        } catch (const UsageError& error) {
          throw UsageError(fmt::format(
              "--observed: {}: stand_in {} at batch {}{}: {}", observed.source, stand_in.name, batch,
              sequence > 0 ? fmt::format(" and sequence {}", sequence) : "", error.what()));
        }
      }
    }
  }
  return stand_in;
}

std::optional<StandInRun> read_stand_in_run(const Observed& observed, const std::filesystem::path& folder) {
  if (observed.stand_in_run.empty()) {
    return std::nullopt;
  }
  const std::string path = (folder / observed.stand_in_run).lexically_normal().string();
  const std::string option = fmt::format("--observed: {}: stand_in_run", observed.source);
  try {
    const ResultDocument document = read_result(path);
    if (document.sweep.name != "cards") {
      throw UsageError(fmt::format("{} is of the {} sweep; accepted: a result of bench --sweep cards",
                                   quote(path), printable(document.sweep.name)));
    }
    StandInRun run{.path = path_in_words(path)};
    constexpr std::size_t kLongestClaim = 4096;
    const CardsFindings findings(document);
    std::vector<const Finding*> told = findings.steps;
    told.insert(told.end(), {findings.limit, findings.memory, findings.ranks});
    for (const Finding* const finding : told) {
      if (finding != nullptr) {
        run.findings.push_back(printable(finding->claim, kLongestClaim));
      }
    }
    return run;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace bench
