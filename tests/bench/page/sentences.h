// What a page says outside its tables, with all of its warnings.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "bench/page/page.h"

namespace bench::testing {

inline std::vector<std::string> sentences_of(const Page& page) {
  std::vector<std::string> sentences{page.title};
  for (const Block& block : page.blocks) {
    if (const auto* const paragraph = std::get_if<Paragraph>(&block)) {
      sentences.push_back(paragraph->text);
    } else if (const auto* const list = std::get_if<List>(&block)) {
      for (const ListItem& item : list->items) {
        sentences.push_back(item.text);
      }
    } else if (const auto* const warnings = std::get_if<Warnings>(&block)) {
      sentences.push_back(in_words(warnings->warnings));
    }
  }
  return sentences;
}

}  // namespace bench::testing
