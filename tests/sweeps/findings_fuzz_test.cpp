// A resumed file holds points that another program may have written: what the reader lets through must not
// take the findings down, whatever stands in it. Overflows are the sanitizers' to see.
#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "memory_machine.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/sample_document.h"

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

}  // namespace
}  // namespace bench
