// Causes of differences between two runs on one machine: its boot, its settings, the program.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace bench {

// A fact that the system does not tell is empty.
struct SystemState {
  std::string boot_id;     // another one after each start of the kernel
  std::string kernel;      // "6.1.0-18-amd64"
  std::string governor;    // of the first core's clock: "performance"
  std::string machine_id;  // of the installed system; a secret of the machine: hash it before it is kept
};
SystemState system_state();
// The same from another root ("" is the real one).
SystemState system_state(const std::filesystem::path& root);

// The variables that set how many threads libraries use, on which cores and how they wait, where they are
// set: OMP_NUM_THREADS, OMP_WAIT_POLICY, …
std::map<std::string, std::string> thread_settings();

// The build id that the linker wrote into this program, in hexadecimal; empty without one.
std::string build_id();
// The same from the notes of an ELF file.
std::string build_id_in(std::string_view notes);

}  // namespace bench
