#include "bench/model/coefficients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_json.h"

namespace bench {
namespace {

constexpr const char* kCalibrationSchema = "bench-calibration/1";

// The file's names, in the enumerations' order.
constexpr std::array<std::string_view, kProductClasses> kClassNames{
    "wino", "point", "dense", "stem", "group", "depth", "linear", "bmm", "attention"};
constexpr std::array<std::string_view, kTraffics> kTrafficNames{"conv", "group", "depth", "matrix", "bn",
                                                                "norm", "act",   "move",  "weights"};

double positive(const Field& field) {
  const double value = field.number();
  if (!(value > 0) || !std::isfinite(value)) {
    throw UsageError(fmt::format("{} is {}; accepted is more than 0", field.path(), field.json().dump()));
  }
  return value;
}

double positive(const Field& object, std::string_view key) {
  return positive(object.at(key));
}

template <std::size_t kSize>
std::array<double, kSize> named(const Field& object, const std::array<std::string_view, kSize>& names) {
  std::array<double, kSize> values{};
  for (std::size_t i = 0; i < kSize; ++i) {
    values[i] = positive(object, names[i]);
  }
  return values;
}

std::vector<std::string> texts(const Field& list) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    texts.push_back(list.at(i).string());
  }
  return texts;
}

int whole(const Field& field) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t value = field.integer();
  if (value < 1 || value > kMost) {
    throw UsageError(fmt::format("{} is {}; accepted: 1 to {}", field.path(), value, kMost));
  }
  return static_cast<int>(value);
}

std::vector<MeasuredRows> measured_rows(const Field& list) {
  std::vector<MeasuredRows> rows;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Field one = list.at(i);
    rows.push_back({.source = one.at("source").string(), .rows = whole(one.at("rows"))});
  }
  return rows;
}

CoefficientSet::Layout layout_of(const Field& coefficients, std::string_view layout) {
  const Field flops = coefficients.at("flops");
  const Field grads = coefficients.at("grads");
  const Field bytes = coefficients.at("bytes");
  return {.flops = named(flops.at(layout), kClassNames),
          .grads = named(grads.at(layout), kClassNames),
          .bytes = named(bytes.at(layout), kTrafficNames)};
}

CoefficientSet coefficient_set(const Field& set) {
  const Field values = set.at("coefficients");
  const Field bandwidth = values.at("bandwidth");
  return {.chips = texts(set.at("chips")),
          .measured = measured_rows(set.at("measured")),
          .channels_first = layout_of(values, "nchw"),
          .channels_last = layout_of(values, "nhwc"),
          .bandwidth_hbm = positive(bandwidth, "hbm"),
          .bandwidth_gddr6x = positive(bandwidth, "gddr6x"),
          .bandwidth_other = positive(bandwidth, "other"),
          .tile = positive(values, "tile"),
          .launch_s = positive(values, "launch_s"),
          .overlap = positive(values, "overlap"),
          .joules = positive(values, "joules"),
          .joules_fp32 = positive(values, "joules_fp32"),
          .shrink = positive(values, "shrink"),
          .cast_whole = positive(values, "cast_whole"),
          .host_train = positive(values, "host_train"),
          .host_launch_s = positive(values, "host_launch_s")};
}

ModelSpread spread_of(const Field& spread) {
  return {.card = positive(spread, "card"),
          .rest = positive(spread, "rest"),
          .scale = positive(spread, "scale"),
          .ratio_half_width = positive(spread, "ratio_half_width")};
}

CompiledFactors compiled_of(const Field& compiled) {
  const Field factors = compiled.at("factors");
  CompiledFactors read{.chips = texts(compiled.at("chips")),
                       .measured = measured_rows(compiled.at("measured")),
                       .bytes = {},
                       .gpu = positive(factors, "gpu"),
                       .launch_s = positive(factors, "launch")};
  for (std::size_t i = 0; i < kTraffics; ++i) {
    read.bytes[i] = factors.has(kTrafficNames[i]) ? positive(factors, kTrafficNames[i]) : 1;
  }
  return read;
}

ProductCoefficients products_of(const Field& products) {
  const Field values = products.at("coefficients");
  ProductCoefficients read{.cards = texts(products.at("cards")),
                           .joules = positive(values, "joules"),
                           .shrink = positive(values, "shrink"),
                           .edge = positive(values, "edge"),
                           .ends = positive(values, "ends"),
                           .whole = positive(values, "whole"),
                           .bandwidth = positive(values, "bandwidth"),
                           .launch_s = positive(values, "launch"),
                           .norm = positive(values, "norm"),
                           .cache = positive(values, "cache"),
                           .split_s = positive(values, "split"),
                           .half_width80 = positive(products, "half_width80"),
                           .tiles = {},
                           .splits = {}};
  const Field tiles = products.at("tiles");
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Field tile = tiles.at(i);
    read.tiles.emplace_back(whole(tile.at(std::size_t{0})), whole(tile.at(std::size_t{1})));
  }
  if (read.tiles.empty()) {
    throw UsageError(fmt::format("{} is empty; one tile or more is expected", tiles.path()));
  }
  const Field splits = products.at("splits");
  for (std::size_t i = 0; i < splits.size(); ++i) {
    read.splits.push_back(whole(splits.at(i)));
  }
  return read;
}

}  // namespace

bool CoefficientSet::measured_chip(const std::string& chip) const {
  return std::ranges::find(chips, chip) != chips.end();
}

ModelCoefficients coefficients_from_json(const Json& document) {
  const Field root(document);
  if (const std::string schema = root.at("schema").string(); schema != kCalibrationSchema) {
    throw UsageError(
        fmt::format("schema is {}; this program reads {}", printable(schema), kCalibrationSchema));
  }
  const Field sets = root.at("sets");
  const Field spread = root.at("spread");
  const Field memory = root.at("memory");
  return {.fp32 = coefficient_set(sets.at("fp32")),
          .bits16 = coefficient_set(sets.at("16bit")),
          .host_spread = positive(spread, "host"),
          .image = spread_of(spread.at("image")),
          .language = spread_of(spread.at("language")),
          .compiled = compiled_of(root.at("compiled")),
          .products = products_of(root.at("products")),
          .memory_rows = whole(memory.at("rows")),
          .context_bytes = positive(memory, "context_bytes"),
          .slack = positive(memory, "slack"),
          .slack80 = {.low = positive(memory, "slack_low"), .high = positive(memory, "slack_high")}};
}

}  // namespace bench
