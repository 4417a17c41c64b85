// Where cuDNN is called for a graph: its heuristics list engine configurations, one of them is built
// into an execution plan, and cudnnBackendExecute queues that.
//
// By the backend API itself and not by cudnn-frontend, whose headers take a minute and a half to compile.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/text/lru_cache.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/backends/cudnn/toolkit/operation_graph.h"
#include "kernels/devices/cuda/compiled_plans.h"
#include "kernels/devices/cuda/errors.h"

namespace bench::kernels::cudnn {
namespace {

// cuDNN's handle for a card that is here: made at the first use, kept by the card.
class CudnnHandle {
 public:
  explicit CudnnHandle(const cuda::Card& card) : card_(card) {
    card_.use();
    check(api().cudnnCreate(&handle_), "cudnnCreate");
  }
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  ~CudnnHandle() { api().cudnnDestroy(handle_); }

  cudnnHandle_t get() const {
    card_.use();
    return handle_;
  }
  // With its work queued on `stream`.
  cudnnHandle_t on(CUstream_st* stream) {
    card_.use();
    if (stream_ != stream) {
      check(api().cudnnSetStream(handle_, stream), "cudnnSetStream");
      stream_ = stream;
    }
    return handle_;
  }

 private:
  static void check(cudnnStatus_t status, const char* call, cuda::CallSite site = cuda::CallSite::current()) {
    if (status != CUDNN_STATUS_SUCCESS) {
      cuda::library_failed(fmt::format("{} failed: {} ({}) at {}", call, static_cast<int>(status),
                                       api().cudnnGetErrorString(status), cuda::text_of(site)),
                           cuda::says_out_of_memory(api().cudnnGetErrorString(status)));
    }
  }

