// What may have become of a JSON file: cut, edited, garbled.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"

namespace bench::testing {

// Bytes changed, lost, repeated; the end lost.
inline std::string mutate(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kBytes = "{}[]\",:-0123456789eE.ntf \\\xff";
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (std::size_t change = 0; !text.empty() && change <= below(4); ++change) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = kBytes[below(kBytes.size())];
        break;
      case 1:
        text.erase(at, 1 + below(40));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(40)));
        break;
      default:
        text.resize(at + 1);
    }
  }
  return text;
}

// Values that stand where another was expected.
inline std::vector<Json> odd_values() {
  return {nullptr,
          true,
          0,
          -1,
          1.5,
          1e308,
          -1e308,
          5e-324,
          std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::uint64_t>::max(),
          "",
          "\xff\xfe",
          Json::array(),
          Json::object(),
          Json::array({Json::array({1, "x"}), nullptr})};
}

// The document with one value, at any depth, replaced by each of the odd ones in turn, and without it.
template <class Use>
void for_each_odd_document(const Json& document, const Use& use) {
  const Json flat = document.flatten();
  std::set<std::string> places;
  for (const auto& [place, value] : flat.items()) {
    for (Json::json_pointer at(place); !at.empty(); at.pop_back()) {
      places.insert(at.to_string());
    }
  }
  for (const std::string& text : places) {
    const Json::json_pointer place(text);
    for (const Json& odd : odd_values()) {
      Json changed = document;
      changed[place] = odd;
      use(changed);
    }
    Json without = document;
    Json& parent = without[place.parent_pointer()];
    if (parent.is_object()) {
      parent.erase(place.back());
    } else {
      parent.erase(0);
    }
    use(without);
  }
}

}  // namespace bench::testing
