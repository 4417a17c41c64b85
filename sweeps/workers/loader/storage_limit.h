// A slower storage than the one at hand: reads wait as if they came from it (--storage).
#pragma once

#include <memory>
#include <string>

#include "bench/clock.h"
#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/storage.h"

namespace bench::loader {

// "200MB/s,5ms"; throws UsageError naming --storage.
Storage parse_storage(const std::string& text);

// The reads of `data`, each at least as long as the limit makes it take; a cancelled one no longer waits.
std::unique_ptr<Dataset> limited(std::unique_ptr<Dataset> data, const Storage& limit, const Clock& clock,
                                 CancelToken cancel = never);

}  // namespace bench::loader
