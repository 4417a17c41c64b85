// A struct's members, listed once, for writing and for reading its JSON:
//
//   void members(auto& io, Of<Verification> auto& verification) {
//     io("error", verification.error, check::not_negative);
//   }
//   Json json = write_struct(verification);
//   auto verification = read_struct<Verification>(field);
//
// Such a struct, a vector and a map of them may be members of another. An enum is written as its name_of().
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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
  } else if constexpr (std::is_enum_v<T>) {
    return name_of(value);
  } else {
    return value;
  }
}
template <class T>
Json written_value(const std::optional<T>& value) {
  return value ? written_value(*value) : Json();
}
template <class T>
Json written_value(const std::vector<std::pair<std::string, T>>& members) {
  Json object = Json::object();
  for (const auto& [key, value] : members) {
    object[key] = written_value(value);
  }
  return object;
}
template <class Key, class T>
Json written_value(const std::map<Key, T>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) {
    if constexpr (std::is_enum_v<Key>) {
      object[std::string(name_of(key))] = written_value(value);
    } else {
      object[key] = written_value(value);
    }
  }
  return object;
}
template <class T>
Json written_value(const std::vector<T>& values) {
  if constexpr (std::is_arithmetic_v<T>) {
    return values;
  } else {
    Json array = Json::array();
    for (const T& value : values) {
      array.push_back(written_value(value));
    }
    return array;
  }
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
// An enum by its name_of().
template <class Enum, std::size_t size>
void read_named(const Field& field, Enum& value, const std::array<Enum, size>& accepted) {
  const std::string name = field.string();
  std::string names;
  for (const Enum one : accepted) {
    if (name_of(one) == name) {
      value = one;
      return;
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(one));
  }
  throw UsageError(fmt::format("{} is {}; accepted: {}", field.path(), quote(name), names));
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

class JsonWriter {
 public:
  explicit JsonWriter(Json json = Json::object()) : json_(std::move(json)) {}

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
  // Is in the file, or is not null, only where the text or list has anything, the number is not 0, and the
  // answer is yes.
  template <class T>
  void unless_empty(std::string_view key, const T& value, Check /*check*/ = nullptr) {
    if (!is_empty(value)) {
      (*this)(key, value);
    }
  }
  // Only where it is not what it usually is.
  template <class T>
  void unless(const T& usual, std::string_view key, const T& value) {
    if (value != usual) {
      (*this)(key, value);
    }
  }
  template <class T>
  void null_if_empty(std::string_view key, const T& value) {
    json_[std::string(key)] = is_empty(value) ? Json() : written_value(value);
  }
  // null where there is none.
  template <class T>
  void nullable(std::string_view key, const std::optional<T>& value) {
    (*this)(key, value);
  }
  // A member of it; null likewise.
  template <class T, class Member>
  void nullable(std::string_view key, const std::optional<T>& value, Member T::*member) {
    json_[std::string(key)] = value ? written_value((*value).*member) : Json();
  }
  // null too where its end is beyond all numbers, which a result does not have.
  void interval(std::string_view key, const std::optional<Interval>& value) {
    json_[std::string(key)] = interval_json(value);
  }
  // Only written: it follows from other members, or is for other programs.
  template <class T>
  void derived(std::string_view key, const T& value) {
    (*this)(key, value);
  }
  // An object whose members write(io) gives; only written where that takes a JsonWriter.
  void object(std::string_view key, const auto& write) {
    JsonWriter io;
    write(io);
    json_[std::string(key)] = io.take();
  }
  // An array of objects, whose members write(JsonWriter&, value) gives; only written.
  void list(std::string_view key, const auto& values, const auto& write) {
    Json& array = json_[std::string(key)] = Json::array();
    for (const auto& value : values) {
      JsonWriter io;
      write(io, value);
      array.push_back(io.take());
    }
  }
  // The file has whole numbers, as of nanoseconds.
  void whole(std::string_view key, double value) { json_[std::string(key)] = std::llround(value); }
  void whole(std::string_view key, const std::vector<double>& values, Check /*check*/ = nullptr) {
    Json& array = json_[std::string(key)] = Json::array();
    for (const double value : values) {
      array.push_back(std::llround(value));
    }
  }
  void maybe_whole(std::string_view key, const std::vector<double>& values) { whole(key, values); }
  void whole(std::string_view key, const std::optional<Interval>& value) {
    json_[std::string(key)] =
        value ? Json::array({std::llround(value->low), std::llround(value->high)}) : Json();
  }
  // The file has a share, 0.95 for 95 %.
  void percent(std::string_view key, double value) { json_[std::string(key)] = value / 100; }
  Json take() { return std::move(json_); }

 private:
  template <class T>
  static bool is_empty(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return value == T{};
    } else {
      return value.empty();
    }
  }

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
      read(*at, value.emplace(T{}), check);
    }
  }
  template <class T>
  void unless_empty(std::string_view key, T& value, Check check = nullptr) {
    maybe(key, value, check);
  }
  template <class T>
  void unless(const T& /*usual*/, std::string_view key, T& value) {
    maybe(key, value);
  }
  template <class T>
  void nullable(std::string_view key, std::optional<T>& value) {
    optional(key, value);
  }
  void interval(std::string_view key, std::optional<Interval>& value) { nullable(key, value); }
  template <class T, class Member>
  void nullable(std::string_view key, std::optional<T>& value, Member T::*member) {
    asked_.push_back(key);
    if (const auto at = field_.find(key)) {
      value = value.value_or(T{});
      read_value(*at, (*value).*member);
    }
  }
  template <class T>
  void null_if_empty(std::string_view key, T& value) {
    maybe(key, value);
  }
  template <class T>
  void derived(std::string_view key, const T& /*value*/) {
    asked_.push_back(key);
  }
  template <class Read>
  void object(std::string_view key, const Read& read) {
    asked_.push_back(key);
    if constexpr (std::invocable<Read, JsonReader&>) {
      const Field at = field_.at(key);
      JsonReader io(at);
      read(io);
    }
  }
  void list(std::string_view key, const auto& /*values*/, const auto& /*write*/) { asked_.push_back(key); }
  template <class T>
  void whole(std::string_view key, T& value, Check check = nullptr) {
    (*this)(key, value, check);
  }
  void whole(std::string_view key, std::optional<Interval>& value) { nullable(key, value); }
  void maybe_whole(std::string_view key, std::vector<double>& values) { maybe(key, values); }
  void percent(std::string_view key, double& value) {
    (*this)(key, value);
    value *= 100;
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
template <class T>
void read_value(const Field& field, std::optional<T>& value) {
  read_value(field, value.emplace());
}
template <class T>
void read_value(const Field& field, std::vector<T>& values) {
  for (std::size_t i = 0; i < field.size(); ++i) {
    read_value(field.at(i), values.emplace_back());
  }
}

template <class T>
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
