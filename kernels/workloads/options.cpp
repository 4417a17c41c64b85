#include "kernels/workloads/options.h"

#include <charconv>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"

namespace bench::kernels {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::int64_t whole_option(const WorkloadSpec& spec, const std::string& name, std::int64_t smallest,
                          std::int64_t largest) {
  const auto at = spec.options.find(name);
  const std::string text = at == spec.options.end() ? "" : at->second;
  const auto value = whole_number(text);
  if (!value || *value < smallest || *value > largest) {
    throw UsageError(fmt::format("--{} {}: accepted are whole numbers from {} to {}", name, quote(text),
                                 smallest, largest));
  }
  return *value;
}

}  // namespace bench::kernels
