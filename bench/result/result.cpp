// The result document's JSON.
#include "bench/result/result.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/result/result_context.h"
#include "bench/result/result_json.h"
#include "bench/result/result_points.h"
#include "bench/result/result_sessions.h"
#include "bench/result/schema_check.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {

void members(auto& io, Of<UnmeasuredPoint> auto& point) {
  io("name", point.name);
  io("params", point.params);
  io("status", point.status);
  io("reason", point.reason);
}

void members(auto& io, Of<Finding> auto& finding) {
  io("name", finding.name);
  io.nullable("value", finding.value);
  io("unit", finding.unit);
  io.nullable("ci95", finding.ci95);
  io.maybe("interval_kind", finding.interval_kind);
  io("claim", finding.claim);
  io("evidence", finding.evidence);
  io.maybe("details", finding.details);
}

namespace {

// Google Benchmark numbers families in the order they appear; ours are points that differ in the last part
// of the name only ("…/batch:32").
class Families {
 public:
  // Index of the point's family, and of the point in it.
  std::pair<std::size_t, std::int64_t> place(const std::string& point) {
    Family& family =
        by_name_.try_emplace(point.substr(0, point.rfind('/')), Family{by_name_.size(), 0}).first->second;
    return {family.index, family.size++};
  }

 private:
  struct Family {
    std::size_t index;
    std::int64_t size;
  };
  std::unordered_map<std::string, Family> by_name_;
};

bool is_finite(const Json& json) {
  return json.is_structured() ? std::ranges::all_of(json, is_finite)
                              : !json.is_number_float() || std::isfinite(json.get<double>());
}

// Throws where a number is NaN or infinite; nlohmann would write null for it. The path is looked for only
// then.
void require_finite(const Json& json, const std::string& path) {
  if (is_finite(json)) {
    return;
  }
  if (json.is_structured()) {
    for (const auto& [key, value] : json.items()) {
      require_finite(value, path.empty() ? key : fmt::format("{}.{}", path, key));
    }
  }
  throw std::domain_error(path + " is not a finite number");
}

// Points are found by their names: findings, --resume and comparisons could not tell two apart.
void check_names(const auto& points, std::string_view list) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [first, is_new] = seen.try_emplace(points[i].name, i);
    if (!is_new) {
      throw UsageError(fmt::format("{}[{}].name is {}, as {}[{}].name is; accepted is each name once", list,
                                   i, quote(points[i].name), list, first->second));
    }
  }
}

void check_schema(const Json& json) {
  if (!json.is_object()) {
    throw UsageError(fmt::format("a result is a JSON object, and this is {} {}",
                                 json.is_array() || json.is_object() ? "an" : "a", json.type_name()));
  }
  const auto schema = json.find("schema");
  if (schema == json.end() || !schema->is_string()) {
    throw UsageError(fmt::format("schema is missing; this program reads {}", kResultSchema));
  }
  if (*schema != kResultSchema) {
    throw UsageError(fmt::format("schema is {}; this program reads {}", printable(schema->get<std::string>()),
                                 kResultSchema));
  }
}

// The document, its points left for the caller to fill in.
Json without_points(const ResultDocument& document) {
  Json json{{"schema", kResultSchema}};
  json["context"] = to_json(document.context);
  json["sessions"] = to_json(document.sessions);
  json["sweep"] = to_json(document.sweep);
  json["benchmarks"] = Json::array();
  for (const Point& point : modelled_points(document)) {
    json["predicted"].push_back(modelled_to_json(point));
  }
  json["unmeasured"] = written_value(document.unmeasured);
  json["findings"] = written_value(document.findings);
  return json;
}

}  // namespace

std::string_view name_of(Origin origin) {
  return origin == Origin::measured ? "measured" : origin == Origin::predicted ? "predicted" : "planned";
}

std::string_view level_in_words(Origin origin) {
  return origin == Origin::measured ? "95 %" : "80 %";
}

std::span<Point> measured_points(ResultDocument& document) {
  return {document.points.begin(), std::ranges::partition_point(document.points, &Point::is_measured)};
}

std::span<const Point> measured_points(const ResultDocument& document) {
  return {document.points.begin(), std::ranges::partition_point(document.points, &Point::is_measured)};
}

std::span<const Point> modelled_points(const ResultDocument& document) {
  return {std::ranges::partition_point(document.points, &Point::is_measured), document.points.end()};
}

void set_modelled_points(ResultDocument& document, std::vector<Point> points) {
  std::erase_if(document.points, [](const Point& point) { return !point.is_measured(); });
  std::ranges::move(points, std::back_inserter(document.points));
}

