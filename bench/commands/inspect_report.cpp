#include "bench/commands/inspect_report.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/commands/network_words.h"
#include "bench/page/csv.h"
#include "bench/result/memory_members.h"
#include "bench/result/result_context.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {

void members(JsonWriter& io, const InspectedStep& step) {
  io("mode", step.mode);
  io("batch", step.batch);
  if (!step.problem.empty()) {
    io("problem", step.problem);
    return;
  }
  members(io, step.memory.at_peak);
  io("total", step.memory.peak);
  io("peak_at", step.memory.peak_at);
}

namespace {

constexpr std::size_t kLongestSentence = 500;

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

// What the network is, then a sentence for each thing to know about it.
std::vector<std::string> sentences_of(const InspectReport& report) {
  const Composition& made_of = report.composition;
  const std::string statistics =
      made_of.statistics == 0
          ? ""
          : fmt::format(" and {} statistics", count_text(static_cast<double>(made_of.statistics)));
  std::vector<std::string> sentences{
      fmt::format("{}: {} parameters{}; {} multiply-adds and {} activations a sample", report.workload,
                  count_text(static_cast<double>(made_of.parameters)), statistics, count_text(made_of.macs),
                  count_text(made_of.activations))};
  if (report.file) {
    for (const WorkloadInput& input : report.file->inputs) {
      sentences.push_back(
          fmt::format("reads {} ({}): {}", printable(input.name), input.shape, input.content));
    }
    for (const std::string& assumption : report.file->assumptions) {
      sentences.push_back(printable(assumption, kLongestSentence));
    }
  }
  for (const auto& [mode, reason] : report.missing_modes) {
    sentences.push_back(fmt::format("cannot {}: {}", mode, reason));
  }
  return sentences;
}

// Of steps that have no plan, and of those whose peak comes before the first step.
std::vector<std::string> notes_of(const InspectReport& report) {
  std::vector<std::string> early;
  std::vector<std::string> problems;  // each once, of all the steps that have it
  for (const InspectedStep& step : report.steps) {
    const std::string which = fmt::format("{} at batch {}", step.mode, step.batch);
    if (!step.problem.empty()) {
      const auto has_it = [&](const InspectedStep& other) { return other.problem == step.problem; };
      const bool is_every = std::ranges::all_of(report.steps, has_it);
      const std::string whose = is_every ? "no step can be planned" : which;
      const std::string other = is_every && report.device == "cpu" && report.dtype != "fp32"
                                    ? "; --device t4 plans it for a card, here or not"
                                    : "";
      const std::string problem = fmt::format("{}: {}{}", whose, step.problem, other);
      if (std::ranges::find(problems, problem) == problems.end()) {
        problems.push_back(problem);
      }
    } else if (step.memory.setup_peak > 0 && step.memory.setup_peak >= step.memory.in_step.total()) {
      early.push_back(fmt::format("{}: loading the weights needs more memory than a step (peak: {})", which,
                                  printable(step.memory.peak_at)));
    }
  }
  early.insert(early.end(), problems.begin(), problems.end());
  if (!report.folded_norms.empty()) {
    early.push_back(report.folded_norms);
  }
  return early;
}

TextTable operations_table(const InspectReport& report) {
  double macs = 0;
  double bytes = 0;
  for (const OperationShare& share : report.composition.operations) {
    macs += share.macs;
    bytes += share.bytes;
  }
  TextTable table{.title = fmt::format("Operations of a step, {} at batch {}, {} moved", report.composed_mode,
                                       report.composed_batch, format_bytes(static_cast<std::int64_t>(bytes))),
                  .rows = {{"operation", "count", "multiply-adds", "bytes"}}};
  for (const OperationShare& share : report.composition.operations) {
    table.rows.push_back({share.kind, share.count,
                          share.macs > 0 ? Cell::share(share_of(share.macs, macs)) : Cell(),
                          Cell::share(share_of(share.bytes, bytes))});
  }
  return table;
}

// Of categories that some step uses.
TextTable memory_table(const InspectReport& report) {
  TextTable table{
      .title = fmt::format("Memory at its peak, planned for {} in {}", report.device, report.dtype),
      .rows = {{"mode", "batch"}}};
  for (const MemoryCategory category : kMemoryCategories) {
    table.rows.front().emplace_back(name_of(category));
  }
  table.rows.front().push_back(Cell::staying("total"));
  for (const InspectedStep& step : report.steps) {
    if (!step.problem.empty()) {
      continue;
    }
    Cells& row = table.rows.emplace_back(Cells{step.mode, step.batch});
    for (const MemoryCategory category : kMemoryCategories) {
      const std::int64_t bytes = step.memory.at_peak[category];
      row.push_back(bytes > 0 ? Cell::bytes(bytes) : Cell());
    }
    row.push_back(Cell::bytes(step.memory.peak));
  }
  if (report.counts_context) {
    name_context(table);
  }
  return table;
}

}  // namespace

