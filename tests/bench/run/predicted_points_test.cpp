// Findings on a device that is not here say so.
#include "bench/run/predicted_points.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/result/finding.h"

namespace bench {
namespace {

TEST(MarkAsPredicted, EachClaimThatDoesNotSayWhatItIsOf) {
  const std::vector<std::string> claims{"Use batch 64.",
                                        "fp32 saturates at the largest batch that was predicted.",
                                        "AU is 1.00.", "T4 is limited by memory.", "A step takes 3 ms."};
  std::vector<Finding> findings;
  for (const std::string& claim : claims) {
    findings.push_back(finding_of("f", "1"));
    findings.back().claim = claim;
  }
  findings.push_back(finding_of("stages", "ns"));
  findings.back().claim = "A sample takes 1 ms (as profiled).";
  findings.back().says_origin = true;
  mark_as_predicted(findings);
  std::vector<std::string> marked;
  for (const Finding& finding : findings) {
    marked.push_back(finding.claim);
  }
  EXPECT_EQ(marked, (std::vector<std::string>{
                        "Predicted: use batch 64.",
                        "Predicted: fp32 saturates at the largest batch that was predicted.",
                        "Predicted: AU is 1.00.", "Predicted: T4 is limited by memory.",
                        "Predicted: a step takes 3 ms.", "A sample takes 1 ms (as profiled)."}));
}

}  // namespace
}  // namespace bench
