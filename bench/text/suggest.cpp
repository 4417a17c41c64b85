#include "bench/text/suggest.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/quote.h"

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

// Its first digits.
std::string number_in(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t from = std::min(text.find_first_of(kDigits), text.size());
  return std::string(text.substr(from, text.find_first_not_of(kDigits, from) - from));
}

// As nearest(): all that are equally near.
std::vector<std::string> all_nearest(std::string_view given, const std::vector<std::string>& accepted) {
  // No name is that long, and the distance takes time and memory that grow with the text.
  if (given.size() > 100) {
    return {};
  }
  const std::string small = lower(given);
  std::vector<std::string> meant;
  std::size_t least = std::string_view::npos;
  for (const std::string& name : accepted) {
    const std::size_t distance = edit_distance(small, lower(name));
    if (3 * distance > std::max<std::size_t>(name.size(), 3) || distance > least) {
      continue;
    }
    if (distance < least) {
      meant.clear();
      least = distance;
    }
    meant.push_back(name);
  }
  if (!meant.empty()) {
    return meant;
  }
  // "num_workers" for workers, "batch_size" for batch.
  const auto within = std::ranges::find_if(accepted, [&](const std::string& name) {
    const std::string part = lower(name);
    return part.size() >= 3 && (small.starts_with(part + "_") || small.ends_with("_" + part) ||
                                small.starts_with(part + "-") || small.ends_with("-" + part));
  });
  if (within != accepted.end()) {
    return {*within};
  }
  // "4", "q4" and "4bit" for int4, "4090" for rtx4090.
  const std::string number = number_in(small);
  std::ranges::copy_if(accepted, std::back_inserter(meant), [&](const std::string& name) {
    return !number.empty() && small.find(number) <= 1 && number_in(name) == number;
  });
  return meant;
}

}  // namespace

std::optional<std::string> nearest(std::string_view given, const std::vector<std::string>& accepted) {
  const std::vector<std::string> meant = all_nearest(given, accepted);
  return meant.empty() ? std::nullopt : std::optional(meant.front());
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& accepted) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> meant = all_nearest(given, accepted);
  meant.resize(std::min(meant.size(), kMost));
  return meant.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(meant, " or "));
}

std::string unknown_value(std::string_view option, std::string_view given,
                          const std::vector<std::string>& accepted, std::string_view more) {
  return fmt::format("{}: {} is not known; accepted: {}{}{}", option, quote(given), fmt::join(accepted, ", "),
                     more, did_you_mean(given, accepted));
}

}  // namespace bench
