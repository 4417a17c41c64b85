// `bench predict --how`: the model's formulas and errors, from its page docs/predict-model.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

// Throws UsageError where the page is missing.
std::string prediction_method(std::size_t width);

// The first block of code below a heading of a Markdown page, without its fences; empty where there is none.
std::string code_below(std::string_view page, std::string_view heading);
// The first table below it, in columns of at most `width` together: the first column is cut.
std::string table_below(std::string_view page, std::string_view heading, std::size_t width);

}  // namespace bench