  const cuda::Card& card_;
  cudnnHandle_t handle_ = nullptr;
  std::optional<CUstream_st*> stream_;  // none was set yet
};

// "eng41_k2=28_k19=0": the engine, and its settings by their number.
std::string name_of(const Descriptor& configuration) {
  const Descriptor engine =
      configuration.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  std::vector<std::pair<int, std::int64_t>> settings;
  for (const Descriptor& knob : configuration.descriptors(
           CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    settings.emplace_back(knob.value<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE),
                          knob.value<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  std::ranges::sort(settings);
  std::string name = fmt::format("eng{}", engine.value<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  for (const auto& [knob, value] : settings) {
    name += fmt::format("_k{}={}", knob, value);
  }
  return name;
}

// Engines that do not say how large their tiles are take the smallest, which counts the most products.
int winograd_tile(const std::vector<cudnnBackendNumericalNote_t>& notes) {
  constexpr std::array<std::pair<cudnnBackendNumericalNote_t, int>, 4> kTiles{
      {{CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4, 4},
       {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, 6},
       {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, 13},
       {CUDNN_NUMERICAL_NOTE_WINOGRAD, 4}}};
  for (const auto& [note, side] : kTiles) {
    if (std::ranges::find(notes, note) != notes.end()) {
      return side;
    }
  }
  return 0;
}

Plan plan_of(const Descriptor& configuration) {
  const Descriptor engine =
      configuration.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  const auto numerical = engine.values<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                                    CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const auto behavior = engine.values<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                                  CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  const auto has = [](const auto& notes, auto note) { return std::ranges::count(notes, note) > 0; };
  Plan plan{.tensor_cores = has(numerical, CUDNN_NUMERICAL_NOTE_TENSOR_CORE),
            .narrows_inputs = has(numerical, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS),
            .narrows_sums = has(numerical, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION),
            .compiles = has(behavior, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION),
            .winograd_tile = winograd_tile(numerical)};
  try {
    plan.engine = engine.value<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    plan.workspace = configuration.value<std::int64_t>(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
  } catch (const CudnnError&) {
    plan.unknown = true;
  }
  return plan;
}

void require_absent_cards() {
  if (const std::string why = cuda::why_absent_unknown({.number = api().cudnnGetVersion(), .cuda = 0});
      !why.empty()) {
    throw Unsupported(why);
  }
}

class CudnnPlans final : public Plans {
 public:
  template <class Described>
  CudnnPlans(const Described& described_graph, cuda::Card& card)
      : what_(described(described_graph)), here_(card.is_here()), stored_(card.keep<cuda::CompiledPlans>()) {
    try {
      if (here_) {
        handle_ = card.keep<CudnnHandle>();
      } else {
        require_absent_cards();
        properties_.emplace(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
        const std::string& json = card.properties();
        properties_->set_all(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                             std::span<const char>(json.c_str(), json.size() + 1));
        properties_->finalize();
      }
      graph_.emplace();
      describe(described_graph, *graph_);
      graph_->finalize(here_ ? handle_->get() : nullptr);
      list_plans();
    } catch (const CudnnError& refusal) {
      const std::string what = fmt::format("cuDNN has no plan for {}: {}", what_, refusal.what());
      ask_device(what);
      throw Unsupported(what);
    }
  }

  std::span<const Plan> list() const override { return list_; }

  std::string name(std::size_t plan) const override {
    try {
      return name_of(*configurations_[plan]);
    } catch (const CudnnError& refusal) {
      fail(plan, refusal);
    }
  }

  std::optional<std::int64_t> build(std::size_t plan) override {
    Built& built = built_[plan];
    if (!built.tried && list_[plan].compiles) {
      load(plan);
    }
    if (!built.tried) {
      try {
        Descriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        made.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *configurations_[plan]);
        made.finalize();
        built.workspace = made.value<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
        built.plan = std::move(made);
      } catch (const CudnnError& refusal) {
        // Engines check a few limits of theirs only now. Where the device is why the plan stays untried.
        ask_device(fmt::format("{}: cuDNN's plan {} was not built: {}", what_, plan, refusal.what()));
        refusal_ = refusal.what();
      }
      built.tried = true;
    }
    return built.plan ? std::optional(built.workspace) : std::nullopt;
  }

  // Once: who asks again chooses among those that are left, and earlier callers still hold theirs.
  void keep_only(std::span<const std::size_t> plans) override {
    if (std::exchange(kept_only_, true)) {
      return;
    }
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (std::ranges::find(plans, i) == plans.end()) {
        list_[i].unknown = true;
        configurations_[i].reset();
      }
    }
  }

  std::string last_refusal() const override { return refusal_; }

  void keep(std::size_t plan) override {
    Built& built = built_[plan];
    if (!list_[plan].compiles || !built.plan || std::exchange(built.kept, true) || !stored_->is_kept() ||
        stored_->put_back(work(), name(plan))) {
      return;
    }
    try {
      stored_->put(work(), name(plan), built.plan->text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION));
    } catch (const CudnnError&) {  // the next process compiles it again
    }
  }

  void run(std::size_t plan, CUstream_st* stream, const PlanArguments& arguments) override {
    const cudnnHandle_t handle = handle_->on(stream);
    try {
      const Descriptor& pack = packs_.get(arguments, [&] { return packed(arguments); });
      require(api().cudnnBackendExecute(handle, built_[plan].plan->get(), pack.get()), "cudnnBackendExecute");
    } catch (const CudnnError& refusal) {
      stored_->drop(work(), name(plan));
      fail(plan, refusal);
    }
  }

 private:
  struct Built {
    bool tried = false;
    bool kept = false;  // for later processes
    std::int64_t workspace = 0;
    std::optional<Descriptor> plan;  // none where cuDNN refused
  };

  // What an earlier process compiled. cuDNN checks its own version and the card, and refuses what it cannot
  // read; without a handle or a card's properties it would crash.
  void load(std::size_t plan) {
    const std::optional<std::string> text = stored_->take(work(), name(plan));
    if (!text) {
      return;
    }
    try {
      Descriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      made.set_all(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, std::span<const char>(*text));
      if (here_) {
        made.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle_->get());
      } else {
        made.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *properties_);
      }
      made.finalize();
      const auto workspace = made.value<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
      built_[plan] = {.tried = true, .workspace = workspace, .plan = std::move(made)};
    } catch (const CudnnError&) {  // it is compiled
      stored_->drop(work(), name(plan));
    }
  }

  // The graph itself: its text does not tell all that a kernel is compiled for.
  std::string work() const { return fmt::format("cudnn {}, graph {}", what_, graph_->get().content()); }

  Descriptor packed(const PlanArguments& arguments) const {
    const std::vector<void*> pointers = graph_->pointers(arguments);
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, arguments.workspace);
    pack.set_all(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(pointers));
    pack.set_all(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(graph_->ids()));
    pack.finalize();
    return pack;
  }

