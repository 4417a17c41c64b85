#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/advise/observed_parts.h"
#include "bench/error.h"
#include "bench/json.h"
#include "bench/result/json_text.h"
#include "bench/result/schema_check.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Ends of a key, and how many seconds or bytes each is.
using Unit = std::pair<std::string_view, double>;
using Units = std::array<Unit, 4>;
constexpr Units kTimes{{{"_ms", 1e-3}, {"_s", 1}, {"_min", 60}, {"_h", 3600}}};
constexpr Units kSizes{{{"_gib", 0x1p30}, {"_mib", 0x1p20}, {"_gb", 1e9}, {"_mb", 1e6}}};

// What no schema says: a quantity in two units, and a share where percent are meant.
void refuse_units(const Json& object, const std::string& place) {
  std::map<std::string, std::string> given;  // by the key without its unit
  for (const auto& [key, value] : object.items()) {
    if (key.starts_with('_')) {
      continue;
    }
    for (const Units& units : {kTimes, kSizes}) {
      const auto unit =
          std::ranges::find_if(units, [&](const Unit& one) { return key.ends_with(one.first); });
      const std::string quantity = unit == units.end() ? key : key.substr(0, key.size() - unit->first.size());
      if (const auto [at, is_new] = given.emplace(quantity, key); !is_new && at->second != key) {
        throw UsageError(
            fmt::format("{0}{1} and {0}{2} are both given; give one of them", place, at->second, key));
      }
    }
    const Json list = value.is_array() ? value : Json::array({value});
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double percent = list[i].is_number() && key.ends_with("_percent") ? list[i].get<double>() : 0;
      if (percent > 0 && percent < 1) {
        throw UsageError(fmt::format("{}{} is {}; is {:.0f} % meant? Give it in percent", place, key,
                                     list[i].dump(), 100 * percent));
      }
      if (list[i].is_object()) {
        refuse_units(list[i], value.is_array() ? fmt::format("{}{}[{}].", place, key, i)
                                               : fmt::format("{}{}.", place, key));
      }
    }
  }
}

// An object that follows the schema, by its keys; those of quantities have their unit at the end.
class Readings {
 public:
  explicit Readings(const Json& json) : json_(json) {}

  bool has(const char* key) const { return json_.contains(key); }
  template <class T>
  std::optional<T> value(const std::string& key) const {
    const auto at = json_.find(key);
    return at == json_.end() ? std::nullopt : std::optional(at->get<T>());
  }
  std::optional<std::int64_t> count(const char* key) const { return value<std::int64_t>(key); }
  std::int64_t count(const char* key, std::int64_t otherwise) const { return count(key).value_or(otherwise); }
  std::string word(const char* key, const char* otherwise = "") const {
    return printable(value<std::string>(key).value_or(otherwise));
  }
  std::optional<Readings> object(const char* key) const {
    const auto at = json_.find(key);
    return at == json_.end() ? std::nullopt : std::optional(Readings(*at));
  }
  std::vector<Readings> objects(const char* key) const {
    const auto at = json_.find(key);
    return at == json_.end() ? std::vector<Readings>() : std::vector<Readings>(at->begin(), at->end());
  }

  template <class T>
  std::vector<T> value_or_list(const std::string& key) const {
    const auto at = json_.find(key);
    return at == json_.end() ? std::vector<T>() : list_of<T>(*at);
  }
  // An empty list is no reading: a machine without a card.
  std::vector<double> list(const std::string& quantity, const Units& units) const {
    const auto [at, scale] = find(quantity, units);
    std::vector<double> values = at == nullptr ? std::vector<double>() : list_of<double>(*at);
    std::ranges::for_each(values, [by = scale](double& value) { value *= by; });
    return values;
  }
  std::vector<double> percents(const std::string& quantity) const {
    return value_or_list<double>(quantity + "_percent");
  }
  std::optional<double> seconds(const std::string& quantity) const { return first(list(quantity, kTimes)); }
  std::optional<double> bytes(const std::string& quantity) const { return first(list(quantity, kSizes)); }
  std::optional<double> share(const std::string& quantity) const {
    const auto percent = value<double>(quantity + "_percent");
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }

  // Half of the last digit of a time as it is written, in seconds: 5e-5 for "33.6" of "data_ms".
  double half_digit(const std::string& quantity) const {
    const auto [at, scale] = find(quantity, kTimes);
    const std::string text = at == nullptr ? "e" : at->dump();
    const std::size_t decimals = text.size() - 1 - std::min(text.size() - 1, text.find('.'));
    return text.find('e') != std::string::npos ? 0
                                               : scale * std::pow(10.0, -static_cast<double>(decimals)) / 2;
  }

