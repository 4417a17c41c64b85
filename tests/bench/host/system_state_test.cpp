// What may change on one machine between two runs.
#include "bench/host/system_state.h"

#include <cstdint>
#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::Contains;
using testing::TemporaryFolder;
using testing::write_file;

TEST(SystemState, IsReadFromProcAndSys) {
  const TemporaryFolder root;
  write_file(root.path() / "proc/sys/kernel/random/boot_id", "0a1b-2c\n");
  write_file(root.path() / "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  write_file(root.path() / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  write_file(root.path() / "etc/machine-id", "abc\n");
  const SystemState state = system_state(root.path());
  EXPECT_EQ(state.boot_id, "0a1b-2c");
  EXPECT_EQ(state.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(state.governor, "performance");
  EXPECT_EQ(state.machine_id, "abc");
}

TEST(SystemState, IsEmptyWhereTheSystemDoesNotTell) {
  const TemporaryFolder root;
  const SystemState state = system_state(root.path());
  EXPECT_EQ(state.boot_id + state.kernel + state.governor + state.machine_id, "");
}

TEST(ThreadSettings, AreTheVariablesThatAreSet) {
  setenv("OMP_WAIT_POLICY", "passive", 1);
  EXPECT_THAT(thread_settings(),
              Contains(std::pair<const std::string, std::string>("OMP_WAIT_POLICY", "passive")));
  unsetenv("OMP_WAIT_POLICY");
  EXPECT_FALSE(thread_settings().contains("OMP_WAIT_POLICY"));
}

std::string note(std::uint32_t type, std::string name, const std::string& content) {
  name += '\0';
  const std::uint32_t header[] = {static_cast<std::uint32_t>(name.size()),
                                  static_cast<std::uint32_t>(content.size()), type};
  const auto padded = [](std::string text) { return text.append((4 - text.size() % 4) % 4, '\0'); };
  return std::string(reinterpret_cast<const char*>(header), sizeof header) + padded(name) + padded(content);
}

TEST(BuildId, IsTheNoteOfThatNameAndType) {
  EXPECT_EQ(build_id_in(note(1, "GNU", "abcd") + note(3, "GNU", std::string("\x01\xfe\x10", 3))), "01fe10");
  EXPECT_EQ(build_id_in(note(3, "Go", "abcd")), "");
}

TEST(BuildId, OfCutNotesIsEmpty) {
  const std::string whole = note(3, "GNU", "abcdefgh");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(build_id_in(whole.substr(0, size)), "") << size;
  }
}

TEST(BuildId, OfThisProgramIsTheSameEachTime) {
  EXPECT_EQ(build_id(), build_id());
}

}  // namespace
}  // namespace bench
