#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/evaluate/answers.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Labels of the devices that a condition holds for.
template <class Condition>
std::vector<std::string> labels_where(const Evaluation& evaluation, const Condition& condition) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
    if (condition(i)) {
      labels.push_back(evaluation.devices[i].label);
    }
  }
  return labels;
}

template <class Condition>
std::vector<std::string> labels_of_rows(const Evaluation& evaluation, const Condition& condition) {
  return labels_where(evaluation, [&](std::size_t device) {
    return std::ranges::any_of(
        evaluation.rows, [&](const EvaluatedRow& row) { return row.device == device && condition(row); });
  });
}

void note_frameworks(const Evaluation& evaluation, std::vector<std::string>& notes) {
  std::set<std::string> frameworks;
  for (const EvaluatedDevice& device : evaluation.devices) {
    frameworks.insert(device.framework);
  }
  if (frameworks.size() < 2) {
    return;
  }
  std::vector<std::string> parts;
  for (const std::string& framework : frameworks) {
    const std::vector<std::string> labels =
        labels_where(evaluation, [&](std::size_t i) { return evaluation.devices[i].framework == framework; });
    parts.push_back(
        framework == "bench"
            ? fmt::format("{} measured with this program's own engine", list_in_words(labels))
            : fmt::format("{} predicted for {}", list_in_words(labels), framework_in_words(framework)));
  }
  notes.push_back(
      fmt::format("Ratios also hold the difference between frameworks: {}.", fmt::join(parts, "; ")));
}

// Each once, with all its devices.
void note_caveats(const Evaluation& evaluation, std::vector<std::string>& notes) {
  std::vector<std::string> caveats;
  for (const EvaluatedDevice& device : evaluation.devices) {
    std::ranges::copy_if(device.caveats, std::back_inserter(caveats), [&](const std::string& caveat) {
      return std::ranges::find(caveats, caveat) == caveats.end();
    });
  }
  for (const std::string& caveat : caveats) {
    const std::vector<std::string> labels = labels_where(evaluation, [&](std::size_t i) {
      return std::ranges::count(evaluation.devices[i].caveats, caveat) > 0;
    });
    notes.push_back(fmt::format("{}: {}{}", list_in_words(labels), caveat, caveat.ends_with('.') ? "" : "."));
  }
}

}  // namespace

std::vector<std::string> cost_notes(const Evaluation& evaluation) {
  const PriceList& prices = evaluation.prices;
  std::vector<std::string> sentences;
  if (!prices.by_device.empty() && prices.currency.empty() &&
      std::ranges::none_of(evaluation.answers, names_currency)) {
    sentences.emplace_back("Costs are in the currency of --price.");
  }
  const bool buys =
      std::ranges::any_of(prices.by_device, [](const auto& entry) { return !entry.second.is_hire; });
  if (buys) {
    const bool is_bound = std::ranges::any_of(evaluation.rows, [](const EvaluatedRow& row) {
      return row.price && !row.price->is_hire && row.power_w && !row.power_measured;
    });
    const std::string energy =
        prices.kwh
            ? fmt::format("energy at {} a kWh is added{}", amount_in_words(*prices.kwh, prices.currency),
                          is_bound ? ", by the data sheet's power, an upper bound" : "")
            : "energy is not counted (--kwh)";
    const std::string spread = fmt::format("is spread over {} years of {} hours a day",
                                           plain_number(prices.years), plain_number(prices.hours_a_day));
    sentences.push_back(
        fmt::format("A purchase {}; {}.", evaluation.job ? "is paid whole by the job" : spread, energy));
  }
  if (evaluation.host && !prices.by_device.empty()) {
    sentences.emplace_back("Costs are of the samples that the host can feed.");
  }
  return sentences;
}

std::vector<std::string> notes_of(const Evaluation& evaluation) {
  std::vector<std::string> notes;
  note_frameworks(evaluation, notes);
  const auto say = [&](const std::vector<std::string>& labels, std::string_view what) {
    if (!labels.empty()) {
      notes.push_back(fmt::format("{}: {}.", list_in_words(labels), what));
    }
  };
  say(labels_of_rows(evaluation,
                     [](const EvaluatedRow& row) { return !row.point.interval && !row.point.is_bound; }),
      "intervals are not known of some points; give a larger --time-budget");
  note_caveats(evaluation, notes);
  std::ranges::move(cost_notes(evaluation), std::back_inserter(notes));
  const auto is_told = [&](std::string_view question) {
    return std::ranges::any_of(evaluation.answers, [&](const Answer& answer) {
      return answer.headline > 0 && answer.question == question;
    });
  };
  say(labels_of_rows(evaluation, [](const EvaluatedRow& row) { return row.peak_share.value_or(0) > 1; }),
      "above 100 % of peak, as fast convolutions (Winograd) compute less than is counted");
  if (!is_told("energy")) {
    say(labels_of_rows(evaluation,
                       [](const EvaluatedRow& row) { return row.power_w && !row.power_measured; }),
        "power was not measured; energy is an upper bound by the data sheet's power");
  }
  say(labels_of_rows(evaluation,
                     [&](const EvaluatedRow& row) {
                       const Curve& curve = evaluation.curve_of(row);
                       return row.peak_share && !curve.peak_measured && curve.peak_dtype == "fp32" &&
                              row.dtype != "fp32";
                     }),
      "the data sheet has no peak for a narrower dtype; fp32's is taken");
  if (!is_told("peak")) {
    say(labels_of_rows(evaluation,
                       [&](const EvaluatedRow& row) {
                         return row.peak_share && evaluation.curve_of(row).peak_measured;
                       }),
        "no data sheet; the peak was measured");
  }
  return notes;
}

}  // namespace bench
