#include "bench/text/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"

namespace bench {
namespace {

constexpr std::size_t kLargestAxis = 10'000;  // values

class AxisParser {
 public:
  AxisParser(std::string_view option, std::string_view text) : option_(option), text_(text) {}

  std::vector<std::int64_t> parse() {
    if (text_.empty()) {
      refuse(text_, "is an empty list");
    }
    for (const std::string_view item : split(text_, ',')) {
      parse_item(item);
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
  std::int64_t number(std::string_view digits, std::string_view item, std::int64_t least = 1) const {
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ec == std::errc::result_out_of_range && read.ptr == end) {
      refuse(item, "is too large");
    }
    if (read.ec != std::errc{} || read.ptr != end) {
      refuse(item, "is not a whole number or a range");
    }
    if (value < least) {
      refuse(item, "is below 1");
    }
    return value;
  }

  void parse_item(std::string_view item) {
    if (item.empty()) {
      refuse(text_, "has an empty item");
    }
    const std::vector<std::string_view> parts = split(item, ':');
    if (parts.size() == 1) {
      add(number(item, item));
    } else if (parts.size() == 2 || parts[2].empty()) {
      refuse(item, "is a range without a step");
    } else if (parts[2].front() != 'x' && parts[2].front() != '+') {
      refuse(item, "has a step that is neither times (x) nor plus (+)");
    } else if (parts.size() > 3) {
      refuse(item, "is not a whole number or a range");
    } else {
      add_range(item, number(parts[0], item), number(parts[1], item), parts[2]);
    }
  }

  void add_range(std::string_view item, std::int64_t low, std::int64_t high, std::string_view step) {
    if (low > high) {
      refuse(item, "is a range that falls");
    }
    const bool multiplies = step.front() == 'x';
    const std::int64_t by = number(step.substr(1), item, 0);
    if (by == 0 || (multiplies && by == 1)) {
      refuse(item, "is a range that never grows");
    }
    add(low);
    for (std::int64_t value = low; multiplies ? value <= high / by : value <= high - by;) {
      value = multiplies ? value * by : value + by;
      add(value);
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

constexpr std::string_view kAcceptedSizes = "sizes such as 4KiB,1MiB and ranges such as 1KiB:1GiB:x2";

std::int64_t size_of(std::string_view option, std::string_view text) {
  std::int64_t bytes = 0;
  try {
    bytes = parse_bytes(option, text);
  } catch (const UsageError& error) {
    const std::string_view sentence = error.what();  // "--sizes: '0' has no unit; give a size such as …"
    throw UsageError(
        fmt::format("{}; accepted: auto, {}", sentence.substr(0, sentence.rfind("; ")), kAcceptedSizes));
  }
  constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
  if (bytes > kLargestSize) {
    throw UsageError(fmt::format("{}: {} was given; accepted: sizes up to 1TiB", option, quote(text)));
  }
  return bytes;
}

void add_range(std::string_view option, std::string_view text, std::vector<std::int64_t>& sizes) {
  const std::vector<std::string_view> parts = split(text, ':');
  const std::string_view step = parts.size() == 3 ? parts[2] : "";
  const char* const end = step.data() + step.size();
  std::int64_t factor = 0;
  if (!step.starts_with('x') || std::from_chars(step.data() + 1, end, factor).ptr != end || factor < 2 ||
      factor > 1024) {
    throw UsageError(fmt::format("{}: {} was given; accepted: {}", option, quote(text), kAcceptedSizes));
  }
  const std::int64_t last = size_of(option, parts[1]);
  for (std::int64_t bytes = size_of(option, parts[0]); bytes <= last; bytes *= factor) {
    sizes.push_back(bytes);
  }
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(at, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

std::vector<std::int64_t> parse_axis(std::string_view option, std::string_view text) {
  return AxisParser(option, text).parse();
}

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, count);
  if (read.ec != std::errc{} || read.ptr != end || count < least || count > most) {
    throw UsageError(fmt::format("{}: {} was given; accepted: a whole number, {} to {}", option, quote(text),
                                 least, most));
  }
  return count;
}

std::vector<std::int64_t> parse_sizes(std::string_view option, std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') == std::string_view::npos) {
      sizes.push_back(size_of(option, part));
    } else {
      add_range(option, part, sizes);
    }
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.empty()) {
    throw UsageError(
        fmt::format("{}: {} holds no size; the first must not be above the last", option, quote(text)));
  }
  return sizes;
}

std::vector<std::string> parse_words(std::string_view option, std::string_view text,
                                     const std::vector<std::string>& accepted) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ',')) {
    if (std::ranges::find(accepted, word) == accepted.end()) {
      throw UsageError(fmt::format("{}: {} was given; accepted, separated by commas: {}{}", option,
                                   quote(word), fmt::join(accepted, ", "), did_you_mean(word, accepted)));
    }
    if (std::ranges::find(words, word) == words.end()) {
      words.emplace_back(word);
    }
  }
  return words;
}

}  // namespace bench
