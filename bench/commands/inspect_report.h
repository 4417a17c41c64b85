// The report of `bench inspect` on a network, in each format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/json.h"
#include "bench/memory.h"
#include "bench/page/page.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {

// A mode at a batch, planned.
struct InspectedStep {
  std::string mode;
  std::int64_t batch = 1;
  MemoryPlan memory;
  std::string problem;  // why there is no plan; empty where there is one
};

struct InspectReport {
  std::string workload;
  std::optional<WorkloadFile> file;
  std::map<std::string, std::string> missing_modes;  // mode → why
  std::string device;
  std::string dtype;
  std::string composed_mode;  // of the step that the composition is of
  std::int64_t composed_batch = 1;
  Composition composition;
  std::vector<InspectedStep> steps;
  bool counts_context = false;  // of the device's plans: see counts_context()
  std::string folded_norms{};   // of a training step of a file: folded_norms_in_words()
};

Page page_of(const InspectReport& report);
// A line for each mode and batch: bytes by category, and in all, at the peak.
std::string to_csv(const InspectReport& report);
Json to_json(const InspectReport& report);

// A file that cannot be read as a workload, with every node that there is nothing for, by operation.
struct UnsupportedReport {
  std::string path;
  UnsupportedPart part;
};
Page page_of(const UnsupportedReport& report);
std::string to_csv(const UnsupportedReport& report);
Json to_json(const UnsupportedReport& report);

}  // namespace bench
