#include "bench/advise/results_advice.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/advise/measured_advice.h"
#include "bench/advise/median_machine.h"
#include "bench/error.h"
#include "bench/result/flags.h"
#include "bench/run/result_file.h"
#include "bench/run/whole_file.h"
#include "bench/stats/rounds.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

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
