#include "bench/predict/cards_fleet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "bench/result/fleet.h"

namespace bench {
namespace {

using StepKey = std::tuple<std::string, std::int64_t, std::int64_t>;  // dtype, batch, cards

StepKey key_of(const CardsStep& step) {
  return {step.dtype, step.batch, step.cards};
}

CardsStep joined(std::vector<CardsStep> steps) {
  std::ranges::sort(steps, {}, &CardsStep::step_ns);
  CardsStep middle = steps[(steps.size() - 1) / 2];
  for (const CardsStep& step : steps) {
    middle.step80_ns.low = std::min(middle.step80_ns.low, step.step80_ns.low);
    middle.step80_ns.high = std::max(middle.step80_ns.high, step.step80_ns.high);
    middle.slowdown80.low = std::min(middle.slowdown80.low, step.slowdown80.low);
    middle.slowdown80.high = std::max(middle.slowdown80.high, step.slowdown80.high);
    middle.at_least = middle.at_least || step.at_least;
    middle.peak = std::max(middle.peak, step.peak);
  }
  return middle;
}

}  // namespace

CardsPrediction join_machines(const std::vector<const ResultDocument*>& documents,
                              const std::vector<CardsPrediction>& predictions) {
  CardsPrediction all = predictions.front();
  std::map<StepKey, std::vector<CardsStep>> steps;
  std::map<StepKey, std::vector<double>> levels;  // of one card, by machine
  std::vector<StepKey> order;
  for (std::size_t machine = 0; machine < predictions.size(); ++machine) {
    for (const CardsStep& step : predictions[machine].steps) {
      std::vector<CardsStep>& same = steps[key_of(step)];
      if (same.empty()) {
        order.push_back(key_of(step));
      }
      same.push_back(step);
      if (step.cards == 1) {
        std::vector<double>& level = levels[key_of(step)];
        level.resize(predictions.size(), std::numeric_limits<double>::quiet_NaN());
        level[machine] = std::log(step.step_ns);
      }
    }
    for (const CardsLoss& loss : predictions[machine].losses) {
      if (std::ranges::count(all.losses, loss) == 0) {
        all.losses.push_back(loss);
      }
    }
  }
  all.steps.clear();
  for (const StepKey& key : order) {
    all.steps.push_back(joined(steps[key]));
  }
  std::vector<const RunContext*> contexts;
  for (const ResultDocument* const document : documents) {
    contexts.push_back(&document->context);
  }
  const auto names = machine_names(contexts);
  std::vector<std::string> named;
  for (const RunContext* const context : contexts) {
    named.push_back(names.at(context->machine));
  }
  std::vector<std::vector<double>> rows;
  for (const auto& [key, level] : levels) {
    rows.push_back(level);
  }
  all.machines.push_back(
      fmt::format("{} machines: the figures are the median machine's, their intervals reach from the slowest "
                  "machine to the fastest.",
                  documents.size()));
  for (std::string& sentence : outliers_in_words(rows, named)) {
    all.machines.push_back(std::move(sentence));
  }
  return all;
}

}  // namespace bench
