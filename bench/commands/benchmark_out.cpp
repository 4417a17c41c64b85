#include "bench/commands/benchmark_out.h"

#include <unistd.h>

#include <sstream>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/temporary_file.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/whole_file.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// Absolute, so that it has a folder. Throws UsageError for a link of another user.
fs::path target_of(const BenchmarkFlags& flags, std::error_code& error) {
  const fs::path given = fs::absolute(flags.out);
  behind_links(given, "--benchmark_out");
  return fs::weakly_canonical(given, error);
}

[[noreturn]] void cannot_write(const BenchmarkFlags& flags) {
  throw UsageError(
      fmt::format("--benchmark_out: {} cannot be written; give a file in a folder that exists and can be "
                  "written to",
                  quote(flags.out)));
}

}  // namespace

void check_benchmark_out(const BenchmarkFlags& flags, const fs::path& result, bool dry_run) {
  if (flags.out.empty()) {
    return;
  }
  std::error_code error;
  const fs::path target = target_of(flags, error);
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
  if (const fs::file_status status = fs::status(target, error);
      fs::exists(status) && !fs::is_regular_file(status) &&
      !fs::is_directory(status)) {  // written through, not replaced
    if (::access(target.c_str(), W_OK) != 0) {
      cannot_write(flags);
    }
    return;
  }
  const bool folder_takes_files = fs::is_directory(target.parent_path(), error) &&
                                  ::access(target.parent_path().c_str(), W_OK | X_OK) == 0;
  if (fs::is_directory(target, error) || !folder_takes_files) {
    cannot_write(flags);
  }
  if (!dry_run && TemporaryFile(target).error()) {
    cannot_write(flags);
  }
}

void write_benchmark_out(const BenchmarkFlags& flags, const ResultDocument& document) {
  if (flags.out.empty()) {
    return;
  }
  std::error_code error;
  const fs::path target = target_of(flags, error);
  std::ostringstream text;
  write_google_benchmark(document, flags.out_format, text);
  if (const std::error_code failed = write_whole(target, text.str())) {
    throw UsageError(
        fmt::format("--benchmark_out: {} could not be written: {}", quote(flags.out), failed.message()));
  }
}

}  // namespace bench
