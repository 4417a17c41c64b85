// A workload whose work is known: 2 GFLOP and 40 MB a sample, 60 operations, 20 M parameters.
#pragma once

#include <memory>

#include "bench/predict/prediction.h"
#include "bench/workload.h"

namespace bench::testing {

class SmallNetwork final : public ConfiguredWorkload {
 public:
  explicit SmallNetwork(WorkloadSpec spec) : spec_(std::move(spec)) {}
  MemoryPlan plan(Device& /*device*/) const override { return {}; }
  std::unique_ptr<Workload> make(Device& /*device*/) const override { return nullptr; }
  std::optional<NetworkTerms> eager_terms(const EagerForm& /*form*/) const override {
    if (spec_.options.contains("opaque")) {
      return std::nullopt;
    }
    const double width = spec_.dtype == Dtype::fp32 ? 1 : 0.5;
    NetworkTerms terms;
    terms.per_sample.flops[static_cast<std::size_t>(ProductClass::pointwise)] = 2e9;
    terms.per_sample.bytes[static_cast<std::size_t>(Traffic::elementwise)] = 40e6 * width;
    terms.per_step.launches = 60;
    terms.parameters = 20e6;
    terms.peak_bytes_per_sample = 30e6 * width;
    return terms;
  }

 private:
  WorkloadSpec spec_;
};

inline WorkloadType small_network() {
  return {.name = "small",
          .kind = "network",
          .description = "small",
          .modes = {"infer", "train"},
          .options = {},
          .configure = [](const WorkloadSpec& spec) { return std::make_shared<const SmallNetwork>(spec); }};
}

}  // namespace bench::testing
