// A struct's members, listed once, for writing and for reading its JSON:
//
//   void members(auto& io, Of<Verification> auto& verification) {
//     io("error", verification.error, check::not_negative);
//   }
//   Json json = write_struct(verification);
//   auto verification = read_struct<Verification>(field);
//
// Such a struct, and a vector of them, may be a member of another.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/result_json.h"
#include "bench/stats/estimate.h"
#include "bench/text/quote.h"

namespace bench {

template <class T, class Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

using Check = void (*)(const Field&);

// Conditions on a number; each throws UsageError.
namespace check {

// Bounds beyond any machine, so that a damaged file gets a sentence instead of an answer.
inline constexpr double kMostTime = 1e15;      // ns: eleven days; of bytes a second: a petabyte
inline constexpr double kMostMemory = 0x1p44;  // 16 TiB

inline void not_negative(const Field& field) {
  if (field.number() < 0) {
    throw UsageError(fmt::format("{} is {}; accepted is 0 or more", field.path(), field.json().dump()));
  }
}

inline void at_least_one(const Field& field) {
  if (field.integer() < 1) {
    throw UsageError(fmt::format("{} is {}; accepted is 1 or more", field.path(), field.integer()));
  }
}

[[noreturn]] inline void refuse(const Field& field, std::string_view accepted) {
  throw UsageError(fmt::format("{} is {}; accepted: {}", field.path(), quote(field.json().dump()), accepted));
}

inline double within(const Field& field, double least, double most) {
  const double value = field.number();
  if (!(value >= least && value <= most)) {
    refuse(field, fmt::format("a number from {:g} to {:g}", least, most));
  }
  return value;
}

inline double above_zero(const Field& field, double most) {
  const double value = field.number();
  if (!(value > 0 && value <= most)) {
    refuse(field, fmt::format("a number above 0, at most {:g}", most));
  }
  return value;
}

inline std::int64_t count(const Field& field, std::int64_t most, std::string_view note = "") {
  const std::int64_t value = field.integer();
  if (value < 1 || value > most) {
    refuse(field, fmt::format("a whole number from 1 to {}{}", most, note));
  }
  return value;
}

// Sums of a point's bytes stay below 2^63.
inline void signed_bytes(const Field& field) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  const std::int64_t value = field.integer();
  if (value < -kMost || value > kMost) {
    throw UsageError(fmt::format("{} is {}; accepted is at most {} bytes", field.path(), value, kMost));
  }
}

inline void bytes(const Field& field) {
  not_negative(field);
  signed_bytes(field);
}

// The path of each element is built only for the message: a file holds millions of samples.
inline void none_negative(const Field& field) {
  const auto below = std::ranges::find_if(field.json(), [](const Json& value) { return value < 0; });
  if (below != field.json().end()) {
    not_negative(field.at(static_cast<std::size_t>(below - field.json().begin())));
  }
}

}  // namespace check

class JsonWriter;
template <class T>
Json write_struct(const T& value, Json head = Json::object());
template <class T>
concept HasMembers = requires(JsonWriter& io, const T& value) {
  members(io, value);
};

inline Json written_value(const Interval& interval) {
  return Json::array({interval.low, interval.high});
}
inline Json written_value(const Json& json) {  // the file always has the object, even where it holds nothing
  return json.is_null() ? Json::object() : json;
}
template <class T>
Json written_value(const T& value) {
  if constexpr (HasMembers<T>) {
    return write_struct(value);
  } else {
    return value;
  }
}
template <HasMembers T>
Json written_value(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) {
    array.push_back(write_struct(value));
  }
  return array;
}
template <HasMembers T>
Json written_value(const std::map<std::string, T>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) {
    object[key] = write_struct(value);
  }
  return object;
}

inline void read_value(const Field& field, double& value) {
  value = field.number();
}
inline void read_value(const Field& field, std::int64_t& value) {
  value = field.integer();
}
inline void read_value(const Field& field, std::uint64_t& value) {
  value = static_cast<std::uint64_t>(field.integer());
}
inline void read_value(const Field& field, int& value) {
  constexpr int kMost = std::numeric_limits<int>::max();
  if (field.integer() < 0 || field.integer() > kMost) {
    throw UsageError(fmt::format("{} is {}; accepted is 0 to {}", field.path(), field.integer(), kMost));
  }
  value = static_cast<int>(field.integer());
}
inline void read_value(const Field& field, bool& value) {
  if (!field.json().is_boolean()) {
    throw UsageError(fmt::format("{} is {}; accepted: true, false", field.path(), field.json().dump()));
  }
  value = field.json().get<bool>();
}
inline void read_value(const Field& field, std::string& value) {
  value = field.string();
}
inline void read_value(const Field& field, Json& value) {
  value = field.object();
}
inline void read_value(const Field& field, Interval& value) {
  if (field.size() != 2) {
    throw UsageError(fmt::format("{} has {} elements; an interval has 2", field.path(), field.size()));
  }
  value = {.low = field.at(std::size_t{0}).number(), .high = field.at(std::size_t{1}).number()};
}
inline void read_value(const Field& field, std::vector<std::int64_t>& values) {
  values.clear();
  values.reserve(field.size());
  for (const Json& value : field.json()) {
    values.push_back(is_int64(value) ? value.get<std::int64_t>() : field.at(values.size()).integer());
  }
}
inline void read_value(const Field& field, std::vector<double>& values) {
  values.clear();
  values.reserve(field.size());
  for (const Json& value : field.json()) {
    values.push_back(value.is_number() ? value.get<double>() : field.at(values.size()).number());
  }
}
inline void read_value(const Field& field, std::vector<std::string>& values) {
  for (std::size_t i = 0; i < field.size(); ++i) {
    values.push_back(field.at(i).string());
  }
}
inline void read_value(const Field& field, std::map<std::string, std::int64_t>& values) {
  field.for_each([&](const std::string& key, const Field& value) { read_value(value, values[key]); });
}
inline void read_value(const Field& field, std::map<std::string, std::string>& values) {
  field.for_each([&](const std::string& key, const Field& value) { values[key] = value.string(); });
}

