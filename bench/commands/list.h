// `bench --list`: sweeps, workloads and devices, and for what is missing, why.
#pragma once

#include <iosfwd>

namespace bench {

void print_list(std::ostream& out);

}  // namespace bench
