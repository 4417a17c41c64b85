#include "bench/host/process_memory.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "bench/host/text_file.h"

namespace bench {
namespace {

// "Pss_Anon:            112 kB".
std::optional<std::int64_t> bytes_of(std::string_view rollup, std::string_view name) {
  const std::size_t at = rollup.find(name);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = rollup.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::int64_t kib = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), kib);
  return read.ec == std::errc{} ? std::optional(kib * 1024) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> own_memory_in(std::string_view rollup) {
  const auto own = bytes_of(rollup, "\nPss_Anon:");
  const auto shared = bytes_of(rollup, "\nPss_Shmem:");
  return own && shared ? std::optional(*own + *shared) : std::nullopt;
}

std::optional<std::int64_t> own_memory_bytes() {
  return own_memory_in(head_of("/proc/self/smaps_rollup"));
}

}  // namespace bench
