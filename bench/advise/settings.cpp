#include "bench/advise/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/suggest.h"

namespace bench {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000;

struct CountSetting {
  std::string_view name;
  std::int64_t TrainingSettings::*member;
  std::int64_t least;
  std::int64_t most;
};

constexpr CountSetting kCounts[] = {{"batch", &TrainingSettings::batch, 1, kMostSamples},
                                    {"accumulate", &TrainingSettings::accumulate, 1, kMostSamples},
                                    {"workers", &TrainingSettings::workers, 0, 1024},
                                    {"prefetch", &TrainingSettings::prefetch, 1, 1024},
                                    {"cards", &TrainingSettings::cards, 1, 1024}};

const std::vector<std::string>& names() {
  static const std::vector<std::string> all{"batch", "accumulate", "workers", "prefetch",
                                            "pin",   "dtype",      "cards"};
  return all;
}

const std::vector<std::string>& dtypes() {
  static const std::vector<std::string> all{"fp32", "tf32", "bf16", "fp16", "half"};
  return all;
}

std::int64_t read_count(const std::string& where, const std::string& text, const CountSetting& setting) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < setting.least ||
      value > setting.most) {
    throw UsageError(fmt::format("{}={}: accepted: a whole number from {} to {}", where, quote(text),
                                 setting.least, setting.most));
  }
  return value;
}

}  // namespace

TrainingSettings parse_settings(const std::string& option, const std::string& text) {
  TrainingSettings settings;
  std::set<std::string> seen;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    from = comma + 1;
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw UsageError(
          fmt::format("{}: {} has no value; give it as batch=16,workers=0,pin=no", option, quote(part)));
    }
    const std::string name = part.substr(0, equals);
    const std::string value = part.substr(equals + 1);
    if (std::ranges::find(names(), name) == names().end()) {
      throw UsageError(unknown_value(option, name, names()));
    }
    if (!seen.insert(name).second) {
      throw UsageError(fmt::format("{}: {} is given twice; give it once", option, name));
    }
    const std::string where = fmt::format("{} {}", option, name);
    if (name == "pin") {
      if (value != "yes" && value != "no") {
        throw UsageError(fmt::format("{}={}: accepted: yes, no", where, quote(value)));
      }
      settings.pin = value == "yes";
    } else if (name == "dtype") {
      if (std::ranges::find(dtypes(), value) == dtypes().end()) {
        throw UsageError(unknown_value(where, value, dtypes()));
      }
      settings.dtype = value;
    } else {
      const CountSetting& count = *std::ranges::find(kCounts, std::string_view(name), &CountSetting::name);
      settings.*count.member = read_count(where, value, count);
    }
  }
  return settings;
}

}  // namespace bench
