// A workload that can be planned for and does nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload.h"

namespace bench::testing {

class StubWorkload : public ConfiguredWorkload {
 public:
  MemoryPlan plan(Device& /*device*/) const override { return {}; }
  std::unique_ptr<Workload> make(Device& /*device*/) const override { return nullptr; }
};

inline WorkloadType stub_workload(std::vector<std::string> modes, std::vector<CommandOption> options = {}) {
  WorkloadType type;
  type.name = "tiny";
  type.modes = std::move(modes);
  type.options = std::move(options);
  type.configure = [](const WorkloadSpec&) { return std::make_shared<StubWorkload>(); };
  return type;
}

}  // namespace bench::testing
