#include "bench/measure/advice.h"

#include <cstddef>

namespace bench {

std::string advice_after_interrupt(std::string text) {
  for (const std::string_view advice : {kGiveTime, kMeasureLarger}) {
    for (std::size_t at = text.find(advice); at != std::string::npos; at = text.find(advice, at)) {
      text.replace(at, advice.size(), kGoOn);
    }
  }
  return text;
}

}  // namespace bench
