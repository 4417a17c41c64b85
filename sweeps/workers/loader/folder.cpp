#include "sweeps/workers/loader/folder.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "sweeps/workers/loader/file_range.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;

struct File {
  fs::path path;
  std::int64_t bytes;
};

class Folder final : public Dataset {
 public:
  Folder(fs::path folder, std::vector<File> files) : folder_(std::move(folder)), files_(std::move(files)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::string name(std::int64_t number) const override {
    return file(number).path.lexically_relative(folder_).string();
  }
  std::int64_t encoded_bytes(std::int64_t number) const override { return file(number).bytes; }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    read_file(file(number).path, bytes);
  }
  std::optional<std::string> evict(std::int64_t number) const override {
    return evict_range(file(number).path, 0, file(number).bytes);
  }

 private:
  const File& file(std::int64_t number) const { return files_.at(static_cast<std::size_t>(number)); }

  fs::path folder_;
  std::vector<File> files_;
};

// `above` holds the real paths of the folders on the way down: a link to one of them would never end.
void list(const fs::path& folder, const ProgressCallback& progress, std::vector<fs::path>& above,
          std::vector<File>& files) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || std::ranges::find(above, real) != above.end()) {
    return;
  }
  if (progress) {
    progress(fmt::format("listing images: {} so far", files.size()), 0);
  }
  above.push_back(real);
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;  // a link to nothing, a file that is gone again
    if (entry->is_directory(ignored)) {
      list(entry->path(), progress, above, files);
    } else if (named_as_jpeg(entry->path()) && entry->is_regular_file(ignored)) {
      const auto bytes = entry->file_size(ignored);
      files.push_back({.path = entry->path(), .bytes = ignored ? 0 : static_cast<std::int64_t>(bytes)});
    }
  }
  above.pop_back();
}

}  // namespace

bool named_as_jpeg(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg";
}

std::unique_ptr<Dataset> open_folder(const fs::path& folder, const ProgressCallback& progress) {
  std::error_code error;
  const fs::directory_iterator readable(folder, error);
  if (error) {
    throw UsageError(fmt::format("--data: {} cannot be listed: {}", quote(folder.string()), error.message()));
  }
  std::vector<fs::path> above;
  std::vector<File> files;
  list(folder, progress, above, files);
  if (files.empty()) {
    throw UsageError(
        fmt::format("--data: {} holds no .jpg, .jpeg or .tar file; accepted: a folder of JPEG files, tar "
                    "shards, or synthetic",
                    quote(folder.string())));
  }
  std::ranges::sort(files, {}, &File::path);
  return std::make_unique<Folder>(folder, std::move(files));
}

}  // namespace bench::loader
