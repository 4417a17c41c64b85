#include "kernels/networks/program/trainer.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace bench::kernels {

Trainer::Trainer(ProgramPlan plan, Device& device, std::uint64_t seed)
    : ProgramRunner(std::move(plan), device, seed), needed_for_loss_(needed_for_loss()) {
  start_states();
}

// From the losses back to whatever wrote what they are made of.
std::vector<bool> Trainer::needed_for_loss() const {
  const auto& instructions = plan_.program.instructions();
  std::vector<bool> needed(plan_.training->optimizer_begin, false);
  std::set<TensorId> wanted(plan_.training->losses.begin(), plan_.training->losses.end());
  for (std::size_t index = needed.size(); index-- > 0;) {
    const Instruction& instruction = instructions[index];
    const auto is_written = [&](const auto& slot_and_id) {
      const SlotInfo* const slot = instruction.operation->find(slot_and_id.first);
      return slot != nullptr && (slot->role == Role::output || slot->role == Role::state) &&
             wanted.contains(slot_and_id.second);
    };
    if (!instruction.updates && std::ranges::any_of(instruction.tensors, is_written)) {
      needed[index] = true;
      for (const auto& [slot, id] : instruction.tensors) {
        wanted.insert(id);
      }
    }
  }
  return needed;
}

void Trainer::run_loss() {
  for (std::size_t index = 0; index < needed_for_loss_.size(); ++index) {
    if (needed_for_loss_[index]) {
      run_part(index, index + 1);
    }
  }
}

void Trainer::restart() {
  device_.synchronize();
  init_parameters();
  start_states();
}

// Gradients and states are zero. The fp32 master weights start as the rounded ones: element by element,
// whatever their order. A piece at a time, for the host may have little memory, or share the
// device's.
void Trainer::start_states() {
  constexpr std::int64_t kPiece = 65'536;  // elements
  const auto& blocks = plan_.program.blocks();
  for (const ParameterGroup& group : plan_.groups) {
    std::vector<BlockId> zero = group.states;
    zero.push_back(group.gradients);
    for (const BlockId id : zero) {
      if (blocks[id].bytes > 0) {
        device_.fill(block(id), std::byte{0}, blocks[id].bytes);
      }
    }
    if (!group.master) {
      continue;
    }
    const std::int64_t size = bytes_of(group.dtype);
    const std::int64_t count = blocks[group.weights].bytes / size;
    std::vector<std::byte> stored(static_cast<std::size_t>(kPiece * size));
    for (std::int64_t from = 0; from < count; from += kPiece) {
      const std::int64_t piece = std::min(kPiece, count - from);
      std::vector<float> wide(static_cast<std::size_t>(piece));
      device_.download(stored.data(), block(group.weights) + from * size, piece * size);
      load({1, piece, 1, 1, Layout::nhwc, group.dtype}, stored.data(), wide);
      device_.upload(block(*group.master) + 4 * from, wide.data(), 4 * piece);
    }
  }
  if (plan_.training->loss_scale) {
    const LossScale start;
    device_.upload(address(*plan_.training->loss_scale), &start, sizeof start);
  }
}

void Trainer::settle_loss_scale() {
  constexpr int kMostHalvings = 64;
  const TrainingParts& training = *plan_.training;
  const std::size_t checks = training.optimizer_begin;
  for (int halvings = 0; training.loss_scale && halvings < kMostHalvings; ++halvings) {
    run_gradients();
    run_part(checks, checks + training.overflow_checks);
    if (loss_scale().overflow == 0) {
      return;
    }
    run_part(instruction_count() - 1, instruction_count());
  }
}

LossScale Trainer::loss_scale() const {
  LossScale now;
  device_.synchronize();
  device_.download(&now, address(*plan_.training->loss_scale), sizeof now);
  return now;
}

void Trainer::set_batch(std::span<const Sample> samples, std::span<const std::int32_t> labels) {
  set_input(samples);
  set_labels(labels);
}

