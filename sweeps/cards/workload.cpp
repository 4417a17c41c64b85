#include "sweeps/cards/workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/stats/statistics.h"
#include "bench/transfers.h"

namespace bench::sweeps {
namespace {

std::vector<double> figures(const std::vector<RankAnswer>& answers, std::size_t place, std::size_t ranks) {
  std::vector<double> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all.push_back(answers[rank][place]);
  }
  return all;
}

// Empty where a rank has none.
std::vector<double> known_figures(const std::vector<RankAnswer>& answers, std::size_t place,
                                  std::size_t ranks) {
  std::vector<double> all = figures(answers, place, ranks);
  return std::ranges::count(all, 0.0) > 0 ? std::vector<double>() : all;
}

std::vector<std::int64_t> wholes(const std::vector<double>& values) {
  std::vector<std::int64_t> all;
  for (const double value : values) {
    all.push_back(std::llround(value));
  }
  return all;
}

// While it lives: for what an answer is compared with, which is no part of the point's memory.
class WithoutCap {
 public:
  explicit WithoutCap(MemoryTracker& memory) : memory_(memory), cap_(memory.cap()) {
    memory_.set_cap(std::nullopt);
  }
  WithoutCap(const WithoutCap&) = delete;
  WithoutCap& operator=(const WithoutCap&) = delete;
  ~WithoutCap() { memory_.set_cap(cap_); }

 private:
  MemoryTracker& memory_;
  std::optional<std::int64_t> cap_;
};

// Where prepared() begins with bytes by category.
constexpr std::size_t kFirstCategory = 5;
static_assert(std::tuple_size_v<RankAnswer> >= kFirstCategory + kMemoryCategories.size());

// What a rank does of a point. One rank alone takes the step that it would take on one card.
class CardsPart final : public RankPart {
 public:
  CardsPart(const WorkloadType& type, const WorkloadSpec& spec, RankGroup& ranks, Device& device, int threads)
      : device_(device), group_(ranks.first(spec.ranks)) {
    device.limit_threads(threads);
    if (group_ == nullptr) {
      return;
    }
    const auto configured = type.configure(spec_of_rank(spec, group_->rank()));
    const MemoryPlan plan = configured->plan(device);
    plan_bytes_ = plan.peak;
    batch_bytes_ = plan.at_peak[MemoryCategory::input];
    if (splits_layers(spec)) {
      for (const MemoryMoment& moment : configured->timeline(device)) {
        activation_bytes_ = std::max(activation_bytes_, moment.bytes[MemoryCategory::activations]);
      }
    }
    const MemoryByCategory before = device.memory().live();
    device.memory().reset_peak();
    if (spec.ranks > 1) {
      auto part = configured->make_part(device, *group_);
      part_ = part.get();
      workload_ = std::move(part);
    } else {
      workload_ = configured->make(device);
    }
    work_ = workload_->work();
    peak_bytes_ = device.memory().peak() - before.total();
    at_peak_ = device.memory().at_peak();
    for (const MemoryCategory category : kMemoryCategories) {
      at_peak_[category] -= before[category];
    }
  }

  // The plan's bytes, those allocated, a step's work of one rank, of stages the most bytes of activations
  // that are live at a time, and what was allocated by category.
  RankAnswer prepared() override {
    RankAnswer answer{static_cast<double>(plan_bytes_), static_cast<double>(peak_bytes_), work_.samples,
                      work_.flops, static_cast<double>(activation_bytes_)};
    for (std::size_t i = 0; i < kMemoryCategories.size(); ++i) {
      answer[kFirstCategory + i] = static_cast<double>(at_peak_[kMemoryCategories[i]]);
    }
    return answer;
  }

  // Nanoseconds of the slowest of the calls, how long it waited, and on a card what the host took to queue it
  // and what a copy of a batch takes.
  RankAnswer run(std::int64_t calls) override {
    RankAnswer worst{};
    for (std::int64_t i = 0; i < calls && workload_ != nullptr; ++i) {
      group_->barrier();
      const auto ns = static_cast<double>(workload_->timed_step(device_));
      if (ns > worst[0]) {
        worst = {ns, part_ == nullptr ? 0 : part_->waited_ns(), queued_ns(), copied_ns_};
      }
    }
    return worst;
  }

