#include "bench/model/links.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/json_members.h"
#include "bench/measure/quote.h"
#include "bench/measure/suggest.h"

namespace bench {
namespace {

constexpr const char* kLinksSchema = "bench-links/1";

void positive(const Field& field) {
  if (!(field.number() > 0)) {
    throw UsageError(fmt::format("{} is {}; accepted is more than 0", field.path(), field.json().dump()));
  }
}

void check_order(const Field& field, const Interval& interval, double value) {
  if (!(interval.low > 0 && interval.low <= value && value <= interval.high)) {
    throw UsageError(fmt::format("{} does not hold the value beside it, {}", field.path(), value));
  }
}

Link link_of(const Field& field) {
  Link link;
  JsonReader io(field);
  io("id", link.id);
  io("name", link.name);
  io("hop_ns", link.hop_ns, check::not_negative);
  io("bytes_per_s", link.bytes_per_s, positive);
  io("bytes_per_s_range", link.bytes_per_s_range);
  io("source", link.source);
  check_order(field.at("bytes_per_s_range"), link.bytes_per_s_range, link.bytes_per_s);
  return link;
}

ParallelLoss loss_of(const Field& field) {
  ParallelLoss loss;
  JsonReader io(field);
  io("where", loss.where);
  io("numbers", loss.numbers);
  io("rows", loss.rows, check::at_least_one);
  io("machines", loss.machines, check::at_least_one);
  io("likely", loss.likely, positive);
  io("interval80", loss.interval80);
  check_order(field.at("interval80"), loss.interval80, loss.likely);
  return loss;
}

}  // namespace

LinkCatalogue links_from_json(const Json& json) {
  const Field document(json);
  if (const std::string schema = document.at("schema").string(); schema != kLinksSchema) {
    throw UsageError(fmt::format("schema is {}; this program reads {}", quote(schema), kLinksSchema));
  }
  LinkCatalogue catalogue;
  const Field links = document.at("links");
  for (std::size_t i = 0; i < links.size(); ++i) {
    catalogue.links.push_back(link_of(links.at(i)));
  }
  const Field losses = document.at("losses");
  for (std::size_t i = 0; i < losses.size(); ++i) {
    catalogue.losses.push_back(loss_of(losses.at(i)));
  }
  return catalogue;
}

const Link& LinkCatalogue::get(const std::string& option, const std::string& id) const {
  const auto found = std::ranges::find(links, id, &Link::id);
  if (found != links.end()) {
    return *found;
  }
  std::vector<std::string> ids;
  for (const Link& link : links) {
    ids.push_back(link.id);
  }
  throw UsageError(unknown_value(option, id, ids) + ", or a result of bench --sweep collectives");
}

const ParallelLoss* LinkCatalogue::loss(const std::string& where, const std::string& numbers) const {
  const auto found = std::ranges::find_if(losses, [&](const ParallelLoss& loss) {
    return loss.where == where && (loss.numbers.empty() || loss.numbers == numbers);
  });
  return found == losses.end() ? nullptr : &*found;
}

}  // namespace bench
