#include "kernels/networks/train/trainer.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/draw.h"

namespace bench::kernels {
namespace {

MemoryCategory category_of(Content content) {
  return content == Content::scratch ? MemoryCategory::workspace : MemoryCategory::activations;
}

MemoryByCategory blocks_of(const Program& program) {
  MemoryByCategory bytes;
  for (const ProgramBlock& block : program.blocks()) {
    bytes[block.category] += block.bytes;
  }
  return bytes;
}

PlainParameter largest_plain(const TrainingStep& step, const Graph& graph) {
  PlainParameter largest;
  for (const TrainedParameter& parameter : step.parameters) {
    const std::int64_t bytes =
        plain_bytes_while_drawn(graph, parameter.layer, *parameter.operation->find(parameter.slot));
    if (bytes > largest.bytes) {
      largest = {fmt::format("{} {}", graph[parameter.layer].name, name_of(parameter.slot)), bytes};
    }
  }
  return largest;
}

}  // namespace

MemoryPlan TrainingPlan::memory() const {
  MemoryByCategory setup = blocks_of(step.program);
  MemoryByCategory running = setup;
  setup[MemoryCategory::workspace] += largest_plain.bytes;
  running[category_of(Content::activation)] += placement.arena_bytes;
  running[category_of(Content::scratch)] += placement.scratch_bytes;

  MemoryPlan memory;
  memory.library = library_bytes;
  memory.setup_peak = setup.total();
  memory.in_step = running;
  memory.peak = std::max(memory.setup_peak, running.total());
  const bool in_step = running.total() > memory.setup_peak;
  memory.at_peak = in_step ? running : setup;
  memory.peak_at = in_step ? peak_at() : fmt::format("packing {}", largest_plain.name);
  return memory;
}

std::vector<MemoryMoment> TrainingPlan::timeline() const {
  const MemoryByCategory blocks = blocks_of(step.program);
  std::vector<MemoryMoment> moments;
  for (std::size_t index = 0; index < step.program.instructions().size(); ++index) {
    const LiveBytes& live = placement.live[index];
    MemoryMoment moment{step.program.instructions()[index].name, blocks};
    moment.bytes[MemoryCategory::activations] += live.activations;
    moment.bytes[MemoryCategory::gradients] += live.parameter_gradients;
    moment.bytes[MemoryCategory::workspace] += live.scratch;
    moments.push_back(std::move(moment));
  }
  return moments;
}

Work TrainingPlan::work() const {
  Work work;
  work.samples = static_cast<double>(target.batch) * static_cast<double>(step.inputs.size());
  for (const ProgramBlock& block : step.program.blocks()) {
    const bool moved = block.category == MemoryCategory::weights ||
                       block.category == MemoryCategory::gradients ||
                       block.category == MemoryCategory::optimizer;
    work.fixed_bytes += moved ? static_cast<double>(block.bytes) : 0;
  }
  for (const Instruction& instruction : step.program.instructions()) {
    work.flops += instruction.operation->flops();
    ++work.launches;
    for (const auto& [slot, id] : instruction.tensors) {
      const ProgramTensor& tensor = step.program.tensors()[id];
      const bool of_samples =
          tensor.content == Content::activation || tensor.content == Content::activation_gradient;
      work.sample_bytes += of_samples ? static_cast<double>(tensor.bytes) : 0;
    }
  }
  return work;
}

const std::string& TrainingPlan::peak_at() const {
  const auto total = [](const LiveBytes& live) {
    return live.activations + live.parameter_gradients + live.scratch;
  };
  const auto most = std::ranges::max_element(placement.live, {}, total);
  return step.program.instructions().at(static_cast<std::size_t>(most - placement.live.begin())).name;
}

TrainingPlan plan_training(Graph graph, const Target& target, const TrainOptions& options, Device& device) {
  TrainingStep step = training_step(graph, target, options, device);
  Placement placement = place(step.program);
  const bool on_host = device.host_accessible();
  PlainParameter plain = on_host ? largest_plain(step, graph) : PlainParameter{};
  const std::int64_t library = on_host ? compiled_code_bytes(step.program.instructions().size()) : 0;
  return {std::move(graph), target, std::move(step), std::move(placement), library, std::move(plain)};
}

Trainer::Trainer(TrainingPlan plan, Device& device, std::uint64_t seed)
    : device_(device), plan_(std::move(plan)), seed_(seed) {
  allocate_blocks();
  {
    const MemoryReservation plain(device.memory(), MemoryCategory::workspace, plan_.largest_plain.bytes);
    restart();
  }
  allocate_rest();
  bind();
}

void Trainer::restart() {
  device_.synchronize();
  for (const ParameterGroup& group : plan_.step.groups) {
    std::vector<BlockId> all = group.states;
    all.push_back(group.weights);
    all.push_back(group.gradients);
    for (const BlockId block : all) {
      // Also what lies between tensors: the optimizer goes through blocks as a whole.
      const std::int64_t bytes = plan_.step.program.blocks()[block].bytes;
      if (bytes > 0) {
        device_.fill(blocks_[block].data(), std::byte{0}, bytes);
      }
    }
  }
  draw_parameters();
  start_states();
  if (plan_.step.loss_scale) {
    const LossScale start;
    device_.upload(address(*plan_.step.loss_scale), &start, sizeof start);
  }
}

void Trainer::settle_loss_scale() {
  constexpr int kMostHalvings = 64;
  const std::size_t checks = plan_.step.optimizer_begin;
  for (int halvings = 0; plan_.step.loss_scale && halvings < kMostHalvings; ++halvings) {
    run_gradients();
    run(checks, checks + plan_.step.overflow_checks, false);
    if (loss_scale().overflow == 0) {
      return;
    }
    run(bound_.size() - 1, bound_.size(), false);
  }
}

LossScale Trainer::loss_scale() const {
  LossScale now;
  device_.synchronize();
  device_.download(&now, address(*plan_.step.loss_scale), sizeof now);
  return now;
}

void Trainer::allocate_blocks() {
  for (const ProgramBlock& block : plan_.step.program.blocks()) {
    blocks_.push_back(device_.allocate(block.bytes, block.category));
  }
}

void Trainer::allocate_rest() {
  arena_ = device_.allocate(plan_.placement.arena_bytes, category_of(Content::activation));
  scratch_ = device_.allocate(plan_.placement.scratch_bytes, category_of(Content::scratch));
}

std::byte* Trainer::address(TensorId id) const {
  const ProgramTensor& tensor = plan_.step.program.tensors()[id];
  if (tensor.block) {
    return blocks_[*tensor.block].data() + tensor.offset;
  }
  return tensor.content == Content::scratch ? scratch_.data() : arena_.data() + plan_.placement.offsets[id];
}

void Trainer::draw_parameters() {
  for (const TrainedParameter& parameter : plan_.step.parameters) {
    parameter.operation->prepare();
    draw_parameter(plan_.graph, parameter.layer, parameter.slot, plan_.target, seed_, *parameter.operation,
                   device_, address(parameter.value));
  }
}

void Trainer::set_parameter(std::size_t index, std::span<const float> plain) {
  const TrainedParameter& parameter = plan_.step.parameters.at(index);
  if (device_.host_accessible()) {
    device_.synchronize();
    parameter.operation->pack(parameter.slot, plain, address(parameter.value));
    return;
  }
  const std::int64_t bytes = plan_.step.program.tensors()[parameter.value].bytes;
  std::vector<std::byte> packed(static_cast<std::size_t>(bytes));
  parameter.operation->pack(parameter.slot, plain, packed.data());
  device_.upload(address(parameter.value), packed.data(), bytes);
}

// The fp32 master weights start as the rounded ones: element by element, whatever their order. A piece at a
// time, for the host may have little memory beside the device's, or the same.
void Trainer::start_states() {
  constexpr std::int64_t kPiece = 65'536;  // elements
  for (const ParameterGroup& group : plan_.step.groups) {
    if (!group.master) {
      continue;
    }
    const std::int64_t size = bytes_of(group.dtype);
    const std::int64_t count = plan_.step.program.blocks()[group.weights].bytes / size;
    std::vector<std::byte> stored(static_cast<std::size_t>(kPiece * size));
    for (std::int64_t from = 0; from < count; from += kPiece) {
      const std::int64_t piece = std::min(kPiece, count - from);
      std::vector<float> wide(static_cast<std::size_t>(piece));
      device_.download(stored.data(), blocks_[group.weights].data() + from * size, piece * size);
      load({1, piece, 1, 1, Layout::nhwc, group.dtype}, stored.data(), wide);
      device_.upload(blocks_[*group.master].data() + 4 * from, wide.data(), 4 * piece);
    }
  }
}

void Trainer::bind() {
  for (const Instruction& instruction : plan_.step.program.instructions()) {
    std::shared_ptr<Operation> own = instruction.make_own();
    own->prepare();
    SlotPointers pointers;
    for (const auto& [slot, id] : instruction.tensors) {
      pointers[slot] = address(id);
    }
    bound_.emplace_back(std::move(own), pointers);
  }
}

void Trainer::set_batch(std::span<const Sample> samples, std::span<const std::int32_t> labels) {
  const std::int64_t bytes = plan_.step.input.sample_bytes();
  std::vector<std::byte> stored(static_cast<std::size_t>(bytes));
  const std::int64_t batch = plan_.target.batch;
  const auto rows = static_cast<std::size_t>(plan_.step.rows);
  for (std::size_t micro = 0; micro < plan_.step.inputs.size(); ++micro) {
    std::vector<std::int32_t> of_batch;
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto sample = micro * static_cast<std::size_t>(batch) + static_cast<std::size_t>(i);
      plan_.step.input.store_sample(samples[sample % samples.size()], stored.data());
      device_.upload(address(plan_.step.inputs[micro]) + i * bytes, stored.data(), bytes);
      for (std::size_t row = 0; row < rows; ++row) {
        of_batch.push_back(labels[(sample * rows + row) % labels.size()]);
      }
    }
    device_.upload(address(plan_.step.labels[micro]), of_batch.data(),
                   static_cast<std::int64_t>(4 * of_batch.size()));
  }
}

