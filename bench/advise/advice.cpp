#include "bench/advise/advice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/text/dtype_words.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

std::int64_t whole_setting(std::string_view option, std::string_view key, std::string_view text,
                           std::int64_t least) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || value < least ||
      value > kMostOfASetting) {
    throw UsageError(fmt::format("{}: {} is {}; accepted: a whole number from {} to {}", option, key,
                                 quote(text), least, kMostOfASetting));
  }
  return value;
}

}  // namespace

std::string name_of(Bottleneck bottleneck) {
  // In the enumeration's order.
  static constexpr std::array kNames{"none",        "undecided", "compute", "launch",     "VRAM",
                                     "bus",         "link",      "loader",  "loader CPU", "storage",
                                     "host memory", "swap",      "host",    "stages"};
  static_assert(kNames.size() == static_cast<std::size_t>(Bottleneck::stages) + 1);
  return kNames.at(static_cast<std::size_t>(bottleneck));
}

TrainingSettings parse_settings(std::string_view option, std::string_view text) {
  TrainingSettings settings;
  const std::vector<std::pair<std::string, std::int64_t*>> numbers{
      {"batch", &settings.batch},       {"accumulate", &settings.accumulate}, {"workers", &settings.workers},
      {"prefetch", &settings.prefetch}, {"cards", &settings.cards},
  };
  const std::vector<std::string> keys{"batch", "accumulate", "workers", "prefetch", "pin", "dtype", "cards"};
  std::set<std::string> given;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      throw UsageError(
          fmt::format("{}: {} has no value; give KEY=VALUE, as batch=16,workers=0", option, quote(part)));
    }
    const std::string key(part.substr(0, equals));
    const std::string_view value = part.substr(equals + 1);
    if (std::ranges::find(keys, key) == keys.end()) {
      throw UsageError(unknown_value(option, key, keys));
    }
    if (!given.insert(key).second) {
      throw UsageError(fmt::format("{}: {} is given twice; give it once", option, key));
    }
    if (key == "pin") {
      if (value != "yes" && value != "no") {
        throw UsageError(fmt::format("{}: pin is {}; accepted: yes, no", option, quote(value)));
      }
      settings.pin = value == "yes";
    } else if (key == "dtype") {
      // "half": fp16 of a network that is cast whole, which predictions of eager PyTorch have.
      const auto dtype = dtype_of_word(value);
      if (!dtype && value != "half") {
        throw UsageError(
            fmt::format("{}: dtype is {}; accepted: fp32, tf32, bf16, fp16, half", option, quote(value)));
      }
      settings.dtype = value;
      if (dtype) {
        settings.dtype = name_of(*dtype);
      }
    } else {
      const auto number = std::ranges::find(numbers, key, &std::pair<std::string, std::int64_t*>::first);
      *number->second = whole_setting(option, key, value, key == "workers" ? 0 : 1);
    }
  }
  return settings;
}

}  // namespace bench
