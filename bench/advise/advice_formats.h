// An advice as text of a terminal, Markdown, and JSON; its lines, for a page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/json.h"

namespace bench {

// One line each: "Bottleneck: bus. …", "A step of 12 ms: computing 9 ms (75 %), …" (empty: not known), and
// "workers 0 → 2: 1.4× (1.3–1.5×) a sample, step 8 ms".
std::string bottleneck_line(const Advice& advice);
std::string budget_line(const Advice& advice);
std::string change_line(const Change& change);

struct AdviceNotes {
  std::string title;
  std::vector<std::string> sentences;  // not empty
};
// Contradictions, missing readings and warnings, as far as there are any.
std::vector<AdviceNotes> notes_of(const Advice& advice);

// Lines of at most `width` columns.
std::string advice_text(const Advice& advice, std::size_t width);
// `heading`: the level of its first heading.
std::string advice_markdown(const Advice& advice, std::size_t heading);
// A line for each change, those that do not pay too.
std::string advice_csv(const Advice& advice);
Json advice_json(const Advice& advice);

}  // namespace bench
