// An advice as text of a terminal, Markdown, and JSON.
#pragma once

#include <cstddef>
#include <string>

#include "bench/advise/advice.h"
#include "bench/json.h"

namespace bench {

// Lines of at most `width` columns, tables excepted.
std::string advice_text(const Advice& advice, std::size_t width);
std::string advice_markdown(const Advice& advice);
Json advice_json(const Advice& advice);

}  // namespace bench
