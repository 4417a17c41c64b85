// A shared library opened at run time: closed by its one owner.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

class SharedLibrary {
 public:
  // `name` is searched as the loader does: LD_LIBRARY_PATH, the program's run path, the system's folders. A
  // name with a slash is a path. A file that was cut short is not opened.
  explicit SharedLibrary(const std::string& name);
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary() {
    if (handle_ != nullptr) {
      dlclose(handle_);
    }
  }
  explicit operator bool() const { return handle_ != nullptr; }

  // The loader's words, which name the library, or that its file is cut short; empty where it is open.
  const std::string& why_missing() const { return why_missing_; }
  // Where the loader found it; empty where it is not open.
  std::string path() const;

  // nullptr where the library has no such function.
  template <class Function>
  Function* find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_ = nullptr;
  std::string why_missing_;
};

// Why the library at `path` must not be opened: it ends before what its program headers say is loaded, and
// the process would end by SIGBUS. Empty where it is whole, or no library at all.
std::string why_cut_short(const std::filesystem::path& path);

// The same of the library that the loader would open by this name.
std::string why_damaged(const std::string& name);

// The paths that the loader's cache, the bytes of /etc/ld.so.cache, has for a library of this name.
std::vector<std::filesystem::path> cached_paths(std::string_view cache, const std::string& name);

// Where the loader would find the library; empty where it would not. A library in the loader's search path or
// cache is not opened: cuBLASLt alone takes 0.2 s.
std::string path_of_library(const std::string& name);

}  // namespace bench
