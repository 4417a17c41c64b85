#include "bench/host/process_memory.h"

#include <new>
#include <system_error>

#include "bench/host/host_info.h"
#include "bench/host/text_file.h"

namespace bench {
std::optional<std::int64_t> own_memory_in(std::string_view rollup) {
  const auto own = meminfo_bytes(rollup, "Pss_Anon");
  const auto shared = meminfo_bytes(rollup, "Pss_Shmem");
  return own && shared ? std::optional(*own + *shared) : std::nullopt;
}

std::optional<std::int64_t> own_memory_bytes() {
  return own_memory_in(head_of("/proc/self/smaps_rollup"));
}

std::string failure_in_words(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "the host's memory is full; give a smaller network or batch";
  }
  const auto* const system = dynamic_cast<const std::system_error*>(&error);
  return system != nullptr && system->code() == std::errc::resource_unavailable_try_again
             ? "no thread can be started: the host's memory is full, or its limit of threads is reached"
             : error.what();
}

}  // namespace bench
