// Tables as lines of comma-separated values (RFC 4180).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/page/cell.h"

namespace bench {

// Fields are in quotes where they hold a comma or a quote. Control characters are escaped as in every other
// format, and a text that a spreadsheet would take for a formula (=1+1, @SUM(A1), +cmd) has an apostrophe
// before it.
std::string csv_table(const std::vector<Cells>& rows);

// A figure's six digits; empty: not known.
std::string csv_number(const std::optional<double>& value);
std::string csv_low(const std::optional<Interval>& interval);
std::string csv_high(const std::optional<Interval>& interval);

}  // namespace bench
