// Compares a batch of the pool with a single thread's and with the reference.
#pragma once

#include "bench/workload.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/pipeline.h"

namespace bench::sweeps {

// The first batch of a pool with the spec's workers, eight at most: byte for byte equal to a single thread's,
// and its first sample close to the slow reference of the transform.
Verification check_batch(const PipelineSpec& spec, const loader::Dataset& data, const Clock& clock,
                         loader::BadFiles& bad);

}  // namespace bench::sweeps
