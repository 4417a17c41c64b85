#include "kernels/workloads/options.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"

namespace bench::kernels {
namespace {

// "65536", "2^20": large powers of two are easier to read as such.
std::string in_help(std::int64_t limit) {
  constexpr std::int64_t kReadable = 65536;
  const auto bits = static_cast<std::uint64_t>(limit);
  return limit > kReadable && std::has_single_bit(bits) ? fmt::format("2^{}", std::countr_zero(bits))
                                                        : fmt::format("{}", limit);
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string option_text(const WorkloadSpec& spec, const std::string& name, std::string_view default_value) {
  const auto given = spec.options.find(name);
  return given == spec.options.end() ? std::string(default_value) : given->second;
}

CommandOption WholeOption::declared() const {
  return {.name = name,
          .default_value = std::to_string(default_value),
          .help = fmt::format("{}, {} to {}", help, in_help(smallest), in_help(largest)),
          .mode = mode};
}

std::int64_t WholeOption::read(const WorkloadSpec& spec) const {
  const std::string text = option_text(spec, name, std::to_string(default_value));
  const auto value = whole_number(text);
  if (!value || *value < smallest || *value > largest) {
    throw UsageError(fmt::format("--{}: {} was given; accepted: whole numbers from {} to {}", name,
                                 quote(text), smallest, largest));
  }
  return *value;
}

CommandOption BytesOption::declared() const {
  return {.name = name,
          .default_value = default_value,
          .help = fmt::format("{}, up to {}", help, format_bytes(largest))};
}

std::int64_t BytesOption::read(const WorkloadSpec& spec) const {
  const std::string text = option_text(spec, name, default_value);
  const std::int64_t bytes = parse_bytes("--" + name, text);
  if (bytes > largest) {
    throw UsageError(
        fmt::format("--{}: {} was given; accepted: up to {}", name, quote(text), format_bytes(largest)));
  }
  return bytes;
}

std::size_t word_index(const std::string& option, const std::string& text,
                       const std::vector<std::string>& words) {
  const auto at = std::ranges::find(words, text);
  if (at == words.end()) {
    throw UsageError(unknown_value("--" + option, text, words));
  }
  return static_cast<std::size_t>(at - words.begin());
}

WordOption<bool> yes_or_no(std::string name, std::string default_value, std::string help, std::string mode) {
  return {.name = std::move(name),
          .default_value = std::move(default_value),
          .words = {{"yes", true}, {"no", false}},
          .help = std::move(help),
          .mode = std::move(mode)};
}

}  // namespace bench::kernels
