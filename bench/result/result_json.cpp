#include "bench/result/result_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Elements of an array, or members of an object, one a line.
void append_lines(std::string& text, const std::vector<std::string>& lines, char open, char close) {
  text += open;
  const char* separator = "\n    ";
  for (const std::string& line : lines) {
    text += separator;
    text += line;
    separator = ",\n    ";
  }
  text += lines.empty() ? "" : "\n  ";
  text += close;
}

std::vector<std::string> lines_of(const Json& value) {
  std::vector<std::string> lines;
  for (const auto& [key, member] : value.items()) {
    lines.push_back(value.is_object() ? to_line(key) + ": " + to_line(member) : to_line(member));
  }
  return lines;
}

// "3", "[1,2]", "a list of 4096": for messages.
std::string in_words(const Json& value) {
  constexpr std::size_t kShown = 8;
  return value.is_structured() && value.size() > kShown
             ? fmt::format("{} of {}", value.is_array() ? "a list" : "an object", value.size())
             : printable(to_line(value));
}

}  // namespace

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_indented_text(const Json& json) {
  return inert_json(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string to_text(const Json& document) {
  const auto points = document.find("benchmarks");
  return to_text(document, points == document.end() ? std::vector<std::string>{} : lines_of(*points));
}

std::string to_text(const Json& document, const std::vector<std::string>& point_lines) {
  std::string text = "{";
  const char* separator = "\n  ";
  for (const auto& [key, value] : document.items()) {
    text += separator + to_line(key) + ": ";
    if (key == "benchmarks" && value.is_array()) {
      append_lines(text, point_lines, '[', ']');
    } else if (value.is_structured()) {
      append_lines(text, lines_of(value), value.is_object() ? '{' : '[', value.is_object() ? '}' : ']');
    } else {
      text += to_line(value);
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

std::int64_t whole_member(const Json& params, std::string_view key) {
  const auto found = params.find(key);
  return found != params.end() && is_int64(*found) ? found->get<std::int64_t>() : 0;
}

std::optional<double> positive_member(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return std::nullopt;
  }
  const auto found = object.find(key);
  const bool is_positive = found != object.end() && found->is_number() && found->get<double>() > 0;
  return is_positive ? std::optional(found->get<double>()) : std::nullopt;
}

std::string text_member(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return "";
  }
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval && std::isfinite(interval->high) ? Json::array({interval->low, interval->high}) : Json();
}

std::string Field::path() const {
  if (outer_ == nullptr) {
    return std::string(root_);
  }
  std::string path = outer_->path();
  if (!key_) {
    return fmt::format("{}[{}]", path, index_);
  }
  return fmt::format("{}{}{}", path, path.empty() ? "" : ".", printable(*key_));
}

void Field::refuse(std::string_view accepted) const {
  const std::string place = path();
  throw UsageError(
      fmt::format("{} is {}; accepted: {}", place.empty() ? "the whole" : place, in_words(json_), accepted));
}

const Json& Field::object() const {
  if (!json_.is_object()) {
    refuse("an object");
  }
  return json_;
}

Field Field::at(std::string_view key) const& {
  const auto found = object().find(key);
  if (found == json_.end()) {
    throw UsageError(Field(json_, this, key).path() + " is missing");
  }
  return {*found, this, found.key()};
}

std::optional<Field> Field::find(std::string_view key) const& {
  const auto found = object().find(key);
  return found != json_.end() && !found->is_null() ? std::optional(Field(*found, this, found.key()))
                                                   : std::nullopt;
}

std::size_t Field::size() const {
  if (!json_.is_array()) {
    refuse("a list");
  }
  return json_.size();
}

Field Field::at(std::size_t index) const& {
  if (index >= size()) {
    throw UsageError(fmt::format("{} has {} elements; one more is needed", path(), json_.size()));
  }
  return {json_[index], this, index};
}

std::string Field::string() const {
  if (!json_.is_string()) {
    refuse("a text");
  }
  return json_.get<std::string>();
}

double Field::number() const {
  if (!json_.is_number()) {
    refuse("a number");
  }
  return json_.get<double>();
}

std::int64_t Field::integer() const {
  if (!is_int64(json_)) {
    refuse(json_.is_number_integer() ? "a whole number below 2^63" : "a whole number");
  }
  return json_.get<std::int64_t>();
}

}  // namespace bench