 private:
  std::pair<const Json*, double> find(const std::string& quantity, const Units& units) const {
    for (const auto& [unit, scale] : units) {
      if (const auto at = json_.find(fmt::format("{}{}", quantity, unit)); at != json_.end()) {
        return {&*at, scale};
      }
    }
    return {nullptr, 0};
  }
  template <class T>
  static std::vector<T> list_of(const Json& json) {
    return json.is_array() ? json.get<std::vector<T>>() : std::vector{json.get<T>()};
  }
  static std::optional<double> first(const std::vector<double>& values) {
    return values.empty() ? std::nullopt : std::optional(values.front());
  }

  const Json& json_;
};

std::optional<OtherRun> other_run(const Readings& object, const char* key) {
  const auto at = object.object(key);
  if (!at) {
    return std::nullopt;
  }
  return OtherRun{.batch = at->count("batch"),
                  .accumulate = at->count("accumulate"),
                  .workers = at->count("workers"),
                  .cards = at->count("cards"),
                  .image_size = at->count("image_size"),
                  .sequence = at->count("sequence"),
                  .pin = at->value<bool>("pin"),
                  .step_s = at->seconds("step"),
                  .data_s = at->seconds("data")};
}

void read_settings(const Readings& object, Observed& observed) {
  observed.has_accumulate = object.has("accumulate");
  observed.has_workers = object.has("workers");
  observed.has_dtype = object.has("dtype");
  observed.settings = {.batch = object.count("batch", 0),
                       .accumulate = object.count("accumulate", 1),
                       .workers = object.count("workers", 0),
                       .prefetch = object.count("prefetch", 2),
                       .pin = object.value<bool>("pin").value_or(false),
                       .dtype = object.word("dtype", "fp32"),
                       .cards = object.count("cards", 1)};
  observed.optimizer = object.word("optimizer");
}

void read_memory_at_batch(const Readings& object, Observed& observed) {
  for (const Readings& read : object.objects("memory_at_batch")) {
    MemoryPoint at{.batch = read.count("batch").value()};
    std::vector<double> sizes;
    for (const auto& [unit, scale] : kSizes) {
      for (const std::string_view head : {"memory", ""}) {  // "gib": 8
        const std::string key = fmt::format("{}{}", head, unit.substr(head.empty() ? 1 : 0));
        if (const auto size = read.value<double>(key)) {
          sizes.push_back(*size * scale);
        }
      }
    }
    if (sizes.size() != 1) {
      throw UsageError(sizes.empty() ? "memory_at_batch: gib, mib, gb or mb is missing"
                                     : fmt::format("memory_at_batch of batch {}: the memory is given twice; "
                                                   "give it once",
                                                   at.batch));
    }
    at.bytes = std::max<std::int64_t>(1, std::llround(sizes.front()));
    if (std::ranges::count(observed.memory_at_batch, at.batch, &MemoryPoint::batch) > 0) {
      throw UsageError(fmt::format("memory_at_batch has batch {} twice; give it once", at.batch));
    }
    observed.memory_at_batch.push_back(at);
  }
  std::ranges::sort(observed.memory_at_batch, {}, &MemoryPoint::batch);
}

void read_workers_tried(const Readings& object, Observed& observed) {
  for (const Readings& read : object.objects("workers_tried")) {
    const std::string idle = read.word("idle");
    WorkersTried tried{.workers = read.count("workers").value(),
                       .utilisation = read.percents("utilisation_trace"),
                       .slower_than_workers = read.count("slower_than_workers"),
                       .idle_rarely = idle == "rarely",
                       .idle_often = idle == "often",
                       .step_s = read.seconds("step"),
                       .data_s = read.seconds("data")};
    if (std::ranges::count(observed.workers_tried, tried.workers, &WorkersTried::workers) > 0) {
      throw UsageError(fmt::format("workers_tried has {} workers twice; give them once", tried.workers));
    }
    if (tried.slower_than_workers == tried.workers) {
      throw UsageError(fmt::format("workers_tried: {} workers cannot be slower than {}; give another count",
                                   tried.workers, tried.workers));
    }
    observed.workers_tried.push_back(std::move(tried));
  }
}