  bool meets_others() const override { return part_ != nullptr; }

  std::optional<GradientTimeline> gradient_timeline() { return workload_->gradient_timeline(); }

  // 1 where it is right or was not checked, 0 where it is wrong; the error, and what is accepted.
  RankAnswer verify() override {
    if (workload_ == nullptr) {
      return {1};
    }
    const WithoutCap expected(device_.memory());
    verified_ = workload_->verify();
    if (part_ != nullptr) {
      group_->barrier();  // all copy at the same time
      copied_ns_ = time_of_copies();
    }
    return {verified_.failed() ? 0.0 : 1.0, verified_.error, verified_.tolerance,
            verified_.passed ? 1.0 : 0.0};
  }
  const Verification& verified() const { return verified_; }
  void shorten_verification() { workload_->shorten_verification(); }

 private:
  // 0 where it is not known: the driver's queue holds about a thousand operations, and a host that queues
  // more waits for the card.
  double queued_ns() const {
    constexpr std::int64_t kQueue = 1000;
    return part_ == nullptr || work_.launches >= kQueue ? 0 : part_->queued_ns();
  }

  // After all else of a point's memory was measured: it takes some of its own. The median of a few, from
  // pinned memory where there is some; 0 where nothing crosses a bus, or there is no memory for it.
  double time_of_copies() {
    Transfers* const transfers = transfers_of(device_);
    if (transfers == nullptr || !transfers->crosses_bus() || batch_bytes_ == 0) {
      return 0;
    }
    try {
      HostMemoryRequest wanted{.kind = HostKind::pinned, .bytes = batch_bytes_};
      if (transfers->cannot_hold(wanted)) {
        wanted.kind = HostKind::pageable;
      }
      const std::unique_ptr<HostMemory> host = transfers->host_memory(wanted);
      const Buffer own = device_.allocate(batch_bytes_, MemoryCategory::other);
      const Copy copy{.host = wanted.kind, .to = own.data(), .from = host->data(), .bytes = batch_bytes_};
      std::vector<double> ns;
      for (int i = 0; i < 5; ++i) {
        ns.push_back(static_cast<double>(device_.time([&] { transfers->copy(std::span(&copy, 1)); })));
      }
      return median(ns);
    } catch (const OutOfMemory&) {
      return 0;
    } catch (const Unsupported&) {
      return 0;
    }
  }

  Device& device_;
  std::unique_ptr<RankGroup> group_;  // outlives the workload
  std::unique_ptr<Workload> workload_;
  RankWorkload* part_ = nullptr;  // of several ranks
  Work work_;
  std::int64_t plan_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::int64_t activation_bytes_ = 0;
  std::int64_t batch_bytes_ = 0;
  double copied_ns_ = 0;  // 0: not known
  MemoryByCategory at_peak_;
  Verification verified_;
};

class CardsWorkload final : public Workload {
 public:
  CardsWorkload(std::size_t point, const WorkloadSpec& spec, std::shared_ptr<RankTeam> team)
      : ranks_(static_cast<std::size_t>(spec.ranks)),
        trains_(spec.mode == "train"),
        split_(splits_layers(spec)),
        team_(std::move(team)),
        prepared_(team_->prepare(point, number_)) {}
  ~CardsWorkload() override { team_->release(number_); }

  void step() override { timed(); }
  std::int64_t timed_step(Device& /*device*/) override {
    return std::max<std::int64_t>(1, std::llround(timed()));
  }
  std::shared_ptr<const SampleNote> note() const override { return note_; }
  std::vector<MemoryByCategory> memory_of_ranks() const override {
    std::vector<MemoryByCategory> all(ranks_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      for (std::size_t i = 0; i < kMemoryCategories.size(); ++i) {
        all[rank][kMemoryCategories[i]] = std::llround(prepared_[rank][kFirstCategory + i]);
      }
    }
    return all;
  }
  std::optional<GradientTimeline> gradient_timeline() override {
    return ranks_ == 1 && trains_ ? own_part().gradient_timeline() : std::nullopt;
  }
  // What several ranks compare takes few steps.
  void shorten_verification() override {
    if (ranks_ == 1) {
      own_part().shorten_verification();
    }
  }

