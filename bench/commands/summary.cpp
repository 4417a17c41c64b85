#include "bench/commands/summary.h"

#include <iostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/cli/progress.h"
#include "bench/cli/table.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/picture.h"

namespace bench {

void print_points(const Options& options, const ResultDocument& document,
                  const std::vector<TextTable>& tables) {
  if (options.benchmark.format.empty()) {
    print_table(std::cout, document, terminal_width(), tables);
  } else {
    write_google_benchmark(document, options.benchmark.format, std::cout);
  }
}

void print_summary(const Options& options, const std::string& sweep, const ResultDocument& document,
                   const std::vector<TextTable>& tables, const std::filesystem::path& result) {
  if (document.benchmarks.empty() && document.unmeasured.empty() && document.findings.empty()) {
    fmt::print(std::cerr, "Nothing was measured, and nothing was written.\n");
    return;
  }
  std::ostream& notes = options.benchmark.format.empty() ? std::cout : std::cerr;
  print_points(options, document, tables);
  fmt::print(notes, "\nresult   {}\n", result.string());
  if (!options.plot) {
    return;
  }
  const Picture picture = draw(sweep, result);
  for (const auto& drawn : picture.files) {
    fmt::print(notes, "picture  {}\n", drawn.string());
  }
  if (!picture.problem.empty()) {
    fmt::print(std::cerr, "no picture: {}\n", picture.problem);
  }
}

}  // namespace bench
