#include "bench/advise/median_machine.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/fleet.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

using Documents = std::vector<const ResultDocument*>;

// By point, the logarithm of each machine's time.
std::vector<std::vector<double>> levels_of(const Documents& fleet) {
  std::map<std::string, std::vector<double>> levels;
  for (std::size_t machine = 0; machine < fleet.size(); ++machine) {
    for (const MeasuredPoint& point : fleet[machine]->benchmarks) {
      std::vector<double>& level = levels[point.name];
      level.resize(fleet.size(), std::numeric_limits<double>::quiet_NaN());
      if (point.stats.median_ns > 0) {
        level[machine] = std::log(point.stats.median_ns);
      }
    }
  }
  std::vector<std::vector<double>> rows;
  std::ranges::transform(levels, std::back_inserter(rows),
                         &std::pair<const std::string, std::vector<double>>::second);
  return rows;
}

// The result of this machine. A result of the loader names no device, so that its host decides. nullptr:
// there is none.
const ResultDocument* of_machine(const Documents& documents, const RunContext& context) {
  if (documents.size() == 1) {
    return documents.front();
  }
  const auto own = std::ranges::find_if(
      documents, [&](const auto* one) { return one->context.machine == context.machine; });
  if (own != documents.end()) {
    return *own;
  }
  const auto is_near = [&](const auto* one) { return host_of(one->context) == host_of(context); };
  return std::ranges::count_if(documents, is_near) == 1 ? *std::ranges::find_if(documents, is_near) : nullptr;
}

}  // namespace

std::vector<std::string> keep_median_machine(std::vector<AdviceFile>& files) {
  std::map<std::string, Documents> by_sweep;
  for (const AdviceFile& file : files) {
    by_sweep[file.document.sweep.name].push_back(&file.document);
  }
  const auto is_one = [](const auto& sweep) { return sweep.second.size() == 1; };
  const auto is_one_or_fleet = [&](const auto& sweep) { return is_one(sweep) || is_fleet(sweep.second); };
  if (std::ranges::all_of(by_sweep, is_one) || !std::ranges::all_of(by_sweep, is_one_or_fleet)) {
    return {};
  }
  const auto batches = by_sweep.find("batch");
  const Documents& fleet = batches != by_sweep.end() && !is_one(*batches)
                               ? batches->second
                               : std::ranges::find_if_not(by_sweep, is_one)->second;
  const std::vector<std::vector<double>> rows = levels_of(fleet);
  const std::vector<double> distances = shared_distances(rows);
  std::vector<std::size_t> order;
  for (std::size_t machine = 0; machine < distances.size(); ++machine) {
    if (!std::isnan(distances[machine])) {
      order.push_back(machine);
    }
  }
  if (order.empty()) {
    return {};
  }
  std::ranges::sort(order, {}, [&](std::size_t machine) { return distances[machine]; });
  const std::size_t middle = order[(order.size() - 1) / 2];
  const std::string machine = fleet[middle]->context.machine;
  std::vector<const RunContext*> contexts;
  std::ranges::transform(fleet, std::back_inserter(contexts), [](const auto* one) { return &one->context; });
  const auto names = machine_names(contexts);
  std::vector<const ResultDocument*> kept;
  for (const auto& [sweep, documents] : by_sweep) {
    const ResultDocument* const own = of_machine(documents, fleet[middle]->context);
    if (own == nullptr) {
      throw UsageError(fmt::format(
          "advise: of {} machines {} takes the median time, and no result of the {} sweep is of its "
          "host; give one of it, or the results of one machine",
          fleet.size(), names.at(machine), printable(sweep)));
    }
    kept.push_back(own);
  }
  const auto from_middle = [&](std::size_t other) {
    return longer_in_words(distances[other] - distances[middle]);
  };
  std::vector<std::string> named;
  std::ranges::transform(contexts, std::back_inserter(named),
                         [&](const RunContext* context) { return names.at(context->machine); });
  std::vector<std::string> sentences{fmt::format(
      "Results of {} machines: the advice is for {}, which takes the median time; {} takes {} it, {} {} it.",
      fleet.size(), names.at(machine), named[order.front()], from_middle(order.front()), named[order.back()],
      from_middle(order.back()))};
  std::ranges::move(outliers_in_words(rows, named), std::back_inserter(sentences));
  std::vector<AdviceFile> chosen;
  for (AdviceFile& file : files) {
    if (std::ranges::count(kept, &file.document) > 0) {
      chosen.push_back(std::move(file));
    }
  }
  files = std::move(chosen);
  return sentences;
}

}  // namespace bench
