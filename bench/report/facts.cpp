// What a report says about the machine, and about how a result was measured or predicted.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/modelled.h"
#include "bench/report/report.h"
#include "bench/text/units.h"

namespace bench::report {
namespace {

void add_text(Facts& facts, const std::string& name, const std::string& text) {
  if (!text.empty()) {
    facts.emplace_back(name, text);
  }
}

std::string date_of(const ResultDocument& document) {
  const Json& context = document.context.google_benchmark;
  const auto date = context.find("date");
  return date != context.end() && date->is_string() ? date->get<std::string>() : "";
}

std::string checked_answers(const ResultDocument& document) {
  const auto checked = std::ranges::count_if(measured_points(document), [](const Point& point) {
    return point.verification && point.verification->passed;
  });
  return measured_points(document).empty()
             ? ""
             : fmt::format(
                   "{} of {} points compared with the reference implementation before they were timed",
                   checked, measured_points(document).size());
}

std::string rounds_in_words(const ResultDocument& document) {
  if (measured_points(document).empty()) {
    return "";
  }
  const auto [least, most] = std::ranges::minmax(measured_points(document), {},
                                                 [](const Point& point) { return point.stats.rounds; });
  std::size_t samples = 0;
  for (const Point& point : measured_points(document)) {
    samples += point.samples_ns.size();
  }
  return fmt::format("{}{} a point, {} timings in all",
                     least.stats.rounds == most.stats.rounds ? "" : fmt::format("{} to ", least.stats.rounds),
                     fmt::format("{} round{}", most.stats.rounds, most.stats.rounds == 1 ? "" : "s"),
                     samples);
}

std::string sessions_in_words(const ResultDocument& document) {
  std::vector<std::string> starts;
  for (const Session& session : document.sessions) {
    if (!session.started.empty()) {
      starts.push_back(session.started);
    }
  }
  return starts.empty() ? date_of(document) : fmt::format("{}", fmt::join(starts, ", "));
}

}  // namespace

Facts environment_of(const ResultDocument& document) {
  const RunContext& context = document.context;
  const DeviceInfo& device = context.device;
  const bool predicted = device.kind == "modelled";
  Facts facts;
  add_text(facts, "device",
           fmt::format("{} ({}{})", device.name, device.id, predicted ? ", not here: predicted" : ""));
  if (device.memory_bytes > 0) {
    add_text(facts, "device memory", format_bytes(device.memory_bytes));
  }
  for (const char* const detail : {"compute_capability", "isa", "pcie", "power_limit_w"}) {
    std::string name = detail;
    std::ranges::replace(name, '_', ' ');
    add_text(facts, name, context.detail(detail));
  }
  if (predicted) {
    add_text(facts, "framework", context.detail("framework") + cast_in_words(context.detail(kCastDetail)));
  } else {
    add_text(facts, "processor", context.host.cpu);
    add_text(
        facts, "cores",
        fmt::format(
            "{}{}", context.host.usable_cores,
            context.host.cpu_quota ? fmt::format(", quota {}", format_number(*context.host.cpu_quota)) : ""));
    add_text(facts, "host memory",
             context.host.memory_bytes > 0 ? format_bytes(context.host.memory_bytes) : "");
    if (!document.sessions.empty()) {
      add_text(facts, "kernel", document.sessions.back().kernel);
      add_text(facts, "governor", document.sessions.back().governor);
    }
  }
  for (const auto& [name, version] : context.software) {
    add_text(facts, name, version);
  }
  return facts;
}

Facts method_of(const ResultDocument& document) {
  const SweepDescription& sweep = document.sweep;
  const bool predicted = is_predicted(document);
  Facts facts;
  if (!document.context.argv.empty()) {
    const std::vector<std::string> words(document.context.argv.begin() + 1, document.context.argv.end());
    add_text(facts, "command", fmt::format("bench {}", fmt::join(words, " ")));
  }
  add_text(facts, predicted ? "predicted" : "measured", sessions_in_words(document));
  if (predicted) {
    add_text(facts, "how", "by the model of bench predict; nothing was run on this device");
    add_text(facts, "intervals",
             fmt::format("{}: of five such predictions four are expected to hold the measured value",
                         level_in_words(Origin::predicted)));
  } else {
    add_text(facts, "rounds", rounds_in_words(document));
    add_text(facts, "intervals",
             fmt::format("{}, of the median over rounds: the spread between rounds of this run counts, not "
                         "that between hours",
                         level_in_words(Origin::measured)));
    add_text(facts, "answers", checked_answers(document));
  }
  if (sweep.time_budget_ns && !predicted) {
    add_text(facts, "time budget", format_duration(static_cast<double>(*sweep.time_budget_ns)));
  }
  if (sweep.memory_cap_bytes) {
    add_text(facts, "memory cap", format_bytes(*sweep.memory_cap_bytes));
  }
  std::vector<std::string> options;
  for (const auto& [name, value] : sweep.workload_options) {
    options.push_back(fmt::format("{} {}", name, value));
  }
  if (sweep.sweep_options) {
    for (const auto& [name, value] : *sweep.sweep_options) {
      options.push_back(fmt::format("{} {}", name, value));
    }
  }
  add_text(facts, "options", fmt::format("{}", fmt::join(options, ", ")));
  if (document.context.workload_file) {
    add_text(facts, "read from", document.context.workload_file->path);
  }
  add_text(facts, "seed", fmt::format("{}", document.context.seed));
  return facts;
}

}  // namespace bench::report
