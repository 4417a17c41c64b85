// What a run asks its reader to do where figures are missing or imprecise.
#pragma once

#include <string_view>

#include "bench/host/interrupt.h"

namespace bench {

// An interrupted run had come neither to the end of its time budget nor to its largest batch: it is to go on.
inline std::string_view to_have_more(std::string_view otherwise) {
  return interrupted() ? "go on with --resume" : otherwise;
}
// In the brackets of findings and warnings.
inline std::string_view give_time() {
  return to_have_more("larger --time-budget");
}
inline std::string_view measure_larger() {
  return to_have_more("measure larger batches");
}

}  // namespace bench
