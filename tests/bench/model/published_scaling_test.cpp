// The replay against published training on several GPUs: results/links.json's losses and the table of
// docs/predict-cards.md follow from these rows. The tables have no timelines: gradients are spread evenly
// over the last two thirds of a micro-batch; where the number of parameters is not known they take no time.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/model/links.h"
#include "bench/model/parallel_step.h"
#include "bench/stats/statistics.h"
#include "bench/text/axis.h"
#include "tests/bench/model/program_data.h"

namespace bench {
namespace {

// Tenths of its own at which the backward pass goes on while gradients are added up.
constexpr std::size_t kSpeeds = 11;
constexpr std::size_t kNotSlowed = kSpeeds - 1;

struct Published {
  std::string network;
  std::string machine;
  std::string framework;
  std::string where;
  std::string numbers;
  std::string micro_batches;
  std::string link;
  std::int64_t cards = 0;
  std::array<double, kSpeeds> over_replay{};  // the step over its replay, by speed
  double over_perfect = 0;                    // over what perfect scaling gives

  // Rows of one kind share a factor.
  std::string kind() const { return (where == "one host" ? framework : micro_batches) + numbers; }
};

Published read(const std::string& line, const LinkCatalogue& catalogue) {
  std::vector<std::string> cells;
  for (const std::string_view cell : split(line, ',')) {
    cells.emplace_back(cell);
  }
  CardLinks links{.inside = catalogue.get("link", cells.at(4))};
  if (!cells.at(5).empty()) {
    links.between = catalogue.get("between", cells[5]);
    links.per_host = std::stoll(cells.at(6));
  }
  const double parameters = cells.at(7).empty() ? 0 : std::stod(cells[7]) * 1e6;
  const double micro_ns = std::stod(cells.at(10)) * 1e9 / std::stod(cells.at(9));
  const std::int64_t cards = std::stoll(cells.at(11));
  const std::int64_t accumulate = std::stoll(cells.at(12));
  constexpr std::int64_t kBucket = std::int64_t{25} << 20;
  const GradientTimeline timeline =
      even_timeline(micro_ns, accumulate, parameters * std::stod(cells.at(3)) / 8);
  const double step_ns = std::stod(cells.at(13)) * 1e9;
  Published row{.network = cells.at(0),
                .machine = cells.at(1),
                .framework = cells.at(2),
                .where = links.between ? "several hosts" : "one host",
                .numbers = cells.at(3) == "16" ? "16-bit" : "32-bit",
                .micro_batches = accumulate > 1 ? "several" : "one",
                .link = cells[4],
                .cards = cards,
                .over_perfect = step_ns / timeline.step_ns()};
  for (std::size_t speed = 0; speed < kSpeeds; ++speed) {
    const ReplayedStep replay =
        replay_step(timeline, kBucket, static_cast<double>(speed) / kNotSlowed,
                    [&](double bytes) { return ring_all_reduce_ns(links, cards, bytes); });
    row.over_replay.at(speed) = step_ns / replay.step_ns;
  }
  return row;
}

std::vector<Published> rows(const std::string& where) {
  static const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) /
                     "tests/bench/model/published_scaling.csv");
  std::vector<Published> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#') && !line.starts_with("network,")) {
      if (Published row = read(line, catalogue); row.where == where) {
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

using Key = std::function<std::string(const Published&)>;

// A way to predict: the replay, or else perfect scaling, times the median of the rows of its kind.
struct Way {
  bool replays = true;
  bool slows = true;  // the backward pass while gradients are added up: on one host, where it is fitted
  Key kind = [](const Published& row) { return row.kind(); };
  std::string framework{};  // whose rows are fitted, for all; empty: each one's own
};
std::string one_kind(const Published& /*row*/) {
  return "";
}

// Medians by kind, and the spread of all rows about them.
struct Fitted {
  std::size_t speed = kNotSlowed;
  std::map<std::string, double> likely;  // by kind, and by numbers where a kind was not seen
  Interval spread;
  double apart = 0;  // the rows from their medians: the sum of their logarithms

  double over(const Published& row, const Way& way) const {
    const auto found = likely.find(way.kind(row));
    return value(row, way) / (found == likely.end() ? likely.at(row.numbers) : found->second);
  }
  double value(const Published& row, const Way& way) const {
    return way.replays ? row.over_replay.at(speed) : row.over_perfect;
  }
};
Fitted fit_at(std::size_t speed, const std::vector<Published>& rows, const Way& way) {
  Fitted fitted{.speed = speed, .likely = {}, .spread = {}};
  std::map<std::string, std::vector<double>> groups;
  for (const Published& row : rows) {
    groups[row.numbers].push_back(fitted.value(row, way));
  }
  for (const auto& [numbers, values] : groups) {
    fitted.likely[numbers] = quantile(values, 0.5);
  }
  groups.clear();
  for (const Published& row : rows) {
    groups[way.kind(row)].push_back(fitted.value(row, way));
  }
  for (const auto& [kind, values] : groups) {
    fitted.likely[kind] = quantile(values, 0.5);
  }
  std::vector<double> about;
  for (const Published& row : rows) {
    about.push_back(fitted.over(row, way));
    fitted.apart += std::abs(std::log(about.back()));
  }
  fitted.spread = {quantile(about, 0.05), quantile(about, 0.95)};
  return fitted;
}
// At the speed that brings the rows closest to their medians.
Fitted fit(std::vector<Published> rows, const Way& way) {
  std::erase_if(
      rows, [&](const Published& row) { return !way.framework.empty() && row.framework != way.framework; });
  Fitted best = fit_at(kNotSlowed, rows, way);
  if (way.replays && way.slows && rows.front().where == "one host") {
    for (std::size_t speed = 0; speed < kNotSlowed; ++speed) {
      if (Fitted fitted = fit_at(speed, rows, way); fitted.apart < best.apart) {
        best = std::move(fitted);
      }
    }
  }
  return best;
}

struct Errors {
  double median = 0;      // of the relative error of throughput
  double percentile = 0;  // the 90th
  double covered = 1;     // share of the rows within the interval

  Errors worse(const Errors& other) const {
    return {.median = std::max(median, other.median),
            .percentile = std::max(percentile, other.percentile),
            .covered = std::min(covered, other.covered)};
  }
  std::string in_cells() const { return fmt::format("{:.1f} % | {:.1f} %", 100 * median, 100 * percentile); }
};

// Each row by what the rows say whose `left_out` is another than its own.
Errors errors_of(const std::vector<Published>& rows, const Way& way, const Key& left_out) {
  std::map<std::string, Fitted> fits;
  std::vector<double> errors;
  double covered = 0;
  for (const Published& row : rows) {
    const std::string key = left_out(row);
    if (!fits.contains(key)) {
      std::vector<Published> others;
      std::ranges::copy_if(rows, std::back_inserter(others),
                           [&](const Published& other) { return left_out(other) != key; });
      fits[key] = fit(others, way);
    }
    const double over = fits[key].over(row, way);
    errors.push_back(std::abs(over - 1));
    covered += over >= fits[key].spread.low && over <= fits[key].spread.high ? 1 : 0;
  }
  return {.median = quantile(errors, 0.5),
          .percentile = quantile(errors, 0.9),
          .covered = covered / static_cast<double>(rows.size())};
}

Errors left_out(const std::vector<Published>& rows, const Way& way) {
  return errors_of(rows, way, [](const Published& row) { return row.machine; })
      .worse(errors_of(rows, way, [](const Published& row) { return row.network; }));
}

Errors of_perfect_scaling(const std::vector<Published>& rows) {
  std::vector<double> errors;
  for (const Published& row : rows) {
    errors.push_back(std::abs(row.over_perfect - 1));
  }
  return {.median = quantile(errors, 0.5), .percentile = quantile(errors, 0.9)};
}

TEST(PublishedScaling, TheLossesFollowFromTheRows) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  std::map<std::string, std::int64_t> told;  // rows
  for (const ParallelLoss& loss : catalogue.losses) {
    if (loss.where == "ranks of one CPU") {
      continue;
    }
    told[loss.where] += loss.rows;
    const std::vector<Published> all = rows(loss.where);
    const Fitted fitted = fit(all, {});
    const std::string kind = loss.framework + loss.micro_batches + loss.numbers;
    std::vector<Published> of_kind = all;
    std::erase_if(of_kind, [&](const Published& row) { return row.kind() != kind; });
    std::set<std::string> machines;
    for (const Published& row : of_kind) {
      machines.insert(row.machine);
    }
    EXPECT_EQ(static_cast<std::size_t>(loss.rows), of_kind.size()) << loss.in_words();
    EXPECT_EQ(static_cast<std::size_t>(loss.machines), machines.size()) << loss.in_words();
    constexpr double kRounding = 0.001;
    const double likely = fitted.likely.at(kind);
    EXPECT_NEAR(loss.likely, likely, kRounding) << loss.in_words();
    EXPECT_NEAR(loss.interval80.low, likely * fitted.spread.low, kRounding) << loss.in_words();
    EXPECT_NEAR(loss.interval80.high, likely * fitted.spread.high, kRounding) << loss.in_words();
  }
  EXPECT_EQ(told["one host"], 277);
  EXPECT_EQ(told["several hosts"], 74);
}

TEST(PublishedScaling, TheSlowedBackwardPassFollowsFromTheRows) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  EXPECT_EQ(catalogue.slowed.where, "one host");
  EXPECT_DOUBLE_EQ(catalogue.slowed.speed, static_cast<double>(fit(rows("one host"), {}).speed) / kNotSlowed);
  EXPECT_EQ(catalogue.slowed.from_bytes_per_s, catalogue.get("link", "nvlink2").bytes_per_s)
      << "the slowest link of these steps";
  const std::vector<Published> several = rows("several hosts");
  const double not_slowed = fit_at(kNotSlowed, several, {}).apart;
  for (std::size_t speed = 0; speed < kNotSlowed; ++speed) {
    EXPECT_GT(fit_at(speed, several, {}).apart, not_slowed) << "several hosts show none";
  }
}

