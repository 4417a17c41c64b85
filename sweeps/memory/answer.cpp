#include "sweeps/memory/answer.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/finding.h"
#include "bench/result/json_members.h"
#include "bench/stats/growth.h"
#include "bench/stats/memory_line.h"
#include "bench/text/units.h"
#include "sweeps/memory/plan.h"

namespace bench::sweeps {
namespace {

// Those that fit, counted: as asked, or at all.
struct Counts {
  std::size_t safe = 0;
  std::size_t fitting = 0;
};

FitsCap verdict(const Counts& counts, std::size_t all) {
  return counts.safe == all      ? FitsCap::yes
         : counts.fitting == all ? FitsCap::tight
         : counts.fitting > 0    ? FitsCap::some
                                 : FitsCap::no;
}

template <class T, class Matches>
T& found_or_added(std::vector<T>& all, const Matches& matches, T made) {
  const auto at = std::ranges::find_if(all, matches);
  return at != all.end() ? *at : all.emplace_back(std::move(made));
}

void add(const Limit& limit, std::vector<ModeFit>& modes) {
  ModeFit& mode = found_or_added(
      modes, [&](const ModeFit& one) { return one.mode == limit.mode; }, ModeFit{limit.mode, limit.kind});
  const DtypeFit fit{limit.dtype, safe_batch(limit), limit.known_largest()};
  DtypeFit& dtype = found_or_added(
      mode.dtypes, [&](const DtypeFit& one) { return one.dtype == fit.dtype; }, fit);
  mode.of_several = mode.of_several || limit.kind != mode.hungriest;
  if (std::pair(fit.safe_batch, fit.largest_batch) < std::pair(dtype.safe_batch, dtype.largest_batch)) {
    dtype = fit;
    mode.hungriest = limit.kind;
  }
}

// Those of a mode: safe ones, or where no batch is, the largest.
std::int64_t batch_of(const DtypeFit& dtype, bool safe) {
  return safe ? dtype.safe_batch : dtype.largest_batch;
}

// "37 in fp32, 64 in bf16 and fp16 (training with adam, which takes most)".
std::string in_words(const ModeFit& mode, bool safe) {
  std::vector<std::pair<std::int64_t, std::vector<std::string_view>>> by_batch;
  for (const DtypeFit& dtype : mode.dtypes) {
    const std::int64_t batch = batch_of(dtype, safe);
    found_or_added(
        by_batch, [&](const auto& one) { return one.first == batch; },
        std::pair(batch, std::vector<std::string_view>{}))
        .second.push_back(name_of(dtype.dtype));
  }
  std::vector<std::string> parts;
  for (const auto& [batch, dtypes] : by_batch) {
    parts.push_back(
        fmt::format("{} in {}", batch == 0 ? "none" : fmt::format("{}", batch), fmt::join(dtypes, " and ")));
  }
  return fmt::format("{} ({}{})", fmt::join(parts, ", "), mode.hungriest,
                     mode.of_several ? ", which takes most" : "");
}

}  // namespace

std::string_view name_of(FitsCap fit) {
  return fit == FitsCap::yes ? "yes" : fit == FitsCap::tight ? "tight" : fit == FitsCap::some ? "some" : "no";
}

std::int64_t safe_batch(const Limit& limit) {
  return std::min(limit.safe_batch, limit.known_largest());
}

FitAnswer fit_of(const std::vector<Limit>& limits, std::optional<std::int64_t> asked) {
  FitAnswer answer{.cap_bytes = limits.front().cap_bytes, .asked = asked};
  Counts counts;
  for (const Limit& limit : limits) {
    const std::int64_t least = asked.value_or(1);
    counts.safe += safe_batch(limit) >= least ? 1 : 0;
    counts.fitting += limit.known_largest() >= least ? 1 : 0;
    add(limit, answer.modes);
  }
  answer.fit = verdict(counts, limits.size());
  return answer;
}

std::string verdict_in_words(const FitAnswer& answer) {
  const std::string cap = format_bytes(answer.cap_bytes);
  const std::string batch = answer.asked ? fmt::format("batch {}", *answer.asked) : "";
  switch (answer.fit) {
    case FitsCap::yes:
      return answer.asked ? fmt::format("Yes, {} fits in {}", batch, cap) : "Fits in " + cap;
    case FitsCap::tight:
      return answer.asked ? fmt::format("Tight: {} fits in {}, but fills over 90 % of it", batch, cap)
                          : fmt::format("Tight in {}: over 90 % of it is filled", cap);
    case FitsCap::some:
      return answer.asked ? fmt::format("In part: {} fits in {} in some series only", batch, cap)
                          : fmt::format("In part: some series fit in {}", cap);
    case FitsCap::no:
      break;
  }
  return answer.asked ? fmt::format("No, {} does not fit in {}", batch, cap) : "Does not fit in " + cap;
}

std::string batches_in_words(const FitAnswer& answer) {
  const auto any = [&](bool safe) {
    return std::ranges::any_of(answer.modes, [&](const ModeFit& mode) {
      return std::ranges::any_of(mode.dtypes,
                                 [&](const DtypeFit& dtype) { return batch_of(dtype, safe) > 0; });
    });
  };
  const bool safe = any(true);
  std::vector<std::string> modes;
  for (const ModeFit& mode : answer.modes) {
    modes.push_back(in_words(mode, safe));
  }
  const std::string most = safe ? fmt::format("safe (below {}) up to batch ", format_percent(kSafeShare))
                                : std::string(any(false) ? "up to batch " : "");
  return most + fmt::format("{}", fmt::join(modes, "; "));
}

MemoryAnswer memory_answer(const ResultDocument& document, const std::vector<Limit>& limits,
                           const std::vector<Soak>& soaks) {
  MemoryAnswer answer{.series = read_series(document, [&](const BatchParams& params) {
                        return memory_label(params, document.sweep.axes);
                      })};
  for (const Limit& limit : limits) {
    std::int64_t& largest = answer.largest[limit.cap_bytes];
    largest = std::max(largest, limit.known_largest());
  }
  for (const Soak& soak : soaks) {
    answer.soaks.push_back({soak, find_growth(soak.seen)});
  }
  return answer;
}

MemoryAnswer memory_answer(const ResultDocument& document) {
  const Field sweep(document.sweep.state, "sweep");
  std::vector<Limit> limits;
  std::vector<Soak> soaks;
  JsonReader io(sweep);
  io.maybe("limits", limits);
  io.maybe("soak", soaks);
  return memory_answer(document, limits, soaks);
}

void choose_memory_headlines(const MemoryAnswer& answer, std::vector<Finding>& findings) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name, std::size_t most, const std::vector<std::string>& labels) {
    for (const std::string& label : labels) {
      const std::string full = fmt::format("{}/{}", name, label);
      if (most > 0 && find_finding(findings, full) != nullptr) {
        names.push_back(full);
        --most;
      }
    }
  };
  std::vector<std::string> soaked;
  std::vector<std::string> growing;  // surely
  for (const SoakAnswer& one : answer.soaks) {
    soaked.push_back(one.soak.label);
    if (one.growth && one.growth->grows) {
      growing.push_back(one.soak.label);
    }
  }
  add("memory_growth", 2, growing);
  // The smallest cap that holds a batch, and the largest cap.
  const auto fits =
      std::ranges::find_if(answer.largest, [](const auto& of_cap) { return of_cap.second > 0; });
  if (fits != answer.largest.end()) {
    names.push_back(fmt::format("largest_batch/{}", fits->first));
  }
  if (!answer.largest.empty()) {
    names.push_back(fmt::format("largest_batch/{}", answer.largest.rbegin()->first));
  }
  names.emplace_back("limits_left_out");
  std::vector<std::string> dtypes;
  std::vector<std::string> series;
  std::vector<std::string> lines;  // two points make one that the plan of larger batches may be far from
  for (const BatchSeries& one : answer.series) {
    dtypes.emplace_back(name_of(one.params.dtype));
    series.push_back(one.label);
    if (one.points.size() > 2) {
      lines.push_back(one.label);
    }
  }
  add("activations_per_sample", 1, dtypes);
  add("optimizer_multiple", 1, dtypes);
  add("memory_growth", 1, soaked);
  add("peak", 1, series);
  add("memory_line", 1, lines);
  add("ceiling_batch", 1, series);
  names.emplace_back("system_memory");
  set_headlines(findings, names);
}

}  // namespace bench::sweeps
