#include "bench/run/schema_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/run/embedded_files.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

// Other tools' words of keys, and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOtherWords{
    {{"wait", "data"},
     {"load", "data"},
     {"loader", "data"},
     {"loading", "data"},
     {"iter", "step"},
     {"iteration", "step"},
     {"cores", "host_cores"},
     {"cpu_cores", "host_cores"},
     {"cpus", "host_cores"},
     {"gpus", "cards"},
     {"world_size", "cards"},
     {"precision", "dtype"}}};

std::optional<std::string> similar_key(const std::string& key, const std::vector<std::string>& accepted) {
  const std::optional<std::string> near = nearest(key, accepted);
  // "step_time" for step_ms
  const std::string stem = key.substr(0, key.rfind('_')) + "_";
  const auto same =
      std::ranges::find_if(accepted, [&](const std::string& name) { return name.starts_with(stem); });
  return same != accepted.end() && !(near && near->starts_with(stem)) ? *same : near;
}

// "wait_ms" for data_ms, "iter_time" for step_ms
std::optional<std::string> key_meant(const std::string& key, const std::vector<std::string>& accepted) {
  std::optional<std::string> meant = similar_key(key, accepted);
  for (const auto& [word, ours] : kOtherWords) {
    if (key != word && !key.starts_with(fmt::format("{}_", word))) {
      continue;
    }
    const std::string other = fmt::format("{}{}", ours, key.substr(word.size()));
    if (!meant || std::ranges::find(accepted, other) != accepted.end()) {
      meant = similar_key(other, accepted);
    }
  }
  return meant;
}

bool is_of_type(const Json& value, const std::string& type) {
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
         : type == "integer" ? value.is_number_integer()
         : type == "number"  ? value.is_number()
                             : throw std::logic_error("schema: type " + type);
}

bool is_in_range(const Json& number, const Json& rule) {
  const auto value = number.get<double>();
  const auto limit = [&](const char* keyword, double otherwise) { return rule.value(keyword, otherwise); };
  return value >= limit("minimum", -INFINITY) && value <= limit("maximum", INFINITY) &&
         value > limit("exclusiveMinimum", -INFINITY);
}

std::vector<std::string> types_of(const Json& rule) {
  const auto type = rule.find("type");
  return type == rule.end()  ? std::vector<std::string>{}
         : type->is_string() ? std::vector{type->get<std::string>()}
                             : type->get<std::vector<std::string>>();
}

// "4096", "1e9"
std::string limit_in_words(const Json& limit) {
  std::string text = limit.is_number_integer() ? limit.dump() : fmt::format("{:g}", limit.get<double>());
  if (const std::size_t exponent = text.find('e'); exponent != std::string::npos) {  // 1e+09, 1e-06
    text = fmt::format("{}e{}", text.substr(0, exponent), std::stoi(text.substr(exponent + 1)));
  }
  return text;
}

// " from 1 to 4096", " above 0, up to 1e10"
std::string range_in_words(const Json& rule) {
  const std::string most = rule.contains("maximum") ? limit_in_words(rule["maximum"]) : "";
  return rule.contains("exclusiveMinimum")
             ? fmt::format(" above {}{}{}", limit_in_words(rule["exclusiveMinimum"]),
                           most.empty() ? "" : ", up to ", most)
         : !rule.contains("minimum") ? most.empty() ? "" : " up to " + most
         : most.empty()              ? fmt::format(" of {} or more", limit_in_words(rule["minimum"]))
                                     : fmt::format(" from {} to {}", limit_in_words(rule["minimum"]), most);
}

// Of a list: "1 to 4096", "2", "up to 4096".
std::string size_in_words(const Json& rule) {
  const auto least = rule.value("minItems", 0);
  const auto most = rule.value("maxItems", 0);
  return most == 0       ? fmt::format("{} or more", least)
         : least == most ? fmt::format("{}", least)
         : least == 0    ? fmt::format("up to {}", most)
                         : fmt::format("{} to {}", least, most);
}

