#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <istream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/advise/observed.h"
#include "bench/advise/reading_object.h"
#include "bench/advise/settings.h"
#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/json.h"
#include "bench/result/json_text.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

OtherRun other_run(ReadingObject& object) {
  OtherRun run;
  run.batch = object.count("batch");
  run.accumulate = object.count("accumulate");
  run.workers = object.count("workers", 0);
  run.cards = object.count("cards");
  run.image_size = object.count("image_size");
  run.sequence = object.count("sequence");
  run.pin = object.flag("pin");
  run.step_s = object.seconds("step");
  run.data_s = object.seconds("data", true);
  object.refuse_unknown();
  return run;
}

template <class T>
T required(const std::optional<T>& value, const ReadingObject& object, const std::string& what) {
  if (!value) {
    object.fail(what + " is missing");
  }
  return *value;
}

void read_settings(ReadingObject& object, Observed& observed) {
  TrainingSettings& settings = observed.settings;
  settings.batch = object.count("batch").value_or(0);
  const auto accumulate = object.count("accumulate");
  const auto workers = object.count("workers", 0);
  observed.has_accumulate = accumulate.has_value();
  observed.has_workers = workers.has_value();
  settings.accumulate = accumulate.value_or(1);
  settings.workers = workers.value_or(0);
  settings.prefetch = object.count("prefetch").value_or(2);
  settings.pin = object.flag("pin").value_or(false);
  settings.cards = object.count("cards", 1, kMostInAList).value_or(1);
  const std::string dtype = object.word("dtype", {"fp32", "tf32", "fp16", "bf16"});
  settings.dtype = dtype.empty() ? "fp32" : dtype;
  observed.optimizer = object.word("optimizer", {"sgd", "momentum", "adam", "adamw"});
}

void read_lists(ReadingObject& object, Observed& observed) {
  for (ReadingObject& one : object.objects("memory_at_batch")) {
    MemoryAtBatch at{.batch = required(one.count("batch"), one, "memory_at_batch: batch")};
    std::optional<double> bytes = one.bytes("memory");
    for (const auto& [suffix, scale] : byte_units()) {  // "gib": 8
      if (const auto found = one.find(suffix.substr(1))) {
        if (bytes) {
          one.fail(found->path + ": the memory is given twice; give it once");
        }
        bytes = scale *
                one.number(*found, *found->json, 0, kMostBytes / scale, "a size of 0 or more, up to 1 EiB");
      }
    }
    at.bytes = required(bytes, one, "memory_at_batch: gib, mib, gb or mb");
    one.refuse_unknown();
    for (const MemoryAtBatch& other : observed.memory_at_batch) {
      if (other.batch == at.batch) {
        one.fail(fmt::format("memory_at_batch has batch {} twice; give it once", at.batch));
      }
    }
    observed.memory_at_batch.push_back(at);
  }
  if (const auto tried = object.find("batches_tried")) {
    for (const double batch : object.list(*tried, [&object](const auto&at, const Json&json) {
           const double value = object.number(at, json, 1, 1e6, "whole numbers from 1 to 1000000");
           if (value != std::floor(value)) {
             object.refuse(at.path, json, "whole numbers from 1 to 1000000");
           }
           return value;
         })) {
      observed.batches_tried.push_back(static_cast<std::int64_t>(batch));
    }
  }
  std::ranges::sort(observed.memory_at_batch, {}, &MemoryAtBatch::batch);
  for (ReadingObject& one : object.objects("workers_tried")) {
    WorkersTried tried;
    tried.workers = required(one.count("workers", 0), one, "workers_tried: workers");
    if (std::ranges::count(observed.workers_tried, tried.workers, &WorkersTried::workers) > 0) {
      one.fail(fmt::format("workers_tried has {} workers twice; give them once", tried.workers));
    }
    tried.utilisation = one.percents("utilisation_trace");
    tried.slower_than_workers = one.count("slower_than_workers", 0);
    if (tried.slower_than_workers == tried.workers) {
      one.fail(fmt::format("workers_tried: {} workers cannot be slower than {}; give another count",
                           tried.workers, tried.workers));
    }
    const std::string idle = one.word("idle", {"often", "rarely"});
    tried.idle_rarely = idle == "rarely";
    tried.idle_often = idle == "often";
    tried.step_s = one.seconds("step");
    tried.data_s = one.seconds("data", true);
    one.refuse_unknown();
    observed.workers_tried.push_back(std::move(tried));
  }
}

