#include "sweeps/workers/loader/data.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "sweeps/workers/loader/folder.h"
#include "sweeps/workers/loader/synthetic.h"
#include "sweeps/workers/loader/tar.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> tars_in(const fs::path& folder) {
  std::vector<fs::path> tars;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == ".tar" && entry->is_regular_file(ignored)) {
      tars.push_back(entry->path());
    }
  }
  std::ranges::sort(tars);
  return tars;
}

}  // namespace

std::unique_ptr<Dataset> open_data(const std::string& data, const ProgressCallback& progress) {
  if (data == "synthetic" || data == "synthetic:heavy") {
    return open_folder(
        synthetic_folder(progress, data == "synthetic" ? SyntheticSizes::alike : SyntheticSizes::heavy));
  }
  std::error_code error;
  const fs::file_status status = fs::status(data, error);
  if (!fs::exists(status)) {
    throw UsageError(
        fmt::format("--data: {} cannot be opened: {}; accepted: a folder with JPEG files, a .tar file, a "
                    "folder of .tar files, 'synthetic', or 'synthetic:heavy'",
                    quote(data), error ? error.message() : "No such file or directory"));
  }
  if (!fs::is_directory(status)) {
    return open_tars({data}, progress);
  }
  const std::vector<fs::path> tars = tars_in(data);
  return tars.empty() ? open_folder(data, progress) : open_tars(tars, progress);
}

std::string contents_of(const Dataset& data) {
  constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](const std::string& text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    }
  };
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    bytes += data.encoded_bytes(i);
    mix(fmt::format("{}\n{}\n", data.name(i), data.encoded_bytes(i)));
  }
  return fmt::format("{} image{}, {} B, {:016x}", data.size(), data.size() == 1 ? "" : "s", bytes, hash);
}

}  // namespace bench::loader
