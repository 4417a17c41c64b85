#include "kernels/networks/onnx/constants/rebatch.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {
namespace {

std::optional<std::size_t> batch_of(const Extents& dims) {
  const auto at = std::ranges::find(dims, true, &Extent::per_sample);
  return at == dims.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - dims.begin()));
}

std::string text_of(const Extents& dims) {
  std::string text;
  for (const Extent& extent : dims) {
    text += text.empty() ? "" : " x ";
    text += !extent.per_sample ? std::to_string(extent.size)
            : extent.size == 1 ? "batch"
                               : fmt::format("{}*batch", extent.size);
  }
  return text.empty() ? "a single value" : text;
}

constexpr std::int64_t kInferred = -1;

struct Target {
  Extents dims;
  std::optional<std::size_t> inferred;

  std::int64_t known() const {
    Extents fixed = dims;
    if (inferred) {
      fixed[*inferred].size = 1;
    }
    return elements_of(fixed);
  }
};

Target read(const Extents& in, const std::vector<Number>& target, bool zero_is_size) {
  Target read;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto& [fixed, per_batch] = target[i];
    if (per_batch != 0) {
      if (fixed != 0 || per_batch < 1 || per_batch != static_cast<double>(to_whole(per_batch))) {
        throw Refused("a dimension that is no multiple of the batch");
      }
      read.dims.emplace_back(to_whole(per_batch), true);
    } else if (fixed == 0 && !zero_is_size) {
      if (i >= in.size()) {
        throw Refused(fmt::format("a shape that keeps dimension {} of {}", i, text_of(in)));
      }
      read.dims.push_back(in[i]);
    } else {
      const std::int64_t size = to_whole(fixed);
      if (size < kInferred || (size == kInferred && read.inferred)) {
        throw Refused(size < kInferred
                          ? fmt::format("its shape has the size {}; -1 and more are accepted", size)
                          : "its shape has the size -1 twice; once is accepted");
      }
      if (size == kInferred) {
        read.inferred = i;
      }
      read.dims.emplace_back(size);
    }
  }
  return read;
}

// The dimension of a target of plain numbers that the batch multiplies.
std::size_t place_of_batch(const Extents& in, const Target& target, std::int64_t batch) {
  const std::size_t own = batch_of(in).value();
  const auto at_own = in.begin() + static_cast<std::ptrdiff_t>(own);
  const std::int64_t before = elements_of(Extents(in.begin(), at_own));
  const std::int64_t behind = elements_of(Extents(at_own, in.end()));  // of each sample
  std::vector<std::size_t> candidates;
  std::optional<std::size_t> joins_earlier;  // the dimension that the batch and those before it become
  const std::int64_t elements = elements_of(target.dims);
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < target.dims.size(); ++i) {
    const bool divides = target.dims[i].size % batch == 0;
    if (outer == before && divides) {
      candidates.push_back(i);
    }
    outer *= target.dims[i].size;
    if (before > 1 && divides && outer > 0 && elements / outer == behind && target.dims[i].size > batch &&
        !joins_earlier) {
      joins_earlier = i;
    }
  }
  const auto first = [&](const auto& suits) {
    const auto at = std::ranges::find_if(candidates, suits);
    return at == candidates.end() ? std::nullopt : std::optional(*at);
  };
  const auto at_its_place = [&](std::size_t i) { return i == own; };
  const auto as_it_was = [&](std::size_t i) {
    return i == own && i != target.inferred && target.dims[i].size == in[own].size * batch;
  };
  const auto inferred = [&](std::size_t i) { return i == target.inferred; };
  const auto alone = [&](std::size_t i) { return target.dims[i].size == batch; };
  // Rows of features that were a sequence: the batch joins the rows, not the features.
  const bool is_matrix = target.dims.size() == 2;
  if (joins_earlier && !first(as_it_was) && !first(inferred) &&
      (candidates.empty() || joins_earlier == target.inferred || is_matrix)) {
    return *joins_earlier;
  }
  for (const auto& found : {first(as_it_was), first(inferred), first(at_its_place), first(alone)}) {
    if (found) {
      return *found;
    }
  }
  if (candidates.empty()) {
    throw Refused(
        fmt::format("the batch of {} would lie within a dimension of {}", text_of(in), text_of(target.dims)));
  }
  return candidates.front();
}

}  // namespace

Extents reshaped(const Extents& in, const std::vector<Number>& target, bool zero_is_size,
                 std::int64_t file_batch) {
  Target to = read(in, target, zero_is_size);
  const auto batches = std::ranges::count(to.dims, true, &Extent::per_sample);
  const auto mismatch = [&] {
    return Refused(fmt::format("{} cannot become {}", text_of(in), text_of(to.dims)));
  };
  const bool hidden = batches == 0 && batch_of(in).has_value();
  if (batches > 1 || (batches == 1 && !batch_of(in))) {
    throw mismatch();
  }
  std::int64_t batch = hidden ? file_batch : 1;
  const std::int64_t elements = elements_of(in);
  const std::int64_t known = to.known();
  if (to.inferred) {
    if (known == 0 || elements * batch % known != 0) {
      throw mismatch();
    }
    to.dims[*to.inferred].size = elements * batch / known;
  } else if (hidden && elements > 0 && known % elements == 0) {
    batch = std::max<std::int64_t>(1, known / elements);
  }
  if (elements_of(to.dims) != elements * batch) {
    throw mismatch();
  }
  if (hidden) {
    Extent& place = to.dims[place_of_batch(in, to, batch)];
    place = {place.size / batch, true};
  }
  return to.dims;
}

Extent merged(const Extents& dims, std::size_t first, std::size_t last) {
  const Extents part(dims.begin() + static_cast<std::ptrdiff_t>(first),
                     dims.begin() + static_cast<std::ptrdiff_t>(last));
  return {elements_of(part), batch_of(part).has_value()};
}

Extents broadcast(const Extents& a, const Extents& b) {
  Extents result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto at = [&](const Extents& dims) {
      return i + dims.size() < result.size() ? Extent(1) : dims[i + dims.size() - result.size()];
    };
    const Extent one = at(a);
    const Extent other = at(b);
    // Every sample has the elements of the other value, or the one of its own.
    const bool each = one.per_sample != other.per_sample && one.size == other.size;
    const bool own = one.per_sample && other.per_sample && (one.size == 1 || other.size == 1);
    if (one != other && one != Extent(1) && other != Extent(1) && !each && !own) {
      throw Refused(fmt::format("{} and {} do not fit each other", text_of(a), text_of(b)));
    }
    result[i] = {one.size == 1 ? other.size : one.size, one.per_sample || other.per_sample};
  }
  if (std::ranges::count(result, true, &Extent::per_sample) > 1) {
    throw Refused(fmt::format("{} and {} would make pairs of samples", text_of(a), text_of(b)));
  }
  return result;
}

}  // namespace bench::kernels::onnx
