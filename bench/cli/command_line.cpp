#include "bench/cli/command_line.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/cli/names.h"
#include "bench/cli/options.h"
#include "bench/cli/suggest.h"
#include "bench/cli/text.h"
#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {
namespace {

constexpr const char* kUsage = "Usage: bench --sweep NAME [options]\n       bench --list";

constexpr const char* kExamples = R"(Examples:
  bench --sweep batch                                  the default network on the best device here
  bench --sweep batch --workload resnet18 --dtype fp32,bf16 --batch 1:64:x2
  bench --sweep batch --workload conv2d --mode backward-data --height 14 --width 14
  bench --sweep batch --memory-cap 4GiB --dry-run      the points and their predicted memory
  bench --sweep memory --workload resnet50 --mode train --memory-cap 6GiB,8GiB,12GiB,16GiB
  bench --sweep memory --workload resnet18 --mode train --optimizer adam --batch 8 --soak 200
  bench --sweep kernels                                memory, arithmetic and the roofline
  bench --sweep transfer --workload resnet50 --batch 64
                                                       what a batch takes to the device; does pinning pay
  bench --sweep workers --consumer 40ms --workers 0,1,2,4,8
                                                       loaders that feed a step of 40 ms
  bench --sweep workers --simulate --profile FILE --demand t4=1128/s
                                                       what they would do for a T4; nothing is measured
  bench --sweep batch --resume                         go on with a run that was stopped

Sizes take B, KiB, MiB, GiB, KB, MB, GB; times take ms, s, min.
Google Benchmark's own options work: --benchmark_filter=REGEX, --benchmark_list_tests,
--benchmark_format=console|json|csv, --benchmark_out=FILE, --benchmark_out_format=…,
--benchmark_repetitions=N (rounds).
Exit codes: 0 done; 1 compare found a regression; 2 wrong usage or unreadable input; 3 inconclusive, or a
point in error; 4 not comparable, or invalid; 130 interrupted, what was measured is saved.
)";

// An option's text as given; counts how often, which CLI11 would answer with its last value.
struct Given {
  CLI::Option* option = nullptr;
  std::string text;
};

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return std::string(kUsage) + "\n";
  }
};

