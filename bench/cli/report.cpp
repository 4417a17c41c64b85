#include "bench/cli/report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "bench/cli/table.h"
#include "bench/cli/text.h"
#include "bench/measure/flags.h"

namespace bench {
namespace {

struct Advice {
  std::string before;  // of "N of M points"
  std::string action;
  std::string after{};
};

Advice advice_for(const std::string& flag) {
  if (flag == kContention) {
    return {"other processes used the CPU during ", "run on an idle machine"};
  }
  if (flag.starts_with("throttled:")) {
    return {fmt::format("the device was throttled ({}) during ", flag.substr(flag.find(':') + 1)),
            "check its cooling and power limit"};
  }
  if (flag == "noisy") {
    return {"95 % intervals wider than ±1 % at ", "give a larger --time-budget"};
  }
  if (flag == "few_rounds") {
    return {"fewer than 3 rounds at ", "give a larger --time-budget"};
  }
  if (flag.starts_with("above_peak")) {
    return {"", "run on an idle machine", " ran above the device's peak and are left out"};
  }
  return {fmt::format("{} holds for ", flag), ""};
}

std::string share(std::size_t count, std::size_t all) {
  return count < all ? fmt::format("{} of {} points", count, all)
         : all == 1  ? std::string("the only point")
                     : fmt::format("all {} points", all);
}

}  // namespace

std::vector<const Finding*> printed_findings(const ResultDocument& document, bool verbose) {
  std::vector<const Finding*> printed;
  for (const Finding& finding : document.findings) {
    if (verbose || finding.headline > 0) {
      printed.push_back(&finding);
    }
  }
  std::ranges::stable_sort(printed, [](const Finding* a, const Finding* b) {
    return (a->headline > 0 && b->headline == 0) ||
           (a->headline > 0 && b->headline > 0 && a->headline < b->headline);
  });
  return printed;
}

std::string warning_of(const ResultDocument& document) {
  std::map<std::string, std::size_t> counts;
  for (const MeasuredPoint& point : document.benchmarks) {
    for (const std::string& flag : point.validity.flags) {
      ++counts[flag];
    }
  }
  const FlagMarks marks(document.benchmarks);
  std::vector<std::string> problems;
  std::vector<std::string> actions;
  const auto add = [&](const std::string& problem, const std::string& action) {
    problems.push_back(problem);
    if (!action.empty() && std::ranges::find(actions, action) == actions.end()) {
      actions.push_back(action);
    }
  };
  for (const auto& [flag, count] : counts) {
    const Advice advice = advice_for(flag);
    add(fmt::format("{}{}{}{}", advice.before, share(count, document.benchmarks.size()), advice.after,
                    marks.separates(flag) ? " (○)" : ""),
        advice.action);
  }
  std::map<std::string, std::size_t> unmeasured;  // by what to do
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (const std::string_view action = action_in(point.reason); !action.empty()) {
      ++unmeasured[std::string(action.substr(2))];
    }
  }
  for (const auto& [action, count] : unmeasured) {
    add(count == 1 ? "1 point was left out" : fmt::format("{} points were left out", count), action);
  }
  if (problems.empty()) {
    return "";
  }
  return fmt::format("Warning: {}{}.", fmt::join(problems, "; "),
                     actions.empty() ? "" : fmt::format(" [{}]", fmt::join(actions, "; ")));
}

void print_report(std::ostream& out, const ResultDocument& document, const std::vector<TextTable>& tables,
                  int width, bool verbose) {
  const auto columns_there = static_cast<std::size_t>(std::max(width, 40));
  std::vector<std::string> blocks(1);
  for (const Finding* finding : printed_findings(document, verbose)) {
    blocks.front() += wrap("* " + finding->claim, columns_there, 2);
  }
  if (std::ranges::none_of(tables, &TextTable::lists_points)) {
    blocks.push_back(measured_points(document));
  }
  for (const TextTable& table : tables) {
    blocks.push_back(text_table(table));
  }
  const std::string warning = warning_of(document);
  blocks.push_back(unmeasured_points(document, columns_there, verbose) +
                   (warning.empty() ? "" : wrap(warning, columns_there, 2)));
  std::erase(blocks, "");
  out << fmt::format("{}", fmt::join(blocks, "\n"));
}

}  // namespace bench
