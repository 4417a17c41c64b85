#include "bench/measure/result.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_json.h"

namespace bench {
namespace {

// ---- writing ----

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

Json to_json(const Interval& interval) {
  return Json::array({interval.low, interval.high});
}

Json to_json(const SampleStats& stats, const std::vector<std::int64_t>& round_sizes) {
  return {{"median_ns", stats.median_ns},
          {"p05_ns", stats.p05_ns},
          {"p95_ns", stats.p95_ns},
          {"cv", stats.cv},
          {"ci95_ns", to_json(stats.ci95_ns)},
          {"rounds", stats.rounds},
          {"round_sizes", round_sizes}};
}

Json to_json(const PointMemory& memory) {
  Json json;
  for (const MemoryCategory category : kMemoryCategories) {
    json[std::string(name_of(category))] = memory.by_category[category];
  }
  json["peak_predicted"] = memory.peak_predicted;
  json["peak_measured"] = memory.peak_measured;
  json["driver_used"] = memory.driver_used;
  return json;
}

Json to_json(const Validity& validity) {
  Json json{{"flags", validity.flags}};
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) {
      json[key] = *value;
    }
  };
  add("sm_clock_mhz", validity.sm_clock_mhz);
  add("temperature_c", validity.temperature_c);
  add("power_w", validity.power_w);
  return json;
}

// The file always has the object, even where a sweep has nothing to say in it.
Json object_or_empty(const Json& json) {
  return json.is_null() ? Json::object() : json;
}

// Google Benchmark numbers families in the order they appear; ours are points that differ in the last part
// of the name only ("…/batch:32").
struct Families {
  struct Family {
    std::size_t index;
    std::int64_t size;
  };
  std::unordered_map<std::string, Family> by_name;

  // Index of the point's family, and of the point in it.
  std::pair<std::size_t, std::int64_t> place(const std::string& point) {
    Family& family =
        by_name.try_emplace(point.substr(0, point.rfind('/')), Family{by_name.size(), 0}).first->second;
    return {family.index, family.size++};
  }
};

Json to_json(const MeasuredPoint& point, Families& families) {
  const auto [family, instance] = families.place(point.name);
  Json json{{"name", point.name},
            {"family_index", family},
            {"per_family_instance_index", instance},
            {"run_name", point.name},
            {"run_type", "iteration"},
            {"repetitions", 1},
            {"repetition_index", 0},
            {"threads", 1},
            {"iterations", point.samples_ns.size()},
            {"real_time", point.stats.median_ns},
            {"cpu_time", point.cpu_time_ns},
            {"time_unit", "ns"}};
  // A median of 0 ns is below the clock's step: no rate can be told from it.
  if (point.stats.median_ns > 0) {
    json["items_per_second"] = point.items_per_step * 1e9 / point.stats.median_ns;
  }
  json["items_per_step"] = point.items_per_step;
  json["params"] = object_or_empty(point.params);
  json["samples_ns"] = point.samples_ns;
  json["stats"] = to_json(point.stats, point.round_sizes);
  json["memory"] = to_json(point.memory);
  json["validity"] = to_json(point.validity);
  if (!point.plan.is_null()) {
    json["plan"] = point.plan;
  }
  if (!point.work.is_null()) {
    json["work"] = point.work;
  }
  if (!point.verification.is_null()) {
    json["verification"] = point.verification;
  }
  if (!point.notes.is_null()) {
    json["notes"] = point.notes;
  }
  return json;
}

Json to_json(const UnmeasuredPoint& point) {
  return {{"name", point.name},
          {"params", object_or_empty(point.params)},
          {"status", point.status},
          {"reason", point.reason}};
}

Json to_json(const Finding& finding) {
  Json json{{"name", finding.name}};
  json["value"] = finding.value ? Json(*finding.value) : Json();
  json["unit"] = finding.unit;
  json["ci95"] = finding.ci95 ? to_json(*finding.ci95) : Json();
  json["claim"] = finding.claim;
  json["evidence"] = finding.evidence;
  if (!finding.details.is_null()) {
    json["details"] = finding.details;
  }
  return json;
}

// ---- reading ----

template <class Item, class Read>
std::vector<Item> read_array(const Field& field, const Read& read) {
  std::vector<Item> items;
  const std::size_t size = field.size();
  items.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    items.push_back(read(field.at(i)));
  }
  return items;
}

// The path of each element is built only for the message: a file holds millions of samples.
std::vector<std::int64_t> read_integers(const Field& field) {
  std::vector<std::int64_t> values;
  values.reserve(field.size());
  for (const Json& value : field.json()) {
    if (!is_int64(value)) {
      field.at(values.size()).integer();
    }
    values.push_back(value.get<std::int64_t>());
  }
  return values;
}

std::vector<std::string> read_strings(const Field& field) {
  return read_array<std::string>(field, [](const Field& item) { return item.string(); });
}

std::optional<double> read_optional(const Field& parent, std::string_view key) {
  return parent.has(key) ? std::optional(parent.at(key).number()) : std::nullopt;
}

