// The table of an advice that answers a question, for tests.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/advise/advice.h"

namespace bench {

inline const AdviceTable& table_of(const Advice& advice, std::string_view question) {
  for (const AdviceTable& table : advice.tables) {
    if (table.question.find(question) != std::string::npos) {
      return table;
    }
  }
  throw std::runtime_error("no table answers " + std::string(question));
}

}  // namespace bench
