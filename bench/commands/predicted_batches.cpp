#include "bench/commands/predicted_batches.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "bench/cli/options.h"
#include "bench/clock.h"
#include "bench/commands/setup.h"
#include "bench/commands/summary.h"
#include "bench/registry.h"
#include "bench/run/gpu_files.h"
#include "bench/run/predicted_points.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"

namespace bench {
namespace {

constexpr const char* kGpuOption = "--gpu";

std::vector<Gpu> gpus_named(const std::vector<std::string>& names) {
  std::vector<Gpu> gpus;
  for (const std::string& name : names) {
    if (name == "all") {
      return gpu_catalogue().all();
    }
    gpus.push_back(gpu_named(kGpuOption, name));
  }
  return gpus;
}

ResultDocument predicted_batch(const Options& options, const Gpu& gpu, bool is_first) {
  const SweepType& type = *registry<SweepType>().find(options.sweep);
  const std::unique_ptr<Device> device = open_asked_device(options);
  const SweepRequest request = make_request(options, type, *device, steady_clock());
  if (is_first) {
    print_workload_file(request);
  }
  const std::unique_ptr<Sweep> sweep = type.make(request, *device);
  ResultDocument document = start_document(type, request, sweep->plan(), *device, options, {});
  document.context.datasheet = to_json(gpu);
  sweep->predict([] { return std::nullopt; });
  predict_points(*sweep, sweep->plan(), *device, request.largest_cap(), document);
  conclude(*sweep, document);
  return document;
}

}  // namespace

std::vector<ResultDocument> predicted_batches(const std::vector<std::string>& gpus,
                                              const std::vector<std::string>& options) {
  const std::vector<Gpu> cards = gpus_named(gpus);
  std::vector<const char*> words{"bench", "--sweep", "batch"};
  for (const std::string& option : options) {
    words.push_back(option.c_str());
  }
  Options asked = parse_options(static_cast<int>(words.size()), words.data());
  std::vector<ResultDocument> documents;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const bool is_file = gpus.size() == cards.size() && is_gpu_file(gpus[i]);
    asked.device = is_file ? gpus[i] : cards[i].id;
    documents.push_back(predicted_batch(asked, cards[i], i == 0));
  }
  return documents;
}

}  // namespace bench
