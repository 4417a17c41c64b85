#include "bench/cli/option.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

// CLI11's value of an option that was given none; no argument of a program holds it.
const std::string kNoValue(1, '\0');
const std::string kYes = "yes";  // of a switch

// Other tools' names of options, and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kOtherNames{
    {{"model", "workload"},
     {"network", "workload"},
     {"precision", "dtype"},
     {"dtype", "weights"},
     {"sequence", "context"},
     {"users", "batch"},
     {"bs", "batch"},
     {"iters", "benchmark_repetitions"},
     {"iterations", "benchmark_repetitions"},
     {"repetitions", "benchmark_repetitions"},
     {"duration", "time-budget"},
     {"gpu", "device"},
     {"output", "out"},
     {"json", "format json"},
     {"csv", "format csv"},
     {"markdown", "format markdown"}}};

// Without the dashes: what every option shares says nothing about how near two are.
std::optional<std::string> option_meant(std::string_view given, const std::vector<std::string>& names) {
  const auto other =
      std::ranges::find(kOtherNames, given, &std::pair<std::string_view, std::string_view>::first);
  if (other != kOtherNames.end()) {
    std::string ours(other->second);
    const bool known = ours.starts_with("benchmark_") ||
                       std::ranges::find(names, ours.substr(0, ours.find(' '))) != names.end();
    if (known) {
      return ours;
    }
  }
  return nearest(given, names);
}

[[noreturn]] void refuse_unknown(const std::vector<Option>& options, const std::string& word,
                                 const Parsing& parsing) {
  std::vector<std::string> names{"help"};
  for (const Option& option : options) {
    names.push_back(option.name);
  }
  const std::string name = word.substr(0, word.find('='));
  const auto meant = option_meant(name.substr(std::min(name.find_first_not_of('-'), name.size())), names);
  throw UsageError(fmt::format("{}: there is no such option{}; see {}", printable(word),
                               meant ? fmt::format(" (did you mean --{}?)", *meant) : "", parsing.page));
}

// CLI11 lets a switch have a value, and takes "--batch= 7" for "--batch 7".
void refuse_wrong_values(const CLI::App& app, const std::vector<std::string>& words, const Parsing& parsing) {
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* const option = name == word ? nullptr : app.get_option_no_throw(name);
    if (option != nullptr && option->get_expected_max() == 0) {
      throw UsageError(fmt::format("{}: {} was given, but it takes no value; give {} alone, or leave it out",
                                   name, quote(word.substr(name.size() + 1)), name));
    }
    if (option != nullptr && name.size() + 1 == word.size()) {
      throw UsageError(fmt::format("{}: a value is missing; see {}", name, parsing.page));
    }
  }
}

void refuse_misuse(const Option& option, const std::vector<std::string>& given, const Parsing& parsing) {
  if (std::ranges::find(given, kNoValue) != given.end()) {
    throw UsageError(fmt::format("--{}: a value is missing; see {}", option.name, parsing.page));
  }
  if (given.size() > 1 && !option.repeatable && !option.value.empty()) {
    throw UsageError(fmt::format("--{}: given {} times ({}); give it once", option.name, given.size(),
                                 printable(fmt::format("{}", fmt::join(given, ", ")))));
  }
}

}  // namespace

std::function<std::vector<std::string>()> these(std::vector<std::string> words) {
  return [words = std::move(words)] { return words; };
}

std::string value_name(const CommandOption& option) {
  if (option.words) {
    return fmt::format("{}", fmt::join(option.words(), "|"));
  }
  const std::string& usual = option.default_value;
  const std::size_t digits = std::min(usual.find_first_not_of("0123456789"), usual.size());
  if (digits == usual.size()) {
    return "N";
  }
  const std::string unit = usual.substr(digits);
  const bool size = digits > 0 && unit.back() == 'B';
  return unit.find(',') != std::string::npos ? "LIST" : size ? "SIZE" : "VALUE";
}

Option option_of(const CommandOption& option) {
  if (option.is_switch) {
    return {.name = option.name, .value = "", .help = option.help, .words = option.words};
  }
  const std::string only = option.mode.empty() ? "" : fmt::format("; --mode {} only", option.mode);
  return {.name = option.name,
          .value = value_name(option),
          .help = fmt::format("{} (default: {}{})", option.help, option.default_value, only),
          .words = option.words};
}

void refuse_format(std::string_view format, std::string_view option) {
  if (!format.empty() && format != kText && format != kOtherNameOfText) {
    throw UsageError(fmt::format("--format: {} was given, and {} prints text; leave one of them out",
                                 quote(format), option));
  }
}

Option format_option(const std::vector<std::string>& more) {
  std::vector<std::string> words{std::string(kText), "markdown", "csv", "json"};
  words.insert(words.end(), more.begin(), more.end());
  return {"format", "NAME", "{} (default: text)", these(std::move(words))};
}

std::string left_of(const Option& option) {
  return fmt::format("{}--{}{}{}", option.letter == 0 ? "" : fmt::format("-{}, ", option.letter), option.name,
                     option.value.empty()  ? ""
                     : option.takes_equals ? "="
                                           : " ",
                     option.value);
}

std::string help_of(const Option& option) {
  std::string help = option.help;
  const std::size_t at = help.find("{}");
  if (at != std::string::npos && option.words) {
    const std::vector<std::string> words = option.words();
    std::string listed = words.empty() ? "" : words.back();
    if (words.size() > 1) {
      listed = fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
    }
    help.replace(at, 2, listed);
  }
  return help;
}

const std::string* GivenOptions::text_of(const std::string& option) const {
  const auto found = values.find(option);
  return found == values.end() ? nullptr : &found->second.back();
}

GivenOptions given_options(const std::vector<Option>& options, const std::vector<std::string>& words,
                           const Parsing& parsing) {
  CLI::App app;
  app.set_help_flag();  // --help is one of our switches
  app.allow_extras();
  for (const Option& option : options) {
    if (app.get_option_no_throw("--" + option.name) == nullptr) {  // sweeps share some, networks most
      const bool is_switch = option.value.empty();
      app.add_option(option.letter == 0 ? "--" + option.name
                                        : fmt::format("-{},--{}", option.letter, option.name))
          ->expected(0, is_switch ? 0 : 1)
          ->default_str(is_switch || option.name == parsing.may_lack_value ? kYes : kNoValue)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  if (parsing.refuses_misuse) {
    refuse_wrong_values(app, words, parsing);
  }
  GivenOptions given;
  for (const Option& option : options) {
    const CLI::Option* const read = app.get_option_no_throw("--" + option.name);
    if (read == nullptr || read->count() == 0 || given.values.contains(option.name)) {
      continue;
    }
    if (parsing.refuses_misuse) {
      refuse_misuse(option, read->results(), parsing);
    }
    if (read->results().back() != kNoValue) {
      given.values[option.name] = read->results();
    }
  }
  given.others = app.remaining();
  for (const std::string& other : given.others) {
    if (other.starts_with('-') && other.size() > 1) {
      refuse_unknown(options, other, parsing);
    }
  }
  return given;
}

}  // namespace bench
