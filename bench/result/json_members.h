// A struct's members, listed once, for writing and for reading its JSON:
//
//   void members(auto& io, Of<Verification> auto& verification) {
//     io("error", verification.error);
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

#include "bench/result/result_json.h"
#include "bench/stats/estimate.h"

namespace bench {

template <class T, class Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

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
    field.refuse(fmt::format("0 to {}", kMost));
  }
  value = static_cast<int>(field.integer());
}
inline void read_value(const Field& field, bool& value) {
  if (!field.json().is_boolean()) {
    field.refuse("true, false");
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
    field.refuse("a list of 2");
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
  field.refuse(names);
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
  void operator()(std::string_view key, const T& value) {
    json_[std::string(key)] = written_value(value);
  }
  // Need not be in the file.
  template <class T>
  void maybe(std::string_view key, const T& value) {
    (*this)(key, value);
  }
  void maybe(std::string_view key, const Json& value) {
    if (!value.is_null()) {
      (*this)(key, value);
    }
  }
  template <class T>
  void optional(std::string_view key, const std::optional<T>& value) {
    if (value) {
      (*this)(key, *value);
    }
  }
  // Is in the file, or is not null, only where the text or list has anything, the number is not 0, and the
  // answer is yes.
  template <class T>
  void unless_empty(std::string_view key, const T& value) {
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
  void whole(std::string_view key, const std::vector<double>& values) {
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
  // `knows_others`: others() will be called.
  explicit JsonReader(const Field& field, bool knows_others = false)
      : field_(field), knows_others_(knows_others) {}

  template <class T>
  void operator()(std::string_view key, T& value) {
    ask(key);
    read_value(field_.at(key), value);
  }
  // Left as it is where the file does not have it.
  template <class T>
  void maybe(std::string_view key, T& value) {
    ask(key);
    if (const auto at = field_.find(key)) {
      read_value(*at, value);
    }
  }
  template <class T>
  void optional(std::string_view key, std::optional<T>& value) {
    ask(key);
    if (const auto at = field_.find(key)) {
      read_value(*at, value.emplace(T{}));
    }
  }
  template <class T>
  void unless_empty(std::string_view key, T& value) {
    maybe(key, value);
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
    ask(key);
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
    ask(key);
  }
  template <class Read>
  void object(std::string_view key, const Read& read) {
    ask(key);
    if constexpr (std::invocable<Read, JsonReader&>) {
      const Field at = field_.at(key);
      JsonReader io(at);
      read(io);
    }
  }
  void list(std::string_view key, const auto& /*values*/, const auto& /*write*/) { asked_.push_back(key); }
  template <class T>
  void whole(std::string_view key, T& value) {
    (*this)(key, value);
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
  void ask(std::string_view key) {
    if (knows_others_) {
      asked_.push_back(key);
    }
  }

  const Field& field_;
  bool knows_others_;
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
