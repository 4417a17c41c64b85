#include "bench/cli/signs.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/intervals.h"
#include "bench/text/lines.h"

namespace bench {
namespace {

struct Sign {
  std::string_view sign;
  std::string_view meaning;
};

constexpr std::array<Sign, 18> kSigns{{
    {"171 ± 2",
     "the median, and how well this run knows it (95 %); another run differs by more, as the machine does: "
     "see "
     "bench compare"},
    {"171 (150–195)",
     "the same where the interval reaches further on one side; of a predicted value its 80 % interval"},
    {"± ?", "the interval is not known: too few rounds or runs"},
    {"○",
     "the point is less reliable than others: too few rounds, a wide interval, throttling, or other "
     "programs on the cores; the warning below the table names the reasons that weigh most and what to do, "
     "with --verbose all. Where it holds for every point, the line below the table says so"},
    {"✕", "in a picture: the point was not measured; its reason is in the table and in the file"},
    {"memory",
     "the most that the program's own tracker saw in use at once: weights, activations, workspace, …"},
    {"driver", "growth of the memory in use as the system, or the card's driver, counts it"},
    {"step time",
     "the median time of one step: one batch through the network, in training with its gradients "
     "and the optimizer"},
    {"of peak",
     "the arithmetic that a step reaches over the most that the device does in this dtype, by its "
     "data sheet or as measured; above 100 %, one of the two is wrong"},
    {"saturation",
     "the smallest batch that reaches 95 % of the best throughput; the asymptotic throughput T∞ is "
     "what ever larger batches would approach"},
    {"AU",
     "accelerator utilisation: the share of the time that the device computes, relative to that with ready "
     "data; 1 is a device that never waits for data"},
    {"stall p99", "the wait for data that 99 of 100 steps stay below"},
    {"workers busy", "the share of the time in which the loader's workers compute"},
    {"bus bandwidth",
     "what each rank's link carries: of an all-reduce over n ranks 2(n-1)/n of its bytes a second, as NCCL's "
     "tests count"},
    {"oom", "out of memory: it needs more than there is, or than the cap, by plan or as tried"},
    {"tight, danger",
     "memory above 90 % of the cap, and above 95 %: what is left is for fragmentation and "
     "libraries; below 90 % it is safe"},
    {"≤, ≥", "a bound: the value is at most, or at least, that much"},
    {"–", "no value: it was not measured, or does not apply"},
}};

// "47 (43–51)".
bool has_ends(std::string_view text) {
  const std::size_t open = text.find('(');
  return open != std::string_view::npos &&
         text.substr(open, text.find(')', open) - open).find(kToInCell) != std::string_view::npos;
}

}  // namespace

std::string signs_of(const TextTable& table, bool all_flagged, bool is_predicted) {
  const auto any = [&](const auto& has) {
    return std::ranges::any_of(table.rows, [&](const Cells& row) { return std::ranges::any_of(row, has); });
  };
  const auto any_cell = [&](std::string_view sign) {
    return any([&](const Cell& cell) { return cell.text.find(sign) != std::string::npos; });
  };
  std::vector<std::string> signs;
  std::vector<std::string_view> intervals;
  if (any_cell("±")) {
    intervals.emplace_back("±");
  }
  if (!is_predicted && any([](const Cell& cell) { return has_ends(cell.text); })) {
    intervals.emplace_back("(a–b)");
  }
  if (!intervals.empty()) {
    signs.push_back(fmt::format("{}: 95 % interval", fmt::join(intervals, ", ")));
  }
  if (!table.rows.empty() &&
      std::ranges::find(table.rows.front(), "driver", &Cell::text) != table.rows.front().end()) {
    signs.emplace_back("driver: memory as the system counts it");
  }
  if (any_cell("○")) {
    signs.emplace_back("○: less reliable");
  } else if (all_flagged && !signs.empty()) {
    signs.emplace_back("every point is less reliable");
  }
  return signs.empty() ? "" : fmt::format("{}; see bench --explain", fmt::join(signs, "; "));
}

std::string explained_signs(std::size_t width) {
  constexpr std::size_t kColumn = 16;
  std::string text;
  for (const Sign& sign : kSigns) {
    text += hanging(sign.sign, sign.meaning, kColumn, width);
  }
  return text;
}

}  // namespace bench
