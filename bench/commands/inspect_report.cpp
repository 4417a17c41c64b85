#include "bench/commands/inspect_report.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/text.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_context.h"
#include "bench/measure/units.h"

namespace bench {
namespace {

constexpr std::size_t kLongestSentence = 500;

// wrap() with the first line indented too.
std::string indented(const std::string& text, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  return std::string(kIndent, ' ') + wrap(text, width - kIndent, 2 * kIndent);
}

// "25.6 M"; below a thousand as it is.
std::string count_text(double count) {
  const Scale scale = rate_scale(count);
  if (scale.prefix.empty()) {
    return fmt::format("{:.0f}", count);
  }
  return fmt::format("{} {}", format_number(count / scale.by), scale.prefix);
}

double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string head(const InspectReport& report, std::size_t width) {
  const Composition& made_of = report.composition;
  const std::string statistics =
      made_of.statistics == 0
          ? ""
          : fmt::format(" and {} statistics", count_text(static_cast<double>(made_of.statistics)));
  std::string text = wrap(fmt::format("{}: {} parameters{}; {} multiply-adds and {} activations a sample",
                                      report.workload, count_text(static_cast<double>(made_of.parameters)),
                                      statistics, count_text(made_of.macs), count_text(made_of.activations)),
                          width, 2);
  if (report.file) {
    for (const WorkloadInput& input : report.file->inputs) {
      text += indented(fmt::format("reads {} ({}): {}", printable(input.name), input.shape, input.content),
                       width);
    }
    for (const std::string& assumption : report.file->assumptions) {
      text += indented(printable(assumption, kLongestSentence), width);
    }
  }
  for (const auto& [mode, reason] : report.missing_modes) {
    text += indented(fmt::format("cannot {}: {}", mode, reason), width);
  }
  return text;
}

std::string operations_text(const InspectReport& report) {
  double macs = 0;
  double bytes = 0;
  for (const OperationShare& share : report.composition.operations) {
    macs += share.macs;
    bytes += share.bytes;
  }
  std::vector<std::vector<std::string>> rows{{"operation", "count", "multiply-adds", "bytes"}};
  for (const OperationShare& share : report.composition.operations) {
    rows.push_back({share.kind, std::to_string(share.count),
                    share.macs > 0 ? format_percent(share_of(share.macs, macs)) : "",
                    format_percent(share_of(share.bytes, bytes))});
  }
  return fmt::format("\nOperations of a step, {} at batch {}, {} moved\n{}", report.composed_mode,
                     report.composed_batch, format_bytes(static_cast<std::int64_t>(bytes)),
                     in_columns(rows, {false, true, true, true}));
}

// Only categories that some step uses.
std::string memory_text(const InspectReport& report, std::size_t width) {
  std::vector<MemoryCategory> used;
  for (const MemoryCategory category : kMemoryCategories) {
    if (std::ranges::any_of(report.steps, [&](const InspectedStep& step) {
          return step.problem.empty() && step.memory.at_peak[category] > 0;
        })) {
      used.push_back(category);
    }
  }
  std::vector<std::vector<std::string>> rows{{"mode", "batch"}};
  std::vector<bool> right{false, true};
  for (const MemoryCategory category : used) {
    rows.front().emplace_back(name_of(category));
    right.push_back(true);
  }
  rows.front().emplace_back("total");
  right.push_back(true);
  std::string problems;
  std::string early;
  for (const InspectedStep& step : report.steps) {
    std::vector<std::string> row{step.mode, std::to_string(step.batch)};
    for (const MemoryCategory category : used) {
      const std::int64_t bytes = step.memory.at_peak[category];
      row.push_back(bytes > 0 ? format_bytes(bytes) : "");
    }
    if (step.problem.empty()) {
      row.push_back(format_bytes(step.memory.peak));
      rows.push_back(std::move(row));
      if (step.memory.setup_peak > 0 && step.memory.setup_peak >= step.memory.in_step.total()) {
        early += wrap(fmt::format("{} at batch {}: the peak comes before the first step, at {}", step.mode,
                                  step.batch, printable(step.memory.peak_at)),
                      width, 2);
      }
    } else {
      problems += wrap(fmt::format("{} at batch {}: {}", step.mode, step.batch, step.problem), width, 2);
    }
  }
  std::string text = rows.size() > 1 ? fmt::format("\nMemory at its peak, planned for {} in {}\n{}",
                                                   report.device, report.dtype, in_columns(rows, right))
                                     : "";
  return text + early + (problems.empty() ? "" : "\n" + problems);
}

Json to_json(const InspectedStep& step) {
  Json json{{"mode", step.mode}, {"batch", step.batch}};
  if (!step.problem.empty()) {
    json["problem"] = step.problem;
    return json;
  }
  for (const MemoryCategory category : kMemoryCategories) {
    json[std::string(name_of(category))] = step.memory.at_peak[category];
  }
  json["total"] = step.memory.peak;
  json["peak_at"] = step.memory.peak_at;
  return json;
}

}  // namespace

std::string to_text(const InspectReport& report, std::size_t width) {
  return head(report, width) + (report.composition.operations.empty() ? "" : operations_text(report)) +
         memory_text(report, width);
}

Json to_json(const InspectReport& report) {
  const Composition& made_of = report.composition;
  Json json{{"workload", report.workload},
            {"device", report.device},
            {"dtype", report.dtype},
            {"parameters", made_of.parameters},
            {"statistics", made_of.statistics},
            {"macs", made_of.macs},
            {"activations", made_of.activations},
            {"step", {{"mode", report.composed_mode}, {"batch", report.composed_batch}}},
            {"operations", Json::array()},
            {"memory", Json::array()},
            {"missing_modes", report.missing_modes}};
  if (report.file) {
    json["file"] = to_json(*report.file);
  }
  for (const OperationShare& share : made_of.operations) {
    json["operations"].push_back(
        {{"kind", share.kind}, {"count", share.count}, {"macs", share.macs}, {"bytes", share.bytes}});
  }
  for (const InspectedStep& step : report.steps) {
    json["memory"].push_back(to_json(step));
  }
  return json;
}

std::string unsupported_text(const std::string& path, const UnsupportedPart& part, std::size_t width) {
  const std::vector<UnsupportedNode>& nodes = part.nodes;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>>
      groups;  // operation, reason → names
  for (const UnsupportedNode& node : nodes) {
    groups[{node.operation, node.reason}].push_back(printable(node.name));
  }
  std::string text = part.of == 1
                         ? fmt::format("{}: the network's only node cannot be imported\n", printable(path))
                         : fmt::format("{}: {} of the network's {} nodes cannot be imported\n",
                                       printable(path), nodes.size(), part.of);
  for (const auto& [kind, names] : groups) {
    text += indented(fmt::format("{} {}, {}: {}", names.size(), printable(kind.first), kind.second,
                                 fmt::join(names, ", ")),
                     width);
  }
  return text;
}

Json unsupported_json(const std::string& path, const UnsupportedPart& part) {
  Json json{{"path", path}, {"nodes", part.of}, {"unsupported", Json::array()}};
  for (const UnsupportedNode& node : part.nodes) {
    json["unsupported"].push_back(
        {{"node", node.name}, {"operation", node.operation}, {"reason", node.reason}});
  }
  return json;
}

}  // namespace bench
