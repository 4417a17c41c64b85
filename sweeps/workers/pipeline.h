// The loader, the copy to the device and the consumer, as one workload whose step is a window of batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "bench/transfers.h"
#include "bench/workload.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/loader/sample_maker.h"
#include "sweeps/workers/session.h"

namespace bench::sweeps {

enum class LoaderKind {
  pool,   // workers
  ready,  // does nothing: hands out the same few batches, made beforehand
};

struct PipelineSpec {
  LoaderKind loader = LoaderKind::pool;
  loader::PoolSettings pool;
  loader::Transform transform;
  HostKind staging = HostKind::pageable;
  // The consumer: a workload, or a time; 0 takes whatever is there.
  const WorkloadType* workload = nullptr;
  WorkloadSpec workload_spec;
  std::int64_t step_ns = 0;
  // The turns of a thread that works and sleeps beside the first window, which warms up, as a consumer's
  // does, and notes how late it wakes; told with the second. 0: no such thread. The workers become as nice as
  // the session says only after it woke some times beside workers that are not.
  std::int64_t probe_ns = 0;

  std::int64_t slot_bytes() const { return pool.batch * transform.sample_bytes(); }
  std::int64_t host_slots() const;  // of staging memory
};

// Batches of a window: a multiple of the workers, so that each has as large a part in every window, and twice
// the slots: the first window, which begins with empty ones, must not hand full ones to the second.
std::int64_t window_of(const PipelineSpec& spec);

// Device memory: the consumer's, and two batches that arrive while another is computed.
MemoryPlan pipeline_memory(const PipelineSpec& spec, Device& device);

// `name` is the point's, for the time line of its first steps. Throws OutOfMemory and Unsupported.
std::unique_ptr<Workload> make_pipeline(const std::string& name, const PipelineSpec& spec, Device& device,
                                        std::shared_ptr<Session> session);

}  // namespace bench::sweeps
