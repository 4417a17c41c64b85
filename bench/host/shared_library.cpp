#include "bench/host/shared_library.h"

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/host/library_file.h"

namespace bench {
namespace {

// LD_LIBRARY_PATH, the program's run path, the system's folders; not those that only /etc/ld.so.cache knows.
std::vector<std::string> search_folders() {
  std::vector<std::string> folders;
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) {
    return folders;
  }
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const all = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(program, RTLD_DI_SERINFOSIZE, all) == 0 && dlinfo(program, RTLD_DI_SERINFO, all) == 0) {
    for (unsigned i = 0; i < all->dls_cnt; ++i) {
      folders.emplace_back(all->dls_serpath[i].dls_name);
    }
  }
  return folders;
}

// In the loader's search path; empty where it is not there.
std::filesystem::path first_found(const std::string& name) {
  for (const std::string& folder : search_folders()) {
    std::filesystem::path path = std::filesystem::path(folder) / name;  // `name` itself where it is absolute
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      return path.lexically_normal();
    }
  }
  return {};
}

}  // namespace

// Its texts are names and paths, each ended by a zero byte, and a name may be the end of a path.
std::vector<std::filesystem::path> cached_paths(std::string_view cache, const std::string& name) {
  std::vector<std::filesystem::path> paths;
  const std::string ending = "/" + name + '\0';
  for (std::size_t at = cache.find(ending); at != std::string_view::npos; at = cache.find(ending, at + 1)) {
    const std::size_t begin = cache.rfind('\0', at) + 1;  // 0 where there is none
    paths.emplace_back(cache.substr(begin, at + name.size() + 1 - begin));
  }
  return paths;
}

namespace {

// In the loader's search path, else in its cache.
std::vector<std::filesystem::path> places_of(const std::string& name) {
  if (std::filesystem::path path = first_found(name); !path.empty()) {
    return {std::move(path)};
  }
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  auto paths = cached_paths(std::string(std::istreambuf_iterator<char>(file), {}), name);
  std::erase_if(paths, [](const std::filesystem::path& path) {
    std::error_code error;
    return !std::filesystem::exists(path, error);
  });
  return paths;
}

}  // namespace

std::string why_cut_short(const std::filesystem::path& path) {
  return file_state(path.string()) == FileState::cut_short
             ? path.string() + ": the file is cut short; install it again"
             : "";  // of others the loader says what is wrong
}

std::string why_damaged(const std::string& name) {
  for (const std::filesystem::path& path : places_of(name)) {
    if (std::string why = why_cut_short(path); !why.empty()) {
      return why;
    }
  }
  return "";
}

SharedLibrary::SharedLibrary(const std::string& name) : why_missing_(why_damaged(name)) {
  if (!why_missing_.empty()) {
    return;
  }
  handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* const reason = dlerror();
    why_missing_ = reason != nullptr ? reason : name + ": it does not open";
  }
}

std::string path_of_library(const std::string& name) {
  const std::vector<std::filesystem::path> places = places_of(name);
  return places.empty() ? SharedLibrary(name).path() : places.front().string();
}

std::string SharedLibrary::path() const {
  link_map* map = nullptr;
  return handle_ != nullptr && dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

}  // namespace bench
