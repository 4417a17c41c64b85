// An object of a file of readings: values with their units, lists and counts, each checked as it is read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/advise/settings.h"
#include "bench/error.h"
#include "bench/json.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {

// Suffixes of a key, and how many seconds, bytes or percent each is.
using Units = std::vector<std::pair<std::string, double>>;

inline const Units& time_units() {
  static const Units units{{"_ms", 1e-3}, {"_s", 1}, {"_min", 60}, {"_h", 3600}};
  return units;
}
inline const Units& byte_units() {
  static const Units units{{"_gib", 0x1p30}, {"_mib", 0x1p20}, {"_gb", 1e9}, {"_mb", 1e6}};
  return units;
}
inline const Units& percent_units() {
  static const Units units{{"_percent", 1}};
  return units;
}

inline constexpr double kMostSeconds = 1e10;
inline constexpr double kMostBytes = 0x1p60;
inline constexpr std::size_t kMostInAList = 4096;
inline constexpr std::int64_t kMostIterations = 1'000'000'000'000;

// An object of the file: each of its keys is asked for once, and those never asked for are unknown.
class ReadingObject {
 public:
  struct Found {
    std::string path;
    const Json* json = nullptr;
    double scale = 1;
  };

  ReadingObject(const Json& json, std::string source, std::string prefix)
      : json_(json), source_(std::move(source)), prefix_(std::move(prefix)) {
    if (!json.is_object()) {
      refuse(prefix_.empty() ? "the whole" : prefix_.substr(0, prefix_.size() - 1), json, "an object");
    }
  }

  [[noreturn]] void refuse(const std::string& what, const Json& json, const std::string& accepted) const {
    fail(fmt::format("{} is {}; accepted: {}", what,
                     printable(json.dump(-1, ' ', false, Json::error_handler_t::replace)), accepted));
  }
  [[noreturn]] void fail(const std::string& sentence) const {
    throw UsageError(fmt::format("--observed: {}: {}", source_, sentence));
  }
  const std::string& source() const { return source_; }

  std::optional<Found> find(const std::string& key) {
    accepted_.push_back(key);
    const auto at = json_.find(key);
    return at == json_.end() ? std::nullopt : std::optional(Found{prefix_ + key, &*at, 1});
  }
  // By its base name with one of the units; the name alone is refused.
  std::optional<Found> find(const std::string& base, const Units& units) {
    std::optional<Found> found;
    std::vector<std::string> names;
    for (const auto& [suffix, scale] : units) {
      names.push_back(base + suffix);
      if (auto one = find(names.back())) {
        if (found) {
          fail(fmt::format("{} and {} are both given; give one of them", found->path, one->path));
        }
        one->scale = scale;
        found = one;
      }
    }
    if (json_.contains(base)) {
      fail(fmt::format("{}{} has no unit; accepted: {}", prefix_, base, fmt::join(names, ", ")));
    }
    return found;
  }

