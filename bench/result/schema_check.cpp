#include "bench/result/schema_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/result/embedded_files.h"
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

// Types of JSON Schema, a bit each. A whole number is a number too.
constexpr unsigned kInteger = 1;
constexpr unsigned kNumber = 2;
constexpr unsigned kString = 4;
constexpr unsigned kArray = 8;
constexpr unsigned kObject = 16;
constexpr unsigned kBoolean = 32;
constexpr unsigned kNull = 64;

unsigned type_named(const std::string& name) {
  return name == "integer"   ? kInteger
         : name == "number"  ? kNumber
         : name == "string"  ? kString
         : name == "array"   ? kArray
         : name == "object"  ? kObject
         : name == "boolean" ? kBoolean
         : name == "null"    ? kNull
                             : throw std::logic_error("schema: type " + name);
}

unsigned types_of(const Json& value) {
  return is_int64(value)      ? kInteger | kNumber
         : value.is_number()  ? kNumber
         : value.is_string()  ? kString
         : value.is_array()   ? kArray
         : value.is_object()  ? kObject
         : value.is_boolean() ? kBoolean
                              : kNull;
}

// A schema at one place, its keywords looked up once: a file holds millions of values.
struct Rule {
  struct Property {
    std::string_view name;
    const Rule* rule;
    bool is_required;
  };

  const Json* keywords = nullptr;
  std::vector<unsigned> types{};  // empty: any
  unsigned all_types = 0;         // the same, together
  double minimum = -INFINITY;
  double above = -INFINITY;
  double maximum = INFINITY;
  std::size_t least_size = 0;  // of a list
  std::size_t most_size = SIZE_MAX;
  std::size_t least_length = 0;  // of a text, in bytes
  std::optional<std::regex> pattern{};
  std::vector<Json> among{};    // empty: any
  const Rule* items = nullptr;  // null: any
  std::vector<Property> properties{};
  std::size_t required = 0;      // of them
  const Rule* others = nullptr;  // of members that are no properties; null: any
  bool is_closed = false;        // there are none,
  bool has_comments = false;     // but those whose keys begin with "_"
  std::vector<const Rule*> any_of{};

  bool is_in_range(double number) const { return number >= minimum && number <= maximum && number > above; }
  // Begins at `next`, and leaves it behind the one found: files have most members in the schema's order.
  const Property* find(std::string_view key, std::size_t& next) const {
    for (std::size_t left = properties.size(); left > 0; --left) {
      const Property& property = properties[next];
      next = next + 1 == properties.size() ? 0 : next + 1;
      if (property.name == key) {
        return &property;
      }
    }
    return nullptr;
  }
};

class Schema {
 public:
  explicit Schema(std::string_view name) : json_(Json::parse(schema_text(name))) {}

  // `place`: "/definitions/profile"; empty: the whole.
  const Rule& rule_at(const std::string& place) { return rule_of(json_.at(Json::json_pointer(place))); }

 private:
  // Keywords that add_keyword() need not know.
  static constexpr std::array<std::string_view, 14> kOthers{
      "$schema", "title",   "description", "examples",         "definitions", "required",  "enum",
      "minimum", "maximum", "minItems",    "exclusiveMinimum", "maxItems",    "minLength", "pattern"};

  const Rule& rule_of(const Json& json) {
    if (const auto ref = json.find("$ref"); ref != json.end()) {
      return rule_at(ref->get<std::string>().substr(1));  // "#/definitions/profile"
    }
    const auto [at, is_new] = rules_.try_emplace(&json);
    if (is_new) {
      fill(json, at->second);
    }
    return at->second;
  }

  void fill(const Json& json, Rule& rule) {
    rule.keywords = &json;
    rule.minimum = json.value("minimum", rule.minimum);
    rule.above = json.value("exclusiveMinimum", rule.above);
    rule.maximum = json.value("maximum", rule.maximum);
    rule.least_size = json.value("minItems", rule.least_size);
    rule.most_size = json.value("maxItems", rule.most_size);
    rule.least_length = json.value("minLength", rule.least_length);
    rule.among = json.value("enum", rule.among);
    if (json.contains("pattern")) {
      rule.pattern.emplace(json["pattern"].get<std::string>());
    }
    for (const auto& [keyword, value] : json.items()) {
      add_keyword(keyword, value, rule);
    }
    static const Rule kAny;
    const auto required = json.find("required");
    for (std::size_t i = 0; required != json.end() && i < required->size(); ++i) {
      const std::string_view name = (*required)[i].get_ref<const std::string&>();
      auto property = std::ranges::find(rule.properties, name, &Rule::Property::name);
      if (property == rule.properties.end()) {
        property =
            rule.properties.insert(property, {name, rule.others == nullptr ? &kAny : rule.others, true});
      }
      property->is_required = true;
      ++rule.required;
    }
  }