Page page_of(const InspectReport& report) {
  const std::vector<std::string> sentences = sentences_of(report);
  Page page{.title = sentences.front()};
  for (std::size_t i = 1; i < sentences.size(); ++i) {
    page.say(sentences[i]);
  }
  page.table(operations_table(report));
  page.table(memory_table(report));
  for (const std::string& note : notes_of(report)) {
    page.say(note);
  }
  return page;
}

std::string to_csv(const InspectReport& report) {
  std::vector<Cells> rows{{"mode", "batch"}};
  for (const MemoryCategory category : kMemoryCategories) {
    rows.front().emplace_back(fmt::format("{}_bytes", name_of(category)));
  }
  rows.front().insert(rows.front().end(), {"total_bytes", "problem"});
  for (const InspectedStep& step : report.steps) {
    Cells row{step.mode, step.batch};
    for (const MemoryCategory category : kMemoryCategories) {
      row.push_back(step.problem.empty() ? Cell(step.memory.at_peak[category]) : Cell());
    }
    row.push_back(step.problem.empty() ? Cell(step.memory.peak) : Cell());
    row.emplace_back(step.problem);
    rows.push_back(std::move(row));
  }
  return csv_table(rows);
}

Json to_json(const InspectReport& report) {
  const Composition& made_of = report.composition;
  JsonWriter io;
  io("workload", report.workload);
  io("device", report.device);
  io("dtype", report.dtype);
  io("parameters", made_of.parameters);
  io("statistics", made_of.statistics);
  io("macs", made_of.macs);
  io("activations", made_of.activations);
  io.object("step", [&](JsonWriter& step) {
    step("mode", report.composed_mode);
    step("batch", report.composed_batch);
  });
  io.list("operations", made_of.operations, [](JsonWriter& one, const OperationShare& share) {
    one("kind", share.kind);
    one("count", share.count);
    one("macs", share.macs);
    one("bytes", share.bytes);
  });
  io("memory", report.steps);
  io("missing_modes", report.missing_modes);
  if (report.file) {
    io("file", to_json(*report.file));
  }
  return io.take();
}

Page page_of(const UnsupportedReport& report) {
  const auto& [path, part] = report;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>>
      groups;  // operation, reason → names
  for (const UnsupportedNode& node : part.nodes) {
    groups[{node.operation, node.reason}].push_back(printable(node.name));
  }
  Page page{.title = part.of == 1 ? fmt::format("{}: the network's only node cannot be imported", path)
                                  : fmt::format("{}: {} of the network's {} nodes cannot be imported", path,
                                                part.nodes.size(), part.of)};
  List list;
  for (const auto& [kind, names] : groups) {
    list.items.push_back({.text = fmt::format("{} {}, {}: {}", names.size(), printable(kind.first),
                                              kind.second, fmt::join(names, ", "))});
  }
  page.list(std::move(list));
  return page;
}

std::string to_csv(const UnsupportedReport& report) {
  std::vector<Cells> rows{{"node", "operation", "reason"}};
  for (const UnsupportedNode& node : report.part.nodes) {
    rows.push_back({node.name, node.operation, node.reason});
  }
  return csv_table(rows);
}

Json to_json(const UnsupportedReport& report) {
  JsonWriter io;
  io("path", report.path);
  io("nodes", report.part.of);
  io.list("unsupported", report.part.nodes, [](JsonWriter& one, const UnsupportedNode& node) {
    one("node", node.name);
    one("operation", node.operation);
    one("reason", node.reason);
  });
  return io.take();
}

}  // namespace bench
