#include "bench/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/evaluate/answers.h"
#include "bench/model/gpu_model.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

constexpr double kMillion = 1e6;
constexpr double kSecondsAnHour = 3600;

double value_of(const CurvePoint& a, const CurvePoint& b) {
  return a.per_s / b.per_s;
}

Ratio from_ends(const CurvePoint& a, const CurvePoint& b) {
  return ratio_of(ratio({.value = a.per_s, .ci95 = a.interval}, {.value = b.per_s, .ci95 = b.interval}),
                  a.is_predicted || b.is_predicted ? kPredictedLevel : kMeasuredLevel);
}

// The logarithms by which cards that train together may take less and more than is likely over one card.
struct CardsSpread {
  double less = 0;
  double more = 0;
};

CardsSpread spread_over_one(const CurvePoint& point) {
  if (!point.cards) {
    return {};
  }
  const CardsStep& cards = *point.cards;
  const double likely = cards.step_ns / cards.one_ns;
  return {.less = std::log(likely / cards.slowdown80.low), .more = std::log(cards.slowdown80.high / likely)};
}

// The error of the card's step cancels; of two batches each keeps its own.
std::optional<Ratio> ratio_of_one_card(const CurvePoint& a, const CurvePoint& b) {
  double batches = 0;
  if (a.batch != b.batch) {
    if (!a.batch_deviation || !b.batch_deviation) {
      return std::nullopt;
    }
    batches = kNormal80 * combined_deviation({*a.batch_deviation, *b.batch_deviation,
                                              a.step.host_deviation - b.step.host_deviation});
  }
  const CardsSpread of_a = spread_over_one(a);
  const CardsSpread of_b = spread_over_one(b);
  const double value = value_of(a, b);
  return Ratio{.value = value,
               .interval = Interval{value * std::exp(-combined_deviation({of_a.more, of_b.less, batches})),
                                    value * std::exp(combined_deviation({of_a.less, of_b.more, batches}))},
               .level = kPredictedLevel};
}

// The dtype that most devices have; of several the one in which a device is fastest.
std::string headline_dtype(const std::vector<EvaluatedDevice>& devices) {
  std::string chosen;
  std::pair<std::size_t, double> best{0, 0};
  for (const std::string& dtype : dtypes_of(devices)) {
    std::pair<std::size_t, double> score{0, 0};
    for (const EvaluatedDevice& device : devices) {
      if (const Curve* const curve = device.in(dtype)) {
        ++score.first;
        score.second = std::max(score.second, curve->at_saturation().per_s);
      }
    }
    if (score > best) {
      best = score;
      chosen = dtype;
    }
  }
  return chosen;
}

void check_price_names(const std::vector<EvaluatedDevice>& devices, const PriceList& prices) {
  for (const auto& [name, price] : prices.by_device) {
    if (std::ranges::none_of(devices,
                             [&](const EvaluatedDevice& device) { return device.is_called(name); })) {
      std::vector<std::string> labels;
      for (const EvaluatedDevice& device : devices) {
        labels.push_back(device.label);
      }
      throw UsageError(unknown_value("--price", name, labels));
    }
  }
}

// By the devices' labels: --price may use any of a device's words, in letters of any case. The label of
// another device is meant for a device too where no other word is.
PriceList by_label(const std::vector<EvaluatedDevice>& devices, PriceList prices) {
  const std::map<std::string, Price> given = std::exchange(prices.by_device, {});
  for (const EvaluatedDevice& device : devices) {
    std::vector<std::string> words;
    for (const auto& [word, price] : given) {
      if (device.is_called(word)) {
        words.push_back(word);
      }
    }
    if (words.size() > 1) {
      std::erase_if(words, [&](const std::string& word) {
        return word != device.label &&
               std::ranges::find(devices, word, &EvaluatedDevice::label) != devices.end();
      });
    }
    if (words.size() > 1) {
      throw UsageError(
          fmt::format("--price: {} and {} are one device; give it once", quote(words[0]), quote(words[1])));
    }
    if (!words.empty()) {
      prices.by_device.emplace(device.label, given.at(words.front()));
    }
  }
  return prices;
}

void set_host_figures(EvaluatedRow& row, const EvaluatedDevice& device,
                      const std::optional<HostLimit>& host) {
  if (device.bus_bytes_per_s && row.point.input_bytes_per_sample > 0) {
    row.bus_per_s =
        static_cast<double>(device.cards) * *device.bus_bytes_per_s / row.point.input_bytes_per_sample;
  }
  if (host) {
    row.feed = feed_of(row.point.per_s, host->per_s, row.bus_per_s);
    constexpr double kRounding = 1e-9;
    row.cores_to_feed = std::ceil(row.point.per_s / host->per_core() * (1 - kRounding));
  }
}

