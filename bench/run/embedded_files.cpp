#include "bench/run/embedded_files.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace bench {

std::string_view embedded_text(std::string_view path) {
  const auto files = embedded_files();
  const auto found = std::ranges::find(files, path, &EmbeddedFile::path);
  if (found == files.end()) {
    throw std::logic_error(fmt::format("{} was not compiled into the program", path));
  }
  return found->text;
}

}  // namespace bench
