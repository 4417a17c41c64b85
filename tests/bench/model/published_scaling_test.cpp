// The replay against published training on several GPUs: results/links.json's losses follow from these rows,
// and docs/predict-cards.md says what this test finds. The tables have no timelines: gradients are spread
// evenly over the last two thirds of a micro-batch; where the number of parameters is not known they take no
// time.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/measure/axis.h"
#include "bench/measure/statistics.h"
#include "bench/model/links.h"
#include "bench/model/parallel_step.h"
#include "tests/bench/model/program_data.h"

namespace bench {
namespace {

struct Published {
  std::string network;
  std::string machine;
  std::string where;
  std::string numbers;
  double over_replay = 0;   // the step over its replay
  double over_perfect = 0;  // over what perfect scaling gives
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
  const ReplayedStep replay = replay_step(
      timeline, kBucket, true, [&](double bytes) { return ring_all_reduce_ns(links, cards, bytes); });
  const double step_ns = std::stod(cells.at(13)) * 1e9;
  const bool several = links.between.has_value();
  return {.network = cells.at(0),
          .machine = cells.at(1),
          .where = several ? "several hosts" : "one host",
          .numbers = several               ? ""
                     : cells.at(3) == "16" ? "16-bit"
                                           : "32-bit",
          .over_replay = step_ns / replay.step_ns,
          .over_perfect = step_ns / timeline.step_ns()};
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

// So far out that 80 % of the rows of machines and of networks that are left out lie within.
double tail(const std::string& where) {
  return where == "one host" ? 0.05 : 0.01;
}

std::vector<double> over_replay(const std::vector<Published>& rows) {
  std::vector<double> all;
  for (const Published& row : rows) {
    all.push_back(row.over_replay);
  }
  return all;
}

struct HeldOut {
  double median = 0;      // of the relative error of throughput
  double percentile = 0;  // the 90th
  double covered = 0;
};

// The rows of each value of `key` by what the others say.
HeldOut held_out(const std::vector<Published>& rows,
                 const std::function<std::string(const Published&)>& key) {
  std::vector<double> errors;
  double covered = 0;
  for (const Published& row : rows) {
    std::vector<double> others;
    for (const Published& other : rows) {
      if (key(other) != key(row) && other.numbers == row.numbers) {
        others.push_back(other.over_replay);
      }
    }
    errors.push_back(std::abs(row.over_replay / quantile(others, 0.5) - 1));
    covered += row.over_replay >= quantile(others, tail(row.where)) &&
               row.over_replay <= quantile(others, 1 - tail(row.where));
  }
  return {.median = quantile(errors, 0.5),
          .percentile = quantile(errors, 0.9),
          .covered = covered / static_cast<double>(rows.size())};
}

HeldOut worse(const std::vector<Published>& rows) {
  const HeldOut a = held_out(rows, [](const Published& row) { return row.machine; });
  const HeldOut b = held_out(rows, [](const Published& row) { return row.network; });
  return {.median = std::max(a.median, b.median),
          .percentile = std::max(a.percentile, b.percentile),
          .covered = std::min(a.covered, b.covered)};
}

TEST(PublishedScaling, TheLossesFollowFromTheRows) {
  for (const ParallelLoss& loss : links_from_json(testing::json_of("links.json")).losses) {
    if (loss.where == "ranks of one CPU") {
      continue;
    }
    std::vector<Published> of_set = rows(loss.where);
    std::erase_if(of_set, [&](const Published& row) { return row.numbers != loss.numbers; });
    const std::vector<double> values = over_replay(of_set);
    std::set<std::string> machines;
    for (const Published& row : of_set) {
      machines.insert(row.machine);
    }
    EXPECT_EQ(static_cast<std::size_t>(loss.rows), of_set.size()) << loss.where << loss.numbers;
    EXPECT_EQ(static_cast<std::size_t>(loss.machines), machines.size()) << loss.where << loss.numbers;
    constexpr double kRounding = 0.006;
    EXPECT_NEAR(loss.likely, quantile(values, 0.5), kRounding) << loss.where << loss.numbers;
    EXPECT_NEAR(loss.interval80.low, quantile(values, tail(loss.where)), kRounding) << loss.where;
    EXPECT_NEAR(loss.interval80.high, quantile(values, 1 - tail(loss.where)), kRounding) << loss.where;
  }
}

TEST(PublishedScaling, TheLossOfRanksFollowsFromWhatWasMeasured) {
  const Json page = testing::json_of("reference/peers-cards-amd-epyc-2-threads.json");
  std::vector<double> values;
  for (const Json& row : page["rows"]) {
    values.push_back(row["two_ns"].get<double>() / row["replay_ns"].get<double>());
  }
  const LinkCatalogue links = links_from_json(testing::json_of("links.json"));
  const ParallelLoss* const loss = links.loss("ranks of one CPU", "");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(static_cast<std::size_t>(loss->rows), values.size());
  constexpr double kRounding = 0.006;
  EXPECT_NEAR(loss->likely, quantile(values, 0.5), kRounding);
  EXPECT_NEAR(loss->interval80.low, quantile(values, 0.05), kRounding);
  EXPECT_NEAR(loss->interval80.high, quantile(values, 0.95), kRounding);
}

void expect_errors(const std::string& where, std::size_t count, double median, double percentile) {
  const std::vector<Published> all = rows(where);
  ASSERT_EQ(all.size(), count);
  const HeldOut found = worse(all);
  EXPECT_LT(found.median, median);
  EXPECT_LT(found.percentile, percentile);
  EXPECT_GE(found.covered, 0.80);
  EXPECT_LE(found.covered, 0.90);
}

TEST(PublishedScaling, OneHost) {
  expect_errors("one host", 277, 0.066, 0.206);
}

TEST(PublishedScaling, SeveralHosts) {
  expect_errors("several hosts", 74, 0.06, 0.27);
}

// Why no replay helps on one host: it hides the sums of every row, but for less than 1 % of the step, and the
// steps are longer all the same.
TEST(PublishedScaling, OnOneHostTheSumsAreHidden) {
  std::size_t hidden = 0;
  for (const Published& row : rows("one host")) {
    hidden += row.over_perfect / row.over_replay < 1.01;
  }
  EXPECT_EQ(hidden, 277U);
}

}  // namespace
}  // namespace bench
