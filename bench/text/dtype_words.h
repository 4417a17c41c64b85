// Dtypes on the command line: by this program's names, and as PyTorch and others spell them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/dtype.h"

namespace bench {

// "fp16" and "float16" are the same.
constexpr std::optional<Dtype> dtype_of_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Dtype>, 4> kSpellings{{{"float32", Dtype::fp32},
                                                                          {"float16", Dtype::fp16},
                                                                          {"bfloat16", Dtype::bf16},
                                                                          {"tfloat32", Dtype::tf32}}};
  const auto* const other = std::ranges::find(kSpellings, word, &std::pair<std::string_view, Dtype>::first);
  return other != kSpellings.end() ? other->second : parse_dtype(word);
}

}  // namespace bench
