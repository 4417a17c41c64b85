#include "bench/commands/predicted_batches.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "bench/cli/options.h"
#include "bench/clock.h"
#include "bench/commands/setup.h"
#include "bench/commands/summary.h"
#include "bench/predicted_step.h"
#include "bench/registry.h"
#include "bench/run/gpu_files.h"
#include "bench/run/predicted_points.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"
#include "bench/text/axis.h"

namespace bench {
namespace {

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
  predict_points(
      sweep->plan(), *device, request.largest_cap(),
      [&](const SweepPoint& point) { return estimated_point(point, *device); }, document);
  conclude(*sweep, document);
  return document;
}

}  // namespace

std::vector<ResultDocument> predicted_batches(const std::string& gpus,
                                              const std::vector<std::string>& options) {
  const std::vector<Gpu> cards = gpus_in_list("--gpu", gpus);
  const std::vector<std::string_view> names = split(gpus, ',');
  std::vector<const char*> words{"bench", "--sweep", "batch"};
  for (const std::string& option : options) {
    words.push_back(option.c_str());
  }
  Options asked = parse_options(static_cast<int>(words.size()), words.data());
  std::vector<ResultDocument> documents;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const bool is_file = names.size() == cards.size() && is_gpu_file(names[i]);
    asked.device = is_file ? std::string(names[i]) : cards[i].id;
    documents.push_back(predicted_batch(asked, cards[i], i == 0));
  }
  return documents;
}

}  // namespace bench
