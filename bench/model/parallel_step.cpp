#include "bench/model/parallel_step.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

double rate(const Link& link, Bandwidth bandwidth) {
  return bandwidth == Bandwidth::low    ? link.bytes_per_s_range.low
         : bandwidth == Bandwidth::high ? link.bytes_per_s_range.high
                                        : link.bytes_per_s;
}

// Of as many ranks as were measured.
double as_measured_ns(const MeasuredAllReduce& measured, double bytes) {
  const auto& points = measured.points;
  auto above = std::ranges::lower_bound(points, bytes, {}, &MeasuredAllReduce::Point::bytes);
  above = std::clamp(above, points.begin() + 1, points.end() - 1);
  const auto below = above - 1;
  const double slope = std::max(0.0, (above->ns - below->ns) / (above->bytes - below->bytes));
  return std::max(0.0, below->ns + slope * (bytes - below->bytes));
}

double all_reduce_ns(const CardsLink& link, std::int64_t cards, double bytes, Bandwidth bandwidth) {
  if (const auto* const measured = std::get_if<MeasuredAllReduce>(&link.link)) {
    return measured_all_reduce_ns(*measured, cards, bytes);
  }
  return ring_all_reduce_ns(std::get<CardLinks>(link.link), cards, bytes, bandwidth);
}

// In proportion to what the step took when it was timed many times.
GradientTimeline scaled(const GradientTimeline& timeline, double step_ns) {
  const double by = step_ns / timeline.step_ns();
  GradientTimeline scaled = timeline;
  for (GradientTimeline::Part& part : scaled.parts) {
    part.ready_ns *= by;
  }
  scaled.backward_ns *= by;
  scaled.update_ns *= by;
  return scaled;
}

std::string rate_in_words(const Link& link) {
  const Interval& range = link.bytes_per_s_range;
  return fmt::format("{}: {} ({} to {}), {} a hop", link.name, format_rate(link.bytes_per_s, "B/s"),
                     format_rate(range.low, "B/s"), format_rate(range.high, "B/s"),
                     format_duration(link.hop_ns));
}

}  // namespace

double times_sent(std::int64_t cards) {
  const auto n = static_cast<double>(cards);
  return 2 * (n - 1) / n;
}

double ring_all_reduce_ns(const CardLinks& links, std::int64_t cards, double bytes, Bandwidth bandwidth) {
  if (cards < 2) {
    return 0;
  }
  const std::int64_t of_host = links.between && links.per_host > 0 ? std::min(cards, links.per_host) : cards;
  const Link& inside = links.slowest(of_host);
  double bytes_per_s = rate(inside, bandwidth) * share_of_cards(inside.of_8_cards, of_host);
  std::int64_t hosts = 1;
  double round_ns = static_cast<double>(cards - 1) * inside.hop_ns;
  if (links.between && links.per_host > 0 && cards > links.per_host) {
    hosts = (cards + links.per_host - 1) / links.per_host;
    const double between = rate(*links.between, bandwidth);
    bytes_per_s = links.per_host == 1 ? between : std::min(bytes_per_s, between);
    // Of the n−1 hops that a part of the sum takes, one for each host but the last leaves it.
    round_ns = static_cast<double>(cards - hosts) * inside.hop_ns +
               static_cast<double>(hosts - 1) * links.between->hop_ns;
  }
  return 2 * round_ns + times_sent(cards) * bytes / bytes_per_s * 1e9;
}

double measured_all_reduce_ns(const MeasuredAllReduce& measured, std::int64_t cards, double bytes) {
  if (cards < 2) {
    return 0;
  }
  const double latency = as_measured_ns(measured, 0);
  const double hops = static_cast<double>(cards - 1) / static_cast<double>(measured.ranks - 1);
  return latency * hops +
         (as_measured_ns(measured, bytes) - latency) * times_sent(cards) / times_sent(measured.ranks);
}

ReplayedStep replay_step(const GradientTimeline& timeline, std::int64_t bucket, double speed,
                         const std::function<double(double bytes)>& all_reduce_ns) {
  ReplayedStep step;
  double now = 0;
  double computed = 0;       // of the pass
  double done = 0;           // the last bucket: until then buckets are added up without a pause
  std::int64_t waiting = 0;  // bytes that are ready and not yet sent
  const auto compute_until = [&](double point) {
    const double work = std::max(0.0, std::min(point, timeline.backward_ns) - computed);
    const double meanwhile = std::max(0.0, done - now) * speed;
    now = work < meanwhile ? now + work / speed : std::max(now, done) + work - meanwhile;
    computed += work;
  };
  for (std::size_t i = 0; i < timeline.parts.size(); ++i) {
    const GradientTimeline::Part& part = timeline.parts[i];
    compute_until(part.ready_ns);
    waiting += part.bytes;
    if (waiting == 0 || (waiting < bucket && i + 1 < timeline.parts.size())) {
      continue;
    }
    const double ns = all_reduce_ns(static_cast<double>(waiting));
    done = std::max(done, now) + ns;
    step.all_reduce_ns += ns;
    step.bytes += waiting;
    ++step.buckets;
    waiting = 0;
  }
  compute_until(timeline.backward_ns);
  step.exposed_ns = std::max(0.0, std::max(done, now) - timeline.backward_ns);
  step.step_ns = timeline.step_ns() + step.exposed_ns;
  return step;
}

