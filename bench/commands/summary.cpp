#include "bench/commands/summary.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/csv.h"
#include "bench/cli/report.h"
#include "bench/cli/terminal.h"
#include "bench/host/interrupt.h"
#include "bench/modelled.h"
#include "bench/report/picture.h"
#include "bench/report/report.h"
#include "bench/report/report_page.h"
#include "bench/result/result_json.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/picture.h"
#include "bench/text/lines.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {

void print_start(const Options& options, const SweepRequest& request, const Device& device) {
  const std::string last =
      device.model() == nullptr
          ? fmt::format("time budget {}", format_duration(static_cast<double>(options.time_budget.count())))
          : fmt::format("predicted for {}{}; nothing is run", name_of(device.model()->framework()),
                        device.info().details.contains(kCastDetail) ? cast_in_words("whole") : "");
  std::cerr << wrap(
      fmt::format("bench --sweep {}: {} on {} ({}), memory cap {}{}, {}", options.sweep, request.label,
                  device.info().id, device.info().name, format_bytes(request.largest_cap()),
                  request.places.empty() ? "" : " a rank", last),
      terminal_width(STDERR_FILENO), 2);
  print_workload_file(request);
}

void print_workload_file(const SweepRequest& request) {
  std::cerr << workload_file_lines(*request.workload, terminal_width(STDERR_FILENO));
}

std::string workload_file_lines(const WorkloadType& workload, std::size_t width) {
  if (!workload.file) {
    return "";
  }
  constexpr std::size_t kIndent = 4;
  constexpr std::size_t kLongest = 1000;
  const auto line = [&](const std::string& text) {
    return "  " + wrap(cut(text, 2 * width - 6 * kIndent), width - 2, kIndent);
  };
  std::vector<std::string> inputs;
  for (const WorkloadInput& input : workload.file->inputs) {
    inputs.push_back(
        fmt::format("{} ({}): {}", printable(input.name), input.shape, printable(input.content)));
  }
  std::string text = line(fmt::format("reads {}", fmt::join(inputs, "; ")));
  if (!workload.file->assumptions.empty()) {
    text += line(printable(fmt::format("{}", fmt::join(workload.file->assumptions, " ")), kLongest));
  }
  for (const auto& [mode, reason] : workload.missing_modes) {
    text += line(fmt::format("cannot {}: {}", mode, reason));
  }
  return text;
}

void print_result(const Options& options, const ResultDocument& document,
                  const std::vector<TextTable>& tables, const std::optional<Warning>& late) {
  if (options.format.empty() && !options.benchmark.format.empty()) {
    return write_google_benchmark(document, options.benchmark.format, std::cout);
  }
  const auto as_report = [&] {
    std::vector<report::ReportedResult> results{{.json = to_json(document), .document = document}};
    return report::report_markdown(report::report_of(results, std::nullopt));
  };
  std::cout << formatted(options.format,
                         {.page = [&] { return result_page(document, tables, options.verbose, late); },
                          .csv = [&] { return result_csv(document); },
                          .json = [&] { return inert_json(ResultText().of(document)); },
                          .markdown = as_report},
                         terminal_width(STDOUT_FILENO));
}

void print_summary(const Options& options, const ResultDocument& document,
                   const std::vector<TextTable>& tables, const ResultFile& result,
                   const std::optional<Warning>& late) {
  if (!result.written()) {
    std::cerr << notice(STDERR_FILENO, "Nothing was measured, and nothing was written.");
    return;
  }
  const bool as_text = options.format.empty() && options.benchmark.format.empty();
  std::ostream& notes = as_text ? std::cout : std::cerr;
  const int stream = as_text ? STDOUT_FILENO : STDERR_FILENO;
  print_result(options, document, tables, late);
  if (result.path().empty()) {
    return;
  }
  notes << "\n" << file_line(stream, "result", result.path());
  if (!result.earlier().empty()) {
    notes << file_line(stream, "earlier", result.earlier(), "(the result that was there before)");
  }
  const bool nothing_known = document.points.empty() && !document.unmeasured.empty();
  if (!options.plot || nothing_known) {
    return;
  }
  const DrawnPicture picture = draw(report::picture_of(document), result.path());
  for (const auto& drawn : picture.files) {
    notes << file_line(stream, "picture", drawn);
  }
  if (!picture.problem.empty()) {
    std::cerr << notice(STDERR_FILENO, "no picture: " + picture.problem);
  }
}

std::size_t errors_in(const ResultDocument& document) {
  const auto points = std::ranges::count(document.unmeasured, "error", &UnmeasuredPoint::status);
  return static_cast<std::size_t>(points) + document.sweep.lost.size();
}

bool only_references_measured(const SweepPlan& plan, const ResultDocument& document) {
  const auto is_reference = [&](const Point& measured) {
    return std::ranges::any_of(plan.points, [&](const SweepPoint& point) {
      return point.is_reference && point.name == measured.name;
    });
  };
  return !measured_points(document).empty() && std::ranges::all_of(measured_points(document), is_reference) &&
         std::ranges::any_of(document.unmeasured,
                             [](const UnmeasuredPoint& point) { return point.status == "skipped"; });
}

ExitCode exit_code_of(const SweepPlan& plan, const ResultDocument& document) {
  if (interrupted()) {
    return ExitCode::interrupted;
  }
  const bool nothing = document.points.empty() && !plan.points.empty();
  return nothing || errors_in(document) > 0 || only_references_measured(plan, document)
             ? ExitCode::inconclusive
             : ExitCode::done;
}

}  // namespace bench
