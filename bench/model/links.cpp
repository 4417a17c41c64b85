#include "bench/model/links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"

namespace bench {

void members(auto& io, Of<HostCopies> auto& copies) {
  io("bytes_per_s", copies.bytes_per_s);
  io("bytes_per_s_range", copies.bytes_per_s_range);
  io("of_8_cards", copies.of_8_cards);
  io("source", copies.source);
}

void members(auto& io, Of<Link> auto& link) {
  io("id", link.id);
  io("name", link.name);
  io("hop_ns", link.hop_ns);
  io("bytes_per_s", link.bytes_per_s);
  io("bytes_per_s_range", link.bytes_per_s_range);
  io("source", link.source);
  io.unless_empty("joins", link.joins);
  io.maybe("of_8_cards", link.of_8_cards);
  io.maybe("data_sheet_bytes_per_s", link.data_sheet_bytes_per_s);
  io.optional("through_host", link.through_host);
}

void members(auto& io, Of<ParallelLoss> auto& loss) {
  io("where", loss.where);
  io("framework", loss.framework);
  io("numbers", loss.numbers);
  io("micro_batches", loss.micro_batches);
  io("rows", loss.rows);
  io("machines", loss.machines);
  io("likely", loss.likely);
  io("p05_p95", loss.interval80);
}

void members(auto& io, Of<SlowedBackward> auto& slowed) {
  io("where", slowed.where);
  io("speed", slowed.speed);
  io("from_bytes_per_s", slowed.from_bytes_per_s);
}

namespace {

constexpr const char* kLinksSchema = "bench-links/2";

void check_order(const Field& field, const Interval& interval, double value) {
  if (!(interval.low > 0 && interval.low <= value && value <= interval.high)) {
    throw UsageError(
        fmt::format("{} is {} to {}; accepted: two numbers above 0 with the value between them, {}",
                    field.path(), interval.low, interval.high, value));
  }
}

SlowedBackward slowed_in(const Field& field) {
  const auto slowed = read_struct<SlowedBackward>(field);
  if (!(slowed.speed >= 0 && slowed.speed <= 1 && slowed.from_bytes_per_s > 0)) {
    throw UsageError(fmt::format("{} has the speed {} from {} B/s; accepted: a speed of 0 to 1, from above 0",
                                 field.path(), slowed.speed, slowed.from_bytes_per_s));
  }
  return slowed;
}

void check_share(const Field& entry, double share) {
  if (!(share > 0 && share <= 1)) {  // which a file without it does not have
    throw UsageError(
        fmt::format("{} is {}; accepted: a share above 0, 1 at most", entry.at("of_8_cards").path(), share));
  }
}

std::vector<Link> links_in(const Field& document) {
  if (const std::string schema = document.at("schema").string(); schema != kLinksSchema) {
    throw UsageError(fmt::format("schema is {}; this program reads {}", quote(schema), kLinksSchema));
  }
  std::vector<Link> all;
  const Field links = document.at("links");
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Field field = links.at(i);
    const Link& link = all.emplace_back(read_struct<Link>(field));
    if (link.hop_ns < 0) {
      field.at("hop_ns").refuse("0 or more");
    }
    if (link.data_sheet_bytes_per_s < 0) {
      field.at("data_sheet_bytes_per_s").refuse("0 or more");
    }
    check_order(field.at("bytes_per_s_range"), link.bytes_per_s_range, link.bytes_per_s);
    if (!link.joins.empty() && link.joins != "cards" && link.joins != "hosts") {
      throw UsageError(
          fmt::format("{} is {}; accepted: cards, hosts", field.at("joins").path(), quote(link.joins)));
    }
    check_share(field, link.of_8_cards);
    if (link.through_host) {
      const Field copies = field.at("through_host");
      check_order(copies.at("bytes_per_s_range"), link.through_host->bytes_per_s_range,
                  link.through_host->bytes_per_s);
      check_share(copies, link.through_host->of_8_cards);
    }
  }
  return all;
}

}  // namespace