GradientTimeline even_timeline(double micro_ns, std::int64_t accumulate, double bytes) {
  constexpr int kParts = 32;
  const double step_ns = micro_ns * static_cast<double>(accumulate);
  GradientTimeline timeline{.parts = {}, .backward_ns = step_ns, .update_ns = 0};
  for (int part = 1; part <= kParts; ++part) {
    const double left = micro_ns * 2 / 3 * (kParts - part) / kParts;
    timeline.parts.push_back(
        {.ready_ns = step_ns - left, .bytes = static_cast<std::int64_t>(bytes / kParts)});
  }
  return timeline;
}

std::string place_of_cards(bool on_cpu, bool apart) {
  return on_cpu ? (apart ? "hosts of one CPU each" : "ranks of one CPU")
                : (apart ? "several hosts" : "one host");
}

CardsLink CardsLink::of_cards(const LinkedCard& card) const {
  CardsLink joined = *this;
  if (auto* const links = std::get_if<CardLinks>(&joined.link)) {
    links->inside = link_of_cards(links->inside, card);
    if (!links->buses.empty()) {
      // The card's own bus, or the slowest where that is not known.
      const auto wide = std::ranges::find_if(links->buses, [&](const Link& bus) {
        constexpr double kAsFast = 0.99;  // rounded
        return bus.data_sheet_bytes_per_s >= kAsFast * card.bus_bytes_per_s.value_or(0);
      });
      links->pairs = link_of_cards(wide == links->buses.end() ? links->buses.back() : *wide, card);
    }
  }
  return joined;
}

bool CardsLink::joins_hosts(std::int64_t cards, bool on_cpu) const {
  if (const auto* const measured = std::get_if<MeasuredAllReduce>(&link)) {
    return measured->hosts > 1;
  }
  const auto& links = std::get<CardLinks>(link);
  return on_cpu || links.inside.joins == "hosts" || (links.between && cards > links.per_host);
}

double CardsLink::bytes_per_s(std::int64_t cards) const {
  if (const auto* const measured = std::get_if<MeasuredAllReduce>(&link)) {
    const MeasuredAllReduce::Point& largest = measured->points.back();
    return times_sent(measured->ranks) * largest.bytes / largest.ns * 1e9;
  }
  const auto& links = std::get<CardLinks>(link);
  return links.slowest(links.between ? std::min(cards, links.per_host) : cards).bytes_per_s;
}

std::int64_t CardsLink::cards_of_a_host(std::int64_t cards, bool on_cpu) const {
  if (!joins_hosts(cards, on_cpu)) {
    return cards;
  }
  const auto* const measured = std::get_if<MeasuredAllReduce>(&link);
  const std::int64_t most = measured != nullptr ? (measured->ranks + measured->hosts - 1) / measured->hosts
                            : on_cpu || std::get<CardLinks>(link).inside.joins == "hosts"
                                ? 1
                                : std::get<CardLinks>(link).per_host;
  return std::min(cards, most);
}

std::string CardsLink::name() const {
  const auto* const links = std::get_if<CardLinks>(&link);
  return links == nullptr ? "a measured link"
         : links->between ? fmt::format("{}, between hosts {}", links->inside.name, links->between->name)
                          : links->inside.name;
}

std::string CardsLink::in_words() const {
  if (const auto* const measured = std::get_if<MeasuredAllReduce>(&link)) {
    return fmt::format("all-reduces of {} ranks on {} host{} as measured", measured->ranks, measured->hosts,
                       measured->hosts == 1 ? "" : "s");
  }
  const auto& links = std::get<CardLinks>(link);
  const std::string inside =
      rate_in_words(links.inside) +
      (links.pairs ? fmt::format("; between pairs {}", rate_in_words(*links.pairs)) : "");
  return links.between ? fmt::format("{}; between hosts of {} cards {}", inside, links.per_host,
                                     rate_in_words(*links.between))
                       : inside;
}

std::string CardsLink::source() const {
  const auto* const links = std::get_if<CardLinks>(&link);
  if (links == nullptr) {
    return path;
  }
  std::string sources = links->inside.source;
  for (const auto& other : {links->pairs, links->between}) {
    sources += other ? "; " + other->source : "";
  }
  return sources;
}

