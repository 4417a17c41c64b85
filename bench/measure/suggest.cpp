#include "bench/measure/suggest.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/quote.h"

namespace bench {

// Damerau's distance in the "optimal string alignment" form: no part of a word is edited twice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

namespace {

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return small;
}

}  // namespace

std::optional<std::string> nearest(std::string_view given, const std::vector<std::string>& accepted) {
  // No name is that long, and the distance takes time and memory that grow with the text.
  if (given.size() > 100) {
    return std::nullopt;
  }
  const std::string small = lower(given);
  const auto distance = [&](const std::string& name) { return edit_distance(small, lower(name)); };
  const auto best = std::ranges::min_element(accepted, {}, distance);
  if (best != accepted.end() && 3 * distance(*best) <= std::max<std::size_t>(best->size(), 3)) {
    return *best;
  }
  // "num_workers" for workers, "batch_size" for batch.
  const auto within = std::ranges::find_if(accepted, [&](const std::string& name) {
    const std::string part = lower(name);
    return part.size() >= 3 && (small.starts_with(part + "_") || small.ends_with("_" + part) ||
                                small.starts_with(part + "-") || small.ends_with("-" + part));
  });
  return within == accepted.end() ? std::nullopt : std::optional(*within);
}

std::string unknown_value(std::string_view option, std::string_view given,
                          const std::vector<std::string>& accepted) {
  const std::optional<std::string> meant = nearest(given, accepted);
  return fmt::format("{}: {} is not known; accepted: {}{}", option, quote(given), fmt::join(accepted, ", "),
                     meant ? fmt::format(" (did you mean {}?)", *meant) : "");
}

}  // namespace bench
