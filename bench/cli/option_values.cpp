#include "bench/cli/option_values.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/axis.h"
#include "bench/text/dtype_words.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {

namespace {

constexpr std::string_view kHalf = "half";

std::vector<std::string> dtype_names(bool or_half) {
  std::vector<std::string> names;
  for (const Dtype dtype : kAllDtypes) {
    names.emplace_back(name_of(dtype));
  }
  if (or_half) {
    names.emplace_back(kHalf);
  }
  return names;
}

}  // namespace

Dtype dtype_of(const std::string& text, bool or_half) {
  const std::optional<Dtype> dtype = dtype_of_word(text);
  if (!dtype) {
    throw UsageError(unknown_value("--dtype", text, dtype_names(or_half)));
  }
  return *dtype;
}

void read_dtypes(const std::string& text, Options& options) {
  const std::vector<std::string_view> names = split(text, ',');
  for (const std::string_view name : names) {
    const Dtype dtype = name == kHalf ? Dtype::fp16 : dtype_of(std::string(name), true);
    if (std::ranges::find(options.dtypes, dtype) == options.dtypes.end()) {
      options.dtypes.push_back(dtype);
    }
  }
  options.cast_whole = std::ranges::count(names, kHalf) > 0;
  if (options.cast_whole && std::ranges::count(names, name_of(Dtype::fp16)) > 0) {
    throw UsageError(
        fmt::format("--dtype: {} was given; accepted with --sweep: fp16 (autocast) or half "
                    "(the model cast whole), one of them; bench predict takes both",
                    quote(text)));
  }
}

Framework framework_of(const std::string& text, const std::string& sweep) {
  const std::optional<Framework> framework = parse_framework(text);
  if (!framework) {
    throw UsageError(unknown_value(
        "--framework", text,
        {std::string(name_of(Framework::pytorch)), std::string(name_of(Framework::pytorch_compiled)),
         std::string(name_of(Framework::bench))}));
  }
  if (*framework == Framework::bench && sweep != "memory") {
    throw UsageError(
        "--framework: 'bench' was given, whose times take a measured result of this program; give bench "
        "predict --framework bench --from RESULT.json, or --sweep memory, which needs no times");
  }
  return *framework;
}

std::uint64_t seed_of(const std::string& text) {
  std::int64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size() || seed < 0) {
    throw UsageError(fmt::format("--seed: {} is not a whole number from 0 to {}", quote(text),
                                 std::numeric_limits<std::int64_t>::max()));
  }
  return static_cast<std::uint64_t>(seed);
}

}  // namespace bench
