#include "bench/result/field_lists.h"

#include <cstddef>

namespace bench {

std::vector<std::string> strings_of(const Field& list) {
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < list.size(); ++i) {
    strings.push_back(list.at(i).string());
  }
  return strings;
}

std::optional<Interval> find_interval(const Field& object, std::string_view key) {
  const auto ends = object.find(key);
  return ends ? std::optional(Interval{ends->at(0).number(), ends->at(1).number()}) : std::nullopt;
}

}  // namespace bench
