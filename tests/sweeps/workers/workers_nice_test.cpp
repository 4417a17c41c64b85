// What is found of workers that give way to the consumer's thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::claim;
using testing::found;
using ::testing::HasSubstr;
using testing::LoaderMachine;

// Four cores that as many workers keep busy.
LoaderMachine busy_machine() {
  LoaderMachine machine;
  machine.compute_ns = 22e6;
  machine.late_ns = 0.02e6;
  machine.late_unyielding_ns = 2e6;
  return machine;
}

ResultDocument measured_nice(const LoaderMachine& machine) {
  ResultDocument document = machine.document();
  document.sweep["loader"]["nice"] = 19;
  note_simulation(document);
  document.findings = workers_findings(document);
  return document;
}

TEST(WorkersNice, TellsWhatGivingWayIsWorth) {
  const ResultDocument document = measured_nice(busy_machine());
  ASSERT_TRUE(found(document, "nice"));
  EXPECT_GT(*found(document, "nice")->value, 2);  // of 22 ms, 2 ms where a core is busy
  EXPECT_THAT(claim(document, "nice"), HasSubstr("os.nice(19)"));
  for (const Json& both : document.sweep.at("simulated").at("unyielding")) {
    EXPECT_GT(both.at("workers"), 0);
    EXPECT_GE(both.at("au").get<double>(), both.at("au_unyielding").get<double>() - 0.01);
  }
}

TEST(WorkersNice, SaysWhereItMakesNoDifference) {
  LoaderMachine machine = busy_machine();
  machine.late_unyielding_ns = machine.late_ns;
  EXPECT_THAT(claim(measured_nice(machine), "nice"), HasSubstr("makes no difference here"));
}

TEST(WorkersNice, ClaimsNothingThatNobodyNoted) {
  LoaderMachine machine = busy_machine();
  machine.late_unyielding_ns = -1;
  EXPECT_FALSE(found(measured_nice(machine), "nice"));
}

}  // namespace
}  // namespace bench::sweeps
