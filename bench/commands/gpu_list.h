// `bench --list --gpus`: the cards of the catalogue, a line each.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace bench {

// `format`: json (every field of the data sheets), csv, markdown; another: text in lines of at most `width`
// columns.
void print_gpus(std::ostream& out, const std::string& format, std::size_t width);

}  // namespace bench