void set_costs(EvaluatedRow& row, const EvaluatedDevice& device, const PriceList& prices) {
  row.power_measured = row.point.power_w.has_value();
  row.power_w = row.power_measured ? row.point.power_w : device.tdp_w;
  if (row.power_w) {
    *row.power_w *= static_cast<double>(device.cards);
    if (!row.point.is_bound) {
      row.joules_per_sample = *row.power_w / row.point.per_s;
    }
  }
  if (const auto found = prices.by_device.find(device.label); found != prices.by_device.end()) {
    const double per_s = row.feed ? row.feed->per_s : row.point.per_s;
    const Price& price = found->second;
    row.price = Price{.amount = price.amount * static_cast<double>(device.cards), .is_hire = price.is_hire};
    row.cost_per_hour = cost_per_hour(*row.price, prices, row.power_w);
    row.cost_per_million = *row.cost_per_hour / (per_s * kSecondsAnHour) * kMillion;
  }
}

EvaluatedRow row_of(const Evaluation& evaluation, std::size_t index, const Curve& curve) {
  const EvaluatedDevice& device = evaluation.devices[index];
  EvaluatedRow row{.device = index, .dtype = curve.dtype, .point = curve.at_saturation()};
  const Curve* const first = evaluation.devices.front().in(curve.dtype);
  if (index > 0 && first != nullptr) {
    row.to_first = throughput_ratio_of(row.point, first->at_saturation());
  }
  const Curve* const fp32 = device.in("fp32");
  if (fp32 != nullptr && fp32 != &curve && !row.point.is_bound) {
    row.over_fp32 = gain_of(row.point, fp32->at_saturation());
  }
  if (curve.peak_flops_per_s && row.point.flops_per_sample > 0) {
    row.peak_share = row.point.flops_per_sample * row.point.per_s / *curve.peak_flops_per_s;
  }
  if (row.point.bytes > 0 && device.usable_bytes > 0) {
    row.memory_share = static_cast<double>(row.point.bytes) / static_cast<double>(device.usable_bytes);
  }
  set_host_figures(row, device, evaluation.host);
  set_costs(row, device, evaluation.prices);
  return row;
}

}  // namespace

Ratio throughput_ratio_of(const CurvePoint& a, const CurvePoint& b) {
  const bool of_one_card = !a.of_card.empty() && a.of_card == b.of_card;
  if (a.is_bound) {
    const bool over_own = of_one_card && a.cards && !b.cards && a.batch == b.batch;
    return {.value = over_own ? a.cards->speedup().value : value_of(a, b),
            .level = kPredictedLevel,
            .is_bound = true};
  }
  if (const auto ratio = of_one_card && !b.is_bound ? ratio_of_one_card(a, b) : std::nullopt) {
    return *ratio;
  }
  if (!a.ratio_deviation || !b.ratio_deviation || a.framework != b.framework) {
    return from_ends(a, b);
  }
  const double own = combined_deviation({*a.ratio_deviation, *b.ratio_deviation});
  return within_factor(
      value_of(a, b),
      std::exp(kNormal80 * combined_deviation({own, a.step.host_deviation - b.step.host_deviation})),
      kPredictedLevel);
}

Ratio gain_of(const CurvePoint& a, const CurvePoint& b) {
  return a.is_predicted && a.interval && b.interval ? predicted_gain(a, b) : from_ends(a, b);
}

bool Evaluation::has_several_cards() const {
  return std::ranges::any_of(devices, [](const EvaluatedDevice& device) { return device.cards > 1; });
}

const EvaluatedRow* Evaluation::row(std::size_t device, const std::string& of) const {
  const auto found = std::ranges::find_if(
      rows, [&](const EvaluatedRow& row) { return row.device == device && row.dtype == of; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> dtypes_of(const std::vector<EvaluatedDevice>& devices) {
  std::vector<std::string> dtypes;
  for (const EvaluatedDevice& device : devices) {
    for (const Curve& curve : device.curves) {
      if (std::ranges::find(dtypes, curve.dtype) == dtypes.end()) {
        dtypes.push_back(curve.dtype);
      }
    }
  }
  std::ranges::stable_sort(dtypes, {}, [](const std::string& dtype) { return dtype_rank(dtype); });
  return dtypes;
}

Evaluation evaluate(EvaluatedDevices devices, PriceList prices, std::optional<HostLimit> host,
                    std::optional<Job> job) {
  check_price_names(devices.devices, prices);
  prices = by_label(devices.devices, std::move(prices));
  Evaluation evaluation{.task = std::move(devices.task),
                        .devices = std::move(devices.devices),
                        .prices = std::move(prices),
                        .host = std::move(host),
                        .job = std::move(job)};
  evaluation.dtype = headline_dtype(evaluation.devices);
  for (const std::string& dtype : dtypes_of(evaluation.devices)) {
    for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
      if (const Curve* const curve = evaluation.devices[i].in(dtype)) {
        evaluation.rows.push_back(row_of(evaluation, i, *curve));
      }
    }
  }
  if (evaluation.job) {
    evaluation.on_devices = job_on_devices(evaluation, *evaluation.job);
  }
  evaluation.answers = answers_of(evaluation);
  evaluation.notes = notes_of(evaluation);
  return evaluation;
}

}  // namespace bench
