// A network as a workload of the program, in the modes infer and train.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "kernels/networks/eager/terms.h"
#include "kernels/networks/graph/graph.h"
#include "kernels/networks/models/network.h"
#include "kernels/networks/passes/stages.h"
#include "kernels/networks/passes/training.h"

namespace bench::kernels {

// stream queues operation by operation; graph records the step once and starts it as a whole, which spares
// the host's work for each launch.
enum class Launch { stream, graph };

// A point of the workload: the network and the options of its step, read once from the command line.
struct NetworkPoint {
  Graph graph;
  Dtype dtype = Dtype::fp32;
  std::int64_t batch = 1;  // of a training step the effective one: a micro-batch is 1/accumulate of it
  std::uint64_t seed = 1;
  Launch launch = Launch::stream;
  TrainOptions training{};            // of mode train
  std::optional<StagePlace> stage{};  // where each rank has one; the micro-batches are the step's
  bool is_file = false;               // the network was read from one
  // The network at small sizes, the smallest first: its gradient is compared with the slow reference's.
  std::function<std::vector<Graph>()> small_graphs{};
  // Tests break a training step with it.
  std::function<void(ProgramPlan&)> edit_plan{};
};

// The networks among configured workloads, for those that ask of one more than its workload tells.
class ConfiguredNetworkPoint {
 public:
  virtual const NetworkPoint& point() const = 0;
  // How eager PyTorch runs its step.
  virtual EagerSetting eager_setting(const EagerForm& form) const = 0;

 protected:
  ~ConfiguredNetworkPoint() = default;
};

// Throws UsageError naming the option, what was given and what is accepted.
NetworkPoint read_point(const NetworkType& network, const WorkloadSpec& spec);
NetworkPoint read_point(Graph graph, const WorkloadSpec& spec);
TrainOptions train_options(const WorkloadSpec& spec);

// Where a workload's network comes from: one of the program's own, or a file.
struct NetworkSource {
  std::string name;
  std::string description;
  std::vector<CommandOption> options;  // that decide which network is built
  std::function<Graph(const WorkloadSpec&)> build;
  bool is_file = false;
  // The network at smaller sizes, for the check of gradients; empty: it has one size.
  std::function<std::vector<Graph>(const WorkloadSpec&)> build_small{};
};

WorkloadType network_workload(const NetworkType& network);
WorkloadType network_workload(const NetworkSource& source);

}  // namespace bench::kernels
