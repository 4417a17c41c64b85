#include "sweeps/workers/loader/dataset.h"

#include <string>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "temporary_folder.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/without_path.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::byte> content(std::size_t size, int value) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 7 + static_cast<std::size_t>(value)) & 255U);
  }
  return bytes;
}

using Members = std::vector<std::pair<std::string, std::vector<std::byte>>>;

void write_tar(const fs::path& path, int format, const Members& members, bool compressed = false) {
  archive* const writer = archive_write_new();
  archive_write_set_format(writer, format);
  if (compressed) {
    archive_write_add_filter_gzip(writer);
  }
  ASSERT_EQ(archive_write_open_filename(writer, path.c_str()), ARCHIVE_OK);
  for (const auto& [name, bytes] : members) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    ASSERT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    archive_write_data(writer, bytes.data(), bytes.size());
    archive_entry_free(entry);
  }
  archive_entry* const folder = archive_entry_new();
  archive_entry_set_pathname(folder, "folder.jpg");
  archive_entry_set_filetype(folder, AE_IFDIR);
  archive_write_header(writer, folder);
  archive_entry_free(folder);
  archive_write_close(writer);
  archive_write_free(writer);
}

const Members kMembers{{"n01/first.jpg", content(1000, 1)},
                       {"n01/notes.txt", content(700, 2)},
                       {std::string(180, 'd') + "/" + std::string(150, 'f') + ".JPEG", content(5120, 3)},
                       {"cls.json", content(3, 4)},
                       {"last.jpeg", content(1, 5)}};

TEST(TarData, ReadsMembersOfEveryFormatWhereTheyLie) {
  for (const int format :
       {ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED}) {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "shard.tar";
    write_tar(path, format, kMembers);
    const auto data = open_data(path.string(), {});
    ASSERT_EQ(data->size(), 3);
    EXPECT_EQ(data->name(0), "shard.tar:n01/first.jpg");
    std::vector<std::byte> bytes;
    for (const auto& [number, member] : {std::pair{2, 4}, {0, 0}, {1, 2}}) {  // in any order
      data->read(number, bytes);
      EXPECT_EQ(bytes, kMembers[static_cast<std::size_t>(member)].second);
      EXPECT_EQ(data->encoded_bytes(number), static_cast<std::int64_t>(bytes.size()));
      EXPECT_THAT(data->name(number), HasSubstr(kMembers[static_cast<std::size_t>(member)].first));
    }
  }
}

TEST(TarData, TakesAFolderOfShardsInOrder) {
  const TemporaryFolder folder;
  write_tar(folder.path() / "b.tar", ARCHIVE_FORMAT_TAR_USTAR, {{"2.jpg", content(20, 2)}});
  write_tar(folder.path() / "a.tar", ARCHIVE_FORMAT_TAR_USTAR, {{"1.jpg", content(10, 1)}});
  const auto data = open_data(folder.path().string(), {});
  ASSERT_EQ(data->size(), 2);
  EXPECT_EQ(data->name(0), "a.tar:1.jpg");
  EXPECT_EQ(data->name(1), "b.tar:2.jpg");
  std::vector<std::byte> bytes;
  data->read(1, bytes);
  EXPECT_EQ(bytes, content(20, 2));
}

TEST(TarData, CountsWhatATruncatedShardLost) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "shard.tar";
  write_tar(path, ARCHIVE_FORMAT_TAR_USTAR, {{"1.jpg", content(2000, 1)}, {"2.jpg", content(2000, 2)}});
  fs::resize_file(path, 512 + 2048 + 512 + 700);
  const auto data = open_data(path.string(), {});
  ASSERT_GE(data->size(), 2);
  std::vector<std::byte> bytes;
  data->read(0, bytes);
  EXPECT_EQ(bytes, content(2000, 1));
  expect_words(without_path(message_of<BadImage>([&] { data->read(1, bytes); }), folder.path()));
  for (std::int64_t i = 2; i < data->size(); ++i) {
    EXPECT_THAT([&] { data->read(i, bytes); }, ThrowsMessage<BadImage>(HasSubstr("breaks off")));
  }
}

TEST(TarData, RefusesWhatIsNoPlainTarOrHoldsNoImage) {
  const TemporaryFolder folder;
  const fs::path text = folder.write("text.tar", content(5000, 1));
  EXPECT_THAT([&] { open_data(text.string(), {}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("--data"), HasSubstr("text.tar"))));
  const fs::path compressed = folder.path() / "compressed.tar";
  write_tar(compressed, ARCHIVE_FORMAT_TAR_GNUTAR, kMembers, true);
  EXPECT_THAT([&] { open_data(compressed.string(), {}); },
              ThrowsMessage<UsageError>(HasSubstr("must be unpacked")));
  const fs::path none = folder.path() / "none.tar";
  write_tar(none, ARCHIVE_FORMAT_TAR_USTAR, {{"a.txt", content(10, 1)}});
  expect_words(without_path(message_of<UsageError>([&] { open_data(none.string(), {}); }), folder.path()));
  const fs::path empty = folder.write("empty.tar", {});
  EXPECT_THROW(open_data(empty.string(), {}), UsageError);
}

TEST(TarData, NamesAShardThatVanished) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "shard.tar";
  write_tar(path, ARCHIVE_FORMAT_TAR_GNUTAR, kMembers);
  const auto data = open_data(path.string(), {});
  fs::remove(path);
  std::vector<std::byte> bytes;
  expect_words(without_path(message_of<BadImage>([&] { data->read(0, bytes); }), folder.path()));
}

}  // namespace
}  // namespace bench::loader
