// `bench --list`: a line for each sweep, workload and device; an unusable device with its reason.
#pragma once

#include <iosfwd>

namespace bench {

// `as_json` (--benchmark_format=json): for scripts.
void print_list(std::ostream& out, bool as_json);

}  // namespace bench
