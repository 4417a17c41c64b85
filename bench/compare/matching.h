// The runs of both sides, sorted into suites, and their points, matched by name.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/compare/run.h"

namespace bench {

enum class Side { base, next };
inline constexpr std::array kSides{Side::base, Side::next};
// "BASE", "NEW": as the command line calls them.
const char* name_of(Side side);

// Index by side.
template <class T>
struct BothSides {
  T base{};
  T next{};
  T& operator[](Side side) { return side == Side::base ? base : next; }
  const T& operator[](Side side) const { return side == Side::base ? base : next; }
};

// A point that both sides measured; by run of its suite, nullptr where that run did not measure it.
struct MatchedPoint {
  std::string name;
  BothSides<std::vector<const RunPoint*>> runs;
};

// A point that one side measured and the other did not, or that fails on a side where it did not before.
struct UnmatchedPoint {
  enum class Kind { missing, left_out, failing, oom, added };  // left_out: by the time budget
  Kind kind = Kind::missing;
  std::string name;
  std::string reason{};  // of the side that has not measured it
};

// A machine that measured both sides of a suite.
struct SuiteMachine {
  std::string name;                            // printable
  BothSides<std::vector<std::size_t>> runs{};  // indices into the suite's
};

// Runs of one sweep and workload on one device: what slows all of them at once is common to their points.
struct Suite {
  std::string sweep;
  std::string workload;
  std::string device;  // its name
  BothSides<std::vector<const ComparedRun*>> runs;
  // Two or more, which all the runs are of: each is compared with itself. Empty: the runs are of one machine,
  // or no machine measured both sides.
  std::vector<SuiteMachine> machines{};
  std::vector<MatchedPoint> points;
  std::vector<UnmatchedPoint> unmatched;
};

struct Matching {
  BothSides<std::vector<ComparedRun>> runs;  // each once; suites point into them
  std::vector<Suite> suites;
  std::vector<std::string> notes;  // sentences on files that were left out

  std::size_t points() const;  // matched ones of all suites
};

// Differences that do not keep runs from being compared.
struct AllowedDifferences {
  bool device = false;
  bool params = false;
};

// Names the difference of two runs' devices; empty where they are the same.
std::string device_difference(const ComparedRun& one, const ComparedRun& other);

// The first param that differs, in words: "image-size", "96", "224".
struct ParamsDifference {
  std::string key;
  std::string one;
  std::string other;
};
std::optional<ParamsDifference> params_difference(const Json& one, const Json& other);

// Throws NotComparable for other devices, another graph in a file of one name, other params of points of one
// name, or no point to compare.
Matching match_runs(std::vector<ComparedRun> base, std::vector<ComparedRun> next,
                    const AllowedDifferences& allowed);

}  // namespace bench
