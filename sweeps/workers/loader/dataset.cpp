#include "sweeps/workers/loader/dataset.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/fingerprint.h"
#include "bench/text/quote.h"
#include "sweeps/workers/loader/file_range.h"
#include "sweeps/workers/loader/synthetic.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_data(const fs::path& data, const std::string& why) {
  throw UsageError(
      fmt::format("--data: {} {}; accepted: a folder with JPEG files, a .tar file, a folder of .tar files, "
                  "'synthetic', or 'synthetic:heavy'",
                  quote(data.string()), why));
}

// A JPEG file, or the part of a tar file that holds one.
struct ListedImage {
  std::string name;  // path from the folder on, or SHARD:MEMBER
  std::int64_t bytes = 0;
  std::size_t place = 0;                 // of the folder or shard in the list of them
  std::optional<std::int64_t> offset{};  // in the shard; none: a file of its own
  std::string problem{};                 // why it can never be read; mostly empty
};

class ListedImages final : public Dataset {
 public:
  ListedImages(std::vector<fs::path> places, std::vector<ListedImage> images)
      : places_(std::move(places)), images_(std::move(images)) {}

  std::int64_t size() const override { return std::ssize(images_); }
  std::string name(std::int64_t number) const override { return image(number).name; }
  std::int64_t encoded_bytes(std::int64_t number) const override { return image(number).bytes; }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    const ListedImage& of = image(number);
    if (!of.problem.empty()) {
      throw BadImage(of.problem);
    }
    // A file of its own is read as it is now, whatever size was listed.
    read_file(path_of(of), bytes, of.offset.value_or(0), of.offset ? std::optional(of.bytes) : std::nullopt);
  }
  std::optional<std::string> evict(std::int64_t number) const override {
    const ListedImage& of = image(number);
    return evict_range(path_of(of), of.offset.value_or(0), of.bytes);
  }

 private:
  const ListedImage& image(std::int64_t number) const { return images_.at(static_cast<std::size_t>(number)); }
  fs::path path_of(const ListedImage& of) const {
    return of.offset ? places_[of.place] : places_[of.place] / of.name;
  }

  std::vector<fs::path> places_;  // the folder, or the shards
  std::vector<ListedImage> images_;
};

// .jpg and .jpeg, in upper or lower case.
bool named_as_jpeg(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg";
}

// None where the folder may not be listed.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    entries.push_back(*entry);
  }
  return entries;
}

// `above` holds the real paths of the folders on the way down: a link to one of them would never end.
void list_folder(const fs::path& folder, const fs::path& name, const ProgressCallback& progress,
                 std::vector<fs::path>& above, std::vector<ListedImage>& images) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || std::ranges::find(above, real) != above.end()) {
    return;
  }
  if (progress) {
    progress(fmt::format("listing images: {} so far", images.size()), 0);
  }
  above.push_back(real);
  for (const fs::directory_entry& entry : entries_of(folder)) {
    const fs::path entry_name = name / entry.path().filename();
    std::error_code ignored;  // a link to nothing, a file that is gone again
    if (entry.is_directory(ignored)) {
      list_folder(entry.path(), entry_name, progress, above, images);
    } else if (named_as_jpeg(entry_name) && entry.is_regular_file(ignored)) {
      const auto bytes = entry.file_size(ignored);
      images.push_back(
          {.name = entry_name.string(), .bytes = ignored ? 0 : static_cast<std::int64_t>(bytes)});
    }
  }
  above.pop_back();
}

std::unique_ptr<Dataset> open_folder(const fs::path& folder, const ProgressCallback& progress) {
  std::error_code error;
  const fs::directory_iterator readable(folder, error);
  if (error) {
    refuse_data(folder, fmt::format("cannot be listed: {}", error.message()));
  }
  std::vector<fs::path> above;
  std::vector<ListedImage> images;
  list_folder(folder, {}, progress, above, images);
  if (images.empty()) {
    refuse_data(folder, "holds no .jpg, .jpeg or .tar file");
  }
  // As paths are ordered: folder by folder, so that "a/x" comes before "a-b".
  const auto separator_first = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  std::ranges::sort(images, [&](const ListedImage& one, const ListedImage& other) {
    return std::ranges::lexicographical_compare(one.name, other.name, {}, separator_first, separator_first);
  });
  return std::make_unique<ListedImages>(std::vector<fs::path>{folder}, std::move(images));
}

