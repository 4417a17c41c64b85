// A sample's note, as a file holds it.
#include "sweeps/workers/record.h"

#include <gmock/gmock.h>

#include <vector>

#include "sweeps/workers/answer.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using ::testing::IsEmpty;
using testing::LoaderMachine;

TEST(Window, CopesWithNotesThatAreNone) {
  EXPECT_FALSE(read_window(nullptr));
  EXPECT_FALSE(read_window({1, 2}));
  const LoaderMachine machine;
  auto measured = machine.measured();
  for (Point& point : measured) {
    point.notes = {read_window({{"step_ns", "x"}}), nullptr};
  }
  EXPECT_THAT(workers_findings(testing::evidence_of(measured, machine.setup())), IsEmpty());
  measured = machine.measured();
  for (Point& point : measured) {
    Json odd = point.notes[1]->to_json();
    odd["step_ns"] = {-1, "x", nullptr};
    Json poor = point.notes[2]->to_json();
    poor.erase("compute_ns");
    point.notes[0] = nullptr;
    point.notes[1] = read_window(odd);
    point.notes[2] = read_window(poor);
  }
  EXPECT_FALSE(workers_findings(testing::evidence_of(measured, machine.setup())).empty());
}

// A note that an earlier version wrote, with fields that are gone.
TEST(Window, ReadsBackWhatItWroteAndLeavesOutTheRest) {
  const auto window = testing::LoaderMachine().measured().back().notes.front();
  Json written = window->to_json();
  EXPECT_EQ(read_window(written)->to_json(), written);
  Json old = written;
  old["late_unyielding_ns"] = {1, 2, 3};
  EXPECT_EQ(read_window(old)->to_json(), written);
}

}  // namespace
}  // namespace bench::sweeps
