#include "bench/commands/predict.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/options.h"
#include "bench/cli/terminal.h"
#include "bench/cli/workload_names.h"
#include "bench/commands/link_words.h"
#include "bench/commands/network_words.h"
#include "bench/commands/predict_cards.h"
#include "bench/commands/predict_generation.h"
#include "bench/commands/predict_how.h"
#include "bench/commands/summary.h"
#include "bench/predict/prediction.h"
#include "bench/predict/prediction_report.h"
#include "bench/registry.h"
#include "bench/run/gpu_files.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Of networks; they change how this program runs a step, not what eager PyTorch does.
constexpr std::array<std::string_view, 4> kOfOwnEngine{"launch", "in-place", "recompute", "accumulate"};
constexpr std::size_t kMostPredicted = 64;

class PredictCommand {
 public:
  PredictCommand(const Command& command, const CommandWords& words) : command_(command), words_(words) {
    if (words.has_dashes() || (!words.before().empty() && !words.has("from"))) {
      throw UsageError(fmt::format("predict: {} is no option; accepted: bench predict {}",
                                   quote(words.before().empty() ? "--" : words.before().front()),
                                   command.usage));
    }
  }

  ExitCode run() {
    const std::string format = words_.choice_of("format");
    if (words_.has("how")) {
      std::cout << prediction_method(terminal_width(STDOUT_FILENO));
      return ExitCode::done;
    }
    read_workload();
    read_request();
    const auto& coefficients = model_coefficients();
    const Prediction prediction = predict(request_, calibration_gpus(), coefficients);
    refuse_nothing(prediction);
    const bool verbose = words_.has("verbose") || words_.has("batch");
    std::cerr << workload_file_lines(*request_.workload, terminal_width(STDOUT_FILENO));
    std::cout << (format == "json"  ? prediction_json(prediction)
                  : format == "csv" ? prediction_csv(prediction)
                                    : page_as(format, prediction_page(prediction, coefficients, verbose),
                                              terminal_width(STDOUT_FILENO)));
    return ExitCode::done;
  }

 private:
  // Where no card can be predicted, why the first one cannot.
  static void refuse_nothing(const Prediction& prediction) {
    if (std::ranges::all_of(prediction.cards,
                            [](const CardPrediction& card) { return card.curve.batches.empty(); })) {
      const CardPrediction& first = prediction.cards.front();
      throw UsageError(fmt::format("predict: no step can be predicted; {} in {}: {}",
                                   prediction.gpus[first.gpu].id, first.dtype, first.curve.problem));
    }
  }

  void read_workload() {
    for (const auto& reader : registry<WorkloadReader>().entries()) {
      const std::string* const path = words_.text_of(reader->name);
      if (path != nullptr && (own_ || words_.has("workload"))) {
        throw UsageError(fmt::format("--{}: {} was given, and --workload as well; give one of them",
                                     reader->name, quote(*path)));
      }
      if (path != nullptr) {
        own_ = reader->read(*path, reading_options(words_, *reader));
        request_.workload = &*own_;
      }
    }
    if (own_) {
      return;
    }
    const std::string* const name = words_.text_of("workload");
    if (name == nullptr) {
      throw UsageError(fmt::format("--workload: a network is missing; accepted: {}, or a file with --onnx",
                                   fmt::join(network_names(), ", ")));
    }
    request_.workload = workload_called(*name);
    if (request_.workload == nullptr) {
      throw UsageError(unknown_value("--workload", *name, network_names()) +
                       "; language models: bench predict --workload llama3.1_8b --help");
    }
    if (!is_network(*request_.workload)) {
      throw UsageError(
          fmt::format("--workload: {} is a single operation; accepted: {}; of operations see bench --sweep "
                      "kernels --device t4",
                      quote(*name), fmt::join(network_names(), ", ")));
    }
    refuse_reading_options(words_, *name);
  }

  void read_request() {
    const WorkloadType& type = *request_.workload;
    const std::string* const mode = words_.text_of("mode");
    if (mode != nullptr) {
      check_mode(type, *mode);
    }
    const std::string& asked_mode = mode == nullptr ? type.modes.front() : *mode;
    check_network_options(words_, type, {asked_mode});
    request_.spec = network_spec(words_, type, asked_mode, Dtype::fp32, 1);
    read_gpus();
    const std::string* const dtypes = words_.text_of("dtype");
    request_.dtypes = parse_predicted_dtypes("--dtype", dtypes != nullptr ? *dtypes
                                                        : is_catalogue_   ? "fp16"
                                                                          : "fp32,fp16");
    if (const std::string* const batches = words_.text_of("batch")) {
      request_.batches = parse_axis("--batch", *batches);
      if (request_.batches.size() > kMostPredicted) {
        throw UsageError(fmt::format("--batch: {} was given, {} batches; accepted: at most {}",
                                     quote(*batches), request_.batches.size(), kMostPredicted));
      }
    }
    if (const std::string* const launch = words_.text_of("host-launch")) {
      constexpr double kNanosecond = 1e-9;
      request_.host_launch_s =
          kNanosecond * static_cast<double>(parse_duration("--host-launch", *launch).count());
    }
    if (words_.has("attention")) {
      request_.attention = parse_attention(words_.choice_of("attention"));
    }
    read_framework();
  }

  void read_gpus() {
    const std::string* const text = words_.text_of("gpu");
    if (text == nullptr) {
      throw UsageError(
          "--gpu: a card is missing; give one or more as --gpu t4,rtx3060-12gb, or --gpu all "
          "(bench --list --gpus)");
    }
    is_catalogue_ = *text == "all";
    request_.gpus = gpus_in_list("--gpu", *text);
  }