  Verification verify() override {
    const std::vector<RankAnswer> answers = team_->verify(number_);
    if (ranks_ == 1) {
      return own_part().verified();
    }
    Verification verification;
    verification.passed = true;
    verification.tolerance = answers.front()[2];
    std::vector<std::size_t> wrong;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      verification.passed = verification.passed && answers[rank][3] == 1;
      if (answers[rank][0] == 0) {
        wrong.push_back(rank);
      }
      if (!(answers[rank][1] <= verification.error)) {
        verification.error = answers[rank][1];
      }
    }
    verification.detail = compared();
    if (!wrong.empty()) {
      verification.detail += fmt::format("; wrong on rank {}", fmt::join(wrong, ", "));
    } else if (!verification.passed) {
      verification.not_checked = trains_ && split_
                                     ? "the gradients: the whole network needs more memory than is free"
                                     : "the answers";
    }
    return verification;
  }

  Work work() const override {
    const std::vector<double> samples = figures(prepared_, 2, ranks_);
    const std::vector<double> flops = figures(prepared_, 3, ranks_);
    return {.samples = split_ ? samples.front() : std::accumulate(samples.begin(), samples.end(), 0.0),
            .flops = std::accumulate(flops.begin(), flops.end(), 0.0)};
  }

 private:
  CardsPart& own_part() { return dynamic_cast<CardsPart&>(team_->own(number_)); }

  std::string compared() const {
    if (trains_ && split_) {
      return fmt::format(
          "the gradients of {} ranks' stages against the whole network's with the same micro-batches, "
          "and the same bits once more",
          ranks_);
    }
    return split_ ? fmt::format(
                        "the answers that the last of {} ranks has, of each micro-batch, against the "
                        "reference's",
                        ranks_)
                  : fmt::format(
                        "the summed gradients of {} ranks against those of each alone, and the same bits on "
                        "every "
                        "rank",
                        ranks_);
  }

  // The slowest rank's time: a step is done when it is done everywhere.
  double timed() {
    const std::vector<RankAnswer> answers = team_->run(number_, 1);
    auto note = std::make_shared<RankSteps>();
    note->step_ns = figures(answers, 0, ranks_);
    note->waited_ns = figures(answers, 1, ranks_);
    note->queued_ns = known_figures(answers, 2, ranks_);
    note->copied_ns = known_figures(answers, 3, ranks_);
    if (split_) {  // a rank is also idle from the end of its part of the step on
      const double step = std::ranges::max(note->step_ns);
      for (std::size_t rank = 0; rank < ranks_; ++rank) {
        note->waited_ns[rank] += step - note->step_ns[rank];
        note->step_ns[rank] = step;
      }
      note->activation_bytes = wholes(figures(prepared_, 4, ranks_));
    }
    note->plan_bytes = wholes(figures(prepared_, 0, ranks_));
    note->peak_bytes = wholes(figures(prepared_, 1, ranks_));
    note_ = note;
    return std::ranges::max(note->step_ns);
  }

  std::size_t ranks_;
  bool trains_;
  bool split_;
  std::shared_ptr<RankTeam> team_;
  std::int64_t number_ = 0;  // that the team gave it
  std::vector<RankAnswer> prepared_;
  std::shared_ptr<const RankSteps> note_;
};

std::vector<double> numbers_in(const Json& note, const char* name) {
  return note.value(name, std::vector<double>());
}

}  // namespace

std::optional<CardsParams> read_cards_params(const Json& params) {
  if (!params.is_object() || !params.contains("ranks")) {
    return std::nullopt;
  }
  const CardsParams defaults;
  return CardsParams{.ranks = std::max(1, params.at("ranks").get<int>()),
                     .batch = params.value("batch", defaults.batch),
                     .dtype = params.value("dtype", defaults.dtype),
                     .accumulate = params.value("accumulate", defaults.accumulate),
                     .shard_optimizer = params.value("shard", "none") == "optimizer",
                     .split_layers = params.value("split", "none") == "layers",
                     .micro_batches = params.value("micro-batches", defaults.micro_batches),
                     .balance = params.value("balance", defaults.balance),
                     .bucket = params.value("bucket", defaults.bucket)};
}

