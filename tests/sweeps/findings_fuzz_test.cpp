// A resumed file holds points that another program may have written: what the reader lets through must not
// take the findings down, whatever stands in it. Overflows are the sanitizers' to see.
#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/sample_document.h"
#include "tests/sweeps/fake_device.h"
#include "tests/sweeps/stub_workload.h"
#include "tests/sweeps/transfer_machine.h"

namespace bench {
namespace {

// Returns how many claims were made.
int try_findings_of(const std::string& sweep_name) {
  const WorkloadType workload = testing::stub_workload({"infer"});
  const testing::ManualClock clock;
  SweepRequest request(clock);
  request.workload = &workload;
  request.workloads = {&workload};
  request.modes = {"infer"};
  request.batches = {1};
  request.memory_caps = {1 << 30};
  testing::FakeDevice device({Dtype::fp32});
  const auto sweep = registry<SweepType>().find(sweep_name)->make(request, device);
  int found = 0;
  testing::for_each_odd_document(to_json(testing::sample_document()), [&](const Json& json) {
    try {
      ResultDocument document = document_from_json(json);
      sweep->restore(document);
      for (const Finding& finding : sweep->findings(document)) {
        found += finding.claim.empty() ? 0 : 1;
      }
    } catch (const UsageError&) {       // refused
    } catch (const Json::exception&) {  // --resume says it in one sentence
    }
  });
  return found;
}

TEST(FindingsFuzz, OfTheBatchSweep) {
  EXPECT_GT(try_findings_of("batch"), 1000);
}

TEST(FindingsFuzz, OfTheMemorySweep) {
  EXPECT_GT(try_findings_of("memory"), 1000);
}

TEST(FindingsFuzz, OfTheKernelsSweep) {
  try_findings_of("kernels");
}

// Copies on a made-up card, each with all that a point of a file has.
TEST(FindingsFuzz, OfTheTransferSweep) {
  const sweeps::TransferMachine card = sweeps::transfer_card();
  ResultDocument document = testing::sample_document();
  const Point whole = document.points.front();
  document.points.clear();
  for (std::size_t i = 0; i < 33; i += 2) {  // three series to the device, every second size
    const Point& copy = card.document.points[i];
    Point point = whole;
    point.name = copy.name;
    point.params = copy.params;
    point.work = copy.work;
    point.stats.median_ns = copy.stats.median_ns;
    point.stats.ci95_ns = copy.stats.ci95_ns;
    const auto around = static_cast<std::int64_t>(point.stats.median_ns);
    for (std::size_t sample = 0; sample < point.samples_ns.size(); ++sample) {
      point.samples_ns[sample] = around + (sample % 2 == 0 ? 1000 : -1000);
    }
    document.points.push_back(point);
  }
  const auto findings_in = [&](const Json& json) {
    return sweeps::transfer_findings(document_from_json(json), card.state);
  };
  int found = 0;
  ASSERT_GE(findings_in(to_json(document)).size(), 10U);
  testing::for_each_odd_document(to_json(document), [&](const Json& json) {
    try {
      found += static_cast<int>(findings_in(json).size());
    } catch (const UsageError&) {
    } catch (const Json::exception&) {  // --resume says it in one sentence
    }
  });
  EXPECT_GT(found, 10'000);
}

}  // namespace
}  // namespace bench