  void read_framework() {
    const bool from = words_.has("from");
    const std::string framework =
        words_.has("framework") ? words_.choice_of("framework") : std::string(from ? "bench" : "pytorch");
    request_.framework = *parse_framework(framework);
    if (from != (request_.framework == Framework::bench)) {
      throw UsageError(
          from ? fmt::format(
                     "--from: a result is of this program's own engine, and --framework {} is asked for; "
                     "give --framework bench, or leave --from out",
                     framework)
               : "--framework: 'bench' is this program's own engine, which is predicted from a measurement; "
                 "give "
                 "a result with --from");
    }
    if (!from) {
      return;
    }
    if (std::ranges::any_of(request_.dtypes, &PredictedDtype::cast_whole)) {
      throw UsageError(
          "--dtype: 'half' is a model that PyTorch casts whole; give fp16 with --framework bench");
    }
    std::vector<std::string> given = words_.texts_of("from");
    given.insert(given.end(), words_.before().begin(), words_.before().end());
    std::vector<EngineReference::File> files;
    for (NamedResult& result : read_named_results("--from", given)) {
      files.push_back({.path = std::move(result.path), .document = std::move(result.document)});
    }
    engine_ = std::make_unique<EngineReference>(files, *request_.workload, request_.spec, gpu_catalogue(),
                                                request_.gpus);
    request_.engine = engine_.get();
    std::erase_if(request_.dtypes, [&](const PredictedDtype& dtype) {
      return !words_.has("dtype") && engine_->batches(dtype.dtype).empty();
    });
    for (const PredictedDtype& dtype : request_.dtypes) {
      if (engine_->batches(dtype.dtype).empty()) {
        throw UsageError(fmt::format(
            "--from: no file holds a step in {}; give a result that was measured in it", dtype.name()));
      }
    }
    if (request_.dtypes.empty()) {
      throw UsageError("--from: the files hold no step in fp32 or fp16; give --dtype");
    }
  }

  const Command& command_;
  const CommandWords& words_;
  std::optional<WorkloadType> own_;  // read from a file
  bool is_catalogue_ = false;
  std::unique_ptr<EngineReference> engine_;
  PredictionRequest request_;
};

ExitCode run_predict(const Command& command, const std::vector<std::string>& words) {
  const CommandWords asked(command, words);
  if (const std::string* const catalogue = asked.text_of("gpus")) {
    use_gpu_catalogue("--gpus", *catalogue);
  }
  if (asked.has("cards")) {
    return run_predict_cards(asked, command.options, terminal_width(STDOUT_FILENO));
  }
  refuse_link_without_cards(asked);
  return PredictCommand(command, asked).run();
}

}  // namespace

Command predict_command() {
  Command command{
      .name = "predict",
      .usage = "--gpu LIST|all --workload NAME [options]",
      .brief = "--gpu LIST …",
      .question = "how fast would a network be on other GPUs, or on several?",
      .options =
          {{"gpu", "LIST", "ids (bench --list --gpus), a file card.json, or all", gpus_to_predict},
           {"gpus", "FILE", "a catalogue for --gpu in place of the program's"},
           {"workload", "NAME", "a network", network_names},
           {"mode", "NAME", "{} (default: the network's first)", these({"infer", "train"})},
           {"dtype", "LIST",
            "fp32, tf32, fp16, bf16 (autocast), half (cast whole) (default: fp32,fp16; fp16 with --gpu all)",
            these({"fp32", "tf32", "fp16", "bf16", "half"})},
           {"batch", "AXIS", "1,2,4 or 1:256:x2 (default: doubling, as far as memory allows)"},
           {"framework", "NAME",
            "pytorch (eager), pytorch-compiled, or bench, this program's engine (default: pytorch; "
            "bench with --from)",
            these({"pytorch", "pytorch-compiled", "bench"})},
           {"from", "FILE", "results of bench --sweep batch on GPUs; with --cards of any device", {}, true},
           {"attention", "NAME", "fused, or eager: written out (default: by the file)",
            these({"fused", "eager"})},
           {"host-launch", "TIME", "host's time of a PyTorch operation, 0.03ms (default: not known)"},
           {"format", "NAME", "{} (default: text)", these({"text", "markdown", "csv", "json"})},
           {"verbose", "", "a row for each batch, as with --batch"},
           {"how", "", "print the model and how far it errs"}},
      .notes =
          {"Each row is of the saturation batch: the first that reaches 95 % of the best throughput. Text "
           "generation: bench predict --workload llama3.1_8b --help."},
      .examples = {"bench predict --gpu t4,rtx3060-12gb --workload resnet50 --mode train",
                   "bench predict --gpu all --onnx net.onnx --format csv",
                   "bench predict --gpu a100-40gb --workload resnet50 --from results/local/batch-….json",
                   "bench predict --from results/local/batch-….json --cards 2,4,8 --link nvlink3"},
      .run = run_predict,
      .form = generation_form};
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    command.options.insert(command.options.begin() + 2, Option{reader->name, "FILE", reader->description});
  }
  for (Option& argument : network_arguments()) {
    if (std::ranges::find(kOfOwnEngine, argument.name) == kOfOwnEngine.end()) {
      command.options.push_back(std::move(argument));
    }
  }
  std::ranges::copy(predict_cards_options(), std::back_inserter(command.options));
  return command;
}

}  // namespace bench
