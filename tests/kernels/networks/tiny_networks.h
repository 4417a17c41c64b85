// Small networks of text, for tests.
#pragma once

#include "kernels/networks/models/gpt.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {

inline constexpr GptSizes kTinyGpt{
    .sequence = 16, .vocabulary = 97, .positions = 40, .width = 48, .layers = 2, .heads = 3};

// As gpt_small, with its option --sequence.
inline NetworkType tiny_gpt() {
  return {.name = "tiny_gpt",
          .description = "",
          .build = nullptr,
          .options = {{"sequence", kTinyGpt.sequence, 1, kTinyGpt.positions, "tokens"}},
          .build_sized = [](const NetworkSizes& sizes) {
            GptSizes tiny = kTinyGpt;
            tiny.sequence = sizes.at("sequence");
            return gpt(tiny);
          }};
}

// embedding_classifier with a small table and short texts.
inline NetworkType tiny_classifier() {
  NetworkType network = *registry<NetworkType>().find("embedding_classifier");
  network.name = "tiny_classifier";
  for (WholeOption& option : network.options) {
    option.default_value = option.name == "vocabulary" ? 500 : 12;
  }
  return network;
}

inline NetworkType tiny_network(const std::string& name) {
  return name == "gpt" ? tiny_gpt() : tiny_classifier();
}

}  // namespace bench::kernels
