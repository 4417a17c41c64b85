#include "bench/cli/benchmark_flags.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

constexpr std::string_view kPrefix = "--benchmark_";

const std::vector<std::string> kFormats{"console", "json", "csv"};

// The flags that Google Benchmark 1.7 prints under --help: ours, and those that change nothing here.
const std::vector<std::string>& known_flags() {
  static const std::vector<std::string> flags = [] {
    std::vector<std::string> all{"--benchmark_min_time",
                                 "--benchmark_min_warmup_time",
                                 "--benchmark_enable_random_interleaving",
                                 "--benchmark_report_aggregates_only",
                                 "--benchmark_display_aggregates_only",
                                 "--benchmark_color",
                                 "--benchmark_counters_tabular",
                                 "--benchmark_context",
                                 "--benchmark_time_unit"};
    for (const Option& option : benchmark_options()) {
      all.push_back("--" + option.name);
    }
    return all;
  }();
  return flags;
}

std::string format_value(const std::string& flag, const std::string& value) {
  const std::vector<std::string>& accepted = kFormats;
  if (std::ranges::find(accepted, value) == accepted.end()) {
    throw UsageError(unknown_value(flag, value, accepted));
  }
  return value;
}

bool boolean_value(const std::string& flag, const std::string& value) {
  const std::vector<std::string> yes{"", "true", "yes", "on", "1"};
  const std::vector<std::string> no{"false", "no", "off", "0"};
  if (std::ranges::find(yes, value) == yes.end() && std::ranges::find(no, value) == no.end()) {
    throw UsageError(unknown_value(flag, value, {"true", "false"}));
  }
  return std::ranges::find(yes, value) != yes.end();
}

std::int64_t count_value(const std::string& flag, const std::string& value) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  constexpr std::int64_t kFewest = 3;  // an interval needs as many rounds
  constexpr std::int64_t kMost = 10'000;
  if (error != std::errc{} || end != value.data() + value.size() || count < kFewest || count > kMost) {
    throw UsageError(
        fmt::format("{}: {} is not a whole number from {} to {}", flag, quote(value), kFewest, kMost));
  }
  return count;
}

void read_flag(const std::string& argument, BenchmarkFlags& flags) {
  const std::size_t equals = argument.find('=');
  const std::string flag = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  if (std::ranges::find(known_flags(), flag) == known_flags().end()) {
    std::vector<std::string> names;  // without what they all begin with
    for (const std::string& known : known_flags()) {
      names.push_back(known.substr(kPrefix.size()));
    }
    const auto meant = nearest(flag.substr(kPrefix.size()), names);
    throw UsageError(fmt::format(
        "{}: Google Benchmark has no such flag{}", printable(argument),
        meant ? fmt::format(" (did you mean {}{}?)", kPrefix, *meant) : "; accepted: those it documents"));
  }
  if (flag.find("_min_time") != std::string::npos || flag.find("_min_warmup_time") != std::string::npos) {
    throw UsageError(fmt::format(
        "{}: how long a point runs follows from --time-budget, and this flag would change nothing; give "
        "--time-budget TIME instead",
        printable(argument)));
  }
  if (flag == "--benchmark_list_tests") {
    flags.list_tests = boolean_value(flag, value);
    return;
  }
  if (value.empty()) {
    throw UsageError(fmt::format("{}: a value is missing; give {}=VALUE", flag, flag));
  }
  if (flag == "--benchmark_filter") {
    flags.filter = value;
  } else if (flag == "--benchmark_out") {
    flags.out = value;
  } else if (flag == "--benchmark_out_format") {
    flags.out_format = format_value(flag, value);
  } else if (flag == "--benchmark_format") {
    flags.format = format_value(flag, value);
  } else if (flag == "--benchmark_repetitions") {
    flags.repetitions = count_value(flag, value);
  } else {
    flags.other_flags.push_back(argument);
  }
}

}  // namespace

std::vector<Option> benchmark_options() {
  std::vector<Option> options{
      {"benchmark_filter", "REGEX", "Google Benchmark's: the points whose names match; -REGEX: the others"},
      {"benchmark_list_tests", "", "print the points' names; run nothing"},
      {"benchmark_format", "NAME", "of standard output: {} (default: console)", these(kFormats)},
      {"benchmark_out", "FILE", "write the points there too"},
      {"benchmark_out_format", "NAME", "of that file: {} (default: json)", these(kFormats)},
      {"benchmark_repetitions", "N", "rounds, at least 3"}};
  for (Option& option : options) {
    option.takes_equals = true;
  }
  return options;
}

BenchmarkFlags take_benchmark_flags(std::vector<std::string>& arguments) {
  BenchmarkFlags flags;
  std::vector<std::string> others;
  for (std::string& argument : arguments) {
    if (argument.starts_with(kPrefix)) {
      read_flag(argument, flags);
    } else {
      others.push_back(std::move(argument));
    }
  }
  arguments = std::move(others);
  return flags;
}

}  // namespace bench