Json read_optional_object(const Field& parent, std::string_view key) {
  return parent.has(key) ? parent.at(key).object() : Json();
}

Interval read_interval(const Field& field) {
  if (field.size() != 2) {
    throw UsageError(fmt::format("{} has {} elements; an interval has 2", field.path(), field.size()));
  }
  return {.low = field.at(std::size_t{0}).number(), .high = field.at(std::size_t{1}).number()};
}

PointMemory read_memory(const Field& field) {
  PointMemory memory;
  for (const MemoryCategory category : kMemoryCategories) {
    memory.by_category[category] = field.at(name_of(category)).integer();
  }
  memory.peak_predicted = field.at("peak_predicted").integer();
  memory.peak_measured = field.at("peak_measured").integer();
  memory.driver_used = field.at("driver_used").integer();
  return memory;
}

SampleStats read_stats(const Field& field) {
  return {.median_ns = field.at("median_ns").number(),
          .p05_ns = field.at("p05_ns").number(),
          .p95_ns = field.at("p95_ns").number(),
          .cv = field.at("cv").number(),
          .ci95_ns = read_interval(field.at("ci95_ns")),
          .rounds = field.at("rounds").integer()};
}

// The counts that are written twice must agree: otherwise the file was edited or cut, and proves nothing.
void check_counts(const Field& field, const MeasuredPoint& point) {
  const auto samples = static_cast<std::int64_t>(point.samples_ns.size());
  const std::int64_t iterations = field.at("iterations").integer();
  if (iterations != samples) {
    throw UsageError(
        fmt::format("{}.iterations is {}, but {} samples are listed", field.path(), iterations, samples));
  }
  // Sizes beyond the samples are not summed: they could overflow.
  std::int64_t in_rounds = 0;
  for (const std::int64_t size : point.round_sizes) {
    in_rounds = size > samples - in_rounds ? samples + 1 : in_rounds + size;
    if (in_rounds > samples) {
      throw UsageError(fmt::format("{}.stats.round_sizes sums to more than the {} samples that are listed",
                                   field.path(), samples));
    }
  }
  if (in_rounds != samples) {
    throw UsageError(fmt::format("{}.stats.round_sizes sums to {}, but {} samples are listed", field.path(),
                                 in_rounds, samples));
  }
}

// Sums of a point's bytes stay below 2^63.
void require_countable(const Field& field) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  const std::int64_t bytes = field.integer();
  if (bytes < -kMost || bytes > kMost) {
    throw UsageError(fmt::format("{} is {}; accepted is at most {} bytes", field.path(), bytes, kMost));
  }
}

void require_not_negative(const Field& field) {
  if (field.number() < 0) {
    throw UsageError(fmt::format("{} is {}; accepted is 0 or more", field.path(), field.json().dump()));
  }
}

// The path of each element is built only for the message.
void require_not_negative(const Field& field, const std::vector<std::int64_t>& values) {
  const auto below = std::ranges::find_if(values, [](std::int64_t value) { return value < 0; });
  if (below != values.end()) {
    require_not_negative(field.at(static_cast<std::size_t>(below - values.begin())));
  }
}

// One note a sample, each an object, where there are any.
Json read_notes(const Field& field, std::size_t samples) {
  if (!field.has("notes")) {
    return nullptr;
  }
  const Field notes = field.at("notes");
  if (!notes.json().is_array() || notes.json().size() != samples) {
    throw UsageError(
        fmt::format("{} is not an array of one note for each of the {} samples", notes.path(), samples));
  }
  for (std::size_t i = 0; i < samples; ++i) {
    notes.at(i).object();
  }
  return notes.json();
}

// What results/schema.json says of the numbers' ranges.
void check_ranges(const Field& field, const MeasuredPoint& point) {
  if (point.samples_ns.empty()) {
    throw UsageError(fmt::format("{}.samples_ns is empty; a measured point has samples", field.path()));
  }
  const Field stats = field.at("stats");
  require_not_negative(field.at("samples_ns"), point.samples_ns);
  require_not_negative(stats.at("round_sizes"), point.round_sizes);
  for (const char* key : {"real_time", "cpu_time", "items_per_step"}) {
    require_not_negative(field.at(key));
  }
  for (const char* key : {"median_ns", "p05_ns", "p95_ns", "cv"}) {
    require_not_negative(stats.at(key));
  }
  if (point.stats.rounds < 1) {
    throw UsageError(fmt::format("{}.rounds is {}; accepted is 1 or more", stats.path(), point.stats.rounds));
  }
  const Field memory = field.at("memory");
  for (const MemoryCategory category : kMemoryCategories) {
    if (category != MemoryCategory::other) {
      require_not_negative(memory.at(name_of(category)));
    }
    require_countable(memory.at(name_of(category)));
  }
  require_not_negative(memory.at("peak_predicted"));
  require_not_negative(memory.at("peak_measured"));
  for (const char* key : {"peak_predicted", "peak_measured", "driver_used"}) {
    require_countable(memory.at(key));
  }

  if (const double rate = point.items_per_step * 1e9 / point.stats.median_ns;
      point.stats.median_ns > 0 && !std::isfinite(rate)) {
    throw UsageError(fmt::format("{}.items_per_step is {}, too large for a median of {} ns", field.path(),
                                 point.items_per_step, point.stats.median_ns));
  }
  const auto [least, most] = std::ranges::minmax(point.samples_ns);
  if (point.stats.median_ns < static_cast<double>(least) ||
      point.stats.median_ns > static_cast<double>(most)) {
    throw UsageError(fmt::format("{}.median_ns is {}, but the samples lie between {} and {}", stats.path(),
                                 point.stats.median_ns, least, most));
  }
}

