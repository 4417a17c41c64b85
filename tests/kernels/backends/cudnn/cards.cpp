#include "cards.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"

namespace bench::kernels::testing {

const std::vector<Card>& cards() {
  static const std::vector<Card> all = [] {
    std::ifstream file(BENCH_TEST_SOURCE_DIR "/tests/kernels/backends/cudnn/cards.json");
    std::vector<Card> read;
    const auto document = nlohmann::json::parse(file);
    for (const auto& entry : document.at("cards")) {
      const auto& properties = entry.at("properties");
      read.push_back({.name = entry.at("name"),
                      .card = std::make_shared<cuda::Card>(properties.at("deviceVer").get<int>() / 10,
                                                           properties.at("multiProcessorCount").get<int>(),
                                                           properties.dump())});
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

const std::optional<std::string>& cannot_plan() {
  static const std::optional<std::string> reason = []() -> std::optional<std::string> {
    try {
      cudnn::plans_for(cudnn::bare({.batch = 1, .in_channels = 8, .height = 8, .width = 8}),
                       *card("A100").card);
    } catch (const std::runtime_error& error) {
      const std::string text = error.what();
      if (text.find("SUBLIBRARY_LOADING_FAILED") != std::string::npos) {
        return fmt::format("cuDNN {} does not plan without the driver's libcuda.so.1: {}",
                           cudnn::plan_source().version(), text);
      }
    }
    return std::nullopt;  // the tests show whatever else is wrong
  }();
  return reason;
}

bool has_driver_library() {
  static const bool has = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr ||
                          dlopen(BENCH_CUDA_DRIVER_STUB, RTLD_NOW | RTLD_GLOBAL) != nullptr;
  return has;
}

bool few_plans() {
  return std::getenv("BENCH_FEW_PLANS") != nullptr;
}

const std::array<Attention, 3> kAttentionPasses{
    Attention{}, Attention{.training = true, .statistics = true},
    Attention{.statistics = true, .direction = Direction::backward}};

}  // namespace bench::kernels::testing
