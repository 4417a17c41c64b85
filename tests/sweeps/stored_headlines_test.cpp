// A file's findings come without their places: the sweep finds these again, from its points and studies, and
// not from what the findings say.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/result/result.h"
#include "bench/run/result_file.h"
#include "sweeps/transfer/studies.h"
#include "tests/sweeps/transfer_machine.h"

namespace bench::sweeps {
namespace {

ResultDocument golden(const std::string& name) {
  return read_result(BENCH_TEST_SOURCE_DIR "/tests/golden/" + name + ".json");
}

std::vector<int> headlines_of(ResultDocument document) {
  registry<report::SweepReport>().find(document.sweep.name)->choose_headlines(document);
  std::vector<int> places;
  for (const Finding& finding : document.findings) {
    places.push_back(finding.headline);
  }
  return places;
}

TEST(StoredHeadlines, RestOnNoSentence) {
  for (const char* const name : {"transfer", "documents/transfer-predicted", "documents/cards",
                                 "documents/collectives", "documents/collectives-turns"}) {
    ResultDocument document = golden(name);
    const std::vector<int> places = headlines_of(document);
    EXPECT_EQ(std::ranges::count(places, 1), 1) << name;
    for (const char* const claim : {"Something else.", "Rank 1 is the slowest.", "No bus was crossed."}) {
      for (Finding& finding : document.findings) {
        finding.claim = claim;
      }
      EXPECT_EQ(headlines_of(document), places) << name << ": " << claim;
    }
  }
}

TEST(StoredHeadlines, RestOnPointsAndStudiesAlone) {
  for (const char* const name :
       {"batch", "documents/batch-predicted", "documents/batch-interrupted", "kernels",
        "documents/kernels-predicted", "memory", "documents/memory-predicted"}) {
    ResultDocument document = golden(name);
    const std::vector<int> places = headlines_of(document);
    EXPECT_EQ(std::ranges::count(places, 1), 1) << name;
    for (Finding& finding : document.findings) {
      finding.claim = "Something else.";
      finding.evidence.clear();
      finding.details = nullptr;
    }
    EXPECT_EQ(headlines_of(document), places) << name;
  }
}

// What the file's findings say of a curve is not taken where its points make none.
TEST(StoredHeadlines, CopiesWhoseSizesAreUnfitMakeNoCurve) {
  for (const double bytes : {0.0, -1.0, 1e300}) {
    ResultDocument document = golden("transfer");
    document.points.front().params["bytes"] = bytes;
    EXPECT_EQ(headlines_of(document).size(), document.findings.size()) << bytes;
  }
}

TEST(StoredHeadlines, StudiesOfCopiesAreReadWhole) {
  TransferState state = transfer_card().state;
  state.calls = {{.direction = "h2d",
                  .kind = "pinned",
                  .bytes = 4096,
                  .returns_ns = {.value = 600},
                  .done_ns = step_time(1),
                  .cpu_ns = 500}};
  state.pinning.push_back({.bytes = 1 << 28, .unsupported = "64 MiB may be locked"});
  state.steps.front().compute_samples = {39, 40, 41};
  state.steps.front().kinds.back().samples.serial = {43, 44};
  state.steps.front().kinds.push_back({.name = "other", .unsupported = "not here"});
  state.steps.push_back({.workload = "net", .batch = 64, .unsupported = "no memory"});
  ResultDocument document;
  document.sweep.state["transfer"] = to_json(state);
  EXPECT_EQ(to_json(transfer_state_in(document)), to_json(state));
  EXPECT_EQ(to_json(transfer_state_in({})), to_json(TransferState{}));
}

}  // namespace
}  // namespace bench::sweeps
