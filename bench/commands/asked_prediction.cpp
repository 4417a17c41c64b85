#include "bench/commands/asked_prediction.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/options.h"
#include "bench/cli/terminal.h"
#include "bench/cli/workload_names.h"
#include "bench/commands/link_words.h"
#include "bench/commands/network_words.h"
#include "bench/commands/summary.h"
#include "bench/registry.h"
#include "bench/run/gpu_files.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {

AskedPrediction::AskedPrediction(const CommandWords& words, const PredictionDefaults& defaults)
    : words_(words) {
  read_workload(defaults.network);
  read_spec(defaults.mode);
  read_axes(defaults);
  read_framework();
}

Prediction AskedPrediction::predicted() const {
  std::cerr << workload_file_lines(*request_.workload, terminal_width(STDOUT_FILENO));
  return predict(request_, calibration_gpus(), model_coefficients());
}

void AskedPrediction::read_workload(const std::string& default_network) {
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
  const std::string* const given = words_.text_of("workload");
  const std::string name = given == nullptr ? default_network : *given;
  if (name.empty() && given == nullptr) {
    throw UsageError(fmt::format("--workload: a network is missing; accepted: {}, or a file with --onnx",
                                 fmt::join(network_names(), ", ")));
  }
  request_.workload = workload_called(name);
  if (request_.workload == nullptr) {
    throw UsageError(unknown_workload("--workload", name, network_names()));
  }
  if (!is_network(*request_.workload)) {
    throw UsageError(
        fmt::format("--workload: {} is a single operation; accepted: {}; of operations see bench --sweep "
                    "kernels --device t4",
                    quote(name), fmt::join(network_names(), ", ")));
  }
  refuse_reading_options(words_, name);
}

void AskedPrediction::read_spec(const std::string& default_mode) {
  const WorkloadType& type = *request_.workload;
  const std::string* const mode = words_.text_of("mode");
  const std::string asked_mode = mode != nullptr        ? *mode
                                 : default_mode.empty() ? type.modes.front()
                                                        : default_mode;
  check_mode(type, asked_mode);
  check_network_options(words_, type, {asked_mode});
  request_.spec = network_spec(words_, type, asked_mode, Dtype::fp32, 1);
}

void AskedPrediction::read_axes(const PredictionDefaults& defaults) {
  const std::string* const gpus = words_.text_of("gpu");
  if (gpus == nullptr) {
    throw UsageError(
        "--gpu: a card is missing; give one or more as --gpu t4,rtx3060-12gb, or --gpu all "
        "(bench --list --gpus)");
  }
  request_.gpus = gpus_in_list("--gpu", *gpus);
  const std::string* const dtypes = words_.text_of("dtype");
  if (const std::string& names = dtypes == nullptr ? defaults.dtypes : *dtypes;
      dtypes != nullptr || !names.empty()) {
    request_.dtypes = parse_predicted_dtypes("--dtype", names);
  }
  request_.last = defaults.last;
  request_.batches = defaults.batches;
  if (const std::string* const batches = words_.text_of("batch")) {
    constexpr std::size_t kMostPredicted = 64;
    request_.batches = parse_axis("--batch", *batches);
    if (request_.batches.size() > kMostPredicted) {
      throw UsageError(fmt::format("--batch: {} was given, {} batches; accepted: at most {}", quote(*batches),
                                   request_.batches.size(), kMostPredicted));
    }
  }
}

void AskedPrediction::read_framework() {
  if (const std::string* const launch = words_.text_of("host-launch")) {
    constexpr double kNanosecond = 1e-9;
    request_.host_launch_s =
        kNanosecond * static_cast<double>(parse_duration("--host-launch", *launch).count());
  }
  if (words_.has("attention")) {
    request_.attention = parse_attention(words_.choice_of("attention"));
  }
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
               "give a result with --from");
  }
  request_.channels_last = words_.has("channels-last");
  if (request_.channels_last && request_.framework != Framework::pytorch) {
    throw UsageError(fmt::format(
        "--channels-last is of eager PyTorch, and --framework is {}, which chooses its own layout; leave "
        "--channels-last out",
        name_of(request_.framework)));
  }
  if (from) {
    read_references();
  }
}

void AskedPrediction::read_references() {
  if (std::ranges::any_of(request_.dtypes, &PredictedDtype::cast_whole)) {
    throw UsageError("--dtype: 'half' is a model that PyTorch casts whole; give fp16 with --framework bench");
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

}  // namespace bench
