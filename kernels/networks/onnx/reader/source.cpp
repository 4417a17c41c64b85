#include "kernels/networks/onnx/reader/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "bench/host/file_descriptor.h"
#include "kernels/networks/onnx/reader/refusal.h"

namespace bench::kernels::onnx {
namespace {

std::string words_of(int error) {
  return std::generic_category().message(error);
}

class FileSource final : public Source {
 public:
  explicit FileSource(const std::string& path)
      // Without waiting: a pipe that nobody writes to would block here for ever.
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    if (!file_.is_open()) {
      throw Refusal(fmt::format("cannot be opened ({}); give an ONNX file", words_of(errno)));
    }
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) {
      throw Refusal(fmt::format("cannot be read ({}); give an ONNX file", words_of(errno)));
    }
    if (S_ISDIR(status.st_mode)) {
      throw Refusal("is a folder; give an ONNX file");
    }
    if (!S_ISREG(status.st_mode)) {
      throw Refusal(
          "is a pipe or a device, which cannot be read by position; write the network to a file first");
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> to) const override {
    while (!to.empty()) {
      const ssize_t count = ::pread(file_.get(), to.data(), to.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        throw Refusal(fmt::format("cannot be read ({}); give an ONNX file", words_of(errno)));
      }
      if (count == 0) {
        throw Refusal("became shorter while it was read; run again once nothing writes it");
      }
      offset += static_cast<std::uint64_t>(count);
      to = to.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  FileDescriptor file_;
  std::uint64_t size_ = 0;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> to) const override {
    if (!to.empty()) {
      std::memcpy(to.data(), bytes_.subspan(offset, to.size()).data(), to.size());
    }
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::unique_ptr<Source> open_file(const std::string& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<Source> in_memory(std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace bench::kernels::onnx