MeasuredPoint read_measured(const Field& field) {
  if (const std::string unit = field.at("time_unit").string(); unit != "ns") {
    throw UsageError(
        fmt::format(R"({}.time_unit is {}; this program reads 'ns')", field.path(), quote(unit)));
  }
  const Field stats = field.at("stats");
  const Field validity = field.at("validity");
  MeasuredPoint point{.name = field.at("name").string(),
                      .params = field.at("params").object(),
                      .samples_ns = read_integers(field.at("samples_ns")),
                      .round_sizes = read_integers(stats.at("round_sizes")),
                      .cpu_time_ns = field.at("cpu_time").number(),
                      .items_per_step = field.at("items_per_step").number(),
                      .work = read_optional_object(field, "work"),
                      .plan = read_optional_object(field, "plan"),
                      .stats = read_stats(stats),
                      .memory = read_memory(field.at("memory")),
                      .validity = {.flags = read_strings(validity.at("flags")),
                                   .sm_clock_mhz = read_optional(validity, "sm_clock_mhz"),
                                   .temperature_c = read_optional(validity, "temperature_c"),
                                   .power_w = read_optional(validity, "power_w")},
                      .verification = read_optional_object(field, "verification"),
                      .notes = {}};
  check_ranges(field, point);
  check_counts(field, point);
  point.notes = read_notes(field, point.samples_ns.size());
  return point;
}

// Points are found by their names: findings, --resume and comparisons could not tell two apart.
void check_names(const std::vector<MeasuredPoint>& points) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [first, is_new] = seen.try_emplace(points[i].name, i);
    if (!is_new) {
      throw UsageError(
          fmt::format("benchmarks[{}].name is {}, as benchmarks[{}].name is; accepted is each name once", i,
                      quote(points[i].name), first->second));
    }
  }
}

UnmeasuredPoint read_unmeasured(const Field& field) {
  UnmeasuredPoint point{.name = field.at("name").string(),
                        .params = field.at("params").object(),
                        .status = field.at("status").string(),
                        .reason = field.at("reason").string()};
  if (point.status != "oom" && point.status != "unsupported" && point.status != "skipped" &&
      point.status != "error") {
    throw UsageError(fmt::format("{}.status is {}; accepted: oom, unsupported, skipped, error", field.path(),
                                 quote(point.status)));
  }
  return point;
}

Finding read_finding(const Field& field) {
  Finding finding{.name = field.at("name").string(),
                  .value = read_optional(field, "value"),
                  .unit = field.at("unit").string(),
                  .ci95 = std::nullopt,
                  .claim = field.at("claim").string(),
                  .evidence = read_strings(field.at("evidence")),
                  .details = read_optional_object(field, "details")};
  if (field.has("ci95")) {
    finding.ci95 = read_interval(field.at("ci95"));
  }
  return finding;
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

}  // namespace

Json to_json(const ResultDocument& document) {
  Json json{{"schema", kResultSchema}};
  json["context"] = object_or_empty(document.context);
  json["sweep"] = object_or_empty(document.sweep);
  json["benchmarks"] = Json::array();
  Families families;
  for (const MeasuredPoint& point : document.benchmarks) {
    json["benchmarks"].push_back(to_json(point, families));
  }
  json["unmeasured"] = Json::array();
  for (const UnmeasuredPoint& point : document.unmeasured) {
    json["unmeasured"].push_back(to_json(point));
  }
  json["findings"] = Json::array();
  for (const Finding& finding : document.findings) {
    json["findings"].push_back(to_json(finding));
  }
  require_finite(json, "");
  return json;
}

ResultDocument document_from_json(const Json& json) {
  check_schema(json);
  const Field root(json, "");
  ResultDocument document{.context = root.at("context").object(),
                          .sweep = root.at("sweep").object(),
                          .benchmarks = read_array<MeasuredPoint>(root.at("benchmarks"), read_measured),
                          .unmeasured = read_array<UnmeasuredPoint>(root.at("unmeasured"), read_unmeasured),
                          .findings = read_array<Finding>(root.at("findings"), read_finding)};
  check_names(document.benchmarks);
  return document;
}

}  // namespace bench
