// Text about files, the same wherever they lie.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

inline std::string without_path(std::string text, const std::filesystem::path& path) {
  for (std::size_t at = 0; (at = text.find(path.string())) != std::string::npos;) {
    text.replace(at, path.string().size(), "FOLDER");
  }
  return text;
}

}  // namespace bench
