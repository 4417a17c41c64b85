#include "bench/commands/evaluate.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/terminal.h"
#include "bench/commands/asked_prediction.h"
#include "bench/commands/link_words.h"
#include "bench/commands/network_words.h"
#include "bench/evaluate/evaluated_cards.h"
#include "bench/evaluate/evaluation.h"
#include "bench/evaluate/evaluation_formats.h"
#include "bench/host/interrupt.h"
#include "bench/result/result_json.h"
#include "bench/run/gpu_files.h"
#include "bench/run/picture.h"
#include "bench/run/result_file.h"
#include "bench/run/result_folder.h"
#include "bench/run/whole_file.h"
#include "bench/text/axis.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

PriceList prices_asked_for(const CommandWords& words) {
  const std::string* const text = words.text_of("price");
  PriceList prices = text == nullptr ? PriceList{} : parse_prices(*text);
  constexpr double kMostYears = 100;
  constexpr double kHoursADay = 24;
  constexpr double kMostForEnergy = 1e9;
  for (const auto& [option, target, most] : {std::tuple{"years", &prices.years, kMostYears},
                                             std::tuple{"hours-a-day", &prices.hours_a_day, kHoursADay}}) {
    if (const std::string* const given = words.text_of(option)) {
      *target = parse_positive(fmt::format("--{}", option), *given, most);
    }
  }
  if (const std::string* const given = words.text_of("kwh")) {
    prices.kwh = parse_positive("--kwh", *given, kMostForEnergy);
  }
  for (const char* const option : {"years", "hours-a-day", "kwh"}) {
    if (text == nullptr && words.has(option)) {
      throw UsageError(fmt::format("--{}: it changes prices, and --price is not given; give both", option));
    }
  }
  return prices;
}

std::optional<Job> job_asked_for(const CommandWords& words) {
  const std::string* const samples = words.text_of("samples");
  const std::string* const epochs = words.text_of("epochs");
  const std::string* const images = words.text_of("images");
  if (samples != nullptr && (epochs != nullptr || images != nullptr)) {
    throw UsageError("--samples: with --epochs and --images the job is given twice; leave one out");
  }
  if ((epochs == nullptr) != (images == nullptr)) {
    throw UsageError(epochs == nullptr ? "--images: how many epochs is missing; give --epochs too"
                                       : "--epochs: the samples of an epoch are missing; give --images too");
  }
  return samples != nullptr  ? std::optional(job_of_samples(*samples))
         : epochs != nullptr ? std::optional(job_of_epochs(*epochs, *images))
                             : std::nullopt;
}

// What is predicted, with --gpu.
const std::vector<Option>& predicting_options() {
  static const std::vector<Option> options{
      {"workload", "NAME", "the network to predict (default: resnet50)", network_names},
      {"onnx", "FILE", "your own network in its place"},
      {"input", "LIST", "with --onnx: images=1x3x320x320"},
      {"mode", "NAME", "{} (default: infer)", these({"infer", "train"})},
      {"dtype", "LIST", "fp32, tf32, bf16, fp16 (autocast), half (cast whole)",
       these({"fp32", "tf32", "fp16", "bf16", "half"})},
      {"batch", "AXIS", "default: doubling to the largest that fits"},
      {"optimizer", "NAME", "sgd, momentum or adam, in training"},
      {"image-size", "N", "pixels a side"},
      {"sequence", "N", "tokens, of a network of text"},
      {"framework", "NAME", "{} (default: pytorch)", these({"pytorch", "pytorch-compiled"})}};
  return options;
}

// Results of devices, and the one of the host's loader.
struct EvaluationInput {
  std::vector<EvaluatedFile> devices;
  std::optional<EvaluatedFile> host;
  std::vector<Gpu> gpus;              // that are predicted
  std::vector<std::string> left_out;  // GPUs without a point, a sentence each
  std::vector<std::string> notes;     // what else is to be said
};

void read_files(const CommandWords& words, EvaluationInput& input) {
  ChosenFiles chosen = results_of_sweeps(words.before(), {"batch", "workers"});
  input.notes = std::move(chosen.left_out);
  for (const std::string& path : chosen.paths) {
    EvaluatedFile file{.path = path_in_words(path), .document = read_result(path)};
    if (file.document.sweep.name != "workers") {
      input.devices.push_back(std::move(file));
      continue;
    }
    if (input.host) {
      throw UsageError(
          fmt::format("{}: a second result of the workers sweep, after {}; give one, of the host to use",
                      file.path, input.host->path));
    }
    input.host = std::move(file);
  }
}

