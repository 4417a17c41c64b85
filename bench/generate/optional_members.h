// Members of a model's JSON that need not be there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "bench/result/result_json.h"

namespace bench {

inline std::int64_t whole_or(const Field& object, std::string_view key, std::int64_t otherwise) {
  const auto field = object.find(key);
  return field ? field->integer() : otherwise;
}

// `otherwise` where it is of another type, too.
inline bool flag_or(const Field& object, std::string_view key, bool otherwise) {
  const auto field = object.find(key);
  return field && field->json().is_boolean() ? field->json().get<bool>() : otherwise;
}

inline std::string text_or(const Field& object, std::string_view key, const std::string& otherwise) {
  const auto field = object.find(key);
  return field && field->json().is_string() ? field->string() : otherwise;
}

// A count that fits an int; one that does not is refused by check_language_model().
inline int as_int(std::int64_t value) {
  constexpr std::int64_t kMost = 1 << 30;
  return static_cast<int>(std::clamp(value, -kMost, kMost));
}

}  // namespace bench
