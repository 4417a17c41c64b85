// `bench predict --how`: the model's formulas and errors, from its page docs/predict-model.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/page/page.h"

namespace bench {

// Throws UsageError where the document is missing.
Page prediction_method();

// The lines of the first block of code below a heading of a Markdown document; none where there is none.
std::vector<std::string> formulas_below(std::string_view page, std::string_view heading);
// Columns of the first table below it.
TextTable table_below(std::string_view page, std::string_view heading, const std::vector<std::size_t>& shown);

}  // namespace bench