void read_times(const Readings& object, Observed& observed) {
  observed.step_s = object.seconds("step");
  observed.data_s = object.seconds("data");
  observed.step_rounding_s = object.half_digit("step");
  observed.data_rounding_s = object.half_digit("data");
  observed.elapsed_s = object.seconds("elapsed");
  observed.outside_s = object.seconds("outside");
  if (const auto is = object.value<std::string>("step_is")) {
    observed.step_is_optimizer = *is == "optimizer_step";
  }
  observed.iterations = object.count("iterations");
  observed.iterations_done = object.count("iterations_done");
  observed.iterations_an_epoch = object.count("iterations_an_epoch");
  observed.epochs = object.count("epochs");
  if (observed.iterations && observed.iterations_an_epoch && observed.epochs &&
      *observed.iterations != *observed.iterations_an_epoch * *observed.epochs) {
    throw UsageError(fmt::format("iterations is {}, but {} epochs of {} are {}; give one of them",
                                 *observed.iterations, *observed.epochs, *observed.iterations_an_epoch,
                                 *observed.iterations_an_epoch * *observed.epochs));
  }
  if (const auto to_go = object.count("iterations_to_go")) {
    const std::int64_t all = *to_go + observed.iterations_done.value_or(0);
    if (observed.all_iterations() && *observed.all_iterations() != all) {
      throw UsageError(
          fmt::format("iterations_to_go is {}, but the other readings leave {}; give one of them", *to_go,
                      *observed.all_iterations() - observed.iterations_done.value_or(0)));
    }
    observed.iterations = all;
  }
  if (const auto all = observed.all_iterations(); all && observed.iterations_done.value_or(0) > *all) {
    throw UsageError(fmt::format("iterations_done is {}, more than all {}", *observed.iterations_done, *all));
  }
}

void read_memory(const Readings& object, Observed& observed) {
  observed.memory = object.list("memory", kSizes);
  observed.memory_cap = object.bytes("memory_cap");
  observed.memory_stated_percent = object.value<double>("memory_stated_percent");
  observed.host_memory = object.bytes("host_memory");
  observed.host_memory_used = object.bytes("host_memory_used");
  observed.swap = object.bytes("swap");
  observed.swap_used = object.bytes("swap_used");
  observed.worker_memory = object.bytes("worker_memory");
  observed.host_cores = object.count("host_cores");
  observed.host_cpu = object.share("host_cpu");
  observed.host_system = object.share("host_system");
  observed.reserved = object.bytes("reserved");
  observed.runs_at_batch = object.count("runs_at_batch");
  observed.no_faster_above_batch = object.count("no_faster_above_batch");
  observed.other_caps = object.list("other_caps", kSizes);
  observed.allocation = object.bytes("allocation");
  observed.free = object.bytes("free");
  observed.split_by_layers = object.word("split") == "layers";
  if (const auto died = object.object("died_at")) {
    observed.died_at =
        DiedAt{.batch = died->count("batch").value(),
               .iterations = died->count("iterations"),
               .memory_cap = died->bytes("memory_cap").value_or(observed.memory_cap.value_or(0)),
               .device = died->word("device")};
  }
}

void read_network(const Readings& object, Observed& observed) {
  observed.subject = object.word("subject");
  observed.mode = object.word("mode", "train");
  observed.stand_in = object.word("stand_in");
  observed.stand_in_run = object.value<std::string>("stand_in_run").value_or("");
  observed.image_size = object.count("image_size");
  observed.sequence = object.count("sequence");
  observed.device = object.word("device");
  if (const auto millions = object.value<double>("parameters_m")) {
    observed.parameters = 1e6 * *millions;
  }
  if (const auto gflop = object.value<double>("gflop_a_sample")) {
    observed.flops_a_sample = 1e9 * *gflop;
  }
  observed.batches_tried = object.value_or_list<std::int64_t>("batches_tried");
}

void refuse_longer_wait(const std::optional<double>& data_s, const std::optional<double>& step_s,
                        const std::string& whose) {
  if (step_s && data_s && *data_s > *step_s) {
    throw UsageError(fmt::format("the data time{}, {} s, is longer than the step, {} s, that it is a part of",
                                 whose, *data_s, *step_s));
  }
}