Link with_lanes(const Link& link, std::int64_t lanes) {
  constexpr std::int64_t kAll = 16;
  const double part = static_cast<double>(lanes) / kAll;
  const auto scale = [&](auto& rates) {
    rates.bytes_per_s *= part;
    rates.bytes_per_s_range = {.low = part * rates.bytes_per_s_range.low,
                               .high = part * rates.bytes_per_s_range.high};
    rates.source = fmt::format("data sheet: {} of 16 lanes, and so much of what {} reaches; not measured",
                               lanes, link.id);
  };
  Link fewer = link;
  fewer.id += fmt::format("-x{}", lanes);
  if (const std::size_t at = fewer.name.rfind("x16"); at != std::string::npos) {
    fewer.name.replace(at, 3, fmt::format("x{}", lanes));
  }
  scale(fewer);
  if (fewer.through_host) {
    scale(*fewer.through_host);
  }
  fewer.data_sheet_bytes_per_s *= part;
  return fewer;
}

std::vector<Link> buses_of(const std::vector<Link>& links) {
  std::vector<Link> buses;
  std::ranges::copy_if(links, std::back_inserter(buses), [](const Link& link) {
    return link.data_sheet_bytes_per_s > 0 && link.id.find("-x") == std::string::npos;
  });
  std::ranges::stable_sort(buses, {}, &Link::data_sheet_bytes_per_s);
  return buses;
}

Link in_any_slots(const Link& link) {
  const Link narrow = with_lanes(link, 8);
  Link any = link;
  any.name += " or x8";
  any.bytes_per_s_range.low = narrow.bytes_per_s_range.low;
  if (any.through_host) {
    any.through_host->bytes_per_s_range.low = narrow.through_host->bytes_per_s_range.low;
  }
  return any;
}

bool is_bridge(const Link& link) {
  return link.id.find("-bridge") != std::string::npos;
}

void require_nvlink(const Link& link, const Gpu& gpu) {
  if (!link.id.starts_with("nvlink") || !gpu.nvlink ||
      std::ranges::find(*gpu.nvlink, link.id) != gpu.nvlink->end()) {
    return;
  }
  const std::string bus = gpu.bus ? fmt::format("pcie{}", gpu.bus->generation) : "eth-10g";
  if (gpu.nvlink->empty()) {
    throw UsageError(
        fmt::format("--link: {} has no NVLink, and {} was given; give what joins such cards, as {}", gpu.id,
                    link.id, bus));
  }
  throw UsageError(fmt::format("--link: {} does not join cards of the kind {}; accepted: {}, {}", link.id,
                               gpu.id, fmt::join(*gpu.nvlink, ", "), bus));
}

double share_of_cards(double of_8_cards, std::int64_t cards) {
  const double doublings = std::log2(static_cast<double>(std::clamp<std::int64_t>(cards, 2, 8))) - 1;
  return std::pow(of_8_cards, doublings / 2);
}

std::optional<double> pcie_bytes_per_s(std::int64_t generation, std::int64_t lanes) {
  // By generation: transfers a second, times the share of the bits that is payload (8 of 10 up to generation
  // 2, 128 of 130 from 3 on, 236 of 256 bytes of generation 6's flits).
  constexpr std::array<double, 6> kLaneBits{2.5e9 * 0.8,        5e9 * 0.8,          8e9 * 128.0 / 130,
                                            16e9 * 128.0 / 130, 32e9 * 128.0 / 130, 64e9 * 236.0 / 256};
  if (generation < 1 || generation > static_cast<std::int64_t>(kLaneBits.size()) || lanes < 1) {
    return std::nullopt;
  }
  return kLaneBits.at(static_cast<std::size_t>(generation) - 1) * static_cast<double>(lanes) / 8;
}

std::optional<double> pcie_bytes_per_s(std::string_view link) {
  for (std::int64_t generation = 1; pcie_bytes_per_s(generation, 1); ++generation) {
    for (const std::int64_t lanes : {1, 2, 4, 8, 12, 16, 32}) {
      if (link == fmt::format("gen{} x{}", generation, lanes)) {
        return pcie_bytes_per_s(generation, lanes);
      }
    }
  }
  return std::nullopt;
}

