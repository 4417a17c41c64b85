#include "bench/measure/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "bench/error.h"
#include "bench/measure/quote.h"

namespace bench {
namespace {

class AxisParser {
 public:
  AxisParser(std::string_view option, std::string_view text) : option_(option), text_(text) {}

  std::vector<std::int64_t> parse() {
    if (text_.empty()) {
      refuse(text_, "is an empty list");
    }
    for (std::size_t begin = 0; begin <= text_.size();) {
      const std::size_t end = std::min(text_.find(',', begin), text_.size());
      parse_item(text_.substr(begin, end - begin));
      begin = end + 1;
    }
    std::ranges::sort(values_);
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    return std::move(values_);
  }

 private:
  [[noreturn]] void refuse(std::string_view given, std::string_view why) const {
    throw UsageError(
        fmt::format("{}: {} {}; give whole numbers of at least 1, as a list such as 1,2,4 or a range such "
                    "as 1:256:x2 (times 2) or 8:64:+8 (plus 8)",
                    option_, quote(given), why));
  }

  // `item` is what an error quotes: the whole range around a wrong number.
  std::int64_t number(std::string_view digits, std::string_view item) const {
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ec == std::errc::result_out_of_range && read.ptr == end) {
      refuse(item, "is too large");
    }
    if (read.ec != std::errc{} || read.ptr != end) {
      refuse(item, "is not a whole number or a range");
    }
    if (value < 1) {
      refuse(item, "is below 1");
    }
    return value;
  }

  void parse_item(std::string_view item) {
    if (item.empty()) {
      refuse(text_, "has an empty item");
    }
    const std::size_t first = item.find(':');
    if (first == std::string_view::npos) {
      add(number(item, item));
      return;
    }
    const std::size_t second = item.find(':', first + 1);
    if (second == std::string_view::npos || second + 1 == item.size()) {
      refuse(item, "is a range without a step");
    }
    const std::string_view step = item.substr(second + 1);
    if (step.front() != 'x' && step.front() != '+') {
      refuse(item, "has a step that is neither times (x) nor plus (+)");
    }
    add_range(item, number(item.substr(0, first), item),
              number(item.substr(first + 1, second - first - 1), item), step);
  }

  void add_range(std::string_view item, std::int64_t low, std::int64_t high, std::string_view step) {
    if (low > high) {
      refuse(item, "is a range that falls");
    }
    const bool multiplies = step.front() == 'x';
    const bool stands_still = step.substr(1).find_first_not_of('0') == std::string_view::npos &&
                              step.size() > 1;  // "+0", "x0": not below 1, but going nowhere
    const std::int64_t by = stands_still ? 0 : number(step.substr(1), item);
    if (by == 0 || (multiplies && by == 1)) {
      refuse(item, "is a range that never grows");
    }
    for (std::int64_t value = low;;) {
      add(value);
      const bool last = multiplies ? value > high / by : value > high - by;
      if (last) {
        return;
      }
      value = multiplies ? value * by : value + by;
    }
  }

  void add(std::int64_t value) {
    if (values_.size() == kLargestAxis) {
      refuse(text_, fmt::format("makes more than {} values", kLargestAxis));
    }
    values_.push_back(value);
  }

  std::string_view option_;
  std::string_view text_;
  std::vector<std::int64_t> values_;
};

}  // namespace

std::vector<std::int64_t> parse_axis(std::string_view option, std::string_view text) {
  return AxisParser(option, text).parse();
}

}  // namespace bench