// CLI11 leaves two empty lines between groups.
std::string without_double_gaps(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) {
    text.erase(at, 1);
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace

class CommandLine::Parser {
 public:
  Parser() {
    app_.set_help_flag();
    app_.allow_extras();
    const auto formatter = std::make_shared<HelpFormatter>();
    formatter->column_width(28);
    app_.formatter(formatter);
    app_.footer(kExamples);
    app_.name("bench");
    add_fixed();
    add_sweep_options();
    add_workload_options();
  }

  void parse(const std::vector<std::string>& arguments) {
    refuse_values_of_switches(arguments);
    run_parser(arguments);
    if (!has("help") && !has("version")) {
      refuse_leftovers();
      refuse_misused();
    }
  }

  bool has(const std::string& name) const { return given_switches_.at(name); }
  std::string help() const { return without_double_gaps(app_.help()); }
  const NamesByOption& workloads_of() const { return workloads_of_; }
  const NamesByOption& sweeps_of() const { return sweeps_of_; }

  const std::string* text_of(const std::string& name) const {
    if (const auto known = given_switches_.find(name); known != given_switches_.end()) {
      static const std::string yes = "yes";
      return known->second ? &yes : nullptr;
    }
    const Given& given = given_.at(name);
    return given.option->count() > 0 ? &given.text : nullptr;
  }

 private:
  void add(const std::string& name, const std::string& value_name, const std::string& help,
           const std::string& group) {
    Given& given = given_[name];
    given.option = app_.add_option("--" + name, given.text, help);
    given.option->option_text(value_name)
        ->group(group)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  void add_switch(const std::string& names, const std::string& help, const std::string& group) {
    const std::string name = names.substr(names.find("--") + 2);
    app_.add_flag(names, given_switches_[name], help)->group(group);
    switches_.push_back("--" + name);
  }

  void add_fixed() {
    const Options defaults;
    const auto budget = static_cast<double>(defaults.time_budget.count());
    const std::string what = "What to measure";
    add("sweep", "NAME", fmt::format("the question: {}", fmt::join(names_of<Sweep>(), ", ")), what);
    add("workload", "NAME",
        fmt::format("{} (default: the sweep's)", fmt::join(names_of<WorkloadType>(), ", ")), what);
    add("mode", "NAME", "what a step is, see --list (default: the sweep's)", what);
    add("device", "auto|cpu|cuda:N", fmt::format("where to run (default: {})", defaults.device), what);
    add("dtype", "LIST", "fp32, tf32, fp16, bf16, separated by commas (default: those the device has)", what);
    add("batch", "AXIS", "1,2,4 or 1:256:x2 or 8:64:+8 (default: doubling, up to the cap)", what);
    const std::string limits = "Limits";
    add("memory-cap", "SIZE",
        "most memory a point may take; the sweep memory takes several (default: 80 % of what is free)",
        limits);
    add("time-budget", "TIME", fmt::format("end measuring after this (default: {})", format_duration(budget)),
        limits);
    add("seed", "N", fmt::format("of inputs and of the order of points (default: {})", defaults.seed),
        limits);
    const std::string output = "Output";
    add("out", "DIR", fmt::format("folder of result and picture (default: {})", defaults.out.string()),
        output);
    add_switch("--no-plot", "draw no picture", output);
    add_switch("--dry-run", "list the points and their predicted memory; run and write nothing", output);
    add_switch("--resume", "keep the points the result file has already", output);
    add_switch("--list", "sweeps, workloads and devices, and for what is missing, why", output);
    add_switch("--version", "print the version", output);
    add_switch("-h,--help", "print this text", output);
  }

  // Sweeps share some (--workers): each is added once, in the words of all of them.
  void add_sweep_options() {
    const std::string group = "Options of a sweep";
    std::vector<const CommandOption*> first;
    std::map<std::string, std::string> helps;
    for (const auto& sweep : registry<Sweep>().entries()) {
      for (const CommandOption& option : sweep->options) {
        const std::string usual =
            option.is_switch ? std::string() : fmt::format("default: {}; ", option.default_value);
        const std::string help = fmt::format("{} ({}sweep {})", option.help, usual, sweep->name);
        if (sweeps_of_[option.name].empty()) {
          first.push_back(&option);
          helps[option.name] = help;
        } else {
          helps[option.name] += "; " + help;
        }
        sweeps_of_[option.name].push_back(sweep->name);
      }
    }
    for (const CommandOption* option : first) {
      if (option->is_switch) {
        add_switch("--" + option->name, helps[option->name], group);
      } else {
        add(option->name, value_name(*option), helps[option->name], group);
      }
    }
  }

  // Workloads share option names (--image-size of every network): each is added once.
  void add_workload_options() {
    for (const auto& type : registry<WorkloadType>().entries()) {
      for (const WorkloadType::Option& option : type->options) {
        workloads_of_[option.name].push_back(type->name);
      }
    }
    for (const auto& [name, workloads] : workloads_of_) {
      const WorkloadType::Option& option = option_of(workloads.front(), name);
      std::vector<std::string> takers;  // with their defaults where those differ
      for (const std::string& workload : workloads) {
        const std::string& own = option_of(workload, name).default_value;
        takers.push_back(own == option.default_value ? workload : fmt::format("{}: {}", workload, own));
      }
      add(name, value_name(option),
          fmt::format("{} (default: {}; {})", option.help, option.default_value, fmt::join(takers, ", ")),
          "Options of a workload");
    }
  }

  static const WorkloadType::Option& option_of(const std::string& workload, const std::string& name) {
    const auto& options = registry<WorkloadType>().find(workload)->options;
    return *std::ranges::find(options, name, [](const WorkloadType::Option& o) { return o.name; });
  }

  void run_parser(std::vector<std::string> arguments) {
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ArgumentMismatch& error) {
      // "--batch: 1 required AXIS missing"
      const std::string message = error.what();
      throw UsageError(
          fmt::format("{}: a value is missing; see bench --help", message.substr(0, message.find(':'))));
    } catch (const CLI::ParseError& error) {
      throw UsageError(fmt::format("{}; see bench --help", printable(error.what(), 2 * kLongestQuote)));
    }
  }

  // CLI11 would take --dry-run=false for "measure", and --dry-run=7 for --dry-run.
  void refuse_values_of_switches(const std::vector<std::string>& arguments) const {
    for (const std::string& argument : arguments) {
      const std::string name = argument.substr(0, argument.find('='));
      if (name.size() < argument.size() && std::ranges::find(switches_, name) != switches_.end()) {
        throw UsageError(
            fmt::format("{}: {} was given, but it takes no value; give {} alone, or leave it out", name,
                        quote(argument.substr(name.size() + 1)), name));
      }
    }
  }

  void refuse_leftovers() const {
    const std::vector<std::string> leftovers = app_.remaining();
    if (leftovers.empty()) {
      return;
    }
    const std::string& first = leftovers.front();
    if (!first.starts_with('-')) {
      throw UsageError(
          fmt::format("{} is not an option; options start with --, see bench --help", quote(first)));
    }
    std::vector<std::string> known = switches_;
    for (const auto& [name, given] : given_) {
      known.push_back("--" + name);
    }
    const auto meant = nearest(first.substr(0, first.find('=')), known);
    throw UsageError(fmt::format("{}: there is no such option{}; see bench --help", printable(first),
                                 meant ? fmt::format(" (did you mean {}?)", *meant) : ""));
  }

  void refuse_misused() const {
    for (const auto& [name, given] : given_) {
      // CLI11 takes the next option for the value of one that has none.
      if (given.option->count() > 0 && given.text.starts_with("--")) {
        throw UsageError(
            fmt::format("--{}: a value is missing before {}; see bench --help", name, printable(given.text)));
      }
      if (given.option->count() > 1) {
        throw UsageError(fmt::format("--{}: given {} times ({}); give it once", name, given.option->count(),
                                     printable(fmt::format("{}", fmt::join(given.option->results(), ", ")))));
      }
    }
  }

  CLI::App app_{"Answers questions about networks on a device by measuring: each sweep ends in findings."};
  // CLI11 keeps pointers into both: a map's entries stay where they are.
  std::map<std::string, Given> given_;
  std::map<std::string, bool> given_switches_;
  NamesByOption workloads_of_;
  NamesByOption sweeps_of_;
  std::vector<std::string> switches_;  // "--dry-run"
};

CommandLine::CommandLine() : parser_(std::make_unique<Parser>()) {}
CommandLine::~CommandLine() = default;

void CommandLine::parse(const std::vector<std::string>& arguments) {
  parser_->parse(arguments);
}

bool CommandLine::has(const std::string& option_switch) const {
  return parser_->has(option_switch);
}

const std::string* CommandLine::text_of(const std::string& option) const {
  return parser_->text_of(option);
}

std::string CommandLine::help() const {
  return parser_->help();
}

const char* CommandLine::usage() {
  return kUsage;
}

const CommandLine::NamesByOption& CommandLine::workloads_of() const {
  return parser_->workloads_of();
}

const CommandLine::NamesByOption& CommandLine::sweeps_of() const {
  return parser_->sweeps_of();
}

}  // namespace bench
