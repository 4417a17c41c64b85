#include "bench/page/csv.h"

#include <charconv>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "bench/text/quote.h"

namespace bench {
namespace {

bool is_number(std::string_view text) {
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && end == text.end();
}

bool is_formula(std::string_view text) {
  constexpr std::string_view kStarts = "=+-@";
  return text.size() > 1 && kStarts.find(text.front()) != std::string_view::npos && !is_number(text);
}

std::string field(const std::string& cell) {
  std::string text = (is_formula(cell) ? "'" : "") + printable(cell, std::numeric_limits<std::size_t>::max());
  if (text.find_first_of(",\"") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

}  // namespace

std::string csv_table(const std::vector<Cells>& rows) {
  std::string text;
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i == 0 ? "" : ",") + field(row[i].text);
    }
    text += '\n';
  }
  return text;
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

std::string csv_low(const std::optional<Interval>& interval) {
  return interval ? csv_number(interval->low) : "";
}

std::string csv_high(const std::optional<Interval>& interval) {
  return interval ? csv_number(interval->high) : "";
}

}  // namespace bench
