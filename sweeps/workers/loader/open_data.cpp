#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "sweeps/workers/loader/data.h"
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

std::unique_ptr<Dataset> open_data(const std::string& data, const Progress& progress) {
  if (data == "synthetic") {
    return open_folder(synthetic_folder(progress));
  }
  std::error_code error;
  const fs::file_status status = fs::status(data, error);
  if (!fs::exists(status)) {
    throw UsageError(
        fmt::format("--data: {} cannot be opened: {}; accepted: a folder with JPEG files, a .tar file, a "
                    "folder of .tar files, or 'synthetic'",
                    quote(data), error ? error.message() : "No such file or directory"));
  }
  if (!fs::is_directory(status)) {
    return open_tars({data}, progress);
  }
  const std::vector<fs::path> tars = tars_in(data);
  return tars.empty() ? open_folder(data, progress) : open_tars(tars, progress);
}

}  // namespace bench::loader
