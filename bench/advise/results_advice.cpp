#include "bench/advise/results_advice.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/flags.h"
#include "bench/result/fleet.h"
#include "bench/run/result_file.h"
#include "bench/run/whole_file.h"
#include "bench/stats/rounds.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

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

// The first step that the batch and the memory sweep timed differently: what is said of it, and how many
// times as long one is as the other.
struct TimesThatDiffer {
  std::string sentence;
  double times;
};
std::optional<TimesThatDiffer> times_that_differ(const std::vector<EvaluatedFile>& files) {
  const auto file_of = [&](const char* sweep) {
    return std::ranges::find_if(files,
                                [&](const EvaluatedFile& file) { return file.document.sweep.name == sweep; });
  };
  const auto batches = file_of("batch");
  const auto memory = file_of("memory");
  if (batches == files.end() || memory == files.end()) {
    return std::nullopt;
  }
  constexpr double kDiffer = 1.5;  // times, beyond what two runs on one machine do
  for (const Point& one : measured_points(batches->document)) {
    for (const Point& other : measured_points(memory->document)) {
      const auto [less, more] = std::minmax(one.stats.median_ns, other.stats.median_ns);
      if (one.params == other.params && less > 0 && more > kDiffer * less) {
        return TimesThatDiffer{
            .sentence = fmt::format("{} takes {} by {} and {} by {}: a gain below {:.2f}× only perhaps pays; "
                                    "measure both again on an idle machine.",
                                    printable(one.name), format_duration(one.stats.median_ns), batches->path,
                                    format_duration(other.stats.median_ns), memory->path, more / less),
            .times = more / less};
      }
    }
  }
  return std::nullopt;
}

// What files that differ by more than the gain cannot tell.
void doubt_gains(const TimesThatDiffer& differ, Advice& advice) {
  advice.contradictions.push_back(differ.sentence);
  for (Change& change : advice.changes) {
    change.is_unsure = change.speedup < differ.times;
  }
  for (AdviceTable& table : advice.tables) {
    for (Cells& row : table.table.rows) {
      const auto change = std::ranges::find(advice.changes, row.front().text, &Change::what);
      if (change != advice.changes.end() && change->is_unsure) {
        row.back() = "perhaps";
      }
    }
  }
}

bool is_of_cards(const EvaluatedFile& file) {
  return file.document.sweep.name == "cards";
}

// Results of the cards sweep alone are advised on by themselves; among others they are left out.
std::optional<Advice> advice_from_only_cards(const std::vector<EvaluatedFile>& files,
                                             const TrainingSettings& current,
                                             const std::optional<SeveralCards>& several) {
  if (files.empty() || !std::ranges::all_of(files, is_of_cards)) {
    return std::nullopt;
  }
  if (files.size() > 1) {
    throw UsageError(fmt::format("{}: a second result of the cards sweep, after {}; give one", files[1].path,
                                 files[0].path));
  }
  if (current != TrainingSettings{}) {
    throw UsageError(fmt::format(
        "--current: {} is of the cards sweep, which has its own settings; leave it out", files[0].path));
  }
  return advice_from_cards(files[0], several);
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

Advice advice_from_results(const std::vector<std::string>& paths, const TrainingSettings& current,
                           const std::optional<SeveralCards>& several) {
  std::vector<EvaluatedFile> files;
  for (const std::string& path : paths) {
    files.push_back({.path = path_in_words(path), .document = read_result(path)});
  }
  const std::vector<std::string> machines = keep_median_machine(files);
  const auto with_machines = [&](Advice advice) {
    advice.warnings.insert(advice.warnings.begin(), machines.begin(), machines.end());
    return advice;
  };
  if (auto of_cards = advice_from_only_cards(files, current, several)) {
    return with_machines(*std::move(of_cards));
  }
  std::vector<std::string> left_out;
  std::erase_if(files, [&](const EvaluatedFile& file) {
    if (is_of_cards(file)) {
      left_out.push_back(fmt::format("{} is left out; give it alone, for what its ranks bring.", file.path));
    }
    return is_of_cards(file);
  });
  StepModel model(files);
  if (several) {
    model.join_cards(several->link, several->catalogue);
  }
  Advice advice = advice_from(model, current, several ? several->cards : std::vector<std::int64_t>());
  std::ranges::move(left_out, std::back_inserter(advice.warnings));
  if (several) {
    std::vector<std::int64_t> cards = several->cards;
    cards.push_back(current.cards);
    std::ranges::move(several->link.cautions(cards), std::back_inserter(advice.warnings));
  }
  if (const auto differ = times_that_differ(files)) {
    doubt_gains(*differ, advice);
  }
  for (const EvaluatedFile& file : files) {
    const auto has_few = [](const Point& point) { return has_flag(point, kFewRoundsFlag); };
    if (const auto few = std::ranges::count_if(measured_points(file.document), has_few); few > 0) {
      advice.warnings.push_back(
          fmt::format("{}: fewer than 3 rounds at {} of {} points; give a larger --time-budget.", file.path,
                      few, measured_points(file.document).size()));
    }
  }
  return with_machines(std::move(advice));
}

}  // namespace bench
