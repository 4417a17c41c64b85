#include "kernels/backends/onednn/primitive_operation.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace bench::kernels::onednn {
namespace {

constexpr std::int64_t kAlignment = 64;

void reorder(const dnnl::memory::desc& from, const void* from_data, const dnnl::memory::desc& to,
             void* to_data) {
  // oneDNN takes no pointer to const; a reorder only reads its source.
  dnnl::memory source(from, engine(), const_cast<void*>(from_data));
  dnnl::memory target(to, engine(), to_data);
  dnnl::reorder(source, target).execute(stream(), source, target);
  synchronize();
}

}  // namespace

void PrimitiveOperation::plan(const dnnl::primitive_desc& descriptor, std::int64_t parts) {
  descriptor_ = descriptor;
  parts_ = parts;
  if (parts > 1) {
    for (Argument& argument : arguments_) {
      const SlotInfo& slot = *find(argument.slot);
      argument.part_step = slot.role == Role::parameter ? 0 : slot.bytes / parts;
    }
  }
  bind_scratch(DNNL_ARG_SCRATCHPAD, descriptor_.scratchpad_desc());
}

void PrimitiveOperation::bind_activation(Slot slot, Role role, int argument, const TensorDesc& tensor,
                                         const dnnl::memory::desc& stored) {
  declare(slot, role, tensor);
  arguments_.push_back({.slot = slot, .argument = argument, .stored = stored});
}

void PrimitiveOperation::bind_converted_activation(Slot slot, Role role, int argument,
                                                   const TensorDesc& tensor,
                                                   const dnnl::memory::desc& wanted) {
  const dnnl::memory::desc stored = describe(tensor);
  if (stored == wanted) {
    bind_activation(slot, role, argument, tensor, stored);
    return;
  }
  bind_activation(slot, role, kNotPassed, tensor, stored);
  bind_scratch(argument, wanted);
  convert_last(role == Role::input);
}

// Between the last two arguments.
void PrimitiveOperation::convert_last(bool before) {
  const std::size_t stored = arguments_.size() - 2;
  const std::size_t scratch = arguments_.size() - 1;
  conversions_.push_back(
      {.from = before ? stored : scratch, .to = before ? scratch : stored, .before = before});
}

void PrimitiveOperation::declare(Slot slot, Role role, const TensorDesc& tensor) {
  slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
}

void PrimitiveOperation::bind_parameter(Slot slot, Role role, int argument, const dnnl::memory::desc& packed,
                                        const dnnl::memory::desc& plain) {
  std::int64_t count = 1;
  for (const auto size : dims_of(plain)) {
    count *= size;
  }
  slots_.push_back({.slot = slot,
                    .role = role,
                    .bytes = static_cast<std::int64_t>(packed.get_size()),
                    .plain_count = count});
  arguments_.push_back({.slot = slot, .argument = argument, .stored = packed, .plain = plain});
}

void PrimitiveOperation::bind_opaque(Slot slot, Role role, int argument, const dnnl::memory::desc& stored) {
  const auto bytes = static_cast<std::int64_t>(stored.get_size());
  if (bytes == 0) {
    return;
  }
  slots_.push_back({.slot = slot, .role = role, .bytes = bytes});
  bind_also(slot, argument, stored);
}

void PrimitiveOperation::bind_also(Slot slot, int argument, const dnnl::memory::desc& stored) {
  arguments_.push_back({.slot = slot, .argument = argument, .stored = stored});
}

void PrimitiveOperation::bind_converted_parameter(Slot slot, Role role, int argument,
                                                  const dnnl::memory::desc& packed,
                                                  const dnnl::memory::desc& wanted,
                                                  const dnnl::memory::desc& plain) {
  if (packed == wanted) {
    bind_parameter(slot, role, argument, packed, plain);
    return;
  }
  bind_parameter(slot, role, kNotPassed, packed, plain);
  bind_scratch(argument, wanted);
  convert_last(role == Role::parameter);
}

