#include "sweeps/workers/loader/tar.h"

#include <string>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "sweeps/workers/loader/file_range.h"
#include "sweeps/workers/loader/folder.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;

struct Member {
  std::size_t shard;
  std::string name;
  std::int64_t offset;
  std::int64_t bytes;
  std::string problem;  // why it can never be read; mostly empty
};

class Tars final : public Dataset {
 public:
  Tars(std::vector<fs::path> shards, std::vector<Member> members)
      : shards_(std::move(shards)), members_(std::move(members)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(members_.size()); }
  std::string name(std::int64_t number) const override {
    const Member& of = member(number);
    const std::string shard = shards_[of.shard].filename().string();
    return of.name.empty() ? shard : fmt::format("{}:{}", shard, of.name);
  }
  std::int64_t encoded_bytes(std::int64_t number) const override { return member(number).bytes; }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    const Member& of = member(number);
    if (!of.problem.empty()) {
      throw BadImage(of.problem);
    }
    read_range(shards_[of.shard], of.offset, of.bytes, bytes);
  }
  std::optional<std::string> evict(std::int64_t number) const override {
    const Member& of = member(number);
    return evict_range(shards_[of.shard], of.offset, of.bytes);
  }

 private:
  const Member& member(std::int64_t number) const { return members_.at(static_cast<std::size_t>(number)); }

  std::vector<fs::path> shards_;
  std::vector<Member> members_;
};

struct CloseArchive {
  void operator()(archive* opened) const { archive_read_free(opened); }
};
using Archive = std::unique_ptr<archive, CloseArchive>;

constexpr std::size_t kBlockBytes = 64 * 1024;

void index(const fs::path& path, std::size_t shard, std::vector<Member>& members) {
  const Archive opened(archive_read_new());
  archive_read_support_format_tar(opened.get());  // and no filter: members must lie in the file as they are
  const auto refuse = [&] {
    const char* const why = archive_error_string(opened.get());
    throw UsageError(fmt::format("--data: {} is not a plain tar file: {} (a compressed one must be unpacked)",
                                 quote(path.string()), why == nullptr ? "no reason given" : why));
  };
  if (archive_read_open_filename(opened.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    refuse();
  }
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
      const char* const why = archive_error_string(opened.get());
      members.push_back(
          {.shard = shard,
           .name = {},
           .offset = 0,
           .bytes = 0,
           .problem = fmt::format("the tar file breaks off: {}", why == nullptr ? "damaged" : why)});
      return;
    }
    const char* const name = archive_entry_pathname(entry);
    if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG ||
        archive_entry_hardlink(entry) != nullptr || !named_as_jpeg(name)) {
      continue;
    }
    members.push_back(
        {.shard = shard,
         .name = name,
         .offset = archive_filter_bytes(opened.get(), 0),
         .bytes = archive_entry_size(entry),
         .problem = archive_entry_sparse_count(entry) > 0 ? "a sparse member of a tar file" : ""});
  }
}

}  // namespace

std::unique_ptr<Dataset> open_tars(const std::vector<fs::path>& shards, const ProgressCallback& progress) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (progress) {
      progress(fmt::format("listing shards: {} images so far", members.size()),
               static_cast<double>(i) / static_cast<double>(shards.size()));
    }
    index(shards[i], i, members);
  }
  if (members.empty()) {
    throw UsageError(
        fmt::format("--data: {} holds no member that ends in .jpg or .jpeg", quote(shards.front().string())));
  }
  return std::make_unique<Tars>(shards, std::move(members));
}

}  // namespace bench::loader