class JsonWriter {
 public:
  explicit JsonWriter(Json json) : json_(std::move(json)) {}

  template <class T>
  void operator()(std::string_view key, const T& value, Check /*check*/ = nullptr) {
    json_[std::string(key)] = written_value(value);
  }
  // Need not be in the file.
  template <class T>
  void maybe(std::string_view key, const T& value, Check /*check*/ = nullptr) {
    (*this)(key, value);
  }
  void maybe(std::string_view key, const Json& value) {
    if (!value.is_null()) {
      (*this)(key, value);
    }
  }
  template <class T>
  void optional(std::string_view key, const std::optional<T>& value, Check /*check*/ = nullptr) {
    if (value) {
      (*this)(key, *value);
    }
  }
  // Is in the file only where the text or list has anything.
  template <class T>
  void unless_empty(std::string_view key, const T& value) {
    if (!value.empty()) {
      (*this)(key, value);
    }
  }
  // null where there is none.
  template <class T>
  void nullable(std::string_view key, const std::optional<T>& value) {
    json_[std::string(key)] = value ? written_value(*value) : Json();
  }
  // The file has whole numbers, as of nanoseconds.
  void whole(std::string_view key, double value) { json_[std::string(key)] = std::llround(value); }
  void whole(std::string_view key, const std::vector<double>& values, Check /*check*/ = nullptr) {
    Json& array = json_[std::string(key)] = Json::array();
    for (const double value : values) {
      array.push_back(std::llround(value));
    }
  }
  Json take() { return std::move(json_); }

 private:
  Json json_;
};

class JsonReader {
 public:
  explicit JsonReader(const Field& field) : field_(field) {}

  template <class T>
  void operator()(std::string_view key, T& value, Check check = nullptr) {
    asked_.push_back(key);
    read(field_.at(key), value, check);
  }
  // Left as it is where the file does not have it.
  template <class T>
  void maybe(std::string_view key, T& value, Check check = nullptr) {
    asked_.push_back(key);
    if (const auto at = field_.find(key)) {
      read(*at, value, check);
    }
  }
  template <class T>
  void optional(std::string_view key, std::optional<T>& value, Check check = nullptr) {
    asked_.push_back(key);
    if (const auto at = field_.find(key)) {
      read(*at, value.emplace(), check);
    }
  }
  template <class T>
  void unless_empty(std::string_view key, T& value) {
    maybe(key, value);
  }
  template <class T>
  void nullable(std::string_view key, std::optional<T>& value) {
    optional(key, value);
  }
  template <class T>
  void whole(std::string_view key, T& value, Check check = nullptr) {
    (*this)(key, value, check);
  }

  // The members that were not asked for.
  Json others() const {
    Json others = Json::object();
    field_.for_each([&](const std::string& key, const Field& value) {
      if (std::ranges::find(asked_, key) == asked_.end()) {
        others[key] = value.json();
      }
    });
    return others;
  }

 private:
  template <class T>
  static void read(const Field& at, T& value, Check check) {
    read_value(at, value);
    if (check != nullptr) {
      check(at);
    }
  }

  const Field& field_;
  std::vector<std::string_view> asked_;
};

template <HasMembers T>
void read_value(const Field& field, T& value) {
  JsonReader reader(field);
  members(reader, value);
}
template <HasMembers T>
void read_value(const Field& field, std::vector<T>& values) {
  for (std::size_t i = 0; i < field.size(); ++i) {
    read_value(field.at(i), values.emplace_back());
  }
}

template <HasMembers T>
void read_value(const Field& field, std::map<std::string, T>& values) {
  field.for_each([&](const std::string& key, const Field& value) { read_value(value, values[key]); });
}

template <class T>
T read_struct(const Field& field) {
  T value;
  read_value(field, value);
  return value;
}

template <class T>
Json write_struct(const T& value, Json head) {
  JsonWriter writer(std::move(head));
  members(writer, value);
  return writer.take();
}

}  // namespace bench
