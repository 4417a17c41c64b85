// --cards and --link: how many cards train together, and what joins them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cli/command.h"
#include "bench/model/parallel_step.h"
#include "bench/result/result.h"

namespace bench {

// --link, --per-host and --bucket.
std::vector<Option> link_options();

// Throws UsageError where one of them is given without --cards.
void refuse_link_without_cards(const CommandWords& words);

// --cards, which is given. Throws UsageError.
std::vector<std::int64_t> cards_of(const CommandWords& words);

// What the three options say. Without --link, what joins such cards by their data sheet: NVLink that is no
// bridge, else PCI Express. Throws UsageError where there is none or it is not known.
CardsLink link_of(const CommandWords& words, const Gpu* card = nullptr);

// Throws UsageError where --link names an NVLink of the program's that such cards are known not to have.
// `card`: what a result calls its device, or an id.
void require_nvlink(const CardsLink& link, const std::string& card);
void require_nvlink(const CardsLink& link, const Gpu& card);

// Of the catalogue's card that a result calls its device so; nothing is known of another.
LinkedCard linked_card(const std::string& device_name);
LinkedCard linked_card(const Gpu& gpu);

struct NamedResult {
  std::string path;
  ResultDocument document;
};
// Of files and folders. Errors name the option. Throws UsageError.
std::vector<NamedResult> read_named_results(const std::string& option, const std::vector<std::string>& given);
// Throws UsageError where there is none or more than one, with the first of their names. `what`: one has to
// be, "of bench --sweep collectives"; `given`: files and folders, which may hold others.
NamedResult one_of(const std::string& option, std::vector<NamedResult> results, const std::string& what,
                   const std::vector<std::string>& given);

}  // namespace bench
