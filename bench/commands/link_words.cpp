#include "bench/commands/link_words.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/evaluate/evaluated_device.h"
#include "bench/result/finding.h"
#include "bench/result/result_json.h"
#include "bench/result/shared_cores.h"
#include "bench/run/gpu_files.h"
#include "bench/run/result_file.h"
#include "bench/run/result_folder.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"

namespace bench {
namespace {

constexpr std::int64_t kMostCards = 65536;

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// The medians of a collectives result.
MeasuredAllReduce measured_link(const std::string& path, const ResultDocument& document) {
  MeasuredAllReduce measured;
  std::map<double, double> by_size;
  for (const Point& point : measured_points(document)) {
    const auto operation = point.params.find("operation");
    const std::int64_t bytes = whole_member(point.params, "bytes");
    if (operation != point.params.end() && *operation == "all-reduce" && bytes > 0 &&
        point.stats.median_ns > 0) {
      measured.ranks = whole_member(point.params, "ranks");
      measured.hosts = std::max<std::int64_t>(1, whole_member(point.params, "hosts"));
      by_size[static_cast<double>(bytes)] = point.stats.median_ns;
    }
  }
  for (const auto& [bytes, ns] : by_size) {
    measured.points.push_back({.bytes = bytes, .ns = ns});
  }
  constexpr std::size_t kLeast = 2;
  if (document.sweep.name != "collectives" || measured.ranks < 2 || measured.points.size() < kLeast) {
    throw UsageError(fmt::format(
        "--link: {} holds no all-reduces of two sizes or more; give a result of bench --sweep collectives",
        quote(path)));
  }
  return measured;
}

// That ranks took turns on cores, as the result says it.
std::string turns_warning_of(const ResultDocument& document) {
  return shared_cores_in(document) ? printable(find_finding(document.findings, kRanksFinding)->claim) : "";
}

// "rack.json:eth" is the link `eth` of rack.json; the name may be left out where the file has one link.
struct LinkFile {
  std::string path;
  std::string id;
};
std::optional<LinkFile> link_file(std::string_view text) {
  constexpr std::string_view kEnd = ".json";
  if (text.ends_with(kEnd)) {
    return LinkFile{.path = std::string(text), .id = ""};
  }
  const std::size_t at = text.rfind(".json:");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return LinkFile{.path = std::string(text.substr(0, at + kEnd.size())),
                  .id = std::string(text.substr(at + kEnd.size() + 1))};
}

Json link_json(const std::string& path) {
  try {
    return read_json(path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--link: {}", error.what()));
  }
}

bool has_links(const Json& json) {
  return json.is_object() && json.contains("links");
}

// Of a file in the form of results/links.json.
Link own_link(const LinkFile& file) {
  const Json json = link_json(file.path);
  if (!has_links(json)) {
    throw UsageError(
        fmt::format("--link: {} has no member links; give a file in the form of "
                    "results/links.json",
                    quote(file.path)));
  }
  std::vector<Link> links;
  try {
    links = own_links_from_json(json);
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("--link: {}: {}; results/links.json shows the form", quote(file.path), error.what()));
  }
  const std::vector<std::string> ids = ids_of(links);
  if (file.id.empty() && links.size() > 1) {
    throw UsageError(fmt::format(
        "--link: {} has {} links; name one: {}", quote(file.path), links.size(),
        printable(fmt::format("{}:{}", file.path, fmt::join(ids, fmt::format(", {}:", file.path))))));
  }
  const auto found = file.id.empty() ? links.begin() : std::ranges::find(links, file.id, &Link::id);
  if (found == links.end()) {
    throw UsageError(unknown_value("--link", file.id, ids, " of " + quote(file.path)));
  }
  Link link = *found;
  link.name = printable(link.name);
  link.source = fmt::format("{}: {}", printable(file.path), printable(link.source));
  return link;
}

Link named_link(std::string_view name) {
  const auto file = link_file(name);
  return file ? own_link(*file) : link_catalogue().get("--link", std::string(name));
}

// A result of the collectives sweep, or a folder that holds one: neither a name nor a file of links.
bool is_measured(const std::string& text) {
  if (is_folder(text)) {
    return true;
  }
  const auto file = link_file(text);
  const bool is_one =
      file && file->id.empty() && (text.find(',') == std::string::npos || std::filesystem::exists(text));
  return is_one && !has_links(link_json(text));
}

// By its data sheet; empty where it tells none.
std::string own_link_of(const Gpu& gpu) {
  const std::vector<Link>& known = link_catalogue().links;
  for (const std::string& id : gpu.nvlink.value_or(std::vector<std::string>{})) {
    const auto link = std::ranges::find(known, id, &Link::id);
    if (link != known.end() && !is_bridge(*link)) {
      return id;
    }
  }
  const std::string bus = gpu.bus ? fmt::format("pcie{}", gpu.bus->generation) : "";
  return std::ranges::count(known, bus, &Link::id) > 0 ? bus : "";
}

}  // namespace

std::vector<NamedResult> read_named_results(const std::string& option,
                                            const std::vector<std::string>& given) {
  try {
    std::vector<NamedResult> results;
    for (const std::string& path : result_paths(given)) {
      results.push_back({.path = path, .document = read_result(path)});
    }
    return results;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

NamedResult one_of(const std::string& option, std::vector<NamedResult> results, const std::string& what,
                   const std::vector<std::string>& given) {
  std::vector<std::string> paths;
  for (const NamedResult& result : results) {
    paths.push_back(quote(result.path));
  }
  if (results.empty()) {
    throw UsageError(fmt::format(
        "{}: {}; give one result {}", option,
        given.empty() ? "a result is missing"
                      : fmt::format("{} has no such result", quote(fmt::format("{}", fmt::join(given, " ")))),
        what));
  }
  if (results.size() > 1) {
    constexpr std::size_t kMostNamed = 4;
    const std::size_t named = std::min(kMostNamed, paths.size());
    throw UsageError(
        fmt::format("{}: {} results were given, {}{}; accepted: one {}", option, paths.size(),
                    fmt::join(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                    named < paths.size() ? ", …" : "", what));
  }
  return std::move(results.front());
}

std::vector<std::int64_t> cards_of(const CommandWords& words) {
  const std::string& text = *words.text_of("cards");
  std::vector<std::int64_t> cards = parse_axis("--cards", text);
  if (cards.back() > kMostCards || cards.back() < 2) {
    throw UsageError(fmt::format("--cards: {} was given; accepted: 2 to {}", quote(text), kMostCards));
  }
  return cards;
}

std::vector<Option> link_options() {
  return {{"link", "NAME|FILE",
           "with --cards: nvlink3, pcie4, …; between hosts nvlink3,ib-4x100g; or a result of bench --sweep "
           "collectives, or FILE[:ID] like results/links.json",
           [] { return ids_of(link_catalogue().links); }},
          {"per-host", "N", "with two links: cards of a host (default: 8)"},
          {"bucket", "SIZE", "gradients added up at a time (default: 25MiB)"}};
}

void refuse_link_without_cards(const CommandWords& words) {
  for (const Option& option : link_options()) {
    if (words.has(option.name) && !words.has("cards")) {
      throw UsageError(fmt::format("--{}: it goes with --cards, as in --cards 2,4,8", option.name));
    }
  }
}

void require_nvlink(const CardsLink& link, const std::string& card) {
  if (const Gpu* const gpu = gpu_catalogue().find_called(card)) {
    require_nvlink(link, *gpu);
  }
}

void require_nvlink(const CardsLink& link, const Gpu& card) {
  const auto* const named = std::get_if<CardLinks>(&link.link);
  const std::vector<Link>& known = link_catalogue().links;
  // A link of the user's own may join whatever it likes.
  if (named != nullptr && std::ranges::find(known, named->inside) != known.end()) {
    require_nvlink(named->inside, card);
  }
}

LinkedCard linked_card(const std::string& device_name) {
  const Gpu* const gpu = gpu_catalogue().find_called(device_name);
  return gpu == nullptr ? LinkedCard{} : linked_card(*gpu);
}

LinkedCard linked_card(const Gpu& gpu) {
  return gpu.bus ? LinkedCard{.peer_access = gpu.bus->peer_access,
                              .bus_bytes_per_s = pcie_bytes_per_s(gpu.bus->generation, gpu.bus->lanes)}
                 : LinkedCard{};
}

CardsLink link_of(const CommandWords& words, const Gpu* card) {
  const std::string otherwise = card == nullptr ? "" : own_link_of(*card);
  CardsLink found;
  if (const std::string* const bucket = words.text_of("bucket")) {
    found.bucket = parse_bytes("--bucket", *bucket);
  }
  const std::string* const given = words.text_of("link");
  const std::string* const text = given == nullptr && !otherwise.empty() ? &otherwise : given;
  if (text == nullptr) {
    throw UsageError(fmt::format(
        "--link: what joins the cards is missing; accepted: {}, two of them for cards of a host "
        "and for hosts "
        "(nvlink3,ib-4x100g), FILE.json with links of yours in the form of results/links.json, or a "
        "result of bench --sweep collectives",
        fmt::join(ids_of(link_catalogue().links), ", ")));
  }
  const std::string* const per_host = words.text_of("per-host");
  if (is_measured(*text)) {
    if (per_host != nullptr) {
      throw UsageError("--per-host: a measured link has its own hosts; leave it out");
    }
    std::vector<NamedResult> results = read_named_results("--link", {*text});
    if (is_folder(*text)) {
      std::erase_if(results,
                    [](const NamedResult& result) { return result.document.sweep.name != "collectives"; });
    }
    const NamedResult measured =
        one_of("--link", std::move(results), "of bench --sweep collectives", {*text});
    found.link = measured_link(measured.path, measured.document);
    found.device_kind = measured.document.context.device.kind;
    found.path = measured.path;
    found.warning = turns_warning_of(measured.document);
    return found;
  }
  const std::vector<std::string_view> names = split(*text, ',');
  if (names.size() > 2) {
    throw UsageError(fmt::format(
        "--link: {} was given; accepted: one link, or two, within a host and between hosts", quote(*text)));
  }
  CardLinks links{.inside = named_link(names.front())};
  if (given == nullptr && card->kind == "desktop" && links.inside.data_sheet_bytes_per_s > 0) {
    links.inside = in_any_slots(links.inside);
  }
  if (is_bridge(links.inside)) {
    links.buses = buses_of(link_catalogue().links);
  }
  if (names.size() == 2) {
    links.between = named_link(names.back());
    links.per_host = per_host == nullptr ? 8 : parse_count("--per-host", *per_host, 1, kMostCards);
  } else if (per_host != nullptr) {
    throw UsageError(
        "--per-host: what joins the hosts is missing; give --link with two, as nvlink3,ib-4x100g");
  }
  found.link = links;
  return found;
}

}  // namespace bench
