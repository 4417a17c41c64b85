// Tables and lists of HTML. Their texts may be foreign: nothing in them is markup.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/page/page.h"

namespace bench {

std::string html_sentence(std::string_view text);

// The header and `most` rows; below them a line says how many there are. Empty without a header.
std::string html_table(const TextTable& table, std::size_t most);

std::string html_list(const std::vector<std::string>& sentences, std::size_t most);

// `content` folded up below a line; both are HTML.
std::string html_details(const std::string& summary, const std::string& content);

}  // namespace bench
