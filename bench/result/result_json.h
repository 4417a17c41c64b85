// The result document as text, and checked access to JSON fields for readers of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/result/result.h"

namespace bench {

// One line for each context field, point and finding: readable, and a line diff shows what changed.
// Invalid UTF-8 (in a host name or an argument) becomes U+FFFD. Ends with a newline.
std::string to_text(const Json& document);

// to_text(to_json(document)), where only few points change between two calls: a point whose samples are as
// many as before is not converted again.
class ResultText {
 public:
  std::string of(const ResultDocument& document);

 private:
  // The members that differ from point to point.
  struct Version {
    std::size_t samples = 0;
    SampleStats stats;
    std::vector<std::string> flags;
    std::vector<MeasuredRound> rounds;
    std::pair<std::size_t, std::int64_t> place;  // in the families of names
    bool operator==(const Version&) const = default;
  };
  std::unordered_map<std::string, std::pair<Version, std::string>> lines_;  // by the point's name
};

// The parts of it: a value as one line, and the document with the lines of its points.
std::string to_line(const Json& json);
std::string to_text(const Json& document, const std::vector<std::string>& point_lines);

// Any value for standard output, as to_text() but with a line for each member and element.
std::string to_indented_text(const Json& json);

// Whether the number is whole, written as such (not 1.0), and fits std::int64_t.
bool is_int64(const Json& json);
// Such a member of a point's params; 0 where there is none.
std::int64_t whole_member(const Json& params, std::string_view key);
// A member of the object that is a positive number, and one that is a text, made printable.
std::optional<double> positive_member(const Json& object, std::string_view key);
std::string text_member(const Json& object, std::string_view key);

// Its two ends; null without one, and where its end is beyond all numbers.
Json interval_json(const std::optional<Interval>& interval);

// A value of a document being read, which knows its path: a missing field or one of the wrong type is a
// UsageError such as "benchmarks[3].stats.median_ns is a string, not a number". It refers to the field that
// it was taken from, which has to outlive it.
class Field {
 public:
  // The text of `path` has to outlive it too.
  explicit Field(const Json& json, std::string_view path = "") : json_(json), root_(path) {}

  const Json& json() const { return json_; }
  std::string path() const;

  Field at(std::string_view key) const&;                   // this must be an object that has the key
  std::optional<Field> find(std::string_view key) const&;  // none too where the value is null
  bool has(std::string_view key) const { return find(key).has_value(); }
  Field at(std::size_t index) const&;  // this must be an array with that index
  Field at(std::string_view key) const&& = delete;
  std::optional<Field> find(std::string_view key) const&& = delete;
  Field at(std::size_t index) const&& = delete;
  std::size_t size() const;  // of an array
  // use(key, field) for each member of an object.
  template <class Use>
  void for_each(const Use& use) const {
    for (auto member = object().begin(); member != json_.end(); ++member) {
      use(member.key(), Field(*member, this, member.key()));
    }
  }

  const Json& object() const;
  std::string string() const;
  double number() const;
  std::int64_t integer() const;  // neither 1.5 nor 1.0
  // "benchmarks[3].time_unit is "ms"; accepted: ns"
  [[noreturn]] void refuse(std::string_view accepted) const;

 private:
  Field(const Json& json, const Field* outer, std::string_view key) : json_(json), outer_(outer), key_(key) {}
  Field(const Json& json, const Field* outer, std::size_t index)
      : json_(json), outer_(outer), index_(index) {}

  // The path is put together only for a message: a file holds millions of fields.
  const Json& json_;
  const Field* outer_ = nullptr;
  std::optional<std::string_view> key_{};  // else index_
  std::size_t index_ = 0;
  std::string_view root_{};  // path of a field without an outer one
};

}  // namespace bench
