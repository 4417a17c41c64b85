// A resumed file holds points that another program may have written: what the reader lets through must not
// take the findings down, whatever stands in it. Overflows are the sanitizers' to see.
#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "memory_machine.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/sample_document.h"
#include "tests/sweeps/transfer_machine.h"

namespace bench {
namespace {

void try_findings_of(const std::string& sweep_name) {
  const Sweep& sweep = *registry<Sweep>().find(sweep_name);
  int found = 0;
  testing::for_each_odd_document(to_json(testing::sample_document()), [&](const Json& json) {
    try {
      const ResultDocument document = document_from_json(json);
      for (const Finding& finding : sweep.findings(document)) {
        found += finding.claim.empty() ? 0 : 1;
      }
    } catch (const UsageError&) {  // refused
    }
  });
  EXPECT_GT(found, 1000);
}

TEST(FindingsFuzz, OfTheBatchSweep) {
  try_findings_of("batch");
}

TEST(FindingsFuzz, OfTheMemorySweep) {
  try_findings_of("memory");
}

TEST(FindingsFuzz, OfTheKernelsSweep) {
  const Sweep& sweep = *registry<Sweep>().find("kernels");
  testing::for_each_odd_document(to_json(testing::sample_document()), [&](const Json& json) {
    try {
      sweep.findings(document_from_json(json));
    } catch (const UsageError&) {
    } catch (const Json::exception&) {  // --resume says it in one sentence
    }
  });
}

// Copies on a made-up card, each with all that a point of a file has.
TEST(FindingsFuzz, OfTheTransferSweep) {
  const ResultDocument card = sweeps::transfer_card();
  ResultDocument document = testing::sample_document();
  const MeasuredPoint whole = document.benchmarks.front();
  document.sweep["transfer"] = card.sweep["transfer"];
  document.benchmarks.clear();
  for (std::size_t i = 0; i < 33; i += 2) {  // three series to the device, every second size
    MeasuredPoint point = whole;
    point.name = card.benchmarks[i].name;
    point.params = card.benchmarks[i].params;
    point.work = card.benchmarks[i].work;
    point.stats.median_ns = card.benchmarks[i].stats.median_ns;
    point.stats.ci95_ns = card.benchmarks[i].stats.ci95_ns;
    const auto around = static_cast<std::int64_t>(point.stats.median_ns);
    for (std::size_t sample = 0; sample < point.samples_ns.size(); ++sample) {
      point.samples_ns[sample] = around + (sample % 2 == 0 ? 1000 : -1000);
    }
    document.benchmarks.push_back(point);
  }
  const Sweep& sweep = *registry<Sweep>().find("transfer");
  int found = 0;
  ASSERT_GE(sweep.findings(document_from_json(to_json(document))).size(), 10U);
  testing::for_each_odd_document(to_json(document), [&](const Json& json) {
    try {
      found += static_cast<int>(sweep.findings(document_from_json(json)).size());
    } catch (const UsageError&) {
    } catch (const Json::exception&) {  // --resume says it in one sentence
    }
  });
  EXPECT_GT(found, 10'000);
}

}  // namespace
}  // namespace bench
