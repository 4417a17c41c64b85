#include "bench/cli/options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/suggest.h"
#include "bench/cli/text.h"
#include "bench/error.h"
#include "bench/measure/axis.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/run/context.h"
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
  bench --sweep batch --resume                         go on with a run that was stopped

Sizes take B, KiB, MiB, GiB, KB, MB, GB; times take ms, s, min.
Google Benchmark's own options work: --benchmark_filter=REGEX, --benchmark_list_tests,
--benchmark_format=console|json|csv, --benchmark_out=FILE, --benchmark_out_format=…,
--benchmark_repetitions=N (rounds).
Exit codes: 0 done; 1 compare found a regression; 2 wrong usage or unreadable input; 3 inconclusive, or a
point in error; 4 not comparable, or invalid; 130 interrupted, what was measured is saved.
)";

template <class Entry>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& entry : registry<Entry>().entries()) {
    names.push_back(entry->name);
  }
  return names;
}

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

class CommandLine {
 public:
  CommandLine() {
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

  Options parse(std::vector<std::string> arguments) {
    Options options;
    const bool nothing_given = arguments.empty();
    options.benchmark = take_benchmark_flags(arguments);
    refuse_values_of_switches(arguments);
    run_parser(std::move(arguments));
    if (help_) {
      options.text = without_double_gaps(app_.help());
      return options;
    }
    if (version_) {
      options.text = fmt::format("bench {}\n", bench_version());
      return options;
    }
    if (nothing_given) {
      throw UsageError(
          fmt::format("--sweep: a name is missing; accepted: {}; bench --help shows all options\n\n{}",
                      fmt::join(names_of<Sweep>(), ", "), kUsage));
    }
    refuse_leftovers();
    refuse_misused();
    read_switches(options);
    if (!options.list) {
      read_names(options);
      read_workload_options(options);
      read_sweep_options(options);
    }
    read_values(options);
    return options;
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

  void add_switch(const std::string& names, bool& value, const std::string& help, const std::string& group) {
    app_.add_flag(names, value, help)->group(group);
    switches_.push_back(names.substr(names.find("--")));
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
    add_switch("--no-plot", no_plot_, "draw no picture", output);
    add_switch("--dry-run", dry_run_, "list the points and their predicted memory; run and write nothing",
               output);
    add_switch("--resume", resume_, "keep the points the result file has already", output);
    add_switch("--list", list_, "sweeps, workloads and devices, and for what is missing, why", output);
    add_switch("--version", version_, "print the version", output);
    add_switch("-h,--help", help_, "print this text", output);
  }

  void add_sweep_options() {
    for (const auto& sweep : registry<Sweep>().entries()) {
      for (const CommandOption& option : sweep->options) {
        sweeps_of_[option.name].push_back(sweep->name);
        add(option.name, value_name(option),
            fmt::format("{} (default: {}; sweep {})", option.help, option.default_value, sweep->name),
            "Options of a sweep");
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

  const std::string* text_of(const std::string& name) const {
    const Given& given = given_.at(name);
    return given.option->count() > 0 ? &given.text : nullptr;
  }

  void read_switches(Options& options) const {
    options.list = list_;
    options.plot = !no_plot_;
    options.dry_run = dry_run_;
    options.resume = resume_;
  }

  void read_names(Options& options) const {
    const std::string* sweep = text_of("sweep");
    if (sweep == nullptr) {
      throw UsageError(
          fmt::format("--sweep: a name is missing; accepted: {}", fmt::join(names_of<Sweep>(), ", ")));
    }
    if (registry<Sweep>().find(*sweep) == nullptr) {
      throw UsageError(unknown_value("--sweep", *sweep, names_of<Sweep>()));
    }
    options.sweep = *sweep;
    if (const std::string* workload = text_of("workload")) {
      if (registry<WorkloadType>().find(*workload) == nullptr) {
        throw UsageError(unknown_value("--workload", *workload, names_of<WorkloadType>()));
      }
      options.workload = *workload;
    }
    if (const std::string* device = text_of("device")) {
      options.device = *device;
    }
  }

  static std::string needs_one_workload(const std::string& option, const std::string& text,
                                        const std::vector<std::string>& workloads) {
    return fmt::format("{}: {} was given, but the sweep covers several workloads; give --workload {} with it",
                       option, quote(text), fmt::join(workloads, "|"));
  }

  void read_workload_options(Options& options) const {
    const Sweep* const sweep = registry<Sweep>().find(options.sweep);
    if (sweep == nullptr) {
      return;
    }
    const std::string& name = options.workload.empty() ? sweep->default_workload : options.workload;
    const WorkloadType* type = registry<WorkloadType>().find(name);
    if (type == nullptr) {
      return;
    }
    const bool several = options.workload.empty() && !sweep->workloads.empty();
    if (const std::string* modes = text_of("mode")) {
      if (several) {
        throw UsageError(needs_one_workload("--mode", *modes, sweep->workloads));
      }
      options.modes = values_of(*sweep, "--mode", *modes);
      for (const std::string& mode : options.modes) {
        if (std::ranges::find(type->modes, mode) == type->modes.end()) {
          throw UsageError(unknown_value("--mode", mode, type->modes) + " for " + name);
        }
      }
    }
    for (const auto& [option, workloads] : workloads_of_) {
      const std::string* text = text_of(option);
      if (text == nullptr) {
        continue;
      }
      if (several) {
        throw UsageError(needs_one_workload("--" + option, *text, workloads));
      }
      if (std::ranges::find(workloads, name) == workloads.end()) {
        std::vector<std::string> own;
        for (const WorkloadType::Option& o : type->options) {
          own.push_back("--" + o.name);
        }
        throw UsageError(fmt::format("--{}: {} was given, but {} has no such option; it has {}", option,
                                     quote(*text), name,
                                     own.empty() ? "none" : fmt::format("{}", fmt::join(own, ", "))));
      }
      options.workload_options[option] = values_of(*sweep, "--" + option, *text);
    }
  }

  void read_sweep_options(Options& options) const {
    for (const auto& [option, sweeps] : sweeps_of_) {
      const std::string* text = text_of(option);
      if (text == nullptr) {
        continue;
      }
      if (std::ranges::find(sweeps, options.sweep) == sweeps.end()) {
        throw UsageError(fmt::format("--{}: {} was given, but belongs to --sweep {}", option, quote(*text),
                                     fmt::join(sweeps, ", ")));
      }
      options.sweep_options[option] = *text;
    }
  }

  // The text's values, each once: several where the sweep takes lists.
  static std::vector<std::string> values_of(const Sweep& sweep, const std::string& option,
                                            const std::string& text) {
    std::vector<std::string> values;
    for (const std::string& value : split(text)) {
      if (std::ranges::find(values, value) == values.end()) {
        values.push_back(value);
      }
    }
    if (values.size() > 1 && !sweep.takes_lists) {
      std::vector<std::string> takers;
      for (const auto& other : registry<Sweep>().entries()) {
        if (other->takes_lists) {
          takers.push_back("--sweep " + other->name);
        }
      }
      throw UsageError(
          fmt::format("{}: {} was given, and --sweep {} takes one value{}", option, quote(text), sweep.name,
                      takers.empty() ? "" : fmt::format("; {} takes several", fmt::join(takers, ", "))));
    }
    return values;
  }

  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      parts.push_back(text.substr(from, comma - from));
      from = comma + 1;
    }
    return parts;
  }

  void read_values(Options& options) const {
    if (const std::string* text = text_of("dtype")) {
      options.dtypes = parse_dtypes(*text);
    }
    if (const std::string* text = text_of("batch")) {
      options.batches = parse_axis("--batch", *text);
    }
    if (const std::string* text = text_of("memory-cap")) {
      const Sweep* const sweep = registry<Sweep>().find(options.sweep);
      for (const std::string& value :
           sweep == nullptr ? std::vector{*text} : values_of(*sweep, "--memory-cap", *text)) {
        options.memory_caps.push_back(parse_bytes("--memory-cap", value));
      }
      std::ranges::sort(options.memory_caps);
      options.memory_caps.erase(std::unique(options.memory_caps.begin(), options.memory_caps.end()),
                                options.memory_caps.end());
    }
    if (const std::string* text = text_of("time-budget")) {
      options.time_budget = parse_duration("--time-budget", *text);
    }
    if (const std::string* text = text_of("seed")) {
      options.seed = parse_seed(*text);
    }
    if (const std::string* text = text_of("out")) {
      if (text->empty()) {
        throw UsageError("--out: '' is not a folder; give its path");
      }
      options.out = *text;
    }
  }

  static std::vector<Dtype> parse_dtypes(const std::string& text) {
    std::vector<std::string> accepted;
    accepted.reserve(kAllDtypes.size());
    for (const Dtype dtype : kAllDtypes) {
      accepted.emplace_back(name_of(dtype));
    }
    std::vector<Dtype> dtypes;
    for (const std::string& name : split(text)) {
      const std::optional<Dtype> dtype = parse_dtype(name);
      if (!dtype) {
        throw UsageError(unknown_value("--dtype", name, accepted));
      }
      if (std::ranges::find(dtypes, *dtype) == dtypes.end()) {
        dtypes.push_back(*dtype);
      }
    }
    return dtypes;
  }

  static std::uint64_t parse_seed(const std::string& text) {
    std::int64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size() || seed < 0) {
      throw UsageError(fmt::format("--seed: {} is not a whole number from 0 to {}", quote(text),
                                   std::numeric_limits<std::int64_t>::max()));
    }
    return static_cast<std::uint64_t>(seed);
  }

  CLI::App app_{"Answers questions about networks on a device by measuring: each sweep ends in findings."};
  std::map<std::string, Given> given_;  // CLI11 keeps pointers into it: a map's entries stay where they are
  std::map<std::string, std::vector<std::string>> workloads_of_;  // by option name
  std::map<std::string, std::vector<std::string>> sweeps_of_;     // the same
  std::vector<std::string> switches_;                             // "--dry-run"
  bool no_plot_ = false;
  bool dry_run_ = false;
  bool resume_ = false;
  bool list_ = false;
  bool version_ = false;
  bool help_ = false;
};

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  return CommandLine().parse(std::move(arguments));
}

}  // namespace bench
