// `bench --list`: a line for each sweep, workload and device; an unusable device with its reason.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace bench {

// `format`: json, csv, markdown; another: text in lines of at most `width` columns.
void print_list(std::ostream& out, const std::string& format, std::size_t width);

}  // namespace bench