struct CloseArchive {
  void operator()(archive* opened) const { archive_read_free(opened); }
};

void list_shard(const fs::path& path, std::size_t place, std::vector<ListedImage>& images) {
  constexpr std::size_t kBlockBytes = 64 * 1024;
  const std::unique_ptr<archive, CloseArchive> opened(archive_read_new());
  archive_read_support_format_tar(opened.get());  // and no filter: members must lie in the file as they are
  const auto problem = [&] {
    const char* const why = archive_error_string(opened.get());
    return std::string(why == nullptr ? "no reason given" : why);
  };
  const auto refuse = [&] {
    throw UsageError(fmt::format("--data: {} is not a plain tar file: {} (a compressed one must be unpacked)",
                                 quote(path.string()), problem()));
  };
  if (archive_read_open_filename(opened.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    refuse();
  }
  const std::string shard = path.filename().string();
  bool empty = true;
  for (archive_entry* entry = nullptr;; empty = false) {
    const int status = archive_read_next_header(opened.get(), &entry);
    if (status == ARCHIVE_EOF) {
      return;
    }
    if (status == ARCHIVE_FATAL || status == ARCHIVE_RETRY) {
      if (empty) {
        refuse();
      }
      images.push_back({.name = shard,
                        .place = place,
                        .offset = 0,
                        .problem = fmt::format("the tar file breaks off: {}", problem())});
      return;
    }
    const char* const name = archive_entry_pathname(entry);
    if (name != nullptr && archive_entry_filetype(entry) == AE_IFREG &&
        archive_entry_hardlink(entry) == nullptr && named_as_jpeg(name)) {
      images.push_back(
          {.name = fmt::format("{}:{}", shard, name),
           .bytes = archive_entry_size(entry),
           .place = place,
           .offset = archive_filter_bytes(opened.get(), 0),
           .problem = archive_entry_sparse_count(entry) > 0 ? "a sparse member of a tar file" : ""});
    }
  }
}

std::unique_ptr<Dataset> open_shards(std::vector<fs::path> shards, const ProgressCallback& progress) {
  std::vector<ListedImage> images;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (progress) {
      progress(fmt::format("listing shards: {} images so far", images.size()),
               static_cast<double>(i) / static_cast<double>(shards.size()));
    }
    list_shard(shards[i], i, images);
  }
  if (images.empty()) {
    refuse_data(shards.front(), "holds no member that ends in .jpg or .jpeg");
  }
  return std::make_unique<ListedImages>(std::move(shards), std::move(images));
}

}  // namespace

std::unique_ptr<Dataset> open_data(const std::string& data, const ProgressCallback& progress,
                                   const Clock& clock) {
  if (data == "synthetic" || data == "synthetic:heavy") {
    const auto sizes = data == "synthetic" ? SyntheticSizes::alike : SyntheticSizes::heavy;
    return open_folder(synthetic_folder(progress, sizes, clock), {});
  }
  std::error_code error;
  const fs::file_status status = fs::status(data, error);
  if (!fs::exists(status)) {
    refuse_data(data,
                fmt::format("cannot be opened: {}", error ? error.message() : "No such file or directory"));
  }
  if (!fs::is_directory(status)) {
    if (!fs::is_regular_file(status)) {  // a pipe would be waited for
      refuse_data(data, "is a device or a pipe");
    }
    return open_shards({data}, progress);
  }
  std::vector<fs::path> shards;
  for (const fs::directory_entry& entry : entries_of(data)) {
    std::error_code ignored;
    if (entry.path().extension() == ".tar" && entry.is_regular_file(ignored)) {
      shards.push_back(entry.path());
    }
  }
  std::ranges::sort(shards);
  return shards.empty() ? open_folder(data, progress) : open_shards(std::move(shards), progress);
}

std::string contents_of(const Dataset& data) {
  Fnv1a hash;
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    bytes += data.encoded_bytes(i);
    hash.add(fmt::format("{}\n{}\n", data.name(i), data.encoded_bytes(i)));
  }
  return fmt::format("{} image{}, {} B, {:016x}", data.size(), data.size() == 1 ? "" : "s", bytes,
                     hash.value());
}

}  // namespace bench::loader
