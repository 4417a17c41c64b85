// The texts of a table's row.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "bench/page/cell.h"

namespace bench {

inline std::vector<std::string> texts_of(const Cells& row) {
  std::vector<std::string> texts;
  std::ranges::transform(row, std::back_inserter(texts), &Cell::text);
  return texts;
}

}  // namespace bench
