// Results of the batch sweep on GPUs that are not here, for commands that compare them.
#pragma once

#include <string>
#include <vector>

#include "bench/result/result.h"

namespace bench {

// As `bench --sweep batch --device GPU` with these options would write it, for each GPU of the list, but with
// estimated workspaces: to plan them takes seconds a card. A document without points says in `unmeasured`
// why. Throws UsageError naming --gpu, or the option that is wrong.
std::vector<ResultDocument> predicted_batches(const std::string& gpus,
                                              const std::vector<std::string>& options);

}  // namespace bench
