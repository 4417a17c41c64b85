#include "cards.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace bench::kernels::testing {

const std::vector<Card>& cards() {
  static const std::vector<Card> all = [] {
    std::ifstream file(BENCH_TEST_SOURCE_DIR "/tests/kernels/cudnn/cards.json");
    std::vector<Card> read;
    const auto document = nlohmann::json::parse(file);
    for (const auto& entry : document.at("cards")) {
      const auto& properties = entry.at("properties");
      read.push_back({.name = entry.at("name"),
                      .target = {.compute_capability = properties.at("deviceVer").get<int>() / 10,
                                 .properties = properties.dump()}});
    }
    return read;
  }();
  return all;
}

const Card& card(const std::string& name) {
  const auto at = std::ranges::find(cards(), name, &Card::name);
  if (at == cards().end()) {
    throw std::invalid_argument("no card is called " + name);
  }
  return *at;
}

}  // namespace bench::kernels::testing
