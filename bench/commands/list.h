// `bench --list`: a line for each sweep, workload and device; an unusable device with its reason. With
// --benchmark_format=json as JSON, for scripts.
#pragma once

#include <iosfwd>

namespace bench {

void print_list(std::ostream& out);
void print_list_as_json(std::ostream& out);

}  // namespace bench
