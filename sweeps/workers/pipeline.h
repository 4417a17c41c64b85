// The loader, the copy to the device and the consumer, as one workload whose step is a window of batches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/device.h"
#include "bench/transfers.h"
#include "bench/workload.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/loader/transform.h"
#include "sweeps/workers/session.h"

namespace bench::sweeps {

enum class LoaderKind {
  pool,   // workers
  ready,  // does nothing: hands out the same few batches, made beforehand
};

struct PipelineSpec {
  std::string name;  // the point's
  LoaderKind loader = LoaderKind::pool;
  loader::PoolSettings pool;
  loader::Transform transform;
  HostKind staging = HostKind::pageable;
  double bus_bytes_per_s = 0;  // limit of a copy to the device; 0: none
  // The consumer: a workload, or a time; 0 takes no time.
  std::string workload_name;
  std::shared_ptr<const ConfiguredWorkload> workload;
  std::int64_t step_ns = 0;

  std::int64_t slot_bytes() const { return pool.batch * transform.sample_bytes(); }
  std::int64_t host_slots() const;  // of staging memory
};

// Batches of a window: a multiple of the workers, so that each has an equal part in every window, and at
// least twice the slots, so that the first window, which starts with empty slots, hands no full ones to the
// second.
std::int64_t window_of(const PipelineSpec& spec);

class ConfiguredPipeline final : public ConfiguredWorkload {
 public:
  ConfiguredPipeline(PipelineSpec spec, std::shared_ptr<LoaderSession> session);

  std::optional<std::string> unsupported(Device& device) const override;
  // The consumer's memory, and two batches that arrive while another is computed.
  MemoryPlan plan(Device& device) const override;
  std::unique_ptr<Workload> make(Device& device) const override;
  // With a storage limit: a batch to verify, a window to warm up, and a window.
  PointCost least_cost() const override;

 private:
  PipelineSpec spec_;
  std::shared_ptr<LoaderSession> session_;
};

}  // namespace bench::sweeps