void Trainer::run(std::size_t begin, std::size_t end, bool updates) {
  const std::vector<Instruction>& instructions = plan_.step.program.instructions();
  for (std::size_t index = begin; index < end; ++index) {
    if (updates || !instructions[index].updates) {
      bound_[index].first->run(bound_[index].second);
    }
  }
}

double Trainer::loss() {
  device_.synchronize();
  double sum = 0;
  for (const TensorId id : plan_.step.losses) {
    float part = 0;
    device_.download(&part, address(id), sizeof part);
    sum += static_cast<double>(part);
  }
  return sum;
}

void Trainer::poison_loss() {
  for (const TensorId id : plan_.step.losses) {
    device_.fill(address(id), std::byte{0xFF}, sizeof(float));
  }
}

std::vector<float> Trainer::unpacked(const TrainedParameter& parameter, TensorId tensor) {
  device_.synchronize();
  const SlotInfo& slot = *parameter.operation->find(parameter.slot);
  std::vector<std::byte> packed(static_cast<std::size_t>(slot.bytes));
  device_.download(packed.data(), address(tensor), slot.bytes);
  std::vector<float> plain(static_cast<std::size_t>(slot.plain_count));
  parameter.operation->unpack(parameter.slot, packed.data(), plain);
  return plain;
}

std::vector<float> Trainer::parameter(std::size_t index) {
  const TrainedParameter& trained = plan_.step.parameters.at(index);
  return unpacked(trained, trained.value);
}

std::vector<float> Trainer::gradient(std::size_t index) {
  const TrainedParameter& trained = plan_.step.parameters.at(index);
  std::vector<float> plain = unpacked(trained, trained.gradient);
  if (plan_.step.loss_scale) {
    const float factor = loss_scale().factor;
    for (float& value : plain) {
      value /= factor;
    }
  }
  return plain;
}

}  // namespace bench::kernels
