#include "bench/cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/command_line.h"
#include "bench/cli/help.h"
#include "bench/cli/option_values.h"
#include "bench/cli/signs.h"
#include "bench/cli/terminal.h"
#include "bench/cli/version.h"
#include "bench/cli/workload_names.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/result/embedded_files.h"
#include "bench/run/context.h"
#include "bench/run/gpu_files.h"
#include "bench/sweep.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

// For each option, the names of the entries that have it: sweeps share some, networks most.
template <class Entry>
std::map<std::string, std::vector<std::string>> takers_by_option() {
  std::map<std::string, std::vector<std::string>> takers;
  for (const auto& entry : registry<Entry>().entries()) {
    for (const auto& option : entry->options) {
      takers[option.name].push_back(entry->name);
    }
  }
  return takers;
}

// Ten seconds, with the program's start and end, and the picture.
constexpr std::chrono::seconds kQuick(8);

bool contains(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

// From the texts of a command line to values, checked against the registries.
class OptionsReader {
 public:
  OptionsReader(std::vector<std::string> arguments)
      : nothing_given_(arguments.empty()), flags_(take_benchmark_flags(arguments)), line_(arguments) {}

  Options read() const {
    Options options;
    options.benchmark = flags_;
    if (line_.has("help")) {
      refuse_format(read_format(), "--help");
      options.text = help_asked_for();
      return options;
    }
    if (line_.has("version")) {
      options.text = version_in(read_format(), terminal_width(STDOUT_FILENO));
      return options;
    }
    if (line_.has("explain")) {
      refuse_format(read_format(), "--explain");
      constexpr std::size_t kWidest = 100;
      options.text = explained_signs(std::min(terminal_width(STDOUT_FILENO), kWidest));
      return options;
    }
    if (const std::string* shell = line_.text_of("completion")) {
      options.completion = *shell;
      return options;
    }
    if (const std::string* name = line_.text_of("schema")) {
      if (!contains(schema_names(), *name)) {
        throw UsageError(unknown_value("--schema", *name, schema_names()));
      }
      options.text = schema_text(*name);
      return options;
    }
    if (nothing_given_) {
      throw UsageError(fmt::format("--sweep: a name is missing; accepted: {}; see bench --help\n\n{}",
                                   fmt::join(names_of<SweepType>(), ", "), usage()));
    }
    read_catalogue();
    read_switches(options);
    options.format = read_format();
    if (options.list) {
      check_names();
    } else {
      read_names(options);
      read_workload_options(options);
      read_sweep_options(options);
    }
    read_values(options);
    return options;
  }

 private:
  // The help of the sweep and the workload that the command line names; else the program's.
  std::string help_asked_for() const {
    const bool verbose = line_.has("verbose");
    std::string text;
    if (const std::string* name = line_.text_of("sweep")) {
      text += help_of(find_named<SweepType>("--sweep", *name), verbose);
    }
    if (const std::string* name = line_.text_of("workload")) {
      text += (text.empty() ? "" : "\n") + help_of(named_workload(*name));
    }
    if (const auto workload = read_workload_file()) {
      text += (text.empty() ? "" : "\n") + help_of(*workload);
    }
    return text.empty() ? help(verbose) : text;
  }

  template <class Entry>
  static const Entry& find_named(std::string_view option, const std::string& name) {
    const Entry* const entry = registry<Entry>().find(name);
    if (entry == nullptr) {
      throw UsageError(unknown_value(option, name, names_of<Entry>()));
    }
    return *entry;
  }

  static const WorkloadType& named_workload(const std::string& name) {
    const WorkloadType* const type = workload_called(name);
    if (type == nullptr) {
      throw UsageError(unknown_workload("--workload", name, names_of<WorkloadType>()));
    }
    return *type;
  }

  // The names of options that change nothing.
  void check_names() const {
    if (const std::string* name = line_.text_of("sweep")) {
      find_named<SweepType>("--sweep", *name);
    }
    if (const std::string* name = line_.text_of("workload")) {
      named_workload(*name);
    }
    read_workload_file();
  }

  // The workload of the file that the command line names; nullptr where it names none.
  std::shared_ptr<const WorkloadType> read_workload_file() const {
    std::shared_ptr<const WorkloadType> workload;
    for (const auto& reader : registry<WorkloadReader>().entries()) {
      std::map<std::string, std::string> given;
      for (const CommandOption& option : reader->options) {
        if (const std::string* text = line_.text_of(option.name)) {
          given[option.name] = *text;
        }
      }
      const std::string* const path = line_.text_of(reader->name);
      if (path == nullptr && !given.empty()) {
        throw UsageError(fmt::format("--{}: {} was given, but belongs to --{}; give that with it",
                                     given.begin()->first, quote(given.begin()->second), reader->name));
      }
      if (path == nullptr) {
        continue;
      }
      if (const std::string* name = line_.text_of("workload")) {
        throw UsageError(fmt::format("--{}: {} was given, and --workload {} as well; give one of them",
                                     reader->name, quote(*path), printable(*name)));
      }
      if (workload != nullptr) {
        throw UsageError(fmt::format("--{}: {} was given, and {} as well; give one of them", reader->name,
                                     quote(*path), quote(workload->file->path)));
      }
      workload = std::make_shared<const WorkloadType>(reader->read(*path, given));
    }
    return workload;
  }

  // Only a file is a catalogue: --sweep workers takes a number of GPUs by the same name.
  static bool is_catalogue(const std::string* text, bool is_list) {
    return text != nullptr && (is_list ? *text != "yes" : is_gpu_file(*text));
  }

  void read_catalogue() const {
    if (const std::string* text = line_.text_of("gpus"); is_catalogue(text, line_.has("list"))) {
      use_gpu_catalogue("--gpus", *text);
    }
  }

  void read_switches(Options& options) const {
    options.list = line_.has("list");
    options.list_gpus = options.list && line_.has("gpus");
    options.plot = !line_.has("no-plot");
    options.cache = !line_.has("no-cache");
    options.dry_run = line_.has("dry-run");
    options.resume = line_.has("resume");
    options.verbose = line_.has("verbose");
  }

  // Empty for text.
  std::string read_format() const {
    const std::string* const format = line_.text_of("format");
    if (format == nullptr) {
      return "";
    }
    const std::vector<std::string> accepted = format_option().words();
    if (*format != kOtherNameOfText && !contains(accepted, *format)) {
      throw UsageError(unknown_value("--format", *format, accepted));
    }
    if (!flags_.format.empty()) {
      throw UsageError(
          fmt::format("--format: {} was given, and --benchmark_format={} as well; give one of them", *format,
                      flags_.format));
    }
    return *format == kText || *format == kOtherNameOfText ? "" : *format;
  }

  void read_names(Options& options) const {
    const std::string* sweep = line_.text_of("sweep");
    if (sweep == nullptr) {
      throw UsageError(
          fmt::format("--sweep: a name is missing; accepted: {}", fmt::join(names_of<SweepType>(), ", ")));
    }
    options.sweep = find_named<SweepType>("--sweep", *sweep).name;
    if (const std::string* workload = line_.text_of("workload")) {
      options.workload = named_workload(*workload).name;
    }
    options.file_workload = read_workload_file();
    if (const std::string* device = line_.text_of("device")) {
      options.device = *device;
    }
  }

  static std::string needs_one_workload(const std::string& option, const std::string& text,
                                        const std::vector<std::string>& workloads) {
    return fmt::format("{}: {} was given, but the sweep covers several workloads; give --workload {} with it",
                       option, quote(text), fmt::join(workloads, "|"));
  }

  // Modes are a workload's own: the one to give with these, or what is accepted of each.
  static std::string mode_needs_workload(const std::string& text,
                                         const std::vector<const WorkloadType*>& workloads) {
    const std::vector<std::string_view> given = split(text, ',');
    std::vector<std::string> takers;
    std::vector<std::string> all;
    std::string accepted;
    for (const WorkloadType* workload : workloads) {
      const std::vector<std::string>& modes = workload->modes;
      if (std::ranges::all_of(given, [&](std::string_view mode) { return contains(modes, mode); })) {
        takers.push_back(workload->name);
      }
      all.insert(all.end(), modes.begin(), modes.end());
      accepted +=
          fmt::format("{}{} of {}", accepted.empty() ? "" : "; ", fmt::join(modes, ", "), workload->name);
    }
    if (!takers.empty()) {
      return needs_one_workload("--mode", text, takers);
    }
    for (const std::string_view mode : given) {
      if (!contains(all, mode)) {
        return fmt::format(
            "--mode: {} is no mode of any workload of this sweep; accepted, with --workload: {}", quote(mode),
            accepted);
      }
    }
    return fmt::format(
        "--mode: {} was given, but no workload of this sweep has all of these; accepted, with --workload: {}",
        quote(text), accepted);
  }

  static bool has_option(const WorkloadType& type, const std::string& name) {
    return std::ranges::find(type.options, name, &CommandOption::name) != type.options.end();
  }

  // Whether the option is a reader's, which has read it.
  static bool is_of_reading(const std::string& name) {
    return std::ranges::any_of(registry<WorkloadReader>().entries(), [&](const auto& reader) {
      return std::ranges::find(reader->options, name, &CommandOption::name) != reader->options.end();
    });
  }

  void refuse_workload_options(const Options& options, const SweepType& sweep) const {
    std::vector<std::string> of_workloads{"workload", "mode", "dtype", "batch"};
    for (const auto& [option, workloads] : takers_by_option<WorkloadType>()) {
      of_workloads.push_back(option);
    }
    for (const std::string& option : of_workloads) {
      const std::string* const text = line_.text_of(option);
      const bool own = std::ranges::find(sweep.options, option, &CommandOption::name) != sweep.options.end();
      if ((text != nullptr && !own) || options.file_workload != nullptr) {
        std::vector<std::string> own_options;
        for (const CommandOption& one : sweep.options) {
          own_options.push_back("--" + one.name);
        }
        throw UsageError(fmt::format(
            "--{}: {} was given, but --sweep {} measures no workload; leave it out{}",
            text == nullptr ? options.file_workload->file->format : option,
            quote(text == nullptr ? options.file_workload->file->path : *text), sweep.name,
            own_options.empty() ? ""
                                : fmt::format(" (options of its own: {})", fmt::join(own_options, ", "))));
      }
    }
  }

  void read_workload_options(Options& options) const {
    const SweepType* const sweep = registry<SweepType>().find(options.sweep);
    if (sweep == nullptr) {
      return;
    }
    if (!sweep->takes_workload) {
      return refuse_workload_options(options, *sweep);
    }
    const std::string& registered = options.workload.empty() ? sweep->default_workload : options.workload;
    const WorkloadType* const type = options.file_workload != nullptr
                                         ? options.file_workload.get()
                                         : registry<WorkloadType>().find(registered);
    if (type == nullptr) {
      return;
    }
    const bool several =
        options.workload.empty() && options.file_workload == nullptr && sweep->covers != nullptr;
    if (const std::string* modes = line_.text_of("mode")) {
      if (several) {
        throw UsageError(mode_needs_workload(*modes, covered_workloads(*sweep)));
      }
      options.modes = values_of(*sweep, "--mode", *modes);
      for (const std::string& mode : options.modes) {
        check_mode(*type, mode);
      }
    }
    for (const auto& [option, workloads] : takers_by_option<WorkloadType>()) {
      const std::string* text = line_.text_of(option);
      if (text == nullptr || is_of_reading(option)) {
        continue;
      }
      if (several) {
        throw UsageError(needs_one_workload("--" + option, *text, workloads));
      }
      if (!has_option(*type, option)) {
        throw UsageError(missing_option(*type, option, *text));
      }
      options.workload_options[option] = values_of(*sweep, "--" + option, *text);
    }
  }

  void read_sweep_options(Options& options) const {
    for (const auto& [option, sweeps] : takers_by_option<SweepType>()) {
      const std::string* text = line_.text_of(option);
      if (text == nullptr || (option == "gpus" && is_catalogue(text, false))) {
        continue;
      }
      if (!contains(sweeps, options.sweep)) {
        throw UsageError(fmt::format("--{}: {} was given, but belongs to --sweep {}; leave it out", option,
                                     quote(*text), fmt::join(sweeps, " and ")));
      }
      options.sweep_options[option] = *text;
    }
  }

  // The text's values, each once: several where the sweep takes lists.
  static std::vector<std::string> values_of(const SweepType& sweep, const std::string& option,
                                            const std::string& text) {
    std::vector<std::string> values;
    for (const std::string_view value : split(text, ',')) {
      if (!contains(values, value)) {
        values.emplace_back(value);
      }
    }
    if (values.size() > 1 && !sweep.takes_lists) {
      std::vector<std::string> takers;
      for (const auto& other : registry<SweepType>().entries()) {
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

  void read_values(Options& options) const {
    if (const std::string* text = line_.text_of("dtype")) {
      read_dtypes(*text, options);
    }
    if (const std::string* text = line_.text_of("framework")) {
      options.framework = framework_of(*text, options.sweep);
    }
    if (const std::string* text = line_.text_of("batch")) {
      options.batches = parse_axis("--batch", *text);
    }
    if (const std::string* text = line_.text_of("memory-cap")) {
      const SweepType* const sweep = registry<SweepType>().find(options.sweep);
      for (const std::string& value :
           sweep == nullptr ? std::vector{*text} : values_of(*sweep, "--memory-cap", *text)) {
        options.memory_caps.push_back(parse_bytes("--memory-cap", value));
      }
      std::ranges::sort(options.memory_caps);
      options.memory_caps.erase(std::unique(options.memory_caps.begin(), options.memory_caps.end()),
                                options.memory_caps.end());
    }
    if (const std::string* text = line_.text_of("time-budget")) {
      if (line_.has("quick")) {
        throw UsageError(fmt::format("--quick: it was given, and --time-budget {} as well; give one of them",
                                     printable(*text)));
      }
      options.time_budget = parse_duration("--time-budget", *text);
    } else if (line_.has("quick")) {
      options.time_budget = kQuick;
      options.quick = true;
    }
    if (const std::string* text = line_.text_of("seed")) {
      options.seed = seed_of(*text);
    }
    if (const std::string* text = line_.text_of("out")) {
      if (text->empty()) {
        throw UsageError("--out: '' is not a folder; give its path");
      }
      options.out = *text;
    }
  }

  bool nothing_given_;
  BenchmarkFlags flags_;
  CommandLine line_;
};

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  return OptionsReader(std::move(arguments)).read();
}

void check_mode(const WorkloadType& type, const std::string& mode) {
  if (const auto missing = type.missing_modes.find(mode); missing != type.missing_modes.end()) {
    throw UsageError(fmt::format("--mode: {} was given, but {} has no such mode: {}; accepted: {}",
                                 quote(mode), type.name, missing->second, fmt::join(type.modes, ", ")));
  }
  if (!contains(type.modes, mode)) {
    throw UsageError(unknown_value("--mode", mode, type.modes, " for " + type.name));
  }
}

}  // namespace bench
