// Words that an evaluation's sentences and tables share.
#pragma once

#include <string>
#include <vector>

#include "bench/evaluate/evaluation.h"

namespace bench {

// "1.4× (1.1–1.8×)"; "1.38×" without an interval.
std::string ratio_in_words(const Ratio& ratio);
// "$0.35", "12.4 EUR", with three digits.
std::string amount_in_words(double amount, const std::string& currency);
// "$0.35/h", "280 EUR": as it was given.
std::string price_in_words(const Price& price, const std::string& currency);
// "$40 ± 7", "40 (25 to 101) EUR", in as many digits as the interval allows.
std::string amount_in_words(const Estimate& amount, const std::string& currency);
// "resnet50 inference".
std::string task_in_words(const EvaluatedTask& task);
// "a", "a and b", "a, b and c".
std::string list_in_words(const std::vector<std::string>& words);
// "2", "2.5".
std::string plain_number(double value);
// A maker's name without marks and words that say nothing: "Intel Xeon" of "Intel(R) Xeon(R) Processor".
std::string short_name(std::string name);
// "eager PyTorch" of "pytorch".
std::string framework_in_words(const std::string& framework);

}  // namespace bench
