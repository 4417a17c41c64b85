#include "bench/commands/benchmark_out.h"

#include <fstream>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/run/google_benchmark.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

fs::path beside(const fs::path& target) {
  return target.string() + ".bench-tmp";
}

}  // namespace

void check_benchmark_out(const BenchmarkFlags& flags, const fs::path& result) {
  if (flags.out.empty()) {
    return;
  }
  std::error_code error;
  const fs::path target = fs::weakly_canonical(flags.out, error);
  for (const char* const extension : {".json", ".png", ".svg"}) {
    fs::path own = result;
    own.replace_extension(extension);
    if (!error && target == fs::weakly_canonical(own, error)) {
      throw UsageError(
          fmt::format("--benchmark_out: {} is where this program's own result goes; give "
                      "another file",
                      quote(flags.out)));
    }
  }
  if (fs::is_directory(target, error) || !std::ofstream(beside(target))) {
    throw UsageError(
        fmt::format("--benchmark_out: {} cannot be written; give a file in a folder that "
                    "exists and can be written to",
                    quote(flags.out)));
  }
  fs::remove(beside(target), error);
}

void write_benchmark_out(const BenchmarkFlags& flags, const ResultDocument& document) {
  if (flags.out.empty()) {
    return;
  }
  std::error_code error;
  const fs::path target = fs::weakly_canonical(flags.out, error);
  std::ofstream out(beside(target));
  write_google_benchmark(document, flags.out_format, out);
  out.close();
  if (out) {
    fs::rename(beside(target), target, error);
  }
  if (!out || error) {
    throw UsageError(fmt::format("--benchmark_out: {} could not be written: {}", quote(flags.out),
                                 error ? error.message() : "the device is full"));
  }
}

}  // namespace bench
