// What do more cards give?
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/measure/axis.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/run/result_file.h"
#include "bench/sweep.h"
#include "sweeps/cards/findings.h"
#include "sweeps/cards/library_memory.h"
#include "sweeps/cards/planned.h"
#include "sweeps/cards/workload.h"
#include "sweeps/ranks/setup.h"
#include "sweeps/ranks/team.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kDefaultBatch = 8;

bool is_strong(const SweepRequest& request) {
  return parse_words("--scaling", request.sweep_options.at("scaling"), {"weak", "strong"}) ==
         std::vector<std::string>{"strong"};
}

bool is_split(const SweepRequest& request) {
  return parse_words("--split", request.sweep_options.at("split"), {"none", "layers"}) ==
         std::vector<std::string>{"layers"};
}

bool shards_optimizer(const SweepRequest& request) {
  return parse_words("--shard", request.sweep_options.at("shard"), {"none", "optimizer"}) ==
         std::vector<std::string>{"optimizer"};
}

std::string balance_in(const SweepRequest& request) {
  return parse_words("--balance", request.sweep_options.at("balance"), {"compute", "memory"}).front();
}

// Powers of two up to the ranks that were started, and that number.
std::vector<std::int64_t> counts_in(const SweepRequest& request) {
  const auto started = static_cast<std::int64_t>(places_in(request).size());
  const std::string& given = request.sweep_options.at("cards");
  std::vector<std::int64_t> counts;
  if (given != "auto") {
    counts = parse_axis("--cards", given);
    if (counts.back() > started) {
      throw UsageError(fmt::format("--cards: {} was given; accepted: up to {}, the ranks that were started",
                                   quote(given), started));
    }
    return counts;
  }
  for (std::int64_t count = 1; count < started; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(started);
  return counts;
}

std::int64_t bucket_in(const SweepRequest& request) {
  constexpr std::int64_t kMost = std::int64_t{8} << 30;  // that an MPI sends at a time
  const std::int64_t bytes = parse_bytes("--bucket", request.sweep_options.at("bucket"));
  if (bytes < 1 || bytes > kMost) {
    throw UsageError(fmt::format("--bucket: {} was given; accepted: 1B to {}",
                                 quote(request.sweep_options.at("bucket")), format_bytes(kMost)));
  }
  return bytes;
}

std::string modes_in_words(const SweepRequest& request) {
  return quote(fmt::format("{}", fmt::join(request.modes, ",")));
}

void require_trainable(const SweepRequest& request) {
  const WorkloadType& type = *request.workload;
  if (std::ranges::find(type.modes, "train") == type.modes.end() || type.kind != "network") {
    const auto lacks = type.missing_modes.find("train");
    throw UsageError(fmt::format("--workload: {} cannot be trained{}; --sweep cards needs a network that can",
                                 quote(type.name),
                                 lacks == type.missing_modes.end() ? "" : ": " + lacks->second));
  }
}

void require_training(const SweepRequest& request) {
  require_trainable(request);
  if (request.modes != std::vector<std::string>{"train"}) {
    throw UsageError(
        fmt::format("--mode: {} was given; accepted by --sweep cards: train, and infer with --split layers",
                    modes_in_words(request)));
  }
  if (const auto launch = request.workload_options.find("launch");
      launch != request.workload_options.end() && launch->second != std::vector<std::string>{"stream"}) {
    throw UsageError(fmt::format("--launch: {} was given; accepted by --sweep cards: stream",
                                 quote(fmt::format("{}", fmt::join(launch->second, ",")))));
  }
  for (const char* option : {"micro-batches", "balance"}) {
    if (request.given_sweep_options.contains(option)) {
      throw UsageError(fmt::format("--{}: {} was given, but belongs to --split layers", option,
                                   quote(request.sweep_options.at(option))));
    }
  }
}

// A batch through stages is one of all ranks.
void require_stages(const SweepRequest& request) {
  if (request.workload->kind != "network") {
    throw UsageError(fmt::format("--workload: {} has no layers; --split layers needs a network",
                                 quote(request.workload->name)));
  }
  if (shards_optimizer(request)) {
    throw UsageError("--shard: 'optimizer' was given with --split layers; give one of the two");
  }
  if (request.modes == std::vector<std::string>{"train"}) {
    require_trainable(request);
  } else if (request.modes != std::vector<std::string>{"infer"}) {
    throw UsageError(fmt::format("--mode: {} was given; accepted with --split layers: train or infer",
                                 modes_in_words(request)));
  } else if (balance_in(request) != "compute") {
    throw UsageError("--balance: 'memory' was given, but belongs to --mode train");
  }
  if (request.given_sweep_options.contains("scaling") && !is_strong(request)) {
    throw UsageError(
        "--scaling: 'weak' was given; accepted with --split layers: strong, --batch is of all ranks");
  }
}

// The points' specs but for ranks and batch. Throws UsageError.
WorkloadSpec spec_in(const SweepRequest& request) {
  WorkloadSpec spec;
  spec.mode = request.modes.front();
  spec.seed = request.seed;
  for (const auto& [name, values] : option_values(request, spec.mode)) {
    spec.options[name] = values.front();
  }
  if (!request.dtypes.empty() && request.dtypes != std::vector{Dtype::fp32}) {
    throw UsageError("--dtype: accepted by --sweep cards: fp32, in which ranks add up gradients");
  }
  return spec;
}

std::vector<std::int64_t> batches_in(const SweepRequest& request) {
  return request.batches.empty() ? std::vector{kDefaultBatch} : request.batches;
}

std::vector<WorkloadSpec> stage_specs(const SweepRequest& request) {
  require_stages(request);
  WorkloadSpec spec = spec_in(request);
  const auto micro_batches = parse_axis("--micro-batches", request.sweep_options.at("micro-batches"));
  std::vector<WorkloadSpec> specs;
  for (const std::int64_t count : counts_in(request)) {
    for (const std::int64_t batch : batches_in(request)) {
      spec.ranks = static_cast<int>(count);
      spec.batch = batch;
      if (count == 1) {
        specs.push_back(spec);
        continue;
      }
      for (const std::int64_t parts : micro_batches) {
        specs.push_back(spec);
        split_layers(specs.back(), parts, balance_in(request));
      }
    }
  }
  return specs;
}

// With strong scaling each with its share of the batch.
std::vector<WorkloadSpec> training_specs(const SweepRequest& request) {
  require_training(request);
  WorkloadSpec spec = spec_in(request);
  spec.bucket = bucket_in(request);
  const bool strong = is_strong(request);
  const bool shard = shards_optimizer(request);
  std::vector<WorkloadSpec> specs;
  for (const std::int64_t count : counts_in(request)) {
    for (const std::int64_t batch : batches_in(request)) {
      if (strong && batch % count != 0) {
        throw UsageError(
            fmt::format("--batch: {} was given, which {} ranks cannot share; accepted with --scaling strong: "
                        "multiples of every number of ranks",
                        batch, count));
      }
      spec.ranks = static_cast<int>(count);
      spec.shard_optimizer = shard && count > 1;
      spec.batch = strong ? batch / count : batch;
      specs.push_back(spec);
    }
  }
  return specs;
}

std::vector<WorkloadSpec> specs_in(const SweepRequest& request) {
  return is_split(request) ? stage_specs(request) : training_specs(request);
}

// "cards/resnet50/train/fp32/ranks:2".
std::string series_of(const std::string& workload, const WorkloadSpec& spec, const CardsParams& params) {
  const std::string stages = !params.split_layers          ? ""
                             : params.balance == "compute" ? "split:layers/"
                                                           : "split:layers/balance:memory/";
  return fmt::format("cards/{}/{}/fp32/{}{}ranks:{}{}", workload, spec.mode,
                     params.shard_optimizer ? "shard:optimizer/" : "", stages, spec.ranks,
                     params.split_layers ? fmt::format("/micro-batches:{}", params.micro_batches) : "");
}

// That a rank computes with: its share of the cores.
int threads_of(const RankSetup& setup) {
  return std::max(1, setup.cores / std::max(1, setup.near));
}

// What the library of the ranks is asked to sum, to see what it allocates; stages sum nothing.
std::int64_t summed_in(const SweepRequest& request) {
  constexpr std::int64_t kMost = std::int64_t{64} << 20;
  return is_split(request) ? 0 : std::min(bucket_in(request), kMost);
}

// The point behind the plan's last is library_part().
std::shared_ptr<RankTeam> team_of(const SweepRequest& request, Device& device) {
  const std::vector<WorkloadSpec> specs = specs_in(request);
  const RankTeam::Make make = rank_parts_of(*request.workload, specs, device, threads_of(setup_of(request)));
  return std::make_shared<RankTeam>(
      *request.ranks,
      [make, &device, count = specs.size(), bytes = summed_in(request)](RankGroup& ranks, std::size_t point) {
        return point == count ? library_part(ranks, device, bytes) : make(ranks, point);
      });
}

// A result of the workers sweep.
std::optional<HostLimit> loader_in(const SweepRequest& request) {
  const std::string& path = request.sweep_options.at("loader");
  if (path == "none") {
    return std::nullopt;
  }
  EvaluatedTask task{.workload = request.workload->name, .mode = "train", .options = {}};
  const WorkloadSpec spec = spec_of_rank(specs_in(request).front(), 0);
  if (const auto size = request.workload->configure(spec)->image_size()) {
    task.options["image-size"] = std::to_string(*size);
  }
  try {
    EvaluatedFile file{.path = path, .document = read_result(path)};
    if (file.document.sweep.name != "workers") {
      throw UsageError(fmt::format("{} is of the {} sweep; accepted: a result of bench --sweep workers",
                                   quote(path), printable(file.document.sweep.name)));
    }
    return host_limit(file, task);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--loader: {}", error.what()));
  }
}

SweepPlan plan_of(const SweepRequest& request, const CardsSetup& setup,
                  const std::shared_ptr<RankTeam>& team) {
  SweepPlan plan;
  const std::vector<WorkloadSpec> specs = specs_in(request);
  const WorkloadType& type = *request.workload;
  std::vector<std::int64_t> batches;
  for (std::size_t index = 0; index < specs.size(); ++index) {
    const WorkloadSpec& spec = specs[index];
    if (std::ranges::find(batches, spec.batch) == batches.end()) {
      batches.push_back(spec.batch);
    }
    SweepPoint point;
    point.params = params_of(type.name, spec);
    point.params["ranks"] = spec.ranks;
    if (spec.bucket > 0) {
      point.params["bucket"] = spec.bucket;
    }
    if (spec.shard_optimizer) {
      point.params["shard"] = "optimizer";
    }
    point.params["threads"] = setup.threads;
    const CardsParams parsed = read_cards_params(point.params).value();
    point.parsed = parsed;
    point.spec = spec;
    point.series = series_of(type.name, spec, parsed);
    point.name = fmt::format("{}/batch:{}", point.series, spec.batch);
    point.workload = std::make_shared<ConfiguredCards>(type, spec, index, team);
    point.oversubscribes_cores = setup.ranks.near * setup.threads > setup.ranks.cores;
    plan.points.push_back(std::move(point));
  }
  plan.axes = {
      {"ranks", counts_in(request)}, {"batch", batches}, {"scaling", setup.strong ? "strong" : "weak"}};
  if (setup.split_layers) {
    plan.axes["split"] = "layers";
  }
  return plan;
}

class CardsSweep final : public Sweep {
 public:
  CardsSweep(const SweepRequest& request, Device& device) {
    require_real_device("cards", device);
    setup_.ranks = setup_of(request);
    setup_.threads = threads_of(setup_.ranks);
    setup_.split_layers = is_split(request);
    setup_.strong = setup_.split_layers || is_strong(request);
    setup_.loader = loader_in(request);
    if (request.ranks != nullptr) {
      team_ = team_of(request, device);
    }
    plan_ = plan_of(request, setup_, team_);
  }

  const SweepPlan& plan() const override { return plan_; }
  void prepare(SweepStudy& study) override {  // no point rests on the device's peaks
    if (study.request.ranks != nullptr) {
      const std::vector<std::int64_t> joining = study.device.host_accessible()
                                                    ? study.request.joining_bytes
                                                    : std::vector<std::int64_t>(study.request.places.size());
      setup_.library =
          measure_library(*team_, specs_in(study.request).size(), summed_in(study.request), joining);
    }
  }

  // Nothing more is measured: what was can be planned on.
  void study(SweepStudy& study) override { study.document.predicted = planned_sharing(study.document); }

  std::vector<Finding> findings(const ResultDocument& document) const override {
    return cards_findings(document, setup_);
  }
  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return cards_tables(document, setup_);
  }
  Json to_json() const override {
    Json json{{"cards", {{"hosts", setup_.ranks.hosts}, {"threads", setup_.threads}}}};
    if (const LibraryMemory& library = setup_.library; !library.joining.empty()) {
      json["cards"]["library"] = {{"joining_bytes", library.joining},
                                  {"summing_bytes", library.summing},
                                  {"summed_bytes", library.summed}};
    }
    return json;
  }
  void restore(ResultDocument& document) override {
    parse_params(document, read_cards_params);
    for (MeasuredPoint& point : document.benchmarks) {
      for (auto& note : point.notes) {
        note = note == nullptr ? nullptr : read_rank_steps(note->to_json());
      }
    }
  }

 private:
  CardsSetup setup_;
  std::shared_ptr<RankTeam> team_;
  SweepPlan plan_;
};