void refuse_impossible(const Observed& observed) {
  refuse_longer_wait(observed.data_s, observed.step_s, "");
  for (const WorkersTried& tried : observed.workers_tried) {
    refuse_longer_wait(tried.data_s, tried.step_s, fmt::format(" of {} workers", tried.workers));
  }
  for (const auto& [run, name] :
       {std::pair{&observed.earlier_run, "earlier_run"}, std::pair{&observed.proposed, "proposed"}}) {
    if (*run) {
      const auto step_s = (*run)->step_s ? (*run)->step_s : observed.step_s;
      refuse_longer_wait((*run)->data_s, step_s, fmt::format(" of {}", name));
    }
  }
  for (const auto& [name, used, all] :
       {std::tuple{"host_memory_used", observed.host_memory_used, observed.host_memory},
        std::tuple{"swap_used", observed.swap_used, observed.swap},
        std::tuple{"reserved", observed.reserved, observed.memory_cap},
        std::tuple{"free", observed.free, observed.memory_cap}}) {
    if (used && all && *used > *all) {
      throw UsageError(
          fmt::format("{} is {}, more than the {} there are", name, gib_in_words(*used), gib_in_words(*all)));
    }
  }
  const auto& range = observed.utilisation_range;
  if (!range.empty() && range.front() > range.back()) {
    throw UsageError("utilisation_range_percent has the higher number first; give the lower one first");
  }
  if (const auto& efficiency = observed.scaling_efficiency;
      efficiency && efficiency->low > efficiency->high) {
    throw UsageError("scaling_efficiency_percent has the higher number first; give the lower one first");
  }
  if (observed.host_cpu && observed.host_system && *observed.host_system > *observed.host_cpu) {
    throw UsageError("host_system_percent is more than host_cpu_percent, of which it is a part");
  }
  if (observed.outside_s && observed.elapsed_s && *observed.outside_s >= *observed.elapsed_s) {
    throw UsageError("the time outside of steps is not less than the elapsed time that it is a part of");
  }
  for (std::size_t i = 0; observed.memory_cap && i < observed.memory.size(); ++i) {
    if (observed.memory[i] > *observed.memory_cap) {
      throw UsageError(fmt::format("memory of card {} is {}, more than the card's {}", i,
                                   gib_in_words(observed.memory[i]), gib_in_words(*observed.memory_cap)));
    }
  }
  for (const MemoryPoint& at : observed.memory_at_batch) {
    const auto bytes = static_cast<double>(at.bytes);
    if (observed.memory_cap && bytes > *observed.memory_cap + 1) {
      throw UsageError(fmt::format("memory_at_batch of batch {} is {}, more than the card's {}", at.batch,
                                   gib_in_words(bytes), gib_in_words(*observed.memory_cap)));
    }
  }
  const auto cards = static_cast<std::size_t>(observed.settings.cards);
  for (const auto& [name, size] : {std::pair{"memory", observed.memory.size()},
                                   std::pair{"utilisation_percent", observed.utilisation.size()}}) {
    if (size > 1 && size != cards) {
      throw UsageError(
          fmt::format("{} lists {} cards, but cards is {}; give one for each", name, size, cards));
    }
  }
}

}  // namespace

Observed parse_observed(std::string_view text, const std::string& source) {
  Observed observed;
  observed.source = source;
  observed.text = text;
  Json json;
  try {
    json = parse_json(text, source);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--observed: {}", error.what()));
  }
  try {
    if (json.is_object() && json.contains("schema")) {
      throw UsageError("it is a result, no readings; give it without --observed");
    }
    check_by_schema(Field(json), "observed");
    refuse_units(json, "");
    const Readings object(json);
    read_network(object, observed);
    read_settings(object, observed);
    read_times(object, observed);
    read_memory(object, observed);
    read_memory_at_batch(object, observed);
    read_workers_tried(object, observed);
    observed.utilisation = object.percents("utilisation");
    observed.utilisation_range = object.percents("utilisation_range");
    if (const auto efficiency = object.percents("scaling_efficiency"); !efficiency.empty()) {
      observed.scaling_efficiency = Interval{efficiency.front() / 100, efficiency.back() / 100};
    }
    observed.earlier_run = other_run(object, "earlier_run");
    observed.proposed = other_run(object, "proposed");
    refuse_impossible(observed);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--observed: {}: {}", source, error.what()));
  }
  return observed;
}

Observed read_observed(const std::string& path, std::istream& standard_input) {
  const bool is_standard_input = path == "-";
  const std::string name = is_standard_input ? "standard input" : printable(path, 4096);
  std::ifstream file;
  if (!is_standard_input) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      throw UsageError(
          fmt::format("--observed: {} is not a file; give a JSON file, or - for standard input", name));
    }
    file.open(path, std::ios::binary);
    if (!file) {
      throw UsageError(
          fmt::format("--observed: {} cannot be read; give a JSON file, or - for standard input", name));
    }
  }
  std::istream& in = is_standard_input ? standard_input : file;
  std::string text(kMostObservedBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostObservedBytes) {
    throw UsageError(fmt::format("--observed: {} is larger than 1 MiB; readings take a few lines", name));
  }
  return parse_observed(text, name);
}

}  // namespace bench
