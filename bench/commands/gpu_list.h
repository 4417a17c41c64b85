// `bench --list --gpus`: the cards of results/gpus.json, a line each.
#pragma once

#include <iosfwd>

namespace bench {

// `as_json` (--benchmark_format=json): every field of the data sheets, for scripts.
void print_gpus(std::ostream& out, bool as_json);

}  // namespace bench
