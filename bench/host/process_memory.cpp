#include "bench/host/process_memory.h"

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

}  // namespace bench