TEST(PublishedScaling, TheLossOfRanksFollowsFromWhatWasMeasured) {
  const Json page = testing::json_of("reference/peers-cards-amd-epyc-2-threads.json");
  std::vector<double> values;
  for (const Json& row : page["rows"]) {
    values.push_back(row["two_ns"].get<double>() / row["replay_ns"].get<double>());
  }
  const LinkCatalogue links = links_from_json(testing::json_of("links.json"));
  const ParallelLoss* const loss = links.loss("ranks of one CPU", "32-bit", "one");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(static_cast<std::size_t>(loss->rows), values.size());
  constexpr double kRounding = 0.006;
  EXPECT_NEAR(loss->likely, quantile(values, 0.5), kRounding);
  EXPECT_NEAR(loss->interval80.low, quantile(values, 0.05), kRounding);
  EXPECT_NEAR(loss->interval80.high, quantile(values, 0.95), kRounding);
}

TEST(PublishedScaling, EightOrNineOfTenStepsLieInTheInterval) {
  for (const char* const where : {"one host", "several hosts"}) {
    for (const Key& key : {Key([](const Published& row) { return row.machine; }),
                           Key([](const Published& row) { return row.network; })}) {
      const Errors errors = errors_of(rows(where), {}, key);
      EXPECT_GE(errors.covered, 0.80) << where;
      EXPECT_LE(errors.covered, 0.90) << where;
    }
  }
}