// As the batch sweep's points.
EvaluatedDevices predicted_gpus(const CommandWords& words, EvaluationInput& input) {
  const bool predicts = words.has("gpu");
  for (const Option& option : predicting_options()) {
    if (words.has(option.name) && !predicts) {
      throw UsageError(
          fmt::format("--{}: it belongs to GPUs that are predicted; give --gpu too", option.name));
    }
  }
  if (!predicts) {
    return {};
  }
  const AskedPrediction asked(
      words,
      {.network = "resnet50", .batches = parse_axis("--batch", "1:65536:x2"), .last = &LargestBatch::likely});
  input.gpus = asked.request().gpus;
  return devices_of(asked.predicted(), asked.request(), model_coefficients(), input.left_out);
}

// Of each device that which --link names, else its own by its data sheet.
std::vector<CardsLink> links_of(const CommandWords& words, const std::vector<EvaluatedDevice>& devices,
                                const std::vector<Gpu>& predicted) {
  const auto gpu_of = [&](const EvaluatedDevice& device) -> const Gpu* {
    const auto own =
        std::ranges::find_if(predicted, [&](const Gpu& gpu) { return device.is_called(gpu.id); });
    const Gpu* found = own == predicted.end() ? nullptr : &*own;
    for (const std::string& key : device.keys) {
      found = found == nullptr ? gpu_catalogue().find_called(key) : found;
    }
    return found;
  };
  std::vector<CardsLink> links;
  for (const EvaluatedDevice& device : devices) {
    const Gpu* const gpu = gpu_of(device);
    links.push_back(link_of(words, gpu));
    links.back().require_kind(device.is_cpu ? "cpu" : "cuda");
    if (gpu != nullptr) {
      require_nvlink(links.back(), *gpu);
    }
  }
  return links;
}

// For the file's name: "t4-vs-rtx3060-12gb".
std::string devices_in_name(const Evaluation& evaluation) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> labels;
  for (const EvaluatedDevice& device : evaluation.devices) {
    labels.push_back(device.label);
  }
  return labels.size() > kMostNamed ? fmt::format("{}-devices", labels.size())
                                    : fmt::format("{}", fmt::join(labels, "-vs-"));
}

std::string dated_document(const Evaluation& evaluation) {
  Json json = evaluation_json(evaluation);
  json["context"] = {{"date", fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(std::time(nullptr)))}};
  return to_indented_text(json);
}

void save_and_draw(const Evaluation& evaluation, const CommandWords& words, bool as_text) {
  const std::string* const given = words.text_of("out");
  std::ostream& notes = as_text ? std::cout : std::cerr;
  const int stream = as_text ? STDOUT_FILENO : STDERR_FILENO;
  const ResultFolder folder =
      given == nullptr ? default_result_folder() : ResultFolder{.path = *given, .note = ""};
  if (!folder.note.empty()) {
    std::cerr << notice(STDERR_FILENO, folder.note);
  }
  if (folder.path.empty()) {
    return;
  }
  const EndPostponed end_postponed;  // else an interrupt would leave the lock
  ResultFile file(folder.path, "evaluate",
                  fmt::format("{}-{}", evaluation.task.workload, evaluation.task.mode),
                  devices_in_name(evaluation));
  file.continue_previous();  // the same files give the same evaluation
  file.check_writable();
  std::error_code error;
  const bool replaces = std::filesystem::exists(file.path(), error);
  file.write(dated_document(evaluation));
  notes << "\n" << file_line(stream, "result", file.path(), replaces ? kReplaced : "");
  if (words.has("no-plot")) {
    return;
  }
  const DrawnPicture picture = draw(picture_of(evaluation), file.path());
  for (const auto& drawn : picture.files) {
    notes << file_line(stream, "picture", drawn);
  }
  if (!picture.problem.empty()) {
    std::cerr << notice(STDERR_FILENO, "no picture: " + picture.problem);
  }
}