void read_times(ReadingObject& object, Observed& observed) {
  observed.step_s = object.seconds("step");
  observed.data_s = object.seconds("data", true);
  observed.step_rounding_s = object.half_digit("step");
  observed.data_rounding_s = object.half_digit("data");
  observed.elapsed_s = object.seconds("elapsed");
  observed.outside_s = object.seconds("outside", true);
  const std::string is = object.word("step_is", {"optimizer_step", "accumulation"});
  if (!is.empty()) {
    observed.step_is_optimizer = is == "optimizer_step";
  }
  observed.iterations = object.count("iterations", 1, kMostIterations);
  observed.iterations_done = object.count("iterations_done", 0, kMostIterations);
  observed.iterations_an_epoch = object.count("iterations_an_epoch", 1, kMostOfASetting * 1000);
  observed.epochs = object.count("epochs");
  if (observed.iterations && observed.iterations_an_epoch && observed.epochs &&
      *observed.iterations != *observed.iterations_an_epoch * *observed.epochs) {
    object.fail(fmt::format("iterations is {}, but {} epochs of {} are {}; give one of them",
                            *observed.iterations, *observed.epochs, *observed.iterations_an_epoch,
                            *observed.iterations_an_epoch * *observed.epochs));
  }
  if (const auto to_go = object.count("iterations_to_go", 1, kMostIterations)) {
    const std::int64_t all = *to_go + observed.iterations_done.value_or(0);
    if (observed.all_iterations() && *observed.all_iterations() != all) {
      object.fail(fmt::format("iterations_to_go is {}, but the other readings leave {}; give one of them",
                              *to_go, *observed.all_iterations() - observed.iterations_done.value_or(0)));
    }
    observed.iterations = all;
  }
  if (const auto all = observed.all_iterations(); all && observed.iterations_done.value_or(0) > *all) {
    object.fail(fmt::format("iterations_done is {}, more than all {}", *observed.iterations_done, *all));
  }
}

void read_memory(ReadingObject& object, Observed& observed) {
  observed.memory = object.byte_list("memory");
  observed.memory_cap = object.bytes("memory_cap", false);
  for (const double stated : object.percents("memory_stated")) {
    observed.memory_stated_percent = stated;
  }
  observed.host_memory = object.bytes("host_memory", false);
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
  observed.other_caps = object.byte_list("other_caps");
  observed.allocation = object.bytes("allocation");
  observed.free = object.bytes("free");
  observed.split_by_layers = object.word("split", {"layers", "copies"}) == "layers";
  if (auto died = object.object("died_at")) {
    observed.died_at =
        DiedAt{.batch = required(died->count("batch"), *died, "died_at: batch"),
               .iterations = died->count("iterations", 0),
               .memory_cap = died->bytes("memory_cap", false).value_or(observed.memory_cap.value_or(0)),
               .device = died->word("device")};
    died->refuse_unknown();
  }
}

std::string gb(double bytes) {
  return fmt::format("{:.2f} GiB", bytes / 0x1p30);
}

void refuse_longer_wait(const ReadingObject& object, const std::optional<double>& data_s,
                        const std::optional<double>& step_s, const std::string& whose) {
  if (step_s && data_s && *data_s > *step_s) {
    object.fail(fmt::format("the data time{}, {} s, is longer than the step, {} s, that it is a part of",
                            whose, *data_s, *step_s));
  }
}

