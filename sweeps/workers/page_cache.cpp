#include "sweeps/workers/page_cache.h"

#include <sys/resource.h>

#include <algorithm>

namespace bench::sweeps {

std::int64_t storage_bytes() {
  constexpr std::int64_t kBlock = 512;  // whatever the file system's is
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return kBlock * used.ru_inblock;
}

Json page_cache_found(const ResultDocument& document, double mean_encoded_bytes) {
  constexpr double kNextToNothing = 0.01;
  double from_storage = 0;
  double images = 0;
  for (const MeasuredPoint& point : document.benchmarks) {
    for (const Json& note : point.notes.is_array() ? point.notes : Json::array()) {
      const auto number = [&](const char* key) {
        const Json value = note.is_object() ? note.value(key, Json()) : Json();
        return value.is_number() ? value.get<double>() : -1;
      };
      if (number("storage_bytes") < 0) {
        return {{"page_cache", "as found"}};
      }
      from_storage += number("storage_bytes");
      images += std::max(0.0, number("images"));
    }
  }
  if (!(images > 0 && mean_encoded_bytes > 0)) {
    return {{"page_cache", "as found"}};
  }
  const double part = from_storage / (images * mean_encoded_bytes);
  if (part < kNextToNothing) {
    return {{"page_cache", "warm"}};
  }
  return {{"page_cache", "as found"}, {"read_from_storage", std::min(1.0, part)}};
}

}  // namespace bench::sweeps
