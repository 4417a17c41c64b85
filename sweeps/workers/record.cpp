#include "sweeps/workers/record.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/flags.h"
#include "bench/stats/rounds.h"
#include "bench/stats/statistics.h"
#include "bench/text/units.h"

namespace bench {

// Its first half: files of 0.1.0 have no compute_ns, and not every point has an AU.
void members(auto& io, Of<sweeps::LoaderPoint> auto& point) {
  io("name", point.name);
  io("workers", point.workers);
  io("flagged", point.flagged);
  io("images_per_s", point.samples_per_s.value);
  io.nullable("images_per_s_ci95", point.samples_per_s.ci95);
}

Json loader::written_value(Order order) {
  return name_of(order);
}

void loader::read_value(const Field& field, Order& order) {
  order = field.string() == name_of(Order::any) ? Order::any : Order::in_order;
}

Json loader::written_value(const StageTimes& stages) {
  Json json = Json::object();
  for (const sweeps::StageName& stage : sweeps::kStages) {
    if (stages.total() > 0) {
      json[stage.key] = stages.*stage.time;
    }
  }
  return json;
}

void loader::read_value(const Field& field, StageTimes& stages) {
  for (const sweeps::StageName& stage : sweeps::kStages) {
    if (const auto time = field.find(stage.key)) {
      stages.*stage.time = time->number();
    }
  }
}

namespace sweeps {
namespace {

// ---------- windows

constexpr std::size_t kMostSampleTimes = 256;  // single samples' times that are kept

// The members of a note, in the file and in memory.
constexpr std::array<std::pair<const char*, std::vector<double> Window::*>, 7> kWindowTimes{
    {{"step_ns", &Window::step_ns},
     {"compute_ns", &Window::compute_ns},
     {"batch_ns", &Window::batch_ns},
     {"batch_cpu_ns", &Window::batch_cpu_ns},
     {"sample_ns", &Window::sample_ns},
     {"late_ns", &Window::late_ns},
     {"take_ns", &Window::take_ns}}};
constexpr std::array<std::pair<const char*, std::int64_t Window::*>, 9> kWindowNumbers{
    {{"wait_ns", &Window::wait_ns},
     {"copy_ns", &Window::copy_ns},
     {"images", &Window::images},
     {"cpu_ns", &Window::cpu_ns},
     {"voluntary_switches", &Window::voluntary_switches},
     {"involuntary_switches", &Window::involuntary_switches},
     {"host_bytes", &Window::host_bytes},
     {"bad_files", &Window::bad_files},
     {"storage_bytes", &Window::storage_bytes}}};

// ---------- points

double sum_of(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

// `value` over all windows, with the interval of the windows' median moved to it: rounds repeat windows, and
// the steps of one window depend on each other.
Estimate with_interval_of(double value, const std::vector<double>& windows,
                          const std::vector<std::int64_t>& rounds) {
  if (windows.size() < 2 || std::ranges::max(windows) <= 0) {
    return {.value = value};
  }
  const bool fits = std::accumulate(rounds.begin(), rounds.end(), std::int64_t{0}) == std::ssize(windows);
  const std::vector<std::int64_t> one_round{std::ssize(windows)};
  const Estimate middle = median_estimate(windows, fits ? rounds : one_round);
  if (!middle.ci95) {
    return {.value = value};
  }
  const double scale = value / middle.value;
  return {.value = value,
          .ci95 = Interval{std::min(value, scale * middle.low()), std::max(value, scale * middle.high())}};
}

double without_extremes(const std::vector<double>& rates, const std::vector<double>& times) {
  const auto [slowest, fastest] = std::ranges::minmax_element(rates);
  double images = 0;
  double time = 0;
  for (auto rate = rates.begin(); rate != rates.end(); ++rate) {
    if (rates.size() < 5 || (rate != slowest && rate != fastest)) {
      const double took = times[static_cast<std::size_t>(rate - rates.begin())];
      images += *rate * took;
      time += took;
    }
  }
  return images / time;
}

std::optional<LoaderPoint> point_of(const Point& measured, const LoaderParams& params) {
  const auto batch = static_cast<double>(params.batch);
  auto windows = std::make_shared<Window>();
  std::vector<double> times;
  std::vector<double> rates;
  std::vector<double> shares;
  for (const auto& note : measured.notes) {
    const auto* const window = dynamic_cast<const Window*>(note.get());
    const double took = window == nullptr ? 0 : sum_of(window->step_ns);
    if (took > 0) {
      times.push_back(took);
      rates.push_back(batch * static_cast<double>(window->step_ns.size()) / took * 1e9);
      shares.push_back(sum_of(window->compute_ns) / took);
      windows->append(*window);
    }
  }
  if (times.empty()) {
    return std::nullopt;
  }
  const auto steps = static_cast<double>(windows->step_ns.size());
  const double samples = batch * steps;
  const double total = sum_of(times);
  const double computing = sum_of(windows->compute_ns);
  const std::vector<std::int64_t> sizes = round_sizes(measured);
  LoaderPoint point;
  static_cast<LoaderParams&>(point) = params;
  point.name = measured.name;
  point.flagged = !measured.validity.flags.empty();
  point.few_rounds = has_flag(measured, kFewRoundsFlag);
  point.samples_per_s = with_interval_of(samples / total * 1e9, rates, sizes);
  point.usual_samples_per_s = without_extremes(rates, times);
  point.raw_au = with_interval_of(computing / total, shares, sizes);
  point.usual_au = with_interval_of(median(shares), shares, sizes);
  point.step_ns = total / steps;
  point.compute_ns = computing / steps;
  point.copy_ns = static_cast<double>(windows->copy_ns) / steps;
  point.cpu_ns = static_cast<double>(windows->cpu_ns) / samples;
  point.sample_bytes = measured.work.sample_bytes;
  for (const StageName& stage : kStages) {
    const double images = windows->images > 0 ? static_cast<double>(windows->images) : samples;
    point.stages_ns.*stage.time = windows->stages_ns.*stage.time / images;
  }
  point.windows = std::move(windows);
  return point;
}

// AU and stalls, compared with the loader that does nothing: its usual window is the harness's own overhead.
void compare(LoaderPoint& point, const LoaderPoint& ready) {
  if (ready.usual_au.value > 0) {
    const double by = ready.usual_au.value;
    const double value = point.raw_au.value / by;
    const double own = point.raw_au.value > 0 ? 1 / point.raw_au.value : 0;
    // Both relative errors, independent of each other.
    const double below = combined_deviation(
        {(point.raw_au.value - point.raw_au.low()) * own, (ready.usual_au.high() - by) / by});
    const double above = combined_deviation(
        {(point.raw_au.high() - point.raw_au.value) * own, (by - ready.usual_au.low()) / by});
    point.au = Estimate{.value = value};
    if (below > 0 || above > 0) {
      point.au->ci95 = Interval{value * (1 - below), value * (1 + above)};
    }
  }
  point.stall_p99_ns = quantile(point.windows->step_ns, 0.99) - median(ready.windows->step_ns);
}

bool of_another_run(const LoaderParams& point, const LoaderSetup& setup) {
  return (setup.batch > 0 && point.batch != setup.batch) ||
         (!setup.dtype.empty() && !point.dtype.empty() && point.dtype != setup.dtype) ||
         (!setup.consumer.empty() && point.consumer != setup.consumer && point.consumer != "none");
}

// On average over the rounds; those that do not tell count as undisturbed.
double other_cores_during(const Point& measured, double cores) {
  std::vector<double> others;
  for (const MeasuredRound& round : measured.rounds) {
    others.push_back(round.other_cores.value_or(0) + cores * round.steal.value_or(0));
  }
  return others.empty() ? 0 : mean(others);
}

void add_once(std::vector<LoaderPoint>& points, LoaderPoint point) {
  if (std::ranges::find(points, point.workers, &LoaderPoint::workers) == points.end()) {
    points.push_back(std::move(point));
  }
}

}  // namespace

const char* LoaderSetup::page_cache() const {
  constexpr double kNextToNothing = 0.01;
  if (cold) {
    return "cold";
  }
  return found && found->from_storage.value_or(1) < kNextToNothing ? "warm" : "as found";
}

Json to_json(const LoaderSetup& setup) {
  Json json = {{"cores", setup.cores},
               {"cores_why", "affinity mask and cgroup quota"},
               {"data", setup.data},
               {"page_cache", setup.page_cache()},
               {"storage", nullptr},
               {"consumer", setup.consumer},
               {"consumer_device", setup.consumer_device},
               {"consumer_on_cores", setup.consumer_on_cores},
               {"batch", setup.batch},
               {"dtype", setup.dtype},
               {"slot_bytes", setup.slot_bytes},
               {"pinned", setup.pinned},
               {"demands", Json::array()},
               {"gpus", setup.gpus}};
  if (setup.storage) {
    json["storage"] = {{"bytes_per_s", setup.storage->bytes_per_s},
                       {"latency_ns", std::llround(setup.storage->latency_ns)}};
  }
  for (const RequiredThroughput& required : setup.required) {
    json["demands"].push_back(
        {{"name", required.name}, {"images_per_s", required.samples_per_s}, {"source", required.source}});
  }
  if (setup.bus_bytes_per_s > 0) {
    json["bus"] = {{"bytes_per_s", setup.bus_bytes_per_s}};
  }
  if (!setup.found) {
    return json;
  }
  const DataFound& found = *setup.found;
  json["images"] = found.images;
  json["mean_encoded_bytes"] = found.mean_encoded_bytes;
  if (found.from_storage && setup.page_cache() == std::string("as found")) {
    json["read_from_storage"] = std::min(1.0, *found.from_storage);
  }
  if (found.still_cached > 0) {
    json["still_cached"] = {
        {"reads", found.still_cached}, {"of", found.evicted}, {"reason", found.still_cached_reason}};
  }
  json["bad_files"] = Json::array();
  for (const auto& [file, reason] : found.bad_files) {
    json["bad_files"].push_back({{"file", file}, {"reason", reason}});
  }
  return json;
}

std::string required_text(const RequiredThroughput& required) {
  const std::string rate = fmt::format("{} samples/s", format_number(required.samples_per_s));
  return required.name.ends_with("/s") ? rate : fmt::format("{} ({})", required.name, rate);
}

const StageName& largest_stage(const loader::StageTimes& stages) {
  return *std::ranges::max_element(kStages, {}, [&](const StageName& stage) { return stages.*stage.time; });
}

void Window::add_batches(const std::vector<loader::Batch>& batches) {
  std::size_t made = 0;
  for (const loader::Batch& batch : batches) {
    batch_ns.push_back(static_cast<double>(batch.to_ns - batch.from_ns));
    batch_cpu_ns.push_back(static_cast<double>(batch.use.cpu_ns));
    stages_ns += batch.stages;
    voluntary_switches += batch.use.voluntary_switches;
    involuntary_switches += batch.use.involuntary_switches;
    made += batch.sample_ns.size();
  }
  images += static_cast<std::int64_t>(made);
  const std::size_t stride = std::max<std::size_t>(1, made / kMostSampleTimes);
  std::size_t number = 0;
  for (const loader::Batch& batch : batches) {
    for (const std::int64_t sample : batch.sample_ns) {
      if (number++ % stride == 0 && sample_ns.size() < kMostSampleTimes) {
        sample_ns.push_back(static_cast<double>(sample));
      }
    }
  }
}

void Window::append(const Window& other) {
  for (const auto& [key, times] : kWindowTimes) {
    const std::vector<double>& more = other.*times;
    (this->*times).insert((this->*times).end(), more.begin(), more.end());
  }
  stages_ns += other.stages_ns;
  copy_ns += other.copy_ns;
  images += other.images;
  cpu_ns += other.cpu_ns;
  host_bytes = std::max(host_bytes, other.host_bytes);
  bad_files = std::max(bad_files, other.bad_files);
}

Json Window::to_json() const {
  JsonWriter io(Json::object({{"batches", step_ns.size()}}));
  for (const auto& [key, times] : kWindowTimes) {
    const bool is_rare = times == &Window::late_ns || times == &Window::take_ns;
    if (const auto& values = this->*times; !values.empty() || !is_rare) {
      io.whole(key, values);
    }
  }
  for (const auto& [key, number] : kWindowNumbers) {
    if (this->*number >= 0) {
      io(key, this->*number);
    }
  }
  Json stages = Json::object();
  for (const StageName& stage : kStages) {
    stages[stage.key] = std::llround(stages_ns.*stage.time);
  }
  io("stages_ns", stages);
  io.unless_empty("timeline", timeline);
  return io.take();
}

std::shared_ptr<const Window> read_window(const Json& note) {
  if (!note.is_object()) {
    return nullptr;
  }
  const auto usable = [](const Json& value) { return value.is_number() && value.get<double>() >= 0; };
  auto window = std::make_shared<Window>();
  for (const auto& [key, times] : kWindowTimes) {
    for (const Json& value : note.value(key, Json::array())) {
      if (usable(value)) {
        ((*window).*times).push_back(value.get<double>());
      }
    }
  }
  for (const auto& [key, number] : kWindowNumbers) {
    if (const Json value = note.value(key, Json()); usable(value)) {
      (*window).*number = value.get<std::int64_t>();
    }
  }
  const Json stages = note.value("stages_ns", Json());
  for (const StageName& stage : kStages) {
    if (const Json value = stages.is_object() ? stages.value(stage.key, Json()) : Json(); usable(value)) {
      window->stages_ns.*stage.time = value.get<double>();
    }
  }
  try {
    JsonReader(Field(note)).unless_empty("timeline", window->timeline);
  } catch (const UsageError&) {
    window->timeline.clear();
  }
  return window;
}

std::optional<LoaderParams> read_loader_params(const Json& params) {
  if (!params.is_object() || params.value("batch", std::int64_t{0}) < 1) {
    return std::nullopt;
  }
  return LoaderParams{.loader = params.value("loader", ""),
                      .workers = params.value("workers", std::int64_t{0}),
                      .prefetch = params.value("prefetch", std::int64_t{0}),
                      .order = params.value("order", ""),
                      .batch = params.value("batch", std::int64_t{0}),
                      .dtype = params.value("dtype", ""),
                      .consumer = params.value("consumer", ""),
                      .staging = params.value("staging", "")};
}

Json to_json(const LoaderPoint& point) {
  JsonWriter io(write_struct(point));
  io.whole("compute_ns", point.compute_ns);
  if (point.au) {
    io("au", point.au->value);
    io.nullable("au_ci95", point.au->ci95);
  }
  return io.take();
}

std::vector<LoaderPoint> read_measured(const Json& sweep) {
  const Field field(sweep, "sweep");
  std::vector<LoaderPoint> points;
  if (const auto rows = field.find("measured")) {
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const Field row = rows->at(i);
      LoaderPoint& point = points.emplace_back(read_struct<LoaderPoint>(row));
      JsonReader io(row);
      io.maybe("compute_ns", point.compute_ns);
      if (const auto au = row.find("au")) {
        io.nullable("au_ci95", point.au.emplace(Estimate{.value = au->number()}).ci95);
      }
    }
  }
  return points;
}

void restore_points(ResultDocument& document) {
  for (Point& point : measured_points(document)) {
    for (auto& note : point.notes) {
      note = note ? read_window(note->to_json()) : nullptr;
    }
  }
}

const LoaderPoint* LoaderPoints::at(std::int64_t workers) const {
  const auto found = std::ranges::find(pool, workers, &LoaderPoint::workers);
  return found == pool.end() ? nullptr : &*found;
}

std::vector<const LoaderPoint*> LoaderPoints::capacity_and_pool() const {
  std::vector<const LoaderPoint*> points;
  for (const auto* list : {&capacity, &pool}) {
    for (const LoaderPoint& point : *list) {
      points.push_back(&point);
    }
  }
  return points;
}

LoaderPoints loader_points(std::span<const Point> measured, const LoaderSetup& setup) {
  const FlagMarks marks(measured);
  LoaderPoints points;
  for (const Point& one : measured) {
    const auto params = read_loader_params(one.params);
    if (!params || of_another_run(*params, setup)) {
      continue;
    }
    std::optional<LoaderPoint> point = point_of(one, *params);
    if (!point) {
      continue;
    }
    point->mark = marks.of(one);
    point->other_cores = other_cores_during(one, setup.cores);
    if (point->loader == "ready") {
      points.ready = points.ready ? points.ready : point;
    } else if (point->loader == "other-staging") {
      points.other_staging = point;
    } else if (point->loader == "capacity") {
      add_once(points.capacity, std::move(*point));
    } else if (point->loader == "pool") {
      const bool first_order = points.pool.empty() || points.pool.front().order == point->order;
      add_once(first_order ? points.pool : points.other_order, std::move(*point));
    }
  }
  for (auto* const list : {&points.pool, &points.other_order, &points.capacity}) {
    std::ranges::sort(*list, {}, &LoaderPoint::workers);
    for (LoaderPoint& point : *list) {
      if (points.ready && list != &points.capacity) {
        compare(point, *points.ready);
      }
    }
  }
  return points;
}

std::optional<double> part_from_storage(std::span<const Point> measured, double mean_encoded_bytes) {
  double from_storage = 0;
  double images = 0;
  for (const Point& point : measured) {
    for (const auto& note : point.notes) {
      const auto* const window = dynamic_cast<const Window*>(note.get());
      if (window == nullptr || window->storage_bytes < 0) {
        return std::nullopt;
      }
      from_storage += static_cast<double>(window->storage_bytes);
      images += static_cast<double>(window->images);
    }
  }
  return images > 0 && mean_encoded_bytes > 0 ? std::optional(from_storage / (images * mean_encoded_bytes))
                                              : std::nullopt;
}

double working_ns(const LoaderPoint& point, bool storage) {
  const loader::StageTimes& stages = point.stages_ns;
  double working = stages.total() - stages.hand_off;
  if (const auto& batches = point.windows->batch_ns; point.order != "any" && !batches.empty()) {
    working = mean(batches) / static_cast<double>(point.batch);
  }
  return std::max(0.0, working - (storage ? stages.read : 0));
}

double active_workers(const LoaderPoint& point, bool storage) {
  const auto workers = static_cast<double>(std::max<std::int64_t>(1, point.workers));
  const double working = working_ns(point, storage);
  return working > 0 ? std::min(workers, point.samples_per_s.value * working / 1e9) : workers;
}

std::vector<double> group_means(std::vector<double> values, std::size_t groups) {
  std::ranges::sort(values);
  std::vector<double> means;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * values.size() / groups;
    const std::size_t last = std::max(first + 1, (group + 1) * values.size() / groups);
    means.push_back(mean(std::span(values).subspan(first, last - first)));
  }
  return means;
}

}  // namespace sweeps
}  // namespace bench
