#include "sweeps/workers/loader/file_range.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "bench/host/file_descriptor.h"
#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {
namespace {

// Not blocking: a pipe of that name must not hang a worker.
constexpr int kToRead = O_RDONLY | O_NONBLOCK | O_CLOEXEC;

std::string words_of(int error) {
  return std::generic_category().message(error);
}

// Pages of the mapping that are in the page cache. Linux reports this only to a user who may write the file,
// and calls all pages of other files resident.
std::int64_t resident_pages(int file, std::int64_t offset, std::int64_t count, std::int64_t page) {
  void* const mapped = mmap(nullptr, static_cast<std::size_t>(count), PROT_READ, MAP_SHARED, file, offset);
  if (mapped == MAP_FAILED) {
    return -1;
  }
  std::vector<unsigned char> pages(static_cast<std::size_t>((count + page - 1) / page));
  const int failed = mincore(mapped, static_cast<std::size_t>(count), pages.data());
  munmap(mapped, static_cast<std::size_t>(count));
  return failed != 0 ? -1
                     : std::ranges::count_if(pages, [](unsigned char state) { return (state & 1U) != 0; });
}

bool lies_in_memory(int file) {
  struct statfs about {};
  return fstatfs(file, &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
}

bool told_the_truth(int file, const std::filesystem::path& path) {
  struct stat about {};
  return (fstat(file, &about) == 0 && about.st_uid == geteuid()) || access(path.c_str(), W_OK) == 0;
}

}  // namespace

void read_file(const std::filesystem::path& path, std::vector<std::byte>& bytes, std::int64_t offset,
               std::optional<std::int64_t> count) {
  const FileDescriptor file(open(path.c_str(), kToRead));
  struct stat about {};
  if (!file.is_open() || fstat(file.get(), &about) != 0) {
    throw BadImage(fmt::format("cannot be read: {}", words_of(errno)));
  }
  if (!S_ISREG(about.st_mode)) {
    throw BadImage("not a regular file");
  }
  const std::int64_t wanted = count.value_or(about.st_size);
  if (wanted > kMostEncodedBytes) {
    throw BadImage(fmt::format("{} bytes, more than the limit of {}", wanted, kMostEncodedBytes));
  }
  bytes.resize(static_cast<std::size_t>(wanted));
  std::int64_t done = 0;
  while (done < wanted) {
    const ssize_t got =
        pread(file.get(), bytes.data() + done, static_cast<std::size_t>(wanted - done), offset + done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw BadImage(fmt::format("cannot be read: {}", words_of(errno)));
    }
    if (got == 0) {
      throw BadImage(fmt::format("the file ends after {} of {} bytes", done, wanted));
    }
    done += got;
  }
}

std::optional<std::string> evict_range(const std::filesystem::path& path, std::int64_t offset,
                                       std::int64_t count) {
  if (count <= 0) {
    return std::nullopt;
  }
  const FileDescriptor file(open(path.c_str(), kToRead));
  if (!file.is_open()) {
    return fmt::format("'{}' cannot be opened: {}", path.string(), words_of(errno));
  }
  if (lies_in_memory(file.get())) {
    return fmt::format("'{}' lies in memory (tmpfs): there is no storage to read it from", path.string());
  }
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::int64_t begin = offset / page * page;
  const std::int64_t length = (offset + count + page - 1) / page * page - begin;
  for (const bool written : {false, true}) {
    if (written) {
      fdatasync(file.get());  // a page that is not yet written out stays
    }
    const int error = posix_fadvise(file.get(), begin, length, POSIX_FADV_DONTNEED);
    if (error != 0) {
      return fmt::format("posix_fadvise on '{}': {}", path.string(), words_of(error));
    }
    if (resident_pages(file.get(), begin, length, page) == 0) {
      return std::nullopt;
    }
  }
  if (!told_the_truth(file.get(), path)) {
    return fmt::format("whether '{}' left the page cache is told only to who may write it", path.string());
  }
  return fmt::format("'{}' stays in the page cache: another program holds it, or its file system keeps it",
                     path.string());
}

}  // namespace bench::loader