std::vector<std::string> CardsLink::cautions(const std::vector<std::int64_t>& cards) const {
  std::vector<std::string> sentences;
  if (!warning.empty()) {
    sentences.push_back(fmt::format("{}: {}", path, warning));
  }
  const auto* const named = std::get_if<CardLinks>(&link);
  const auto needs_more = [&](std::int64_t count) {
    return (named->between ? std::min(count, named->per_host) : count) > 2;
  };
  if (named != nullptr && is_bridge(named->inside) && std::ranges::any_of(cards, needs_more)) {
    sentences.push_back(
        fmt::format("{} joins two cards; more exchange at the rate of what joins the pairs, {}.",
                    named->inside.id, named->pairs ? named->pairs->name : "PCIe"));
  }
  const auto* const measured = std::get_if<MeasuredAllReduce>(&link);
  const auto is_other = [&](std::int64_t count) { return count > 1 && count != measured->ranks; };
  if (measured != nullptr && std::ranges::any_of(cards, is_other)) {
    sentences.push_back(fmt::format(
        "All-reduces were measured with {} ranks; for other numbers the latency a hop and the bus "
        "bandwidth are taken to stay.",
        measured->ranks));
  }
  return sentences;
}

void CardsLink::require_kind(const std::string& of_step) const {
  if (!device_kind.empty() && device_kind != of_step) {
    throw UsageError(fmt::format(
        "--link: {} was measured on a device of kind {}, the step on one of kind {}; give one of the same",
        quote(path), printable(device_kind), printable(of_step)));
  }
  const auto* const links = std::get_if<CardLinks>(&link);
  if (of_step != "cpu" || links == nullptr) {
    return;
  }
  constexpr const char* kGive =
      "the step was measured on a CPU; give what joins hosts of one CPU each, as --link eth-10g, or a result "
      "of bench --sweep collectives";
  if (links->between) {
    throw UsageError(
        fmt::format("--link: one link within a host and one between hosts were given, and {}", kGive));
  }
  if (links->inside.joins == "cards") {
    throw UsageError(fmt::format("--link: {} joins GPUs of a host, and {}", links->inside.id, kGive));
  }
}

BackwardSpeed backward_speed(const SlowedBackward& slowed, const std::string& where, double bytes_per_s) {
  if (where != slowed.where) {
    return {};
  }
  if (bytes_per_s >= slowed.from_bytes_per_s) {
    return {.low = slowed.speed, .likely = slowed.speed, .high = slowed.speed};
  }
  return {.low = slowed.speed, .likely = slowed.speed, .high = 1};
}

double most_published_exposed(const std::string& where) {
  constexpr double kOneHost = 0.08;
  constexpr double kSeveralHosts = 0.03;
  return where == place_of_cards(false, false) ? kOneHost : kSeveralHosts;
}

double ParallelStep::deviation() const {
  return log_deviation(step80_ns, kNormal80);
}

ParallelStep parallel_step(const OneCard& one, std::int64_t cards, const CardsLink& link,
                           const LinkCatalogue& catalogue) {
  const GradientTimeline timeline = scaled(one.timeline, one.step_ns);
  const std::string where = place_of_cards(!one.overlap, link.joins_hosts(cards, !one.overlap));
  const BackwardSpeed speed =
      one.overlap ? backward_speed(catalogue.slowed, where, link.bytes_per_s(cards)) : BackwardSpeed{0, 0, 0};
  const auto replayed = [&](Bandwidth bandwidth, double backward) {
    return replay_step(timeline, link.bucket, backward,
                       [&](double bytes) { return all_reduce_ns(link, cards, bytes, bandwidth); });
  };
  ParallelStep step{.replay = replayed(Bandwidth::likely, speed.likely),
                    .loss = catalogue.loss(where, one.narrow ? "16-bit" : "32-bit",
                                           one.accumulate > 1 ? "several" : "one")};
  const ParallelLoss loss = step.loss == nullptr ? ParallelLoss{} : *step.loss;
  step.step_ns = step.replay.step_ns * loss.likely;
  // By how much one cause alone moves the step, on a logarithmic scale; squares are added.
  const auto moved = [&](Bandwidth bandwidth, double backward) {
    return std::log(replayed(bandwidth, backward).step_ns / step.replay.step_ns);
  };
  const double faster =
      combined_deviation({moved(Bandwidth::high, speed.likely), moved(Bandwidth::likely, speed.high),
                          std::log(loss.interval80.low / loss.likely)});
  const double slower =
      combined_deviation({moved(Bandwidth::low, speed.likely), moved(Bandwidth::likely, speed.low),
                          std::log(loss.interval80.high / loss.likely)});
  // All at once, gradients cost nothing at best.
  step.step80_ns = {std::max(step.step_ns * std::exp(-faster), timeline.step_ns() * loss.interval80.low),
                    step.step_ns * std::exp(slower)};
  return step;
}

}  // namespace bench
