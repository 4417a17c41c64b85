#include "bench/commands/predict.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "bench/cli/terminal.h"
#include "bench/commands/asked_prediction.h"
#include "bench/commands/link_words.h"
#include "bench/commands/network_words.h"
#include "bench/commands/predict_cards.h"
#include "bench/commands/predict_generation.h"
#include "bench/commands/predict_how.h"
#include "bench/predict/prediction_report.h"
#include "bench/registry.h"
#include "bench/run/gpu_files.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Of networks; they change how this program runs a step, not what eager PyTorch does.
constexpr std::array<std::string_view, 4> kOfOwnEngine{"launch", "in-place", "recompute", "accumulate"};

ExitCode predict_on_gpus(const Command& command, const CommandWords& words) {
  if (words.has_dashes() || (!words.before().empty() && !words.has("from"))) {
    throw UsageError(fmt::format("predict: {} is no option; accepted: bench predict {}",
                                 quote(words.before().empty() ? "--" : words.before().front()),
                                 command.usage));
  }
  const std::string format = words.choice_of("format");
  const std::size_t width = terminal_width(STDOUT_FILENO);
  if (words.has("how")) {
    refuse_format(format, "--how");
    std::cout << page_text(prediction_method(), width);
    return ExitCode::done;
  }
  const std::string* const gpus = words.text_of("gpu");
  const AskedPrediction asked(words, {.dtypes = gpus != nullptr && *gpus == "all" ? "fp16" : "fp32,fp16"});
  const Prediction prediction = asked.predicted();
  prediction.refuse_nothing();
  const bool verbose = words.has("verbose");
  std::cout << formatted(format,
                         {.page = [&] { return prediction_page(prediction, words.has("batch"), verbose); },
                          .csv = [&] { return prediction_csv(prediction); },
                          .json = [&] { return prediction_json(prediction); }},
                         width);
  return ExitCode::done;
}

ExitCode run_predict(const Command& command, const std::vector<std::string>& words) {
  const CommandWords asked(command, words);
  if (const std::string* const catalogue = asked.text_of("gpus")) {
    use_gpu_catalogue("--gpus", *catalogue);
  }
  if (asked.has("cards")) {
    return run_predict_cards(asked, command.options, terminal_width(STDOUT_FILENO));
  }
  refuse_link_without_cards(asked);
  return predict_on_gpus(command, asked);
}

}  // namespace

Command predict_command() {
  Command command{
      .name = "predict",
      .usage = "--gpu LIST|all --workload NAME [options]",
      .brief = "--gpu LIST …",
      .question = "how fast would a network or LLM be on other GPUs, or several?",
      .options =
          {{"gpu", "LIST", "ids (bench --list --gpus), a file card.json, or all", gpus_to_predict},
           {"gpus", "FILE", "a catalogue for --gpu in place of the program's"},
           {"workload", "NAME", "a network", network_names},
           {"mode", "NAME", "{} (default: the network's first)", these({"infer", "train"})},
           {"dtype", "LIST",
            "fp32, tf32, fp16, bf16 (autocast), half (cast whole) (default: fp32,fp16; fp16 with --gpu all)",
            these({"fp32", "tf32", "fp16", "bf16", "half"})},
           {"batch", "AXIS", "1,2,4 or 1:256:x2 (default: doubling)"},
           {"framework", "NAME",
            "pytorch (eager), pytorch-compiled, or bench, this program's engine (default: pytorch; "
            "bench with --from)",
            these({"pytorch", "pytorch-compiled", "bench"})},
           {"from", "FILE", "GPU results of bench --sweep batch; with --cards any", {}, true},
           {"attention", "NAME", "fused, or eager: written out (default: by the file)",
            these({"fused", "eager"})},
           {"channels-last", "", "torch.channels_last images (default: channels first)"},
           {"host-launch", "TIME", "of one PyTorch operation, 0.03ms (default: not known)"},
           format_option(),
           {"verbose", "", "a row for each batch, as with --batch, and every note"},
           {"how", "", "print the model and how far it errs"}},
      .notes = {"A row is of the saturation batch. See --workload llama3.1_8b --help for LLMs."},
      .examples = {"bench predict --gpu t4,rtx3060-12gb --workload resnet50 --mode train",
                   "bench predict --gpu all --onnx net.onnx --format csv",
                   "bench predict --from batch-….json --cards 2,4,8 --link nvlink3"},
      .run = run_predict,
      .form = generation_form};
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    command.options.insert(command.options.begin() + 3,
                           Option{reader->name, "FILE", "your own network in its place"});
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
