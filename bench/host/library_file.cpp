#include "bench/host/library_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bench/host/file_descriptor.h"

namespace bench {
namespace {

#if defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
constexpr std::uint16_t kMachine = EM_X86_64;
#endif

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat about {};
    if (file_.is_open() && ::fstat(file_.get(), &about) == 0) {
      size_ = static_cast<std::uint64_t>(about.st_size);
      state_ = S_ISREG(about.st_mode) ? read_headers() : FileState::foreign;
    }
  }
  FileState state() const { return state_; }

  std::vector<std::string> needed() const {
    std::vector<Elf64_Dyn> entries;
    for (const Elf64_Phdr& part : parts_) {
      if (part.p_type == PT_DYNAMIC) {
        entries = table<Elf64_Dyn>(part.p_offset, part.p_filesz / sizeof(Elf64_Dyn));
      }
    }
    const std::string texts = texts_of(entries);
    std::vector<std::string> names;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < texts.size()) {
        names.emplace_back(texts.c_str() + entry.d_un.d_val);
      }
    }
    return names;
  }

 private:
  bool holds(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }

  bool read(std::uint64_t offset, void* to, std::size_t bytes) const {
    return holds(offset, bytes) &&
           ::pread(file_.get(), to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

  // Empty where the file has no such table.
  template <class Entry>
  std::vector<Entry> table(std::uint64_t offset, std::uint64_t entries) const {
    if (entries > size_ || !holds(offset, entries * sizeof(Entry))) {
      return {};
    }
    std::vector<Entry> all(entries);
    return read(offset, all.data(), entries * sizeof(Entry)) ? all : std::vector<Entry>();
  }

  // The names in the dynamic section are offsets into a table whose address is that of the loaded file.
  std::string texts_of(const std::vector<Elf64_Dyn>& entries) const {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    for (const Elf64_Dyn& entry : entries) {
      address = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : address;
      bytes = entry.d_tag == DT_STRSZ ? entry.d_un.d_val : bytes;
    }
    for (const Elf64_Phdr& part : parts_) {
      if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz) {
        const auto texts = table<char>(address - part.p_vaddr + part.p_offset, bytes);
        return {texts.begin(), texts.end()};
      }
    }
    return "";
  }

  FileState read_headers() {
    std::array<char, SELFMAG> magic{};
    Elf64_Ehdr header{};
    if (!read(0, magic.data(), magic.size()) || std::memcmp(magic.data(), ELFMAG, SELFMAG) != 0) {
      return FileState::foreign;
    }
    if (!read(0, &header, sizeof header)) {
      return FileState::cut_short;
    }
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine ||
        header.e_phentsize != sizeof(Elf64_Phdr)) {
      return FileState::foreign;
    }
    parts_ = table<Elf64_Phdr>(header.e_phoff, header.e_phnum);
    // The sections' table, which nothing loads, is the end of the file.
    const bool whole = parts_.size() == header.e_phnum &&
                       holds(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize) &&
                       std::all_of(parts_.begin(), parts_.end(), [this](const Elf64_Phdr& part) {
                         return part.p_type != PT_LOAD || holds(part.p_offset, part.p_filesz);
                       });
    return whole ? FileState::whole : FileState::cut_short;
  }

  FileDescriptor file_;
  std::uint64_t size_ = 0;
  std::vector<Elf64_Phdr> parts_;
  FileState state_ = FileState::unreadable;
};

}  // namespace

FileState file_state(const std::string& path) {
  return ElfFile(path).state();
}

std::vector<std::string> needed_libraries(const std::string& path) {
  const ElfFile file(path);
  return file.state() == FileState::whole ? file.needed() : std::vector<std::string>();
}

}  // namespace bench
