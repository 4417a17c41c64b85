// Advice from results of several machines with one model of device: it is for the median machine.
#pragma once

#include <string>
#include <vector>

#include "bench/advise/step_model.h"

namespace bench {

// Where each sweep has one result a machine, of a fleet, leaves those of the machine whose points take the
// median time; of an even number the slower of the two in the middle. Returns sentences: which it is, how far
// the others are from it, and which is unlike the rest. Throws UsageError where that machine lacks a sweep
// that others have. Other files are left as they are.
std::vector<std::string> keep_median_machine(std::vector<EvaluatedFile>& files);

}  // namespace bench