// Networks of attention exchange far more a second than those of convolutions.
bool has_attention(const Published& row) {
  constexpr std::array<std::string_view, 6> kNames{"bert", "electra", "bart", "tft", "transformer-", "se3"};
  return std::ranges::any_of(
      kNames, [&](std::string_view name) { return row.network.find(name) != std::string::npos; });
}

// Each link with each class of network, by the steps of the three others.
TEST(PublishedScaling, StepsOfALinkAndClassThatAreLeftOutLieInTheInterval) {
  const std::vector<Published> all = rows("one host");
  const Key group = [](const Published& row) {
    return row.link + (has_attention(row) ? ", attention" : ", convolutions and others");
  };
  std::map<std::string, std::vector<Published>> by_group;
  for (const Published& row : all) {
    by_group[group(row)].push_back(row);
  }
  ASSERT_EQ(by_group.size(), 4U);
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "docs/predict-cards.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [name, of_group] : by_group) {
    std::vector<Published> others = all;
    std::erase_if(others, [&](const Published& row) { return group(row) == name; });
    const Fitted fitted = fit(others, {});
    std::vector<double> errors;
    double covered = 0;
    for (const Published& row : of_group) {
      const double over = fitted.over(row, {});
      errors.push_back(std::abs(over - 1));
      covered += over >= fitted.spread.low && over <= fitted.spread.high ? 1 : 0;
    }
    covered /= static_cast<double>(of_group.size());
    EXPECT_GE(covered, 0.8) << name;
    const std::string line =
        fmt::format("| {} | {} | {:.1f} | {:.1f} % | {:.1f} % | {:.0f} % |", name, of_group.size(),
                    static_cast<double>(fitted.speed) / kNotSlowed, 100 * quantile(errors, 0.5),
                    100 * quantile(errors, 0.9), 100 * covered);
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

// docs/predict-cards.md: why a slower link is not said to slow the pass less.
TEST(PublishedScaling, TheSlowerNvlinkSlowsTheBackwardPassNoLess) {
  std::map<std::string, std::vector<Published>> by_link;
  for (const Published& row : rows("one host")) {
    if (row.framework == kFrameworkLikeOurs) {
      by_link[row.link].push_back(row);
    }
  }
  EXPECT_LE(fit(by_link.at("nvlink2"), {}).speed, fit(by_link.at("nvlink3"), {}).speed);
}

// Of two steps of one network, machine, framework, dtype and number of cards, how far they are apart.
Errors between_alike(const std::vector<Published>& rows, std::size_t& pairs) {
  std::vector<double> apart;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      const Published& a = rows[i];
      const Published& b = rows[j];
      if (a.network == b.network && a.machine == b.machine && a.framework == b.framework &&
          a.numbers == b.numbers && a.cards == b.cards) {
        apart.push_back(std::abs(a.over_perfect / b.over_perfect - 1));
      }
    }
  }
  pairs = apart.size();
  return {.median = quantile(apart, 0.5), .percentile = quantile(apart, 0.9)};
}

