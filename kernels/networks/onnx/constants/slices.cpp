#include "kernels/networks/onnx/constants/slices.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {

namespace {

std::vector<Number> numbers_of(const std::vector<std::int64_t>& wholes) {
  std::vector<Number> numbers;
  for (const std::int64_t whole : wholes) {
    numbers.push_back({static_cast<double>(whole), 0});
  }
  return numbers;
}

// The least fixed end that takes all of a dimension of size · batch.
std::int64_t end_of_all(std::int64_t size, const Evaluation& file) {
  constexpr std::int64_t kAnyBatch = INT32_MAX;  // what exporters write for an open end, or more
  return file.batch_is_free ? kAnyBatch : size * file.file_batch;
}

// A bound of a dimension of size · batch as one of each sample's elements.
std::int64_t bound_of_sample(const Number& bound, std::int64_t size, const Evaluation& file) {
  const std::int64_t fixed = to_whole(bound.fixed);
  const std::int64_t file_batch = file.file_batch;
  if (bound.per_batch != 0) {
    if (fixed == 0) {
      return to_whole(bound.per_batch);
    }
  } else if (fixed / file_batch >= size || fixed / file_batch < -size) {
    return fixed > 0 ? size : -size - 1;
  } else if (fixed % file_batch == 0) {
    return fixed / file_batch;
  }
  throw Refused("it takes a part of the batch");
}

}  // namespace

std::vector<Number> numbers_of(const Constant& constant) {
  constexpr std::int64_t kMost = 64;
  if (constant.elements() > kMost) {
    throw Refused(fmt::format("a list of {} sizes; at most {} are accepted", constant.elements(), kMost));
  }
  std::vector<Number> numbers;
  for (std::int64_t i = 0; i < constant.elements(); ++i) {
    numbers.push_back(constant.number(i));
  }
  return numbers;
}

SliceLists slice_lists(const Evaluation& evaluation) {
  SliceLists lists;
  if (evaluation.opset < 10) {
    const auto attribute = [&](const std::string& name) {
      return numbers_of(integers_of(evaluation.node, name).value_or(std::vector<std::int64_t>{}));
    };
    lists.starts = attribute("starts");
    lists.ends = attribute("ends");
    lists.axes = integers_of(evaluation.node, "axes");
    return lists;
  }
  lists.starts = numbers_of(evaluation.in(1));
  lists.ends = numbers_of(evaluation.in(2));
  if (evaluation.has(3)) {
    lists.axes = evaluation.in(3).wholes();
  }
  if (evaluation.has(4)) {
    lists.steps = evaluation.in(4).wholes();
  }
  return lists;
}

std::vector<Sliced> slices_of(const Extents& dims, const SliceLists& lists, const Evaluation& file) {
  const std::size_t count = lists.starts.size();
  if (lists.ends.size() != count || (lists.axes && lists.axes->size() != count) ||
      (!lists.steps.empty() && lists.steps.size() != count) || (!lists.axes && count > dims.size())) {
    throw Refused("lists of different lengths");
  }
  std::vector<Sliced> all;
  for (std::size_t i = 0; i < count; ++i) {
    Sliced part{.dimension = lists.axes ? axis_of((*lists.axes)[i], dims.size()) : i,
                .start = to_whole(lists.starts[i].fixed),
                .step = lists.steps.empty() ? 1 : lists.steps[i]};
    const Extent& extent = dims[part.dimension];
    std::int64_t end = to_whole(lists.ends[i].fixed);
    if (extent.per_sample) {
      const bool whole = lists.starts[i] == Number{} && part.step == 1 &&
                         (lists.ends[i] == Number{0, static_cast<double>(extent.size)} ||
                          end >= end_of_all(extent.size, file));
      if (whole) {
        continue;
      }
      if (extent.size == 1) {
        throw Refused("it takes a part of the batch");
      }
      part.start = bound_of_sample(lists.starts[i], extent.size, file);
      end = bound_of_sample(lists.ends[i], extent.size, file);
    } else if (lists.starts[i].per_batch != 0 || lists.ends[i].per_batch != 0) {
      throw Refused("a bound that depends on the batch");
    }
    if (part.step == 0) {
      throw Refused("a step of 0");
    }
    const std::int64_t size = extent.size;
    const bool forwards = part.step > 0;
    const auto from_end = [&](std::int64_t index) {
      return index < 0 ? std::max(index, -size - 1) + size : index;
    };
    part.start = std::clamp<std::int64_t>(from_end(part.start), 0, forwards ? size : size - 1);
    end = std::clamp<std::int64_t>(from_end(end), forwards ? 0 : -1, size);
    const std::int64_t length = forwards ? end - part.start : part.start - end;
    const std::int64_t step = std::max<std::int64_t>(1, forwards                 ? part.step
                                                        : part.step == INT64_MIN ? size
                                                                                 : -part.step);
    part.size = length <= 0 ? 0 : (length - 1) / step + 1;
    if (part.start != 0 || part.step != 1 || part.size != size) {
      all.push_back(part);
    }
  }
  return all;
}