void split_layers(WorkloadSpec& spec, std::int64_t micro_batches, const std::string& balance) {
  spec.options["split"] = "layers";
  spec.options["micro-batches"] = std::to_string(micro_batches);
  if (balance != "compute") {
    spec.options["balance"] = balance;
  }
}

bool splits_layers(const WorkloadSpec& spec) {
  return spec.options.contains("split");
}

WorkloadSpec spec_of_rank(const WorkloadSpec& spec, int rank) {
  WorkloadSpec own = spec;
  if (splits_layers(spec)) {
    own.options["stage"] = std::to_string(rank);
  }
  return own;
}

Json RankSteps::to_json() const {
  Json json{{"step_ns", wholes(step_ns)},
            {"waited_ns", wholes(waited_ns)},
            {"plan_bytes", plan_bytes},
            {"peak_bytes", peak_bytes}};
  if (!activation_bytes.empty()) {
    json["activation_bytes"] = activation_bytes;
  }
  for (const auto& [name, values] :
       {std::pair("queued_ns", &queued_ns), std::pair("copied_ns", &copied_ns)}) {
    if (!values->empty()) {
      json[name] = wholes(*values);
    }
  }
  return json;
}

std::shared_ptr<const RankSteps> read_rank_steps(const Json& note) {
  if (!note.is_object() || !note.contains("step_ns")) {
    return nullptr;
  }
  auto steps = std::make_shared<RankSteps>();
  steps->step_ns = numbers_in(note, "step_ns");
  steps->waited_ns = numbers_in(note, "waited_ns");
  steps->plan_bytes = wholes(numbers_in(note, "plan_bytes"));
  steps->peak_bytes = wholes(numbers_in(note, "peak_bytes"));
  steps->activation_bytes = wholes(numbers_in(note, "activation_bytes"));
  steps->queued_ns = numbers_in(note, "queued_ns");
  steps->copied_ns = numbers_in(note, "copied_ns");
  const std::size_t ranks = steps->step_ns.size();
  const bool whole = ranks > 0 && steps->waited_ns.size() == ranks && steps->plan_bytes.size() == ranks &&
                     steps->peak_bytes.size() == ranks;
  return whole ? steps : nullptr;
}

RankTeam::Parts rank_parts_of(const WorkloadType& type, std::vector<WorkloadSpec> points, Device& device,
                              int threads) {
  const auto plan = [&type, points, &device](RankGroup& ranks, std::size_t point) -> RankNeed {
    const WorkloadSpec& spec = points.at(point);
    if (ranks.rank() >= spec.ranks) {
      return {};
    }
    return {.planned = type.configure(spec_of_rank(spec, ranks.rank()))->plan(device).peak,
            .cap = device.memory().cap()};
  };
  const auto make = [&type, points = std::move(points), &device, threads](RankGroup& ranks,
                                                                          std::size_t point) {
    return std::make_unique<CardsPart>(type, points.at(point), ranks, device, threads);
  };
  return {.plan = plan, .make = make};
}

ConfiguredCards::ConfiguredCards(const WorkloadType& type, const WorkloadSpec& spec, std::size_t point,
                                 std::shared_ptr<RankTeam> team)
    : type_(type),
      alone_(type.configure(spec_of_rank(spec, 0))),
      spec_(spec),
      point_(point),
      team_(std::move(team)) {}

MemoryPlan ConfiguredCards::plan(Device& device) const {
  MemoryPlan most = alone_->plan(device);
  for (int rank = 1; team_ == nullptr && splits_layers(spec_) && rank < spec_.ranks; ++rank) {
    MemoryPlan plan = type_.configure(spec_of_rank(spec_, rank))->plan(device);
    if (plan.peak > most.peak) {
      most = std::move(plan);
    }
  }
  return most;
}

std::unique_ptr<Workload> ConfiguredCards::make(Device& /*device*/) const {
  return std::make_unique<CardsWorkload>(point_, spec_, team_);
}

}  // namespace bench::sweeps
