// Which batch fits, and whether it goes on fitting.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/measure/growth.h"
#include "bench/measure/headroom.h"
#include "bench/measure/units.h"
#include "sweeps/memory/claims.h"

namespace bench::sweeps {
namespace {

const Json& list_in(const ResultDocument& document, const char* name) {
  static const Json kNothing = Json::array();
  return document.sweep.is_object() && document.sweep.contains(name) && document.sweep[name].is_array()
             ? document.sweep[name]
             : kNothing;
}

// What is held whatever the batch, by plan, and no trial on the device says otherwise.
bool fixed_part_is_too_large(const Json* limit) {
  const Json proof = limit->value("proof", Json());
  return (*limit)["fixed_bytes"].get<std::int64_t>() > (*limit)["cap_bytes"].get<std::int64_t>() &&
         (!proof.is_object() || proof.value("largest_batch", std::int64_t{0}) == 0);
}

std::string fit_in_words(const Json& limit) {
  const auto label = limit["label"].get<std::string>();
  const auto planned = limit["largest_batch"].get<std::int64_t>();
  const Json proof = limit.value("proof", Json());
  const auto largest = proof.is_object() ? proof.value("largest_batch", planned) : planned;
  if (largest == 0) {
    const std::string fixed = format_bytes(limit["fixed_bytes"].get<std::int64_t>());
    return fixed_part_is_too_large(&limit)
               ? fmt::format("{}: none; the fixed part alone takes {}", label, fixed)
               : fmt::format("{}: none; batch {} needs {}, of which the fixed part takes {}", label,
                             limit["smallest_batch"].get<std::int64_t>(),
                             format_bytes(limit["smallest_bytes"].get<std::int64_t>()), fixed);
  }
  std::string words = fmt::format("{}: batch {}", label, largest);
  if (proof.is_object() && proof.contains("largest_batch") && largest != planned) {
    words += fmt::format(" (the plan says {})", planned);
  } else if (limit.contains("largest_bytes")) {
    const double share = limit["largest_bytes"].get<double>() / limit["cap_bytes"].get<double>();
    const auto safe = limit["safe_batch"].get<std::int64_t>();
    words += fmt::format(" ({}, {}; {})", format_percent(share), name_of(headroom(share)),
                         safe == 0 ? "none is safe" : fmt::format("safe up to {}", safe));
  }
  return words;
}

// One of several caps is below what every series holds whatever the batch.
std::string nothing_fits(std::int64_t cap, const std::vector<const Json*>& limits) {
  const auto bytes = [](const char* name) {
    return [name](const Json* limit) { return (*limit)[name].get<std::int64_t>(); };
  };
  const Json& fixed = **std::ranges::min_element(limits, {}, bytes("fixed_bytes"));
  const Json& smallest = **std::ranges::min_element(limits, {}, bytes("smallest_bytes"));
  return fmt::format(
      "Within {} fits nothing: the fixed part alone takes {} ({}); give at least {} ({}, batch {}).",
      format_bytes(cap), format_bytes(fixed["fixed_bytes"].get<std::int64_t>()),
      fixed["label"].get<std::string>(), format_bytes(smallest["smallest_bytes"].get<std::int64_t>()),
      smallest["label"].get<std::string>(), smallest["smallest_batch"].get<std::int64_t>());
}

}  // namespace

std::vector<Finding> claim_largest(const ResultDocument& document) {
  std::vector<Finding> findings;
  std::vector<std::pair<std::int64_t, std::vector<const Json*>>> by_cap;
  for (const Json& limit : list_in(document, "limits")) {
    const auto cap = limit["cap_bytes"].get<std::int64_t>();
    auto at = std::ranges::find(by_cap, cap, [](const auto& entry) { return entry.first; });
    if (at == by_cap.end()) {
      at = by_cap.insert(by_cap.end(), {cap, {}});
    }
    at->second.push_back(&limit);
  }
  for (const auto& [cap, limits] : by_cap) {
    Finding finding = finding_of(fmt::format("largest_batch/{}", cap), "samples");
    std::vector<std::string> words;
    std::size_t proved = 0;
    std::size_t agreed = 0;
    finding.details = {{"cap_bytes", cap}};
    for (const Json* limit : limits) {
      words.push_back(fit_in_words(*limit));
      const Json proof = limit->value("proof", Json());
      Json largest = (*limit)["largest_batch"];
      if (proof.is_object() && proof.contains("largest_batch")) {
        ++proved;
        agreed += proof["largest_batch"] == largest ? 1 : 0;
        largest = proof["largest_batch"];
      }
      const auto batch = largest.get<double>();
      finding.value = std::max(finding.value.value_or(0), batch);
    }
    finding.details["series"] = limits.size();
    if (std::ranges::all_of(limits, fixed_part_is_too_large)) {
      finding.claim = nothing_fits(cap, limits);
      finding.value = 0;
      findings.push_back(std::move(finding));
      continue;
    }
    finding.details["proved"] = proved;
    finding.details["agreed"] = agreed;
    const std::string proof = proved == 0 ? "by plan; not tried here"
                              : agreed == proved && proved == limits.size()
                                  ? "by plan, and proved: each was allocated, and the next larger one refused"
                                  : fmt::format("by plan; {} of {} were tried, {} of them as planned", proved,
                                                limits.size(), agreed);
    finding.claim = fmt::format("Within {} fit: {} ({}).", format_bytes(cap), fmt::join(words, "; "), proof);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> claim_growth(const ResultDocument& document) {
  std::vector<Finding> findings;
  for (const Json& soak : list_in(document, "soak")) {
    const auto label = soak["label"].get<std::string>();
    std::vector<MemorySample> seen;
    std::vector<MemorySample> tracked;
    for (const Json& sample : soak["samples"]) {
      seen.push_back({sample[0].get<std::int64_t>(), sample[1].get<std::int64_t>()});
      tracked.push_back({sample[0].get<std::int64_t>(), sample[2].get<std::int64_t>()});
    }
    const auto done = soak["done_steps"].get<std::int64_t>();
    Finding finding = finding_of("memory_growth/" + label, "bytes/step", {soak["point"].get<std::string>()});
    const std::string what = fmt::format("{}, batch {}", label, soak["batch"].get<std::int64_t>());
    const std::string short_of =
        done < soak["wanted_steps"].get<std::int64_t>()
            ? fmt::format(
                  " (of {} wanted: {})", soak["wanted_steps"].get<std::int64_t>(),
                  soak.value("ended_by", std::string("the time budget ended, or the run was interrupted")))
            : "";
    const auto growth = find_growth(seen);
    if (!growth) {
      finding.claim =
          fmt::format("{}: {} steps{} are too few to tell growth from noise.", what, done, short_of);
      findings.push_back(std::move(finding));
      continue;
    }
    finding.value = growth->bytes_per_step.value;
    finding.ci95 = growth->bytes_per_step.ci95;
    finding.details = {{"steps", done},
                       {"grows", growth->grows},
                       {"first_step", growth->first_step},
                       {"last_step", growth->last_step}};
    const auto signed_bytes = [](double bytes) {
      return fmt::format("{}{}", bytes < 0 ? "-" : "", format_bytes(std::llround(std::abs(bytes))));
    };
    const std::string range =
        fmt::format("{} to {}", signed_bytes(finding.ci95->low), signed_bytes(finding.ci95->high));
    if (!growth->grows) {
      finding.claim = fmt::format("{}: memory is steady over {} steps{}; growth is {} a step.", what, done,
                                  short_of, finding.ci95->high <= 0 ? "0 B" : range);
      findings.push_back(std::move(finding));
      continue;
    }
    const auto tracked_growth = find_growth(tracked);
    const bool inside = tracked_growth && tracked_growth->grows;
    finding.claim = fmt::format("{}: memory grows by {} ({}) a step over {} steps{}, {}", what,
                                signed_bytes(*finding.value), range, done, short_of,
                                inside ? "in the device memory the program asked for"
                                       : "outside the device memory the program asked for");
    const std::int64_t cap = document.sweep.value("memory_cap_bytes", std::int64_t{0});
    const auto point =
        std::ranges::find(document.benchmarks, soak["point"].get<std::string>(), &MeasuredPoint::name);
    if (cap > 0 && point != document.benchmarks.end()) {
      const std::int64_t grown = seen.back().bytes - seen.front().bytes;
      const double left = growth->steps_until(cap - point->memory.peak_measured - grown).value_or(0);
      finding.details["steps_until_out_of_memory"] = left;
      finding.claim += fmt::format("; out of memory within {} after about {} more", format_bytes(cap),
                                   left < 1e6 ? fmt::format("{:.0f}", left) : fmt::format("{:.2g}", left));
    }
    finding.claim += '.';
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace bench::sweeps
