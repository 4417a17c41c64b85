// Is a batch of the pool what its images and seeds say?
#pragma once

#include "bench/workload.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/pipeline.h"

namespace bench::sweeps {

// The first batch a pool with the spec's workers, eight at most, hands out, against the same one made by a
// single thread, byte for byte, and its first sample against the slow reference of the transform.
Verification check_batch(const PipelineSpec& spec, const loader::Dataset& data, loader::BadFiles& bad);

}  // namespace bench::sweeps