Link link_of_cards(const Link& link, const LinkedCard& card) {
  Link joined = link;
  joined.through_host.reset();
  const auto set_rates = [&](double likely, const Interval& range, double of_8_cards) {
    joined.bytes_per_s = likely;
    joined.bytes_per_s_range = range;
    joined.of_8_cards = of_8_cards;
  };
  if (const auto& copies = link.through_host; copies && !card.peer_access) {
    set_rates(std::sqrt(link.bytes_per_s * copies->bytes_per_s),
              {.low = copies->bytes_per_s_range.low, .high = link.bytes_per_s_range.high},
              std::sqrt(link.of_8_cards * copies->of_8_cards));
    joined.name += " with or without peer access";
    joined.source = fmt::format("{}; without: {}", link.source, copies->source);
  } else if (copies && !*card.peer_access) {
    set_rates(copies->bytes_per_s, copies->bytes_per_s_range, copies->of_8_cards);
    joined.name += " without peer access";
    joined.source = copies->source;
  }
  const double sheet = link.data_sheet_bytes_per_s;
  if (sheet > 0 && card.bus_bytes_per_s && *card.bus_bytes_per_s < sheet) {
    const double slower = *card.bus_bytes_per_s / sheet;
    const Interval& range = joined.bytes_per_s_range;
    set_rates(joined.bytes_per_s * slower, {.low = range.low * slower, .high = range.high * slower},
              joined.of_8_cards);
    joined.name += fmt::format(", on a card's bus of {}", format_rate(*card.bus_bytes_per_s, "B/s"));
  }
  return joined;
}

std::vector<std::string> ids_of(const std::vector<Link>& links) {
  std::vector<std::string> ids;
  std::ranges::transform(links, std::back_inserter(ids), &Link::id);
  return ids;
}

std::vector<Link> own_links_from_json(const Json& json) {
  std::vector<Link> links = links_in(Field(json));
  if (links.empty()) {
    throw UsageError("links is empty; accepted: one link or more");
  }
  for (auto link = links.begin(); link != links.end(); ++link) {
    if (std::ranges::count(links, link->id, &Link::id) > 1) {
      throw UsageError(fmt::format("links: two have the id {}", quote(link->id)));
    }
  }
  return links;
}

LinkCatalogue links_from_json(const Json& json) {
  const Field document(json);
  LinkCatalogue catalogue{
      .links = links_in(document), .losses = {}, .slowed = slowed_in(document.at("slowed"))};
  for (const Link& bus : buses_of(catalogue.links)) {
    for (const std::int64_t lanes : {8, 4}) {
      catalogue.links.push_back(with_lanes(bus, lanes));
    }
  }
  const Field losses = document.at("losses");
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const Field field = losses.at(i);
    const ParallelLoss& loss = catalogue.losses.emplace_back(read_struct<ParallelLoss>(field));
    check_order(field.at("p05_p95"), loss.interval80, loss.likely);
  }
  return catalogue;
}

const Link& LinkCatalogue::get(const std::string& option, const std::string& id) const {
  const auto found = std::ranges::find(links, id, &Link::id);
  if (found != links.end()) {
    return *found;
  }
  throw UsageError(unknown_value(option, id, ids_of(links),
                                 ", a file of links, or a result of bench --sweep collectives"));
}

const ParallelLoss* LinkCatalogue::loss(const std::string& where, const std::string& numbers,
                                        const std::string& micro_batches) const {
  const auto found = std::ranges::find_if(losses, [&](const ParallelLoss& loss) {
    return loss.where == where && (loss.framework.empty() || loss.framework == kFrameworkLikeOurs) &&
           (loss.numbers.empty() || loss.numbers == numbers) &&
           (loss.micro_batches.empty() || loss.micro_batches == micro_batches);
  });
  return found == losses.end() ? nullptr : &*found;
}

std::string ParallelLoss::in_words() const {
  return fmt::format(
      "multiplied by {:.3g} ({:.3g} to {:.3g}): {} measured steps on {} machine{} took so much longer than "
      "simulated ({}{}{}{}{})",
      likely, interval80.low, interval80.high, rows, machines, machines == 1 ? "" : "s", where,
      framework.empty() ? "" : ", " + framework, numbers.empty() ? "" : ", " + numbers,
      micro_batches.empty() ? "" : ", ",
      micro_batches == "several" ? "accumulating"
      : micro_batches == "one"   ? "without accumulation"
                                 : "");
}

}  // namespace bench
