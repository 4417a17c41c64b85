// The table of an advice that answers a question, for tests.
#pragma once

#include <stdexcept>
#include <string>

#include "bench/advise/advice.h"

namespace bench {

inline const AdviceTable& table_of(const Advice& advice, const std::string& question) {
  for (const AdviceTable& table : advice.tables) {
    if (table.question.find(question) != std::string::npos) {
      return table;
    }
  }
  throw std::runtime_error("no table answers " + question);
}

}  // namespace bench
