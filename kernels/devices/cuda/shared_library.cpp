#include "kernels/devices/cuda/shared_library.h"

#include <link.h>

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

namespace bench::kernels::cuda {
namespace {

// LD_LIBRARY_PATH, the program's run path, the system's folders; not those that only ld.so.cache knows.
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

}  // namespace

std::string path_of_library(const std::string& name) {
  for (const std::string& folder : search_folders()) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      return path.lexically_normal().string();
    }
  }
  return SharedLibrary(name).path();
}

std::string SharedLibrary::path() const {
  link_map* map = nullptr;
  return handle_ != nullptr && dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

}  // namespace bench::kernels::cuda
