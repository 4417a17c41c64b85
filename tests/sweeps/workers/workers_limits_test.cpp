// What the workers sweep says limits a machine that is known.
#include <gmock/gmock.h>

#include <string>

#include "sweeps/workers/claims.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::claim;
using testing::found;
using ::testing::HasSubstr;
using testing::LoaderMachine;
using testing::measured_by;
using ::testing::Not;

// A batch of 16 is copied in 40 ms, for 400 images a second; workers make 714.
LoaderMachine slow_to_copy() {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  machine.copy_ns = 40e6;
  return machine;
}

LoaderPoint with_au(std::int64_t workers, double au, double half) {
  LoaderPoint point;
  point.workers = workers;
  point.au = Measured{.value = au, .ci95 = {au - half, au + half}};
  return point;
}

TEST(WorkersKneeClaim, NamesOneCountWhereNoOtherIsPossible) {
  LoaderEvidence evidence;
  evidence.points.pool = {with_au(0, 0.62, 0.05), with_au(1, 0.972, 0.06), with_au(2, 0.947, 0.03)};
  EXPECT_THAT(claim_knee(evidence)->claim, HasSubstr("seems to be at 1 worker, but no point is certain"));
  evidence.points.pool = {with_au(0, 0.62, 0.05), with_au(1, 0.93, 0.1), with_au(2, 0.972, 0.08)};
  EXPECT_THAT(claim_knee(evidence)->claim, HasSubstr("lies between 1 and 2 workers"));
}

TEST(WorkersLimits, CopyingIsTheLimitWhereItTakesLongerThanComputing) {
  const ResultDocument document = measured_by(slow_to_copy());
  EXPECT_EQ(found(document, "plateau")->details["limited_by"], "copy");
  EXPECT_NEAR(*found(document, "plateau")->value, 400, 5);
  EXPECT_THAT(
      claim(document, "plateau"),
      HasSubstr("copying a batch to the device takes longer than computing on it (40.0 ms and 5.00 ms)"));

  ResultDocument simulated;
  simulate_profile(read_profile({{"schema", "bench-result/1"}, {"sweep", document.sweep}}), {}, simulated);
  simulated.findings = workers_findings(simulated);
  EXPECT_EQ(found(simulated, "plateau")->details["limited_by"], "copy");
  EXPECT_THAT(claim(simulated, "plateau"), Not(HasSubstr("takes no more")));
}

TEST(WorkersLimits, ACopyThatIsShortLimitsNothing) {
  LoaderMachine machine;
  machine.copy_ns = 30e6;  // of 36
  EXPECT_EQ(found(measured_by(machine), "plateau")->details["limited_by"], "consumer");
}

TEST(WorkersLimits, ADemandBeyondWhatCopiesDeliverCannotBeFed) {
  LoaderMachine machine = slow_to_copy();
  machine.demands = {{{"name", "h200"}, {"images_per_s", 600}, {"source", "given"}},
                     {{"name", "t4"}, {"images_per_s", 300}, {"source", "given"}}};
  const ResultDocument document = measured_by(machine);
  const Finding& answer = *found(document, "demand/h200");
  EXPECT_FALSE(answer.value);
  EXPECT_NEAR(answer.details["au"].get<double>(), 400.0 / 600, 0.02);
  EXPECT_NEAR(answer.details["tops_out_images_per_s"].get<double>(), 400, 1);
  EXPECT_EQ(answer.details["limited_by"], "copy");
  EXPECT_THAT(answer.claim, HasSubstr("copying a batch, which takes 40.0 ms here, is the limit"));
  EXPECT_TRUE(found(document, "demand/t4")->value);
}

TEST(WorkersLimits, AnAuOfADemandIsWhatItGetsOfIt) {
  LoaderMachine machine;
  machine.demands = {{{"name", "huge"}, {"images_per_s", 100'000}, {"source", "given"}}};
  const Finding answer = *found(measured_by(machine), "demand/huge");
  EXPECT_NEAR(answer.details["au"].get<double>(), 0.0065, 0.002);  // at most 714 a second, less in a crowd
}

// The consumer was expected to be fed, waits all the same, and the cores have time left.
TEST(WorkersLimits, IdleCoresAreNotCalledBusy) {
  ResultDocument document = LoaderMachine().document();
  for (MeasuredPoint& point : document.benchmarks) {
    if (point.params.at("loader") == "pool") {
      for (Json& note : point.notes) {
        for (Json& step : note["step_ns"]) {
          step = static_cast<std::int64_t>(1.08 * step.get<double>());
        }
      }
    }
  }
  note_simulation(document);
  document.findings = workers_findings(document);
  EXPECT_EQ(found(document, "plateau")->details["limited_by"], "unknown");
  EXPECT_THAT(claim(document, "plateau"), HasSubstr("the simulation expects it to be fed"));

  document.sweep.erase("profile");
  document.sweep.erase("simulated");
  document.findings = workers_findings(document);
  EXPECT_EQ(found(document, "plateau")->details["limited_by"], "unknown");
  EXPECT_THAT(claim(document, "plateau"), HasSubstr("what it lacks was not found"));
}

TEST(WorkersLimits, AllCoresAreBusyWhereTheLoaderAloneMakesNoMore) {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  ResultDocument document = machine.document();  // without a simulation
  document.findings = workers_findings(document);
  EXPECT_EQ(found(document, "plateau")->details["limited_by"], "decode");
  EXPECT_THAT(claim(document, "plateau"), HasSubstr("all cores are busy"));
}

}  // namespace
}  // namespace bench::sweeps