  double number(const Found& found, const Json& json, double least, double most,
                const std::string& accepted) const {
    const double value = json.is_number() ? json.get<double>() * found.scale : NAN;
    if (!std::isfinite(value) || value < least || value > most) {
      refuse(found.path, json, json.is_number() ? accepted : "a number, " + accepted);
    }
    return value;
  }
  std::optional<double> seconds(const std::string& base, bool may_be_zero = false) {
    const auto found = find(base, time_units());
    return found ? std::optional(number(
                       *found, *found->json, may_be_zero ? 0 : 1e-9, kMostSeconds,
                       may_be_zero ? "a time of 0 or more, up to 1e10 s" : "a time above 0, up to 1e10 s"))
                 : std::nullopt;
  }
  // Half of the last digit of a time as it is written, in seconds: 5e-5 for "33.6" of "data_ms".
  double half_digit(const std::string& base) {
    const auto found = find(base, time_units());
    const std::string text = found ? found->json->dump() : "";
    const std::size_t point = text.find('.');
    if (!found || text.find('e') != std::string::npos) {
      return 0;
    }
    const std::size_t decimals = point == std::string::npos ? 0 : text.size() - point - 1;
    return found->scale * std::pow(10.0, -static_cast<double>(decimals)) / 2;
  }
  std::optional<double> bytes(const std::string& base, bool may_be_zero = true) {
    const auto found = find(base, byte_units());
    return found ? std::optional(number(
                       *found, *found->json, may_be_zero ? 0 : 1, kMostBytes,
                       may_be_zero ? "a size of 0 or more, up to 1 EiB" : "a size above 0, up to 1 EiB"))
                 : std::nullopt;
  }
  double percent(const Found& found, const Json& json, double most) const {
    const double value = number(found, json, 0, most, fmt::format("0 to {:g} percent", most));
    if (value > 0 && value < 1) {
      fail(fmt::format("{} is {}; is {:.0f} % meant? Give percent, 1 to {:g}", found.path, json.dump(),
                       100 * value, most));
    }
    return value;
  }
  std::optional<double> share(const std::string& base) {
    const auto found = find(base, percent_units());
    return found ? std::optional(percent(*found, *found->json, 100) / 100) : std::nullopt;
  }
  std::optional<double> amount(const std::string& key, double most) {
    const auto found = find(key);
    return found ? std::optional(
                       number(*found, *found->json, 1e-9, most, fmt::format("above 0, up to {:g}", most)))
                 : std::nullopt;
  }
  template <class Read>
  std::vector<double> list(const Found& found, const Read& read) const {
    std::vector<double> values;
    if (!found.json->is_array()) {
      return {read(found, *found.json)};
    }
    if (found.json->empty() || found.json->size() > kMostInAList) {
      refuse(found.path, *found.json, fmt::format("a list of 1 to {} numbers", kMostInAList));
    }
    for (const Json& one : *found.json) {
      values.push_back(read(found, one));
    }
    return values;
  }
  // An empty list is no reading: a machine without a card.
  std::vector<double> byte_list(const std::string& base) {
    const auto found = find(base, byte_units());
    return found && *found->json != Json::array()
               ? list(*found,
                      [this](const Found& at, const Json& json) {
                        return number(at, json, 0, kMostBytes, "a size of 0 or more, up to 1 EiB");
                      })
               : std::vector<double>{};
  }
  std::vector<double> percents(const std::string& base, double most = 100) {
    const auto found = find(base, percent_units());
    return found ? list(*found, [&](const Found& at, const Json& json) { return percent(at, json, most); })
                 : std::vector<double>{};
  }
  std::optional<std::int64_t> count(const std::string& key, std::int64_t least = 1,
                                    std::int64_t most = kMostOfASetting) {
    const auto found = find(key);
    if (!found) {
      return std::nullopt;
    }
    const Json& json = *found->json;
    const bool whole = json.is_number_integer() &&
                       (!json.is_number_unsigned() ||
                        json.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMostIterations));
    if (!whole || json.get<std::int64_t>() < least || json.get<std::int64_t>() > most) {
      refuse(found->path, json, fmt::format("a whole number from {} to {}", least, most));
    }
    return json.get<std::int64_t>();
  }
  std::optional<bool> flag(const std::string& key) {
    const auto found = find(key);
    if (found && !found->json->is_boolean()) {
      refuse(found->path, *found->json, "true, false");
    }
    return found ? std::optional(found->json->get<bool>()) : std::nullopt;
  }
  // As it is, to be opened.
  std::string file(const std::string& key) {
    const auto found = find(key);
    if (found && !found->json->is_string()) {
      refuse(found->path, *found->json, "the name of a file");
    }
    return found ? found->json->get<std::string>() : "";
  }
  std::string word(const std::string& key, const std::vector<std::string>& accepted = {}) {
    const auto found = find(key);
    if (!found) {
      return {};
    }
    if (!found->json->is_string()) {
      refuse(found->path, *found->json,
             accepted.empty() ? "a text" : fmt::format("{}", fmt::join(accepted, ", ")));
    }
    const std::string text = found->json->get<std::string>();
    if (!accepted.empty() && std::ranges::find(accepted, text) == accepted.end()) {
      throw UsageError(
          unknown_value(fmt::format("--observed: {}: {}", source_, found->path), text, accepted));
    }
    return printable(text);
  }
  std::optional<ReadingObject> object(const std::string& key) {
    const auto found = find(key);
    return found ? std::optional<ReadingObject>(std::in_place, *found->json, source_, found->path + ".")
                 : std::nullopt;
  }
  std::vector<ReadingObject> objects(const std::string& key) {
    std::vector<ReadingObject> objects;
    const auto found = find(key);
    if (found && (!found->json->is_array() || found->json->size() > kMostInAList)) {
      refuse(found->path, *found->json, "a list of objects");
    }
    for (std::size_t i = 0; found && i < found->json->size(); ++i) {
      objects.emplace_back((*found->json)[i], source_, fmt::format("{}[{}].", found->path, i));
    }
    return objects;
  }

  // Every key that begins with "_" is a comment.
  void refuse_unknown() const {
    for (const auto& [key, value] : json_.items()) {
      if (key.starts_with('_') || std::ranges::find(accepted_, key) != accepted_.end()) {
        continue;
      }
      if (prefix_.empty() && key == "schema") {
        fail("it is a result, no readings; give it without --observed");
      }
      auto meant = nearest(key, accepted_);
      // "step_time" for step_ms
      const std::string stem = key.substr(0, key.find('_')) + "_";
      const auto same =
          std::ranges::find_if(accepted_, [&](const std::string& name) { return name.starts_with(stem); });
      if (!meant && same != accepted_.end()) {
        meant = *same;
      }
      // All keys of a file are more than anybody reads.
      constexpr std::size_t kMostListed = 20;
      fail(fmt::format("{}{} is not known{}; accepted: {}", prefix_, quote(key),
                       meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                       accepted_.size() > kMostListed ? "see bench --schema observed"
                                                      : fmt::format("{}", fmt::join(accepted_, ", "))));
    }
  }

 private:
  const Json& json_;
  std::string source_;
  std::string prefix_;
  std::vector<std::string> accepted_;
};

}  // namespace bench
