// Lists of a document being read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result_json.h"
#include "bench/stats/estimate.h"

namespace bench {

std::vector<std::string> strings_of(const Field& list);
// Each element of such a member; none where it is missing or null.
template <class T>
std::vector<T> read_list(const Field& object, std::string_view key, T (*read)(const Field&)) {
  std::vector<T> all;
  if (const auto list = object.find(key)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      all.push_back(read(list->at(i)));
    }
  }
  return all;
}
// Such a member as interval_json() writes it; none where it is missing or null.
std::optional<Interval> find_interval(const Field& object, std::string_view key);

}  // namespace bench
