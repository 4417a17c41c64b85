// What do more cards give?
#include <algorithm>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/run/result_file.h"
#include "bench/sweep.h"
#include "bench/text/quote.h"
#include "sweeps/cards/answer.h"
#include "sweeps/cards/library_memory.h"
#include "sweeps/cards/options.h"
#include "sweeps/cards/planned.h"
#include "sweeps/cards/workload.h"
#include "sweeps/ranks/setup.h"
#include "sweeps/ranks/team.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

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

// What the library of the ranks is asked to sum, to see what it allocates: a bucket, all gradients where they
// are less, and 64 MiB at most. Stages sum nothing. The same on every rank.
std::int64_t summed_in(const SweepRequest& request, Device& device) {
  const std::vector<WorkloadSpec> specs = specs_in(request);
  const auto several = std::ranges::find_if(specs, [](const WorkloadSpec& spec) { return spec.ranks > 1; });
  if (is_split(request) || several == specs.end()) {
    return 0;
  }
  constexpr std::int64_t kMost = std::int64_t{64} << 20;
  const std::int64_t bytes = std::min(bucket_in(request), kMost);
  try {
    const MemoryPlan plan = request.workload->configure(*several)->plan(device);
    const std::int64_t gradients = plan.at_peak[MemoryCategory::gradients];
    return gradients > 0 ? std::min(bytes, gradients) : bytes;
  } catch (const OutOfMemory&) {
    return bytes;
  } catch (const Unsupported&) {
    return bytes;
  }
}

// Bytes of the optimizer's state of one rank that keeps all of it; nullopt where no rank shares it, or it
// cannot be planned.
std::optional<std::int64_t> whole_optimizer(const SweepRequest& request, Device& device) {
  const std::vector<WorkloadSpec> specs = specs_in(request);
  const auto shared = std::ranges::find(specs, true, &WorkloadSpec::shard_optimizer);
  if (shared == specs.end()) {
    return std::nullopt;
  }
  WorkloadSpec whole = *shared;
  whole.shard_optimizer = false;
  try {
    return request.workload->configure(whole)->plan(device).at_peak[MemoryCategory::optimizer];
  } catch (const OutOfMemory&) {
    return std::nullopt;
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

// The point behind the plan's last is library_part().
std::shared_ptr<RankTeam> team_of(const SweepRequest& request, Device& device, std::int64_t summed) {
  const std::vector<WorkloadSpec> specs = specs_in(request);
  const RankTeam::Parts points =
      rank_parts_of(*request.workload, specs, device, threads_of(setup_of(request)));
  return std::make_shared<RankTeam>(
      *request.ranks,
      RankTeam::Parts{.plan =
                          [plan = points.plan, &device, count = specs.size(), summed](RankGroup& ranks,
                                                                                      std::size_t point) {
                            return point == count ? RankNeed{.planned = summed, .cap = device.memory().cap()}
                                                  : plan(ranks, point);
                          },
                      .make =
                          [make = points.make, &device, count = specs.size(), summed](RankGroup& ranks,
                                                                                      std::size_t point) {
                            return point == count ? library_part(ranks, device, summed) : make(ranks, point);
                          }});
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
  // Two points are the least that tell what more ranks give: one rank and the most, with the first batch.
  const auto asked = [&](const WorkloadSpec& spec) {
    return setup.strong && !setup.split_layers ? spec.batch * spec.ranks : spec.batch;
  };
  const int most = std::ranges::max(specs, {}, &WorkloadSpec::ranks).ranks;
  const auto last_of_most = std::ranges::find_if(specs | std::views::reverse, [&](const WorkloadSpec& spec) {
    return spec.ranks == most && asked(spec) == asked(specs.front());
  });
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
    point.spec = spec;
    point.series = series_of(type.name, spec, parsed);
    point.name = fmt::format("{}/batch:{}", point.series, spec.batch);
    point.workload = std::make_shared<ConfiguredCards>(type, spec, index, team);
    point.is_reference = spec.ranks == 1 && spec.batch == batches.front();  // a speedup is over it
    point.is_needed = point.is_reference || &spec == &*last_of_most;
    point.oversubscribes_cores = setup.ranks.takes_turns(setup.threads);
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
      summed_ = summed_in(request, device);
      setup_.whole_optimizer = whole_optimizer(request, device);
      team_ = team_of(request, device, summed_);
    }
    plan_ = plan_of(request, setup_, team_);
  }

  const SweepPlan& plan() const override { return plan_; }
  void prepare(SweepStudy& study) override {  // no point rests on the device's peaks
    if (study.request.ranks != nullptr) {
      const std::vector<std::int64_t> joining = study.device.host_accessible()
                                                    ? study.request.joining_bytes
                                                    : std::vector<std::int64_t>(study.request.places.size());
      study.report("measuring the memory of the ranks' library");
      setup_.library = measure_library(*team_, specs_in(study.request).size(), summed_, joining);
    }
  }

  // Nothing more is measured: what was can be planned on.
  void study(SweepStudy& study) override {
    set_modelled_points(study.document, planned_sharing(study.document, setup_.whole_optimizer));
  }

  std::vector<Finding> findings(const ResultDocument& document) const override {
    return cards_findings(document, setup_);
  }
  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return cards_tables(document, setup_);
  }
  Json to_json() const override {
    Json json{{"cards", {{"hosts", setup_.ranks.hosts}, {"threads", setup_.threads}}}};
    if (const LibraryMemory& library = setup_.library; !library.joining.empty()) {
      json["cards"]["library"] = sweeps::to_json(library);
    }
    return json;
  }
  void restore(ResultDocument& document) override {
    const Field state(document.sweep.state, "sweep");
    const auto cards = state.find("cards");
    if (const auto library = cards ? cards->find("library") : std::nullopt) {
      setup_.library = read_library(*library);
    }
    for (Point& point : measured_points(document)) {
      for (auto& note : point.notes) {
        note = note == nullptr ? nullptr : read_rank_steps(note->to_json());
      }
    }
  }

 private:
  CardsSetup setup_;
  std::int64_t summed_ = 0;  // bytes, by which the library's memory is measured
  std::shared_ptr<RankTeam> team_;
  SweepPlan plan_;
};

void serve_cards(const SweepRequest& request, Device& device) {
  team_of(request, device, summed_in(request, device))->serve();
}

std::vector<std::string> one(const char* word) {
  return {word};
}

const Registration<SweepType> BENCH_REGISTERED{SweepType{
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
                {"rank-timeout", "60s",
                 "end where a rank does not answer for so long, longer where steps take long", "",
                 [] { return one("TIME"); }}},
    .serve = serve_cards,
    .complete =
        [](SweepRequest& request) {
          request.label = fmt::format("{}-{}-ranks", request.label, request.places.size());
        },
    .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
      return std::make_unique<CardsSweep>(request, device);
    }}};

}  // namespace
}  // namespace bench::sweeps