TEST(PublishedScaling, TheDocumentsTablesAreComputedHere) {
  const std::vector<Published> one = rows("one host");
  const std::vector<Published> several = rows("several hosts");
  const Way constant{.replays = false, .kind = one_kind};
  const Way constants{.replays = false};
  const Way not_slowed{.slows = false};
  const Way as_ours{.kind = [](const Published& row) { return row.numbers; },
                    .framework = kFrameworkLikeOurs};
  std::vector<Published> pytorch = one;
  std::erase_if(pytorch, [](const Published& row) { return row.framework != kFrameworkLikeOurs; });
  std::size_t pairs = 0;
  const Errors alike = between_alike(one, pairs);
  const std::vector<std::string> lines{
      fmt::format("| one host, {} steps: the replay times its factor | {} |", one.size(),
                  left_out(one, {}).in_cells()),
      fmt::format("| of them the {} of PyTorch alone | {} |", pytorch.size(),
                  left_out(pytorch, {}).in_cells()),
      fmt::format("| all with PyTorch's factors | {} |", left_out(one, as_ours).in_cells()),
      fmt::format("| each with its own, the backward pass not slowed | {} |",
                  left_out(one, not_slowed).in_cells()),
      fmt::format("| a constant for each kind | {} |", left_out(one, constants).in_cells()),
      fmt::format("| one constant for all | {} |", left_out(one, constant).in_cells()),
      fmt::format("| perfect scaling | {} |", of_perfect_scaling(one).in_cells()),
      fmt::format("| several hosts, {} steps: the replay times its factor | {} |", several.size(),
                  left_out(several, {}).in_cells()),
      fmt::format("| a constant for each kind | {} |", left_out(several, constants).in_cells()),
      fmt::format("| one constant for all | {} |", left_out(several, constant).in_cells()),
      fmt::format("| perfect scaling | {} |", of_perfect_scaling(several).in_cells()),
      fmt::format("In {} pairs of one-host steps of one network", pairs),
      fmt::format("{:.1f} % apart in the median and {:.1f} %", 100 * alike.median, 100 * alike.percentile)};
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "docs/predict-cards.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  std::size_t at = 0;
  for (const std::string& line : lines) {
    const std::size_t found = page.find(line, at);
    EXPECT_NE(found, std::string::npos) << line;
    at = found == std::string::npos ? at : found;
  }
}

TEST(PublishedScaling, TheDocumentHasEachFrameworksFactors) {
  std::map<std::string, std::map<std::string, ParallelLoss>> losses;
  for (const ParallelLoss& loss : links_from_json(testing::json_of("links.json")).losses) {
    if (loss.where == "one host") {
      losses[loss.framework][loss.numbers] = loss;
    }
  }
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "docs/predict-cards.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(losses.size(), 5U);
  for (auto& [framework, by_numbers] : losses) {
    const ParallelLoss& narrow = by_numbers["16-bit"];
    const ParallelLoss& wide = by_numbers["32-bit"];
    const std::string line = fmt::format(
        "| {}{} | {:.2f} | {:.2f} |", framework,
        narrow.machines == 1 ? fmt::format(" ({} steps on one machine)", narrow.rows + wide.rows) : "",
        narrow.likely, wide.likely);
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

TEST(PublishedScaling, ThePublishedGoalsThatAreMet) {
  ASSERT_EQ(rows("one host").size(), 277U);
  ASSERT_EQ(rows("several hosts").size(), 74U);
  EXPECT_LE(left_out(rows("one host"), {}).median, 0.05);
  EXPECT_LE(left_out(rows("one host"), {}).percentile, 0.18);
  EXPECT_LE(left_out(rows("several hosts"), {}).median, 0.05);
  EXPECT_LE(left_out(rows("several hosts"), {}).percentile, 0.20);
}

// How much longer the sums make the steps, beyond which a factor is extrapolated: kPublishedExposed.
TEST(PublishedScaling, TheSumsAreHiddenButForASmallPart) {
  for (const char* const where : {"one host", "several hosts"}) {
    const std::vector<Published> all = rows(where);
    const std::size_t speed = fit(all, {}).speed;
    double most = 0;
    for (const Published& row : all) {
      most = std::max(most, 1 - row.over_replay.at(speed) / row.over_perfect);
    }
    const double told = most_published_exposed(where);
    EXPECT_LE(most, told) << where;
    EXPECT_GT(most, told - 0.01) << where;
  }
}

}  // namespace
}  // namespace bench