std::size_t split_results(const Node& node) {
  const auto results = static_cast<std::int64_t>(node.outputs.size());
  const std::int64_t told = integer_of(node, "num_outputs", results);
  if (told != results) {
    throw Refused(fmt::format("its num_outputs is {}, but the number of its outputs is {}", told, results));
  }
  return node.outputs.size();
}

std::vector<std::int64_t> split_sizes(const Extent& extent,
                                      const std::optional<std::vector<std::int64_t>>& sizes,
                                      std::size_t results, std::int64_t file_batch) {
  std::vector<std::int64_t> all;
  if (sizes && !sizes->empty()) {
    all = *sizes;
    for (std::int64_t& size : all) {
      if (extent.per_sample && size % file_batch != 0) {
        throw Refused("it splits the batch");
      }
      size /= extent.per_sample ? file_batch : 1;
    }
  } else {
    // Equal parts; the last one is smaller where they do not divide.
    const auto count = static_cast<std::int64_t>(results);
    const std::int64_t each = (extent.size + count - 1) / count;
    std::int64_t rest = extent.size;
    for (std::int64_t i = 0; i < count; ++i) {
      all.push_back(std::min(each, rest));
      rest -= all.back();
    }
  }
  std::int64_t sum = 0;
  for (const std::int64_t size : all) {
    if (size < 0 || size > extent.size - sum) {
      throw Refused("parts that are more than the whole");
    }
    sum += size;
  }
  const bool of_samples = extent.per_sample && results > 1 && extent.size == 1;
  if (sum != extent.size || all.size() != results || of_samples) {
    throw Refused(of_samples ? "it splits the batch" : "parts that are not the whole");
  }
  return all;
}

Extents unsqueezed(const Extents& dims, const std::vector<std::int64_t>& axes) {
  Extents result(dims.size() + axes.size(), Extent(0));
  for (const std::int64_t axis : axes) {
    Extent& added = result[axis_of(axis, result.size())];
    if (added == Extent(1)) {
      throw Refused("a dimension that is added twice");
    }
    added = 1;
  }
  auto next = dims.begin();
  for (Extent& extent : result) {
    const bool added = extent == Extent(1);
    if (!added) {
      extent = *next++;
    }
  }
  return result;
}

Extents squeezed(const Extents& dims, const std::optional<std::vector<std::int64_t>>& axes,
                 std::int64_t file_batch) {
  std::vector<bool> gone(dims.size(), false);
  for (std::size_t d = 0; !axes && d < dims.size(); ++d) {
    gone[d] = dims[d] == Extent(1);
  }
  for (const std::int64_t axis : axes.value_or(std::vector<std::int64_t>{})) {
    gone[axis_of(axis, dims.size())] = true;
  }
  Extents result;
  bool batch = false;  // of a dimension that went
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (!gone[d]) {
      result.emplace_back(dims[d].size, dims[d].per_sample || batch);
      batch = false;
    } else if (const std::int64_t size = dims[d].size * (dims[d].per_sample ? file_batch : 1); size != 1) {
      throw Refused(fmt::format("it leaves out a dimension of {}", size));
    } else {
      batch |= dims[d].per_sample;
    }
  }
  if (batch) {
    throw Refused("it leaves out the batch");
  }
  return result;
}

Extents expanded(const Extents& dims, const std::vector<Number>& target, std::int64_t file_batch) {
  Extents to;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto& [fixed, per_batch] = target[i];
    const std::size_t from_end = target.size() - i;
    const Extent own = from_end <= dims.size() ? dims[dims.size() - from_end] : Extent(1);
    const bool samples = i == 0 && target.size() > 1 && file_batch > 1 && own == Extent(1) &&
                         fixed == static_cast<double>(file_batch);
    if (per_batch != 0 || samples) {
      to.emplace_back(samples ? 1 : to_whole(per_batch), true);
    } else if (own.per_sample && to_whole(fixed) == own.size * file_batch) {
      to.push_back(own);
    } else {
      to.emplace_back(to_whole(fixed));
    }
    if (to.back().size < 0 || (per_batch != 0 && fixed != 0)) {
      throw Refused("a size of its shape is negative, or a sum with the batch");
    }
  }
  return broadcast(dims, to);
}

}  // namespace bench::kernels::onnx
