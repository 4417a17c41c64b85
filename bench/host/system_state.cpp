#include "bench/host/system_state.h"

#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "bench/host/text_file.h"

namespace bench {
namespace {

std::string line_of(const std::filesystem::path& path) {
  const std::string text = head_of(path, 256);
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

std::size_t padded(std::size_t bytes) {
  constexpr std::size_t kAlignment = 4;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

SystemState system_state(const std::filesystem::path& root) {
  const std::string top = root.string();
  return {.boot_id = line_of(top + "/proc/sys/kernel/random/boot_id"),
          .kernel = line_of(top + "/proc/sys/kernel/osrelease"),
          .governor = line_of(top + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
          .machine_id = line_of(top + "/etc/machine-id")};
}

SystemState system_state() {
  return system_state({});
}

std::map<std::string, std::string> thread_settings() {
  constexpr std::array kVariables{"OMP_NUM_THREADS",   "OMP_WAIT_POLICY", "OMP_PROC_BIND",
                                  "OMP_PLACES",        "OMP_DYNAMIC",     "OMP_THREAD_LIMIT",
                                  "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT",  "KMP_AFFINITY",
                                  "KMP_BLOCKTIME",     "DNNL_MAX_CPU_ISA"};
  std::map<std::string, std::string> settings;
  for (const char* const name : kVariables) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
    if (const char* const value = std::getenv(name); value != nullptr) {
      settings[name] = value;
    }
  }
  return settings;
}

// A note: bytes of its name, bytes of its content, type; the name; the content. Both are padded.
std::string build_id_in(std::string_view notes) {
  constexpr std::string_view kName("GNU\0", 4);
  constexpr std::uint32_t kBuildId = 3;
  constexpr std::size_t kHeader = 3 * sizeof(std::uint32_t);
  while (notes.size() > kHeader) {
    std::array<std::uint32_t, 3> header{};
    std::memcpy(header.data(), notes.data(), kHeader);
    const auto [name_bytes, content_bytes, type] = header;
    notes.remove_prefix(kHeader);
    if (padded(name_bytes) > notes.size() || padded(content_bytes) > notes.size() - padded(name_bytes)) {
      return "";
    }
    if (type == kBuildId && notes.substr(0, name_bytes) == kName) {
      std::string id;
      for (const char byte : notes.substr(padded(name_bytes), content_bytes)) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        const auto value = static_cast<unsigned char>(byte);
        id += kDigits[value / 16U];
        id += kDigits[value % 16U];
      }
      return id;
    }
    notes.remove_prefix(padded(name_bytes) + padded(content_bytes));
  }
  return "";
}

std::string build_id() {
  std::string id;
  // The first object that is visited is the program.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* found) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type == PT_NOTE && static_cast<std::string*>(found)->empty()) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what the loader gives
            const auto* const notes = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
            *static_cast<std::string*>(found) = build_id_in({notes, header.p_memsz});
          }
        }
        return 1;
      },
      &id);
  return id;
}

}  // namespace bench