ExitCode run_evaluate(const Command& command, const std::vector<std::string>& given) {
  const CommandWords words(command, given);
  if (const std::string* const catalogue = words.text_of("gpus")) {
    use_gpu_catalogue("--gpus", *catalogue);
  }
  const std::string format = words.choice_of("format");
  PriceList prices = prices_asked_for(words);
  std::optional<Job> job = job_asked_for(words);
  if (words.has_dashes()) {
    throw UsageError(fmt::format("evaluate: -- has no place here; give bench evaluate {}", command.usage));
  }
  EvaluationInput input;
  read_files(words, input);
  EvaluatedDevices predicted = predicted_gpus(words, input);
  if (input.devices.empty() && predicted.devices.empty()) {
    throw UsageError(
        input.left_out.empty()
            ? fmt::format(
                  "evaluate: no result of a batch sweep and no --gpu is given; give bench evaluate {}",
                  command.usage)
            : fmt::format("--gpu: {}", fmt::join(input.left_out, " ")));
  }
  EvaluatedDevices devices = evaluated_devices(input.devices, std::move(predicted));
  refuse_link_without_cards(words);
  if (words.has("cards")) {
    const std::vector<CardsLink> links = links_of(words, devices.devices, input.gpus);
    const std::vector<std::string> assumed = add_cards(devices, cards_of(words), links, link_catalogue());
    input.notes.insert(input.notes.end(), assumed.begin(), assumed.end());
    if (input.host) {
      input.notes.emplace_back(
          "Whether the loader feeds several cards is in the column `fed samples/s` alone.");
    }
  }
  std::optional<HostLimit> host =
      input.host ? std::optional(host_limit(*input.host, devices.task)) : std::nullopt;
  prices = renamed(std::move(prices), [&](const std::string& word) {
    const bool is_own = std::ranges::any_of(
        devices.devices, [&](const EvaluatedDevice& device) { return device.is_called(word); });
    return is_own ? word : gpu_id_of("--price", word);
  });
  Evaluation evaluation = evaluate(std::move(devices), std::move(prices), std::move(host), std::move(job));
  // What was asked and has no answer stands before what the answers rest on.
  evaluation.notes.insert(evaluation.notes.begin(), input.left_out.begin(), input.left_out.end());
  evaluation.left_out = std::move(input.left_out);
  std::ranges::move(input.notes, std::back_inserter(evaluation.notes));
  const std::size_t width = terminal_width(STDOUT_FILENO);
  const bool verbose = words.has("verbose");
  std::cout << formatted(format,
                         {.page = [&] { return evaluation_page(evaluation, verbose); },
                          .csv = [&] { return evaluation_csv(evaluation); },
                          .json = [&] { return dated_document(evaluation); }},
                         width);
  save_and_draw(evaluation, words, format == "text");
  return ExitCode::done;
}

}  // namespace

Command evaluate_command() {
  Command command{
      .name = "evaluate",
      .usage = "[options] RESULT.json… | --gpu LIST --workload NAME",
      .brief = "RESULT…",
      .question = "the devices side by side: fits, speed, per watt, per price",
      .options = {{"gpu", "LIST", "predicted: t4,rtx3060-12gb, a JSON file, or all", gpus_to_predict},
                  {"gpus", "FILE", "a catalogue for --gpu in place of the program's"},
                  {"price", "LIST", "t4=0.35/h (hire), rtx3060-12gb=280 (purchase)"},
                  {"samples", "N", "of a job, 115.2M: its hours, cost and energy"},
                  {"epochs", "N", "in place of --samples, with --images: 90"},
                  {"images", "N", "samples of an epoch: 1.28M"},
                  {"years", "N", "that a purchase is used for (default: 3)"},
                  {"hours-a-day", "N", "that it is used for (default: 8)"},
                  {"kwh", "N", "price of energy, added to a purchase"},
                  {"out", "DIR", "of evaluation and picture (default: results/local)"},
                  {"no-plot", "", "draw no picture"},
                  format_option(),
                  {"verbose", "", "every answer and dtype"}},
      .notes = {"RESULT.json is of bench --sweep batch; one of --sweep workers adds the host.",
                "Exit codes: 0 done; 2 wrong usage, unreadable results, or several workloads."},
      .examples = {"bench evaluate --gpu t4,rtx3070 --price t4=0.35/h,rtx3070=420 --samples 1.2G",
                   "bench evaluate batch-resnet50-*.json workers-resnet50-cpu.json"},
      .run = run_evaluate};
  std::vector<Option> more = predicting_options();
  more.push_back({"cards", "AXIS", "in training, also so many of each device: 2,4,8"});
  std::ranges::copy(link_options(), std::back_inserter(more));
  command.options.insert(command.options.begin() + 2, more.begin(), more.end());
  return command;
}

}  // namespace bench
