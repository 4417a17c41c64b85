// `bench predict --how`: the model's formulas and errors, from its page docs/predict-model.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Throws UsageError where the page is missing.
std::string prediction_method(std::size_t width);

// The first block of code below a heading of a Markdown page, without its fences; empty where there is none.
std::string code_below(std::string_view page, std::string_view heading);
// Columns of the first table below it, the first of them wrapped so that a line has at most `width` columns.
std::string table_below(std::string_view page, std::string_view heading,
                        const std::vector<std::size_t>& shown, std::size_t width);

}  // namespace bench
