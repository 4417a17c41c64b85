#include "bench/advise/median_machine.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/fleet.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

using Documents = std::vector<const ResultDocument*>;

const std::string& sweep_of(const Pool& machines) {
  return machines.documents.front()->sweep.name;
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

std::string median_in_words(const MachineTimes& times) {
  const std::size_t machines = times.ranked().size();
  return machines == 2       ? "is the slower"
         : machines % 2 == 0 ? "is the slower of the two in the middle"
                             : "takes the median time";
}

// "b takes 1.0 % less than it, d 49 % longer than it", of the fastest and the slowest.
std::string ends_in_words(const MachineTimes& times, std::size_t middle) {
  const std::vector<std::size_t> order = times.ranked();
  const std::vector<double> distances = times.distances();
  std::string text;
  for (const std::size_t end : {order.front(), order.back()}) {
    if (end != middle) {
      text += fmt::format("{}{} {} it", times.names[end], text.empty() ? " takes" : "",
                          longer_in_words(distances[end] - distances[middle]));
      text += end == order.front() && order.back() != middle ? ", " : "";
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> keep_median_machine(std::vector<EvaluatedFile>& files) {
  Documents documents;
  for (const EvaluatedFile& file : files) {
    documents.push_back(&file.document);
  }
  const std::vector<Pool> sweeps = pool(documents);
  const auto is_one_a_machine = [&](const Pool& sweep) {
    return sweep.holds_one_a_machine() && std::ranges::count(sweeps, sweep_of(sweep), sweep_of) == 1;
  };
  auto fleet = std::ranges::find_if(
      sweeps, [](const Pool& sweep) { return sweep.is_fleet() && sweep_of(sweep) == "batch"; });
  fleet = fleet == sweeps.end() ? std::ranges::find_if(sweeps, &Pool::is_fleet) : fleet;
  const auto middle = fleet == sweeps.end() ? std::nullopt : fleet->times.median();
  if (!middle || !std::ranges::all_of(sweeps, is_one_a_machine)) {
    return {};
  }
  const MachineTimes& times = fleet->times;
  const std::string& machine = times.machines[*middle];
  const RunContext& context = (*std::ranges::find_if(fleet->documents, [&](const auto* one) {
                                return one->context.machine == machine;
                              }))->context;
  std::vector<const ResultDocument*> kept;
  for (const Pool& sweep : sweeps) {
    const ResultDocument* const own = of_machine(sweep.documents, context);
    if (own == nullptr) {
      throw UsageError(fmt::format(
          "advise: of {} machines {} {}, and no result of the {} sweep is of its host; give one of it, or "
          "the results of one machine",
          times.machines.size(), times.names[*middle], median_in_words(times), printable(sweep_of(sweep))));
    }
    kept.push_back(own);
  }
  std::vector<std::string> sentences{
      fmt::format("Results of {} machines: the advice is for {}, which {}; {}.", times.machines.size(),
                  times.names[*middle], median_in_words(times), ends_in_words(times, *middle))};
  std::ranges::move(times.outliers_in_words(), std::back_inserter(sentences));
  std::vector<EvaluatedFile> chosen;
  for (EvaluatedFile& file : files) {
    if (std::ranges::count(kept, &file.document) > 0) {
      chosen.push_back(std::move(file));
    }
  }
  files = std::move(chosen);
  return sentences;
}

}  // namespace bench
