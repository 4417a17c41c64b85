// A comparison over several machines of one device model. Each machine's NEW is compared with its own BASE,
// so that what the machines differ by is in neither the change nor its interval.
//
// From four machines on, a machine is one observation: the median of its runs on each side. The interval then
// counts how much the change differs between machines, and no number of runs of few machines narrows it
// (Kalibera and Jones 2013, Rigorous Benchmarking in Reasonable Time: the highest level alone). Two or three
// machines show no such spread: there each pair of runs of a machine is one, as many of each machine, and the
// statement is about these machines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/compare/matching.h"
#include "bench/compare/metric_change.h"
#include "bench/stats/comparison.h"

namespace bench {

// Leaves out the runs of machines that measured one side only, where another machine measured both sides of
// that sweep and workload on that device; a note names each. Where no machine did, all runs stay, and a note
// says what that means.
void drop_unpaired_machines(BothSides<std::vector<ComparedRun>>& runs, std::vector<std::string>& notes);

// The machines of a suite that is to be compared by machine; see Suite::machines.
std::vector<SuiteMachine> paired_machines(const Suite& suite);

// Whether a machine of the suite is one observation; else a pair of its runs is.
bool is_observation(std::size_t machines);

// Why the machine's times of a point cannot be compared: it lacks a side of them, or they are disturbed.
// Empty where they can.
std::string incomparable_on_machine(const MatchedPoint& point, const SuiteMachine& machine);

// incomparable_times(), by machine where the suite has machines: then one that can be compared is enough.
std::string incomparable_times(const Suite& suite, const MatchedPoint& point);

// Pairs of a suite with machines; `points` are indices of its points. Points that a machine cannot compare
// are NaN. `calibration`: a name that every run has, or empty.
RunsToCompare paired_by_machine(const Suite& suite, Metric metric, const std::vector<std::size_t>& points,
                                const std::string& calibration);

// What became of a point on each machine that can compare it, and on a usual one: it takes BASE's median over
// the machines, and changes as the median machine does. Each side's own median may be another machine's.
struct MachineChanges {
  double base = 0;  // nanoseconds, or a share
  double next = 0;
  std::vector<double> change;  // of level_of(), by machine of the suite; NaN: it cannot compare the point
};
MachineChanges changes_by_machine(const Suite& suite, const MatchedPoint& point, Metric metric);

// compare_bytes() on each machine: more, or less, only where every machine agrees.
MetricChange compare_bytes(const Suite& suite, const MatchedPoint& point, Metric metric, double threshold);

}  // namespace bench
