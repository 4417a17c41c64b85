#include "bench/run/rank_consistency.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/system_state.h"
#include "bench/run/context.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr std::size_t kLongest = 1000;  // characters of a value
constexpr std::size_t kMostValues = 4;

// Fields end with a zero byte, which no argument contains.
std::string packed(const std::vector<RankFact>& facts) {
  std::string text;
  for (const RankFact& fact : facts) {
    for (const std::string* const field : {&fact.what, &fact.value, &fact.advice}) {
      text += *field + '\0';
    }
  }
  return text;
}

std::vector<RankFact> unpacked(std::string_view text) {
  const auto next = [&text] {
    const std::size_t end = std::min(text.find('\0'), text.size());
    const std::string field(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return field;
  };
  std::vector<RankFact> facts;
  while (!text.empty()) {
    RankFact& fact = facts.emplace_back();
    fact.what = next();
    fact.value = next();
    fact.advice = next();
  }
  return facts;
}

std::string value_in(const std::vector<RankFact>& facts, const std::string& what) {
  const auto found = std::ranges::find(facts, what, &RankFact::what);
  return found == facts.end() ? "" : found->value;
}

// "rank 3 has", "ranks 0, 2 to 63 have".
std::string having(const std::vector<std::size_t>& ranks) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    runs.push_back(last == i       ? fmt::format("{}", ranks[i])
                   : last == i + 1 ? fmt::format("{}, {}", ranks[i], ranks[last])
                                   : fmt::format("{} to {}", ranks[i], ranks[last]));
    i = last + 1;
  }
  return fmt::format(fmt::runtime(ranks.size() == 1 ? "rank {} has" : "ranks {} have"),
                     fmt::join(runs, ", "));
}

// Empty where all have the same.
std::string difference(const RankFact& fact, const std::vector<std::vector<RankFact>>& all) {
  std::vector<std::string> values;  // by their first rank
  std::map<std::string, std::vector<std::size_t>> ranks_with;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string value = value_in(all[rank], fact.what);
    std::vector<std::size_t>& ranks = ranks_with[value];
    if (ranks.empty()) {
      values.push_back(value);
    }
    ranks.push_back(rank);
  }
  if (values.size() == 1) {
    return "";
  }
  std::vector<std::string> parts;
  for (const std::string& value : values) {
    if (parts.size() == kMostValues) {
      parts.emplace_back("…");
      break;
    }
    parts.push_back(fmt::format("{} {}", having(ranks_with[value]),
                                value.empty() ? "none" : "'" + printable(value, kLongest) + "'"));
  }
  return fmt::format("ranks differ in their {}: {}; {}", fact.what, fmt::join(parts, ", "), fact.advice);
}

RankFact version_of(const std::string& library, const std::string& version) {
  return {.what = fmt::format("version of {}", library),
          .value = version,
          .advice = "use the same version on all hosts"};
}

}  // namespace

RankFact build_fact() {
  const std::string digest = build_id();
  return {.what = "build",
          .value = build_name() + (digest.empty() ? "" : ", build id " + digest),
          .advice = "start the same program on all hosts"};
}

RankFact command_line_fact(const std::vector<std::string>& arguments) {
  return {.what = "command line",
          .value = fmt::format("{}", fmt::join(arguments, " ")),
          .advice = "start all ranks alike"};
}

std::vector<RankFact> library_facts(const RankGroup& ranks) {
  std::vector<RankFact> facts;
  for (const auto& [name, version] : ranks.software()) {
    facts.push_back(version_of(name, version));
  }
  return facts;
}

std::vector<RankFact> device_facts(const DeviceInfo& device) {
  std::vector<RankFact> facts{
      {.what = "device", .value = device.name, .advice = "start ranks on devices of one type"}};
  if (const auto isa = device.details.find("isa"); isa != device.details.end()) {
    facts.push_back({.what = "instruction set",
                     .value = isa->second,
                     .advice = "start ranks on processors of one type, and set ONEDNN_MAX_CPU_ISA alike"});
  }
  for (const auto& [name, version] : software_of(device)) {
    facts.push_back(version_of(name, version));
  }
  return facts;
}

void require_consistent(RankGroup& ranks, const std::vector<RankFact>& own) {
  std::vector<std::vector<RankFact>> all;
  for (const std::string& text : texts_of(ranks, packed(own))) {
    all.push_back(unpacked(text));
  }
  for (const std::vector<RankFact>& facts : all) {
    for (const RankFact& fact : facts) {
      if (const std::string found = difference(fact, all); !found.empty()) {
        end_together(ranks);
        throw UsageError(found);
      }
    }
  }
}

}  // namespace bench