void serve(const SweepRequest& request, Device& device) {
  team_of(request, device)->serve();
}

std::vector<std::string> one(const char* word) {
  return {word};
}

const Registration<SweepType> registered{SweepType{
    .name = "cards",
    .question = "What do more cards give, and what do they wait for?",
    .default_workload = "resnet50",
    .default_mode = "train",
    .options = {{"cards", "auto",
                 "how many ranks work together: 1,2,4; auto: powers of two up to those started", "",
                 [] { return one("COUNTS"); }},
                {"scaling", "weak", "weak: --batch is of each rank; strong: of all ranks", "",
                 [] {
                   return std::vector<std::string>{"weak", "strong"};
                 }},
                {"bucket", "25MiB", "gradients that are added up at a time, at least", "",
                 [] { return one("BYTES"); }},
                {"shard", "none",
                 "optimizer: each rank keeps and updates its share of the optimizer's state; none", "",
                 [] {
                   return std::vector<std::string>{"none", "optimizer"};
                 }},
                {"split", "none", "layers: each rank has a stage of the network; --batch is of all ranks", "",
                 [] {
                   return std::vector<std::string>{"none", "layers"};
                 }},
                {"micro-batches", "1", "with --split layers: equal parts of a batch, pipelined: 1,4", "",
                 [] { return one("COUNTS"); }},
                {"balance", "compute",
                 "with --split layers: stages that compute alike, or in training hold as much memory", "",
                 [] {
                   return std::vector<std::string>{"compute", "memory"};
                 }},
                {"loader", "none", "a result of bench --sweep workers: whether loading feeds all ranks", "",
                 [] { return one("FILE"); }},
                {"rank-timeout", "60s", "end where a rank does not answer for so long", "",
                 [] { return one("TIME"); }}},
    .serve = serve,
    .complete =
        [](SweepRequest& request) {
          request.label = fmt::format("{}-{}-ranks", request.label, places_in(request).size());
        },
    .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
      return std::make_unique<CardsSweep>(request, device);
    }}};

}  // namespace
}  // namespace bench::sweeps
