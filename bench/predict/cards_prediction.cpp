#include "bench/predict/cards_prediction.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/evaluate/evaluated_cards.h"
#include "bench/result/result_json.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

bool is_training_step(const CurvePoint& point) {
  constexpr std::int64_t kMostSamples = 1'000'000'000'000;
  return point.timeline && point.batch <= kMostSamples;
}

// The points to predict from.
EvaluatedDevice asked_of(EvaluatedDevice device, const CardsRequest& request) {
  std::erase_if(device.curves,
                [](const Curve& curve) { return curve.dtype != "half" && !parse_dtype(curve.dtype); });
  std::set<std::string> dtypes;
  std::set<std::int64_t> batches;
  for (Curve& curve : device.curves) {
    if (request.at_saturation) {
      curve.points = {curve.at_saturation()};
    }
    std::erase_if(curve.points, [](const CurvePoint& point) { return !is_training_step(point); });
    for (const CurvePoint& point : curve.points) {
      dtypes.insert(curve.dtype);
      batches.insert(point.batch);
    }
    const bool is_asked = request.dtypes.empty() || std::ranges::count(request.dtypes, curve.dtype) > 0;
    std::erase_if(curve.points, [&](const CurvePoint& point) {
      return !is_asked || (!request.batches.empty() && std::ranges::count(request.batches, point.batch) == 0);
    });
  }
  std::erase_if(device.curves, [](const Curve& curve) { return curve.points.empty(); });
  if (batches.empty()) {
    throw UsageError(
        fmt::format("--from: {} holds no training step with the times of its gradients; give a result of "
                    "bench --sweep batch --mode train, or of --sweep cards with one rank among its ranks, by "
                    "this version",
                    quote(device.files.front())));
  }
  if (device.curves.empty()) {
    throw UsageError(fmt::format("{}: nothing of it is in {}; it has {} at batch {}",
                                 request.batches.empty() ? "--dtype" : "--batch", quote(device.files.front()),
                                 fmt::join(dtypes, ", "), fmt::join(batches, ", ")));
  }
  return device;
}

std::vector<std::string> as_sentences(const std::vector<std::string>& clauses) {
  std::vector<std::string> sentences;
  for (const std::string& clause : clauses) {
    sentences.push_back(clause + (clause.ends_with('.') ? "" : "."));
  }
  return sentences;
}

}  // namespace

bool holds_timeline(const ResultDocument& document) {
  const auto has = [](const auto& point) { return point.timeline.has_value(); };
  return std::ranges::any_of(measured_points(document), has);
}

std::string workload_of(const ResultDocument& document) {
  const auto one = std::ranges::find_if(measured_points(document),
                                        [](const Point& point) { return point.timeline.has_value(); });
  const std::string own = document.sweep.name == "cards" && one != measured_points(document).end()
                              ? text_member(one->params, "workload")
                              : "";
  return printable(own.empty() ? document.sweep.workload : own);
}

CardsPrediction predict_cards(const EvaluatedDevice& device, const CardsRequest& request,
                              const LinkCatalogue& catalogue) {
  CardsPrediction prediction{.device = device.name,
                             .is_predicted = device.predicted,
                             .overlap = !device.is_cpu,
                             .link = request.link.in_words(),
                             .link_source = request.link.source(),
                             .cautions = request.link.cautions(request.cards)};
  const EvaluatedDevice one = asked_of(device, request);
  std::vector<EvaluatedDevice> all{one};
  for (Curve& curve : all.front().curves) {
    for (CurvePoint& point : curve.points) {
      point.cards = step_of_one(point, curve.dtype, one.is_cpu, request.link);
    }
  }
  for (const std::int64_t cards : request.cards) {
    if (cards > 1) {
      all.push_back(several_cards(one, cards, request.link, catalogue, prediction.losses));
    }
  }
  if (!device.predicted && device.files.size() > 1) {
    prediction.machines = as_sentences(device.caveats);
  }
  for (const Curve& curve : all.front().curves) {
    for (const CurvePoint& point : curve.points) {
      for (const EvaluatedDevice& cards : all) {
        const Curve* const of_all = cards.in(curve.dtype);
        const CurvePoint* const step = of_all == nullptr ? nullptr : of_all->at(point.batch);
        if (step != nullptr) {
          prediction.steps.push_back(*step->cards);
        }
      }
    }
  }
  if (device.predicted) {
    prediction.basis.emplace_back(
        "The one card is predicted too: its gradients are spread evenly over the last two thirds of its "
        "step.");
    prediction.caveats = as_sentences(device.caveats);
  }
  return prediction;
}

}  // namespace bench