void refuse_impossible(const ReadingObject& object, const Observed& observed) {
  refuse_longer_wait(object, observed.data_s, observed.step_s, "");
  for (const WorkersTried& tried : observed.workers_tried) {
    refuse_longer_wait(object, tried.data_s, tried.step_s, fmt::format(" of {} workers", tried.workers));
  }
  for (const auto& [run, name] :
       {std::pair{&observed.earlier_run, "earlier_run"}, std::pair{&observed.proposed, "proposed"}}) {
    if (*run) {
      const auto step_s = (*run)->step_s ? (*run)->step_s : observed.step_s;
      refuse_longer_wait(object, (*run)->data_s, step_s, fmt::format(" of {}", name));
    }
  }
  for (const auto& [name, used, all] :
       {std::tuple{"host_memory_used", observed.host_memory_used, observed.host_memory},
        std::tuple{"swap_used", observed.swap_used, observed.swap},
        std::tuple{"reserved", observed.reserved, observed.memory_cap},
        std::tuple{"free", observed.free, observed.memory_cap}}) {
    if (used && all && *used > *all) {
      object.fail(fmt::format("{} is {}, more than the {} there are", name, gb(*used), gb(*all)));
    }
  }
  if (observed.host_cpu && observed.host_system && *observed.host_system > *observed.host_cpu) {
    object.fail("host_system_percent is more than host_cpu_percent, of which it is a part");
  }
  if (observed.outside_s && observed.elapsed_s && *observed.outside_s >= *observed.elapsed_s) {
    object.fail("the time outside of steps is not less than the elapsed time that it is a part of");
  }
  for (std::size_t i = 0; observed.memory_cap && i < observed.memory.size(); ++i) {
    if (observed.memory[i] > *observed.memory_cap) {
      object.fail(fmt::format("memory of card {} is {}, more than the card's {}", i, gb(observed.memory[i]),
                              gb(*observed.memory_cap)));
    }
  }
  for (const MemoryAtBatch& at : observed.memory_at_batch) {
    if (observed.memory_cap && at.bytes > *observed.memory_cap) {
      object.fail(fmt::format("memory_at_batch of batch {} is {}, more than the card's {}", at.batch,
                              gb(at.bytes), gb(*observed.memory_cap)));
    }
  }
  const auto cards = static_cast<std::size_t>(observed.settings.cards);
  for (const auto& [name, size] : {std::pair{"memory", observed.memory.size()},
                                   std::pair{"utilisation_percent", observed.utilisation.size()}}) {
    if (size > 1 && size != cards) {
      object.fail(fmt::format("{} lists {} cards, but cards is {}; give one for each", name, size, cards));
    }
  }
}

}  // namespace

Observed parse_observed(std::string_view text, const std::string& source) {
  Json json;
  try {
    json = parse_json(text, source);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--observed: {}", error.what()));
  }
  ReadingObject object(json, source, "");
  Observed observed;
  observed.source = source;
  observed.text = text;
  observed.subject = object.word("subject");
  if (const std::string mode = object.word("mode", {"train", "infer"}); !mode.empty()) {
    observed.mode = mode;
  }
  observed.stand_in = object.word("stand_in");
  observed.stand_in_run = object.file("stand_in_run");
  read_settings(object, observed);
  read_times(object, observed);
  read_memory(object, observed);
  read_lists(object, observed);
  observed.utilisation = object.percents("utilisation");
  observed.utilisation_range = object.percents("utilisation_range");
  if (!observed.utilisation_range.empty() &&
      (observed.utilisation_range.size() != 2 ||
       observed.utilisation_range.front() > observed.utilisation_range.back())) {
    object.fail("utilisation_range_percent needs two numbers, the lower first");
  }
  observed.image_size = object.count("image_size");
  observed.sequence = object.count("sequence");
  observed.device = object.word("device");
  constexpr double kMillion = 1e6;
  if (const auto millions = object.amount("parameters_m", 1e8)) {
    observed.parameters = kMillion * *millions;
  }
  if (const auto gflop = object.amount("gflop_a_sample", 1e12)) {
    observed.flops_a_sample = 1e9 * *gflop;
  }
  constexpr double kMostEfficiency = 120;  // above 100 where caches or fewer samples a card help
  const auto efficiency = object.percents("scaling_efficiency", kMostEfficiency);
  if (!efficiency.empty()) {
    if (efficiency.size() > 2 || efficiency.front() > efficiency.back() || efficiency.front() <= 0) {
      object.fail("scaling_efficiency_percent needs one number above 0, or two, the lower first");
    }
    observed.scaling_efficiency = Interval{efficiency.front() / 100, efficiency.back() / 100};
  }
  if (auto earlier = object.object("earlier_run")) {
    observed.earlier_run = other_run(*earlier);
  }
  if (auto proposed = object.object("proposed")) {
    observed.proposed = other_run(*proposed);
  }
  object.refuse_unknown();
  refuse_impossible(object, observed);
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
