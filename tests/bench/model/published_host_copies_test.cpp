// Rates of results/links.json through the host's memory, from published all-reduces of cards without peer
// access. A place's rate of two cards is the geometric mean of its rows; rates fall with each doubling of the
// cards as they do within the places that tried two numbers.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/model/links.h"
#include "bench/stats/statistics.h"
#include "bench/text/axis.h"
#include "tests/bench/model/program_data.h"

namespace bench {
namespace {

struct Place {
  std::string link;
  std::map<std::int64_t, std::vector<double>> logarithms{};  // of bytes a second, by cards
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

std::vector<Place> places() {
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) /
                     "tests/bench/model/published_host_copies.csv");
  std::map<std::string, Place> by_name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("link,")) {
      continue;
    }
    const auto cells = split(line, ',');
    Place& place = by_name[std::string(cells[1])];
    place.link = cells[0];
    place.logarithms[std::stoll(std::string(cells[2]))].push_back(
        std::log(std::stod(std::string(cells[3])) * 1e9));
  }
  std::vector<Place> all;
  for (auto& [name, place] : by_name) {
    all.push_back(std::move(place));
  }
  return all;
}

// Of the rate, with each doubling of the cards.
double fall_of(const std::vector<Place>& all) {
  std::vector<double> falls;
  for (const Place& place : all) {
    if (place.logarithms.size() > 1) {
      const auto& [fewest, few] = *place.logarithms.begin();
      const auto& [most, many] = *place.logarithms.rbegin();
      falls.push_back((mean(many) - mean(few)) /
                      std::log2(static_cast<double>(most) / static_cast<double>(fewest)));
    }
  }
  return mean(falls);
}

// The logarithm of two cards' rate over the data sheet's.
double share_of(const Place& place, double fall, const LinkCatalogue& catalogue) {
  std::vector<double> of_two;
  for (const auto& [cards, logarithms] : place.logarithms) {
    of_two.push_back(mean(logarithms) - fall * (std::log2(static_cast<double>(cards)) - 1));
  }
  return mean(of_two) - std::log(catalogue.get("--link", place.link).data_sheet_bytes_per_s);
}

std::vector<double> shares_of(const std::vector<Place>& all, const std::string& link) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  const double fall = fall_of(all);
  std::vector<double> shares;
  for (const Place& place : all) {
    if (link.empty() || place.link == link) {
      shares.push_back(share_of(place, fall, catalogue));
    }
  }
  return shares;
}

// By which factor another place lies apart, at most, in 80 % of cases; `quantile`: of Student's distribution.
double apart80(const std::vector<double>& shares, double quantile) {
  const double middle = mean(shares);
  double squares = 0;
  for (const double share : shares) {
    squares += (share - middle) * (share - middle);
  }
  const auto n = static_cast<double>(shares.size());
  return std::exp(quantile * std::sqrt(squares / (n - 1) * (1 + 1 / n)));
}

constexpr double kTwoDigits = 0.02;  // of the catalogue's rates

TEST(PublishedHostCopies, FallWithTheNumberOfCards) {
  const double of_8 = std::exp(2 * fall_of(places()));
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  for (const char* const id : {"pcie3", "pcie4", "pcie5"}) {
    EXPECT_NEAR(catalogue.get("--link", id).through_host->of_8_cards, of_8, kTwoDigits) << id;
  }
}

TEST(PublishedHostCopies, ThePciExpress3RateIsThatOfItsOwnPlaces) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  const Link& link = catalogue.get("--link", "pcie3");
  const std::vector<double> shares = shares_of(places(), "pcie3");
  ASSERT_EQ(shares.size(), 3U);
  const double likely = std::exp(mean(shares)) * link.data_sheet_bytes_per_s;
  EXPECT_NEAR(link.through_host->bytes_per_s / likely, 1, kTwoDigits);
  const double apart = apart80(shares, 1.886);
  EXPECT_NEAR(link.through_host->bytes_per_s_range.low * apart / likely, 1, kTwoDigits);
  EXPECT_NEAR(link.through_host->bytes_per_s_range.high / apart / likely, 1, kTwoDigits);
}

TEST(PublishedHostCopies, OthersHaveTheShareOfAllPlacesAndNoMoreThanPeerAccess) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  const std::vector<double> shares = shares_of(places(), "");
  ASSERT_EQ(shares.size(), 7U);
  const double apart = apart80(shares, 1.44);
  for (const char* const id : {"pcie4", "pcie5"}) {
    const Link& link = catalogue.get("--link", id);
    const double likely = std::exp(mean(shares)) * link.data_sheet_bytes_per_s;
    EXPECT_NEAR(link.through_host->bytes_per_s / likely, 1, kTwoDigits) << id;
    EXPECT_NEAR(link.through_host->bytes_per_s_range.low * apart / likely, 1, kTwoDigits) << id;
    EXPECT_NEAR(link.through_host->bytes_per_s_range.high, std::max(link.bytes_per_s_range.high, 25e9), 1e9)
        << id;
  }
}

// Each place by the others.
TEST(PublishedHostCopies, TheDocumentSaysHowFarTheyErr) {
  const std::vector<double> shares = shares_of(places(), "");
  std::vector<double> errors;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    std::vector<double> others = shares;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    errors.push_back(std::exp(std::abs(shares[i] - mean(others))));
  }
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "docs/predict-cards.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string line = fmt::format("within a factor of {:.2f} in the median, and of {:.1f} at worst",
                                       quantile(errors, 0.5), quantile(errors, 1));
  EXPECT_NE(page.find(line), std::string::npos) << line;
}

}  // namespace
}  // namespace bench
