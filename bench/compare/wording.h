// A judgement in words: the parts that the formats share. No control character passes through here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/judgement.h"

namespace bench {

// "+5.2 %" of a ratio of 1.052, "12×" of one of 12, "over 1000×" of a larger one.
std::string signed_percent(double ratio);
// "+4.1 to +6.3 %", of two ratios.
std::string range_in_words(double least, double largest);
// "+5.2 % (+4.1 to +6.3 %)"; without an interval "+5.2 % ± ?"; of bytes "+5.2 %", or "+64 B" of a change too
// small to show in percent.
std::string change_in_words(const MetricChange& change);
// "41.2 ms" of either side.
std::string value_in_words(Metric metric, double value);
// The change that gave the point its verdict; of a point that is the same its time. nullptr: it has none.
const MetricChange* telling_change(const JudgedPoint& point);
// Whether the change is less what all points share.
bool leaves_out_shared(const MetricChange& change);
// "+4.8 to +5.9 %", the least and the largest change of the machines; empty where they are not compared by
// themselves.
std::string machines_in_words(const MetricChange& change);
// "time +5.2 % (+4.1 to +6.3 %), 41.2 ms to 43.3 ms", or why it is missing, failing or inconclusive.
std::string explanation(const JudgedPoint& point);

// "5 base and 5 new runs of batch of resnet18 on 'Tesla T4', 20 points; all statements hold together at 99
// %".
std::string subject_in_words(const Judgement& judgement);
// At most five sentences, the verdict first; what to do in brackets.
std::vector<std::string> headlines(const Judgement& judgement);
// Whether the last of them tells every difference between the sides.
bool name_all_differences(const std::vector<std::string>& headlines, const Judgement& judgement);
// "regression", "inconclusive" or "no regression".
std::string outcome(const Judgement& judgement);
// "2 slower, 1 hungrier, 17 same".
std::string counts_in_words(const Judgement& judgement, std::optional<Verdict> without = std::nullopt);
// Why all points are inconclusive, where that is one short reason: the first of the headlines says it.
// Else empty.
std::string headline_reason(const Judgement& judgement);

// A point's name, printable, without what all names start with.
class PointNames {
 public:
  explicit PointNames(const Judgement& judgement, std::size_t longest = 60);
  std::string of(const JudgedPoint& point) const;

 private:
  std::size_t prefix_ = 0;  // bytes, to a slash
  std::size_t longest_;     // characters
};

}  // namespace bench
