// Tables and lists of Markdown. Their texts may be foreign: nothing in them is markup
// (bench/text/escape.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// A sentence of a page.
std::string markdown_sentence(std::string_view text);

// Rows of cells below a header; empty without a header. `right`: columns set to the right, by index. Below
// `most` rows a line says how many there are. A row may have fewer cells than the header.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                           std::size_t most = 1000);

std::string markdown_list(const std::vector<std::string>& sentences);

}  // namespace bench