  void add_keyword(const std::string& keyword, const Json& value, Rule& rule) {
    if (keyword == "type") {
      for (const Json& name : value.is_string() ? Json::array({value}) : value) {
        rule.types.push_back(type_named(name));
        rule.all_types |= rule.types.back();
      }
    } else if (keyword == "items") {
      rule.items = &rule_of(value);
    } else if (keyword == "properties") {
      for (const auto& [name, property] : value.items()) {
        rule.properties.push_back({name, &rule_of(property), false});
      }
    } else if (keyword == "additionalProperties") {
      rule.is_closed = value == false;
      rule.others = value.is_object() ? &rule_of(value) : nullptr;
    } else if (keyword == "patternProperties") {
      rule.has_comments = value.contains("^_");
    } else if (keyword == "anyOf") {
      for (const Json& one : value) {
        rule.any_of.push_back(&rule_of(one));
      }
    } else if (std::ranges::find(kOthers, keyword) == kOthers.end()) {
      throw std::logic_error("schema: keyword " + keyword);
    }
  }

  Json json_;
  std::map<const Json*, Rule> rules_{};
};

// "4096", "1e9", "2^59"
std::string limit_in_words(const Json& limit) {
  const auto number = limit.get<double>();
  if (const double power = std::log2(std::abs(number)); power >= 40 && power == std::floor(power)) {
    return fmt::format("{}2^{:.0f}", number < 0 ? "-" : "", power);
  }
  std::string text = limit.is_number_integer() ? limit.dump() : fmt::format("{:g}", number);
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

// Of a list: " of 1 to 4096", " of 2", " of up to 4096".
std::string size_in_words(const Rule& rule) {
  const std::size_t least = rule.least_size;
  const std::size_t most = rule.most_size;
  return most == SIZE_MAX ? least == 0 ? "" : fmt::format(" of {} or more", least)
         : least == most ? fmt::format(" of {}", least)
         : least == 0     ? fmt::format(" of up to {}", most)
                          : fmt::format(" of {} to {}", least, most);
}

std::string text_in_words(const Rule& rule) {
  return rule.pattern            ? "a text such as " + rule.keywords->at("examples").at(0).get<std::string>()
         : rule.least_length > 0 ? "a text that is not empty"
                                 : "a text";
}

std::string accepted_in_words(const Rule& rule);

std::string list_in_words(const Rule& rule) {
  return rule.items == nullptr || rule.items->types.empty() ? "a list" + size_in_words(rule)
         : rule.items->types.front() == kObject
             ? "a list of objects"
             : fmt::format("a list{}, each {}", size_in_words(rule), accepted_in_words(*rule.items));
}

std::string accepted_in_words(const Rule& rule) {
  std::vector<std::string> accepted;
  for (const Json& one : rule.among) {
    accepted.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  for (const unsigned type : rule.types) {
    accepted.push_back(type == kObject    ? "an object"
                       : type == kBoolean ? "true, false"
                       : type == kInteger ? "a whole number" + range_in_words(*rule.keywords)
                       : type == kNumber  ? "a number" + range_in_words(*rule.keywords)
                       : type == kString  ? text_in_words(rule)
                       : accepted.empty() ? type == kNull ? "null" : list_in_words(rule)
                       : type == kNull ? "or null"
                                          : fmt::format("or a list{} such", size_in_words(rule)));
  }
  return fmt::format("{}", fmt::join(accepted, ", "));
}

[[noreturn]] void refuse(const Field& field, const Rule& rule) {
  const Json& value = field.json();
  if (value.is_string() && rule.among.size() > 1) {
    throw UsageError(unknown_value(field.path(), value.get<std::string>(),
                                   Json(rule.among).get<std::vector<std::string>>()));
  }
  const bool is_too_large = (rule.all_types & kInteger) != 0 && value.is_number_integer() && !is_int64(value);
  field.refuse(accepted_in_words(rule) + (is_too_large ? ", below 2^63" : ""));
}

// A number or a list of them.
bool is_quantity(const Rule& rule) {
  return (rule.all_types & kNumber) != 0 || (rule.items != nullptr && is_quantity(*rule.items));
}

[[noreturn]] void refuse_key(const std::string& key, const Rule& rule, const Field& field,
                             std::string_view schema) {
  std::vector<std::string> accepted;
  std::vector<std::string> with_unit;  // "step_ms" for "step"
  for (const Rule::Property& property : rule.properties) {
    const std::string& name = accepted.emplace_back(property.name);
    if (is_quantity(*property.rule) && name.starts_with(key + "_") &&
        name.find('_', key.size() + 1) == std::string::npos) {
      with_unit.push_back(name);
    }
  }
  const std::optional<std::string> meant = key_meant(key, accepted);
  // All keys of a file are more than anybody reads.
  constexpr std::size_t kMostListed = 20;
  const std::string where = field.path().empty() ? "" : field.path() + ".";
  throw UsageError(!with_unit.empty()
                       ? fmt::format("{}{} has no unit; accepted: {}", where, key, fmt::join(with_unit, ", "))
                       : fmt::format("{}{} is not known{}; accepted: {}", where, quote(key),
                                     meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                                     accepted.size() > kMostListed
                                         ? fmt::format("see bench --schema {}", schema)
                                         : fmt::format("{}", fmt::join(accepted, ", "))));
}

class SchemaCheck {
 public:
  explicit SchemaCheck(std::string_view schema) : schema_(schema) {}

  void check(const Field& field, const Rule& rule) const {
    const Json& value = field.json();
    const unsigned types = types_of(value);
    if (!rule.types.empty() && (types & rule.all_types) == 0) {
      refuse(field, rule);
    }
    if (!rule.among.empty() && std::ranges::find(rule.among, value) == rule.among.end()) {
      refuse(field, rule);
    }
    if ((types & kNumber) != 0 ? !rule.is_in_range(value.get<double>())
        : types == kString
            ? !is_text_accepted(value.get_ref<const std::string&>(), rule)
            : types == kArray && (value.size() < rule.least_size || value.size() > rule.most_size)) {
      refuse(field, rule);
    }
    if (types == kArray && rule.items != nullptr) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(field.at(i), *rule.items);
      }
    } else if (types == kObject) {
      check_members(field, rule);
    }
    if (!rule.any_of.empty()) {
      check_any(field, rule.any_of);
    }
  }

 private:
  static bool is_text_accepted(const std::string& text, const Rule& rule) {
    return text.size() >= rule.least_length && (!rule.pattern || std::regex_search(text, *rule.pattern));
  }

  void check_members(const Field& field, const Rule& rule) const {
    std::size_t next = 0;
    std::size_t required = 0;
    field.for_each([&](const std::string& key, const Field& member) {
      if (const Rule::Property* const property = rule.find(key, next)) {
        required += property->is_required ? 1 : 0;
        check(member, *property->rule);
      } else if (rule.others != nullptr) {
        check(member, *rule.others);
      } else if (rule.is_closed && !(rule.has_comments && key.starts_with('_'))) {
        refuse_key(key, rule, field, schema_);
      }
    });
    for (auto property = rule.properties.begin(); required < rule.required; ++property) {
      if (property->is_required) {
        field.at(property->name);  // throws for the one that is missing
      }
    }
  }

  // Refuses as the first of them does.
  void check_any(const Field& field, const std::vector<const Rule*>& rules) const {
    std::optional<UsageError> first;
    for (const Rule* const rule : rules) {
      try {
        return check(field, *rule);
      } catch (const UsageError& error) {
        first = first.value_or(error);
      }
    }
    throw UsageError(*first);
  }

  std::string_view schema_;
};

// Kept: each of them is parsed once.
const Rule& rule_in(std::string_view schema, const std::string& part) {
  static std::mutex mutex;
  static std::map<std::string, Schema, std::less<>> schemas;
  const std::scoped_lock lock(mutex);
  auto at = schemas.find(schema);
  if (at == schemas.end()) {
    at = schemas.try_emplace(std::string(schema), schema).first;
  }
  return at->second.rule_at(part);
}

}  // namespace

void check_by_schema(const Field& value, std::string_view schema, const std::string& part) {
  SchemaCheck(schema).check(value, rule_in(schema, part));
}

}  // namespace bench
