#include "bench/model/coefficients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/result/result_json.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr const char* kCalibrationSchema = "bench-calibration/1";

// The file's names, in the enumerations' order.
constexpr std::array<std::string_view, kProductClasses> kClassNames{
    "wino", "point", "dense", "stem", "group", "depth", "linear", "bmm", "attention"};
constexpr std::array<std::string_view, kTraffics> kTrafficNames{"conv", "group", "depth", "matrix", "bn",
                                                                "norm", "act",   "move",  "weights"};

constexpr std::array<std::string_view, 4> kNumberNames{"fp32", "tf32", "amp", "fp16"};
constexpr std::array<std::string_view, 3> kNetworkNames{"convolutions", "depthwise", "attention"};

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

std::vector<int> wholes(const Field& list) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < list.size(); ++i) {
    numbers.push_back(whole(list.at(i)));
  }
  return numbers;
}

template <typename Kind, std::size_t kSize>
Kind kind_named(const Field& field, const std::array<std::string_view, kSize>& names) {
  const auto found = std::ranges::find(names, field.string());
  if (found == names.end()) {
    throw UsageError(fmt::format("{} is {}; accepted: {}", field.path(), printable(field.string()),
                                 fmt::join(names, ", ")));
  }
  return static_cast<Kind>(found - names.begin());
}

std::vector<MeasuredKind> measured_kinds(const Field& list) {
  constexpr std::array<std::string_view, 2> kModes{"infer", "train"};
  std::vector<MeasuredKind> kinds;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Field one = list.at(i);
    kinds.push_back({.numbers = kind_named<NumberKind>(one.at("dtype"), kNumberNames),
                     .train = kind_named<int>(one.at("mode"), kModes) == 1,
                     .network = kind_named<NetworkKind>(one.at("network"), kNetworkNames),
                     .chips = read_struct<std::vector<std::string>>(one.at("chips"))});
    if (kinds.back().chips.empty()) {
      throw UsageError(fmt::format("{}.chips is empty; one chip or more is expected", one.path()));
    }
  }
  if (kinds.empty()) {
    throw UsageError(fmt::format("{} is empty; one kind or more is expected", list.path()));
  }
  return kinds;
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
  return {.chips = read_struct<std::vector<std::string>>(set.at("chips")),
          .capabilities = wholes(set.at("capabilities")),
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
  CompiledFactors read{.chips = read_struct<std::vector<std::string>>(compiled.at("chips")),
                       .measured = measured_rows(compiled.at("measured")),
                       .bytes = {},
                       .gpu = positive(factors, "gpu"),
                       .launch_s = positive(factors, "launch")};
  for (std::size_t i = 0; i < kTraffics; ++i) {
    read.bytes[i] = factors.has(kTrafficNames[i]) ? positive(factors, kTrafficNames[i]) : 1;
  }
  return read;
}

ProductUnit product_unit(const Field& unit) {
  const Field values = unit.at("coefficients");
  return {.capabilities = wholes(unit.at("capabilities")),
          .energy = {.joules = positive(values, "joules"), .shrink = positive(values, "shrink")},
          .reach = positive(values, "reach"),
          .edge = positive(values, "edge"),
          .ends = positive(values, "ends"),
          .whole = positive(values, "whole"),
          .bandwidth = positive(values, "bandwidth"),
          .launch_s = positive(values, "launch"),
          .norm = positive(values, "norm"),
          .cache = positive(values, "cache"),
          .split_s = positive(values, "split"),
          .half_width80 = positive(unit, "half_width80")};
}

ProductCoefficients products_of(const Field& products) {
  ProductCoefficients read{.cards = read_struct<std::vector<std::string>>(products.at("cards")),
                           .tensor = product_unit(products.at("tensor")),
                           .cores = product_unit(products.at("cores")),
                           .half_rate = positive(products, "half_rate"),
                           .doubled = positive(products, "doubled"),
                           .elsewhere_half_width80 = positive(products, "elsewhere_half_width80"),
                           .power_half_width80 = positive(products, "power_half_width80"),
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

bool CoefficientSet::measured_capability(int compute_capability) const {
  return std::ranges::find(capabilities, compute_capability) != capabilities.end();
}

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
  const Field unmeasured = spread.at("unmeasured");
  const Field memory = root.at("memory");
  return {.fp32 = coefficient_set(sets.at("fp32")),
          .bits16 = coefficient_set(sets.at("16bit")),
          .host_spread = positive(spread, "host"),
          .power_spread = positive(spread, "power"),
          .unmeasured = {.numbers = positive(unmeasured, "dtype"),
                         .mode = positive(unmeasured, "mode"),
                         .network = positive(unmeasured, "network")},
          .kinds = measured_kinds(root.at("kinds")),
          .image = spread_of(spread.at("image")),
          .language = spread_of(spread.at("language")),
          .compiled = compiled_of(root.at("compiled")),
          .products = products_of(root.at("products")),
          .context_bytes = positive(memory, "context_bytes"),
          .slack = positive(memory, "slack"),
          .slack80 = {.low = positive(memory, "slack_low"), .high = positive(memory, "slack_high")}};
}

}  // namespace bench
