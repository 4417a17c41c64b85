#include <chrono>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "sweeps/workers/loader/data.h"

namespace bench::loader {

StorageLimit parse_storage(const std::string& text) {
  const std::size_t comma = text.find(',');
  const std::string rate = text.substr(0, comma);
  if (rate.size() < 3 || !rate.ends_with("/s")) {
    throw UsageError(fmt::format(
        "--storage: {} was given; accepted: bytes a second and the latency of a read, such as 200MB/s,5ms",
        quote(text)));
  }
  StorageLimit limit;
  limit.bytes_per_s = static_cast<double>(parse_bytes("--storage", rate.substr(0, rate.size() - 2)));
  if (comma != std::string::npos) {
    const std::string latency = text.substr(comma + 1);
    limit.latency_ns = latency == "0" ? 0 : parse_duration("--storage", latency).count();
  }
  return limit;
}

}  // namespace bench::loader