void PrimitiveOperation::bind_scratch(int argument, const dnnl::memory::desc& stored) {
  const auto bytes = static_cast<std::int64_t>(stored.get_size());
  if (bytes == 0) {
    return;
  }
  auto at = std::ranges::find(slots_, Slot::workspace, &SlotInfo::slot);
  if (at == slots_.end()) {
    at = slots_.insert(at, {.slot = Slot::workspace, .role = Role::scratch});
  }
  const std::int64_t offset = (at->bytes + kAlignment - 1) / kAlignment * kAlignment;
  at->bytes = offset + bytes;
  arguments_.push_back({.slot = Slot::workspace, .argument = argument, .stored = stored, .offset = offset});
}

void PrimitiveOperation::prepare() {
  if (!prepared_.empty()) {
    return;
  }
  translated(what_, [&] {
    primitive_ = dnnl::primitive(descriptor_);
    for (std::int64_t part = 0; part < parts_; ++part) {
      for (const Argument& argument : arguments_) {
        memories_.emplace_back(argument.stored, engine(), static_cast<void*>(DNNL_MEMORY_NONE));
        if (argument.argument != kNotPassed) {
          prepared_.push_back({argument.argument, memories_.back().get()});
        }
      }
    }
    for (Conversion& conversion : conversions_) {
      conversion.primitive = dnnl::reorder(memories_[conversion.from], memories_[conversion.to]);
    }
  });
}

const PrimitiveOperation::Argument& PrimitiveOperation::parameter(Slot slot, std::size_t plain_count) const {
  const auto at = std::ranges::find(arguments_, slot, &Argument::slot);
  if (at == arguments_.end() || !at->plain) {
    throw std::invalid_argument(fmt::format("{} has no parameter {}", what_, name_of(slot)));
  }
  if (find(slot)->plain_count != static_cast<std::int64_t>(plain_count)) {
    throw std::invalid_argument(fmt::format("{}: {} takes {} values, {} given", what_, name_of(slot),
                                            find(slot)->plain_count, plain_count));
  }
  return *at;
}

void PrimitiveOperation::pack(Slot slot, std::span<const float> plain, void* packed) {
  const Argument& argument = parameter(slot, plain.size());
  translated("packing " + what_, [&] { reorder(*argument.plain, plain.data(), argument.stored, packed); });
}

void PrimitiveOperation::unpack(Slot slot, const void* packed, std::span<float> plain) {
  const Argument& argument = parameter(slot, plain.size());
  translated("unpacking " + what_, [&] { reorder(argument.stored, packed, *argument.plain, plain.data()); });
}

void PrimitiveOperation::convert(bool before) {
  for (Conversion& conversion : conversions_) {
    if (conversion.before == before) {
      conversion.primitive.execute(stream(), memories_[conversion.from], memories_[conversion.to]);
    }
  }
}

void PrimitiveOperation::run(const SlotPointers& pointers) {
  try {
    const std::size_t count = arguments_.size();
    const auto parts = static_cast<std::size_t>(parts_);
    for (std::size_t index = 0; index < count; ++index) {
      Argument& argument = arguments_[index];
      std::byte* data = static_cast<std::byte*>(pointers[argument.slot]) + argument.offset;
      // Setting a handle makes oneDNN clear channel padding: only when the caller moved the tensor.
      if (data != argument.bound) {
        for (std::size_t part = 0; part < parts; ++part) {
          memories_[part * count + index].set_data_handle(data + argument.part_step *
                                                                     static_cast<std::int64_t>(part));
        }
        argument.bound = data;
      }
    }
    convert(true);
    const auto passed = static_cast<std::size_t>(
        std::ranges::count_if(arguments_, [](const Argument& a) { return a.argument != kNotPassed; }));
    for (std::size_t part = 0; part < parts; ++part) {
      // The C call, because the C++ one builds a vector of arguments each time.
      dnnl::error::wrap_c_api(
          dnnl_primitive_execute(primitive_.get(), stream().get(), static_cast<int>(passed),
                                 prepared_.data() + part * passed),
          "could not execute a primitive");
    }
    convert(false);
  } catch (const dnnl::error& error) {
    rethrow(error, what_);
  }
}

}  // namespace bench::kernels::onednn