std::string accepted_in_words(const Json& rule) {
  std::vector<std::string> accepted;
  for (const Json& one : rule.value("enum", Json::array())) {
    accepted.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  for (const std::string& type : types_of(rule)) {
    const Json items = rule.value("items", Json::object());
    accepted.push_back(
        type == "object"    ? "an object"
        : type == "string"  ? "a text"
        : type == "boolean" ? "true, false"
        : type == "integer" ? "a whole number" + range_in_words(rule)
        : type == "number"  ? "a number" + range_in_words(rule)
        : !accepted.empty() ? fmt::format("or a list of {} such", size_in_words(rule))
        : items.contains("properties")
            ? "a list of objects"
            : fmt::format("a list of {}, each {}", size_in_words(rule), accepted_in_words(items)));
  }
  return fmt::format("{}", fmt::join(accepted, ", "));
}

std::string inside(const std::string& place, const std::string& key) {
  return place.empty() ? key : place + "." + key;
}

class SchemaCheck {
 public:
  SchemaCheck(const Json& schema, std::string_view name) : schema_(schema), name_(name) {}

  void check(const Json& value, const Json& given_rule, const std::string& place) const {
    const Json& rule = resolved(given_rule);
    check_keywords(rule);
    const auto types = types_of(rule);
    if (!types.empty() &&
        std::ranges::none_of(types, [&](const std::string& type) { return is_of_type(value, type); })) {
      refuse(value, rule, place);
    }
    check_enum(value, rule, place);
    if (value.is_number() && !is_in_range(value, rule)) {
      refuse(value, rule, place);
    }
    if (value.is_array()) {
      check_list(value, rule, place);
    } else if (value.is_object()) {
      check_object(value, rule, place);
    }
  }

 private:
  [[noreturn]] static void refuse(const Json& value, const Json& rule, const std::string& place) {
    throw UsageError(fmt::format("{} is {}; accepted: {}", place.empty() ? "the whole" : place,
                                 printable(value.dump(-1, ' ', false, Json::error_handler_t::replace)),
                                 accepted_in_words(rule)));
  }

  // "#/definitions/NAME"
  const Json& resolved(const Json& rule) const {
    const auto ref = rule.find("$ref");
    return ref == rule.end() ? rule : schema_.at(Json::json_pointer(ref->get<std::string>().substr(1)));
  }

  static void check_keywords(const Json& rule) {
    static const std::vector<std::string> known{
        "$schema",  "title",    "description", "definitions",       "type",
        "enum",     "minimum",  "maximum",     "exclusiveMinimum",  "items",
        "minItems", "maxItems", "properties",  "patternProperties", "additionalProperties",
        "required"};
    for (const auto& [keyword, value] : rule.items()) {
      if (std::ranges::find(known, keyword) == known.end()) {
        throw std::logic_error("schema: keyword " + keyword);
      }
    }
  }

  static void check_enum(const Json& value, const Json& rule, const std::string& place) {
    const auto among = rule.find("enum");
    if (among == rule.end() || std::ranges::find(*among, value) != among->end()) {
      return;
    }
    if (!value.is_string()) {
      refuse(value, rule, place);
    }
    throw UsageError(unknown_value(place, value.get<std::string>(), among->get<std::vector<std::string>>()));
  }

  void check_list(const Json& value, const Json& rule, const std::string& place) const {
    if (value.size() < rule.value("minItems", std::size_t{0}) ||
        value.size() > rule.value("maxItems", SIZE_MAX)) {
      refuse(value, rule, place);
    }
    const auto given_item = rule.find("items");
    if (given_item == rule.end()) {
      return;
    }
    const Json& item = resolved(*given_item);
    const bool are_numbers = item.value("type", Json()) == "number";
    for (std::size_t i = 0; i < value.size(); ++i) {
      // A file holds millions of times: their places are written only for the message.
      if (!are_numbers || !value[i].is_number() || !is_in_range(value[i], item)) {
        check(value[i], item, fmt::format("{}[{}]", place, i));
      }
    }
  }

  // Every key that begins with "_" is a comment, where the schema says so.
  void check_object(const Json& value, const Json& rule, const std::string& place) const {
    const Json& properties = rule.at("properties");
    const bool has_comments = rule.contains("patternProperties") && rule["patternProperties"].contains("^_");
    for (const auto& [key, member] : value.items()) {
      if (const auto property = properties.find(key); property != properties.end()) {
        check(member, *property, inside(place, key));
      } else if (!(has_comments && key.starts_with('_')) && !rule.value("additionalProperties", true)) {
        refuse_key(key, properties, place);
      }
    }
    for (const Json& key : rule.value("required", Json::array())) {
      if (!value.contains(key.get<std::string>())) {
        throw UsageError(inside(place, key.get<std::string>()) + " is missing");
      }
    }
  }

  // A number or a list of them.
  bool is_quantity(const Json& rule) const {
    const auto items = rule.find("items");
    return std::ranges::count(types_of(rule), "number") > 0 ||
           (items != rule.end() && is_quantity(resolved(*items)));
  }

  [[noreturn]] void refuse_key(const std::string& key, const Json& properties,
                               const std::string& place) const {
    std::vector<std::string> accepted;
    std::vector<std::string> with_unit;  // "step_ms" for "step"
    for (const auto& [name, rule] : properties.items()) {
      accepted.push_back(name);
      if (is_quantity(resolved(rule)) && name.starts_with(key + "_") &&
          name.find('_', key.size() + 1) == std::string::npos) {
        with_unit.push_back(name);
      }
    }
    const std::optional<std::string> meant = key_meant(key, accepted);
    // All keys of a file are more than anybody reads.
    constexpr std::size_t kMostListed = 20;
    const std::string where = place.empty() ? "" : place + ".";
    throw UsageError(
        !with_unit.empty()
            ? fmt::format("{}{} has no unit; accepted: {}", where, key, fmt::join(with_unit, ", "))
            : fmt::format("{}{} is not known{}; accepted: {}", where, quote(key),
                          meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                          accepted.size() > kMostListed ? fmt::format("see bench --schema {}", name_)
                                                        : fmt::format("{}", fmt::join(accepted, ", "))));
  }

  const Json& schema_;
  std::string_view name_;
};

}  // namespace

void check_by_schema(const Json& document, std::string_view name) {
  static std::map<std::string, Json, std::less<>> parsed;
  auto schema = parsed.find(name);
  if (schema == parsed.end()) {
    schema = parsed.emplace(name, Json::parse(schema_text(name))).first;
  }
  SchemaCheck(schema->second, name).check(document, schema->second, "");
}

}  // namespace bench
