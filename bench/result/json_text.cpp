#include "bench/result/json_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// The parser's callbacks. Values and keys lie on two stacks until their array or object ends,
// which is then made in its final size.
class JsonBuilder {
 public:
  JsonBuilder(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& /*text*/) { return add(value); }
  bool string(const std::string& value) { return add(value); }
  bool binary(const Json::binary_t& /*value*/) { return false; }  // not in a text

  bool start_array(std::size_t /*elements*/) { return open(); }
  bool start_object(std::size_t /*members*/) { return open(); }
  bool key(const std::string& key) {
    if (keys_.size() - open_.back().first_key == kMostMembers) {
      throw UsageError(
          fmt::format("{} has more than {} members in one object{}", name_, kMostMembers, place()));
    }
    keys_.push_back(key);
    return true;
  }
  bool end_array() {
    const auto first = first_value();
    Json::array_t elements(std::make_move_iterator(first), std::make_move_iterator(values_.end()));
    return close(std::move(elements));
  }
  bool end_object() {
    refuse_twins();
    const auto first_key = keys_.begin() + static_cast<std::ptrdiff_t>(open_.back().first_key);
    Json::object_t members;
    members.reserve(static_cast<std::size_t>(keys_.end() - first_key));
    auto value = first_value();
    for (auto key = first_key; key != keys_.end(); ++key, ++value) {
      members.emplace_back(std::move(*key), std::move(*value));
    }
    keys_.erase(first_key, keys_.end());
    return close(std::move(members));
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& error) {
    constexpr int kOutOfRange = 406;
    if (error.id == kOutOfRange) {
      throw UsageError(fmt::format("{} holds a number too large to be read", name_));
    }
    // The parser counts the end as one character more.
    throw UsageError(
        position > text_.size()
            ? fmt::format("{} is truncated: the JSON ends too early, after {} bytes", name_, text_.size())
            : fmt::format("{} is not JSON: the error is at byte {}", name_, position));
  }

  Json take() { return std::move(values_.front()); }

 private:
  // An array or object that has not ended: where its own values and keys begin.
  struct Open {
    std::size_t first_value;
    std::size_t first_key;
  };

  std::vector<Json>::iterator first_value() {
    return values_.begin() + static_cast<std::ptrdiff_t>(open_.back().first_value);
  }
  bool add(Json value) {
    if (++added_ > kMostValues) {
      throw UsageError(fmt::format("{} has more than {} values", name_, kMostValues));
    }
    values_.push_back(std::move(value));
    return true;
  }
  bool open() {
    if (open_.size() == kDeepestJson) {
      throw UsageError(fmt::format("{} opens brackets more than {} deep", name_, kDeepestJson));
    }
    open_.push_back({.first_value = values_.size(), .first_key = keys_.size()});
    return true;
  }
  bool close(Json value) {
    values_.erase(first_value(), values_.end());
    open_.pop_back();
    return add(std::move(value));
  }
  void refuse_twins() {
    sorted_.assign(keys_.begin() + static_cast<std::ptrdiff_t>(open_.back().first_key), keys_.end());
    std::ranges::sort(sorted_);
    if (const auto twin = std::ranges::adjacent_find(sorted_); twin != sorted_.end()) {
      throw UsageError(fmt::format("{} has the key {} twice in one object{}", name_, quote(*twin), place()));
    }
  }
  // ", benchmarks[3].stats": the innermost array or object that has not ended; empty: the whole.
  std::string place() const {
    std::string place;
    for (std::size_t i = 1; i < open_.size(); ++i) {
      const Open& outer = open_[i - 1];
      if (open_[i].first_key > outer.first_key) {  // the last key so far of an object
        place += place.empty() ? ", " : ".";
        place += printable(keys_[open_[i].first_key - 1]);
      } else {
        place += fmt::format("{}[{}]", place.empty() ? ", " : "", open_[i].first_value - outer.first_value);
      }
    }
    return place;
  }

  std::string_view text_;
  std::string_view name_;
  std::vector<Json> values_;
  std::vector<std::string> keys_;
  std::vector<Open> open_;
  std::size_t added_ = 0;  // values, within others too
  std::vector<std::string_view> sorted_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name) {
  JsonBuilder builder(text, name);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace bench
