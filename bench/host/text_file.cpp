#include "bench/host/text_file.h"

#include <fstream>

namespace bench {

std::string head_of(const std::filesystem::path& path, std::size_t bytes) {
  std::ifstream file;
  std::string text(bytes, '\0');
  file.rdbuf()->pubsetbuf(nullptr, 0);
  file.open(path);
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace bench