bool is_predicted(const ResultDocument& document) {
  return document.points.empty() ? document.context.device.kind == "modelled"
                                 : !document.points.front().is_measured();
}

std::vector<std::string> caveats_of(const ResultDocument& document) {
  std::vector<std::string> caveats;
  for (const Point& point : modelled_points(document)) {
    const Json& model = point.prediction.model;
    for (const Json& caveat : model.is_object() ? model.value("caveats", Json::array()) : Json()) {
      std::string text = caveat.is_string() ? caveat.get<std::string>() : caveat.dump();
      if (std::ranges::find(caveats, text) == caveats.end()) {
        caveats.push_back(std::move(text));
      }
    }
  }
  return caveats;
}

std::vector<std::int64_t> round_sizes(const Point& point) {
  std::vector<std::int64_t> sizes;
  for (const MeasuredRound& round : point.rounds) {
    sizes.push_back(round.samples);
  }
  return sizes;
}

std::vector<double> round_medians(const Point& point) {
  std::vector<double> medians;
  auto from = point.samples_ns.begin();
  for (const MeasuredRound& round : point.rounds) {
    const std::vector<double> samples(from, from + round.samples);
    from += round.samples;
    if (!samples.empty()) {
      medians.push_back(median(samples));
    }
  }
  return medians;
}

Ratio step_ratio(const Point& above, const Point& below) {
  const bool measured = above.is_measured() && below.is_measured();
  return ratio_of(ratio_by_rounds(above.step_ns(), round_times(above), below.step_ns(), round_times(below)),
                  measured ? kMeasuredLevel : kPredictedLevel);
}

RoundTimes round_times(const Point& point) {
  RoundTimes times;
  auto next = point.samples_ns.begin();
  for (const MeasuredRound& round : point.rounds) {
    const std::vector<double> samples(next, next + round.samples);
    next += round.samples;
    if (const double ns = samples.empty() ? 0 : median(samples); ns > 0) {
      times.push_back({.session = round.session, .round = round.round, .ns = ns});
    }
  }
  return times;
}

std::vector<MeasuredRound> rounds_of(const std::vector<std::int64_t>& sizes) {
  std::vector<MeasuredRound> rounds;
  for (const std::int64_t size : sizes) {
    rounds.push_back({.samples = size, .round = static_cast<std::int64_t>(rounds.size())});
  }
  return rounds;
}

Json to_json(const ResultDocument& document) {
  Json json = without_points(document);
  Families families;
  for (const Point& point : measured_points(document)) {
    json["benchmarks"].push_back(point_to_json(point, families.place(point.name)));
  }
  require_finite(json, "");
  return json;
}

std::string ResultText::of(const ResultDocument& document) {
  Json json = without_points(document);
  require_finite(json, "");
  std::unordered_map<std::string, std::pair<Version, std::string>> now;
  std::vector<std::string> lines;
  Families families;
  for (const Point& point : measured_points(document)) {
    const auto place = families.place(point.name);
    const Version version{.samples = point.samples_ns.size(),
                          .stats = point.stats,
                          .flags = point.validity.flags,
                          .rounds = point.rounds,
                          .place = place};
    const auto known = lines_.find(point.name);
    if (known != lines_.end() && known->second.first == version) {
      lines.push_back(std::move(known->second.second));
    } else {
      const Json entry = point_to_json(point, place);
      require_finite(entry, fmt::format("benchmarks.{}", lines.size()));
      lines.push_back(to_line(entry));
    }
    now.emplace(point.name, std::pair(version, lines.back()));
  }
  lines_ = std::move(now);
  return to_text(json, lines);
}

ResultDocument document_from_json(const Json& json) {
  check_schema(json);
  const Field root(json);
  check_by_schema(root, "result");
  ResultDocument document;
  document.context = context_from_json(root.at("context"));
  document.sessions = sessions_from_json(root.at("sessions"));
  const Field points = root.at("benchmarks");
  if (document.sessions.empty() && points.size() > 0) {
    throw UsageError("sessions is empty; accepted is one session or more where there are points");
  }
  document.sweep = sweep_from_json(root.at("sweep"));
  for (std::size_t i = 0; i < points.size(); ++i) {
    document.points.push_back(point_from_json(points.at(i), document.sessions.size()));
  }
  if (const auto modelled = root.find("predicted")) {
    for (std::size_t i = 0; i < modelled->size(); ++i) {
      document.points.push_back(modelled_from_json(modelled->at(i)));
    }
  }
  read_value(root.at("unmeasured"), document.unmeasured);
  read_value(root.at("findings"), document.findings);
  check_names(measured_points(document), "benchmarks");
  check_names(modelled_points(document), "predicted");
  return document;
}

}  // namespace bench
