// A plan as text: what runs, where each tensor lies and what it takes. Two plans are alike where their texts
// are.
#pragma once

#include <string>

#include "bench/device.h"
#include "bench/workload.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {

struct PlannedRecord {
  std::string operations;  // a line an instruction: its name, its algorithm and each slot's stored tensor
  std::string offsets;     // a line an instruction: each slot's block and offset
  std::string moments;     // a line an instruction: the live bytes by category
  std::string memory;      // one line: the peak by category, and when
  std::int64_t instructions = 0;
};

PlannedRecord planned_record(const NetworkType& network, const WorkloadSpec& spec, Device& device);

}  // namespace bench::kernels