  // The heuristics' favourites, then what supports anything. One mode may refuse as long as the other does
  // not.
  void list_plans() {
    std::optional<CudnnError> refused;
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      try {
        Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_->get());
        heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
        if (properties_) {
          heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties_);
        }
        heuristics.finalize();
        for (Descriptor& configuration :
             heuristics.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                    heuristics.count(CUDNN_ATTR_ENGINEHEUR_RESULTS))) {
          configurations_.emplace_back(std::move(configuration));
        }
      } catch (const CudnnError& refusal) {
        refused = refusal;
      }
    }
    if (configurations_.empty()) {
      throw refused ? *refused : CudnnError("its heuristics know none");
    }
    std::ranges::transform(
        configurations_, std::back_inserter(list_),
        [](const std::optional<Descriptor>& configuration) { return plan_of(*configuration); });
    built_.resize(list_.size());
  }

  // Returns where cuDNN's refusal is its own. A card that is not here is never the reason.
  void ask_device(const std::string& what) const {
    const bool out_of_memory = cuda::says_out_of_memory(what);
    if (out_of_memory || (here_ && !cuda::says_not_supported(what))) {
      cuda::library_refused(what, out_of_memory);
    }
  }

  [[noreturn]] void fail(std::size_t plan, const CudnnError& refusal,
                         cuda::CallSite site = cuda::CallSite::current()) const {
    cuda::library_failed(
        fmt::format("{}: cuDNN's plan {} failed: {} at {}", what_, plan, refusal.what(), cuda::text_of(site)),
        cuda::says_out_of_memory(refusal.what()));
  }

  // In this order: what comes first outlives what refers to it.
  std::string what_;
  bool here_ = false;
  std::shared_ptr<cuda::CompiledPlans> stored_;
  std::shared_ptr<CudnnHandle> handle_;   // of a card that is here
  std::optional<Descriptor> properties_;  // of one that is not
  std::optional<OperationGraph> graph_;
  std::vector<std::optional<Descriptor>> configurations_;
  std::vector<Plan> list_;
  std::vector<Built> built_;
  // A workload's operations of this work run on the same memory in each step; few of them are alike.
  static constexpr std::size_t kMostPacks = 64;
  LruCache<PlanArguments, Descriptor> packs_{kMostPacks};
  std::string refusal_;
  bool kept_only_ = false;
};

const Registration<PlanSource> BENCH_REGISTERED{
    {.name = "cudnn",
     .version = [] { return static_cast<std::int64_t>(api().cudnnGetVersion()); },
     .newest_capability = [] { return static_cast<int>(api().cudnnGetMaxDeviceVersion() / 10); },
     .plans = [](const Conv2d& convolution, cuda::Card& card) -> std::unique_ptr<Plans> {
       return std::make_unique<CudnnPlans>(convolution, card);
     },
     .attention_plans = [](const Attention& spec, cuda::Card& card) -> std::unique_ptr<Plans> {
       return std::make_unique<CudnnPlans>(spec, card);
     }}};

}  // namespace
}  // namespace bench::kernels::cudnn
