#include "bench/measure/result_json.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench {
namespace {

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_members(std::string& text, const Json& value) {
  const bool object = value.is_object();
  text += object ? '{' : '[';
  const char* separator = "\n    ";
  for (const auto& [key, member] : value.items()) {
    text += separator;
    if (object) {
      text += dump(key) + ": ";
    }
    text += dump(member);
    separator = ",\n    ";
  }
  text += "\n  ";
  text += object ? '}' : ']';
}

// "an array", "a string": for messages.
std::string with_article(const Json& json) {
  std::string type = json.type_name();
  if (type == "null") {
    return type;
  }
  return (type.starts_with('a') || type.starts_with('o') ? "an " : "a ") + type;
}

}  // namespace

std::size_t nesting_of(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

std::string to_text(const Json& document) {
  std::string text = "{";
  const char* separator = "\n  ";
  for (const auto& [key, value] : document.items()) {
    text += separator + dump(key) + ": ";
    if (value.is_structured() && !value.empty()) {
      append_members(text, value);
    } else {
      text += dump(value);
    }
    separator = ",\n  ";
  }
  return text + "\n}\n";
}

bool is_int64(const Json& json) {
  // The parser gives every non-negative integer as unsigned; beyond 2^63 it would wrap.
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  return json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() > kLargest);
}

void Field::wrong_type(std::string_view expected) const {
  throw UsageError(fmt::format("{} is {}, not {}", path_, with_article(json_), expected));
}

const Json& Field::object() const {
  if (!json_.is_object()) {
    wrong_type("an object");
  }
  return json_;
}

Field Field::at(std::string_view key) const {
  const auto found = object().find(key);
  std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  if (found == json_.end()) {
    throw UsageError(path + " is missing");
  }
  return {*found, std::move(path)};
}

bool Field::has(std::string_view key) const {
  const auto found = object().find(key);
  return found != json_.end() && !found->is_null();
}

std::size_t Field::size() const {
  if (!json_.is_array()) {
    wrong_type("an array");
  }
  return json_.size();
}

Field Field::at(std::size_t index) const {
  if (index >= size()) {
    throw UsageError(fmt::format("{} has {} elements; one more is needed", path_, json_.size()));
  }
  return {json_[index], fmt::format("{}[{}]", path_, index)};
}

std::string Field::string() const {
  if (!json_.is_string()) {
    wrong_type("a string");
  }
  return json_.get<std::string>();
}

double Field::number() const {
  if (!json_.is_number()) {
    wrong_type("a number");
  }
  return json_.get<double>();
}

std::int64_t Field::integer() const {
  if (!is_int64(json_)) {
    wrong_type("a 64-bit integer");
  }
  return json_.get<std::int64_t>();
}

}  // namespace bench