void Trainer::set_labels(std::span<const std::int32_t> labels) {
  const TrainingParts& training = *plan_.training;
  const auto labels_each = static_cast<std::size_t>(plan_.target.batch * training.rows);
  for (std::size_t micro_batch = 0; micro_batch < training.labels.size(); ++micro_batch) {
    std::vector<std::int32_t> of_batch;
    for (std::size_t row = micro_batch * labels_each; row < (micro_batch + 1) * labels_each; ++row) {
      of_batch.push_back(labels[row % labels.size()]);
    }
    device_.upload(address(training.labels[micro_batch]), of_batch.data(),
                   static_cast<std::int64_t>(4 * of_batch.size()));
  }
}

double Trainer::loss() {
  device_.synchronize();
  double sum = 0;
  for (const TensorId id : plan_.training->losses) {
    float part = 0;
    device_.download(&part, address(id), sizeof part);
    sum += static_cast<double>(part);
  }
  return sum;
}

void Trainer::poison_loss() {
  for (const TensorId id : plan_.training->losses) {
    device_.fill(address(id), std::byte{0xFF}, sizeof(float));
  }
}

std::vector<float> Trainer::unpacked(const PlannedParameter& parameter, TensorId tensor) {
  device_.synchronize();
  const SlotInfo& slot = *parameter.operation->find(parameter.slot);
  std::vector<std::byte> packed(static_cast<std::size_t>(slot.bytes));
  device_.download(packed.data(), address(tensor), slot.bytes);
  std::vector<float> plain(static_cast<std::size_t>(slot.plain_count));
  parameter.operation->unpack(parameter.slot, packed.data(), plain);
  plan_.graph[parameter.layer].layer->take_apart(parameter.slot, plan_.input_of(parameter), plain);
  return plain;
}

std::vector<float> Trainer::parameter(std::size_t index) {
  const PlannedParameter& trained = plan_.parameters.at(index);
  return unpacked(trained, trained.value);
}

std::vector<float> Trainer::gradient(std::size_t index) {
  const PlannedParameter& trained = plan_.parameters.at(index);
  std::vector<float> plain = unpacked(trained, trained.gradient);
  if (plan_.training->loss_scale) {
    const float factor = loss_scale().factor;
    for (float& value : plain) {
      value /= factor;
    }
  }
  return plain;
}

std::vector<std::vector<float>> Trainer::all_gradients() {
  std::vector<std::vector<float>> all;
  for (std::size_t index = 0; index < plan_.parameters.size(); ++index) {
    all.push_back(gradient(index));
  }
  return all;
}

void Trainer::set_parameter(std::size_t index, std::span<const float> plain) {
  const PlannedParameter& trained = plan_.parameters.at(index);
  std::vector<float> arranged(plain.begin(), plain.end());
  plan_.graph[trained.layer].layer->arrange(trained.slot, plan_.input_of(trained), arranged);
  device_.synchronize();
  write_parameter(*trained.operation, trained.slot, arranged, device_, address(trained.value));
}

std::span<const float> Trainer::stored_values(TensorId tensor) {
  device_.synchronize();
  const std::int64_t bytes = plan_.program.tensors()[tensor].bytes;
  const auto count = static_cast<std::size_t>(bytes) / sizeof(float);
  if (device_.host_accessible()) {
    return {reinterpret_cast<const float*>(address(tensor)), count};
  }
  staged_.resize(std::max(staged_.size(), count));
  device_.download(staged_.data(), address(tensor), bytes);
  return std::span(staged_).first(count);
}

std::vector<float> Trainer::stored_parameter(std::size_t index) {
  const std::span<const float> values = stored_values(plan_.parameters.at(index).value);
  return {values.begin(), values.end()};
}

double Trainer::gradient_norm(std::size_t index) {
  double squares = 0;
  for (const float value : stored_values(plan_.parameters.at(index).gradient)) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(squares);
}

void Trainer::move_parameter(std::size_t index, std::span<const float> start, double factor) {
  const PlannedParameter& trained = plan_.parameters.at(index);
  const std::span<const float> gradient = stored_values(trained.gradient);
  const bool on_host = device_.host_accessible();
  float* const moved = on_host ? reinterpret_cast<float*>(address(trained.value)) : staged_.data();
  const auto step = static_cast<float>(factor);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    moved[i] = start[i] + step * gradient[i];
  }
  if (!on_host) {
    device_.upload(address(trained.value), moved, static_cast<std::int64_t>(gradient.size_bytes()));
  }
}

}  // namespace bench::kernels
