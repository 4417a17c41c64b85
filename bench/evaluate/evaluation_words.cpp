#include "bench/evaluate/evaluation_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench {

std::string ratio_in_words(const Ratio& ratio) {
  if (!ratio.interval) {
    return fmt::format("{}{}×", ratio.is_bound ? "≤ " : "", format_number(ratio.value));
  }
  const auto [low, high] = *ratio.interval;
  const double half = std::max(high - ratio.value, ratio.value - low);
  constexpr double kRounding = 1e-9;
  if (half <= kRounding * ratio.value) {  // both are fed by one loader
    return format_number(ratio.value) + "×";
  }
  // A digit more where rounding would take an end to 1: that is what the reader looks for.
  int decimals = half >= 3 ? 0 : half >= 0.3 ? 1 : half >= 0.003 ? 2 : 3;
  const auto shows_one = [&](double end) {
    return fmt::format("{:.{}f}", end, decimals) == fmt::format("{:.{}f}", 1.0, decimals) && end != 1;
  };
  constexpr int kMostDecimals = 3;
  while (decimals < kMostDecimals && (shows_one(low) || shows_one(high))) {
    ++decimals;
  }
  return fmt::format("{:.{}f}× ({:.{}f}–{:.{}f}×)", ratio.value, decimals, low, decimals, high, decimals);
}

namespace {

std::string with_currency(const std::string& number, const std::string& currency) {
  const bool is_code = currency.size() == 3 && currency.front() >= 'A' && currency.front() <= 'Z';
  return is_code ? fmt::format("{} {}", number, currency) : currency + number;
}

}  // namespace

std::string amount_in_words(double amount, const std::string& currency) {
  return amount_in_words(Estimate{.value = amount}, currency);
}

std::string amount_in_words(const Estimate& amount, const std::string& currency) {
  return with_currency(plus_minus(amount.value, amount.ci95), currency);
}

std::string price_in_words(const Price& price, const std::string& currency) {
  return with_currency(plain_number(price.amount), currency) + (price.is_hire ? "/h" : "");
}

std::string task_in_words(const EvaluatedTask& task) {
  return fmt::format("{} {}", task.workload,
                     task.mode == "infer"   ? "inference"
                     : task.mode == "train" ? "training"
                                            : task.mode);
}

std::string list_in_words(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    return words.empty() ? "" : words.front();
  }
  const std::vector<std::string> most(words.begin(), words.end() - 1);
  return fmt::format("{} and {}", fmt::join(most, ", "), words.back());
}

std::string plain_number(double value) {
  return fmt::format("{:g}", value);
}

std::string short_name(std::string name) {
  constexpr std::array<std::string_view, 7> kEmpty{"(R)",        "(TM)",    "(tm)",    " CPU",
                                                   " Processor", "NVIDIA ", "GeForce "};
  for (const std::string_view empty : kEmpty) {
    for (std::size_t at = name.find(empty); at != std::string::npos; at = name.find(empty)) {
      name.erase(at, empty.size());
    }
  }
  name.erase(std::min(name.find(" @"), name.size()));
  return name;
}

std::string framework_in_words(const std::string& framework) {
  return framework == "pytorch"            ? "eager PyTorch"
         : framework == "pytorch-compiled" ? "PyTorch, compiled"
                                           : framework;
}

}  // namespace bench
