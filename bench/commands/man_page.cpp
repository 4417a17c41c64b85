#include "bench/commands/man_page.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/command.h"
#include "bench/cli/command_line.h"
#include "bench/cli/help.h"
#include "bench/registry.h"
#include "bench/run/context.h"
#include "bench/run/gpu_files.h"
#include "bench/sweep.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

// Nothing in the text is a request or an escape; a hyphen stays the one that is typed.
std::string roff(std::string_view text) {
  constexpr std::string_view kEllipsis = "…";  // not in every locale
  std::string escaped = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  while (!text.empty()) {
    if (text.starts_with(kEllipsis)) {
      escaped += "...";
      text.remove_prefix(kEllipsis.size());
      continue;
    }
    escaped += text.front() == '\\'   ? "\\e"
               : text.front() == '-'  ? "\\-"
               : text.front() == '\n' ? " "
                                      : std::string(1, text.front());
    text.remove_prefix(1);
  }
  return escaped;
}

std::string paragraph(std::string_view text) {
  return fmt::format(".PP\n{}\n", roff(text));
}

// A line of a list: what it is, then what it means.
std::string item(std::string_view left, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(left), text.empty() ? "\\&" : roff(text));
}

std::string option_item(const Option& option) {
  return item(left_of(option), help_of(option));
}

std::string items_of(const std::vector<CommandOption>& options) {
  std::string text;
  for (const CommandOption& option : options) {
    text += option_item(option_of(option));
  }
  return text;
}

std::string sweep_section() {
  std::string text = ".SH SWEEPS\nEach also takes the options of the next section.\n";
  for (const auto& sweep : registry<SweepType>().entries()) {
    text += fmt::format(".SS bench \\-\\-sweep {}\n{}\n", roff(sweep->name), roff(sweep->question));
    text +=
        sweep->takes_workload ? paragraph(fmt::format("Default workload: {}", sweep->default_workload)) : "";
    text += items_of(sweep->options);
  }
  return text;
}

std::string option_section() {
  std::string text = ".SH OPTIONS\n";
  for (const Option& option : program_options()) {
    text += option_item(option);
  }
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    text += option_item({reader->name, "FILE", reader->description});
    text += items_of(reader->options);
  }
  for (const std::string_view note : help_notes()) {
    text += paragraph(note);
  }
  return text;
}

std::string command_section() {
  std::string text = ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    text +=
        fmt::format(".SS bench {} {}\n{}\n", roff(command.name), roff(command.usage), roff(command.question));
    for (const Option& option : command.options) {
      text += option_item(option);
    }
    for (const std::string& note : command.notes) {
      text += paragraph(note);
    }
    for (const std::string& example : command.examples) {
      text += fmt::format(".RS\n.EX\n{}\n.EE\n.RE\n", roff(example));
    }
  }
  return text;
}

std::string workload_section() {
  std::string text = ".SH WORKLOADS\n";
  for (const auto& workload : registry<WorkloadType>().entries()) {
    text +=
        fmt::format(".SS bench \\-\\-workload {}\n{}\n", roff(workload->name), roff(workload->description));
    text += item(fmt::format("--mode {}", fmt::join(workload->modes, "|")),
                 fmt::format("what a step is (default: {})", workload->modes.front()));
    text += items_of(workload->options);
  }
  return text;
}

std::string device_section() {
  std::string text =
      ".SH DEVICES\n\\fB\\-\\-device\\fR takes auto, cpu, cuda:0 (or another number), and the id of a GPU "
      "that is not "
      "here, whose steps are predicted; \\fB\\-\\-gpu\\fR of predict and evaluate takes these ids.\n";
  for (const Gpu& gpu : gpu_catalogue().all()) {
    text += item(gpu.id, gpu.names.empty() ? "" : display_name(gpu));
  }
  text += ".SH LINKS\nBetween cards, for \\fB\\-\\-link\\fR.\n";
  return text + paragraph(fmt::format("{}", fmt::join(ids_of(link_catalogue().links), ", ")));
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(
      ".TH BENCH 1 \"\" \"bench {}\" \"User Commands\"\n.SH NAME\nbench \\- which batch size, card and "
      "loader: "
      "measured on the machine at hand\n.SH SYNOPSIS\n.B bench \\-\\-sweep\n.I NAME\n.RI [ options ]\n",
      roff(build_name()));
  for (const Command& command : commands()) {
    text += fmt::format(".br\n.B bench {}\n{}\n", roff(command.name), roff(command.usage));
  }
  text +=
      ".SH DESCRIPTION\n" +
      roff(
          "A sweep measures a network or an operation on a device of this machine, prints the answer to "
          "its question and a table, and writes a JSON file and a picture. The commands read such files.") +
      "\n";
  text += sweep_section() + option_section() + command_section() + workload_section() + device_section();
  text += ".SH ENVIRONMENT\n";
  text += item("COLUMNS", "the width of text and tables where the stream is no terminal (default: 100)");
  text += item("TERM", "dumb: progress is printed line by line");
  text += item("OMP_NUM_THREADS", "most threads of the device cpu");
  text += item("OMP_WAIT_POLICY", "active or passive: how they wait for each other");
  text +=
      item("XDG_CACHE_HOME, XDG_DATA_HOME, HOME",
           "where autotuned choices and the history of runs are kept, and results where the current folder "
           "cannot take them");
  text += ".SH FILES\n";
  text += item("results/local/", "results and pictures, in the current folder (--out)");
  return text;
}

}  // namespace bench
