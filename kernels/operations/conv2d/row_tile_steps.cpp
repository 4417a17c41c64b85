#include "kernels/operations/conv2d/row_tile_steps.h"

#include <algorithm>

namespace bench::kernels {

std::int64_t input_row_floats(const Conv2d& convolution) {
  return convolution.width * convolution.in_channels;
}

RowTileSteps::RowTileSteps(std::span<const Conv2d> convolutions, std::int64_t parts, std::int64_t most_floats)
    : buffers_(convolutions.size()), batch_(convolutions.front().batch), parts_(parts) {
  for (const Conv2d& convolution : convolutions) {
    axes_.push_back(convolution.rows());
    row_floats_.push_back(input_row_floats(convolution));
  }
  const std::int64_t height = axes_.back().out;
  while (rows_ < height && lay_out(rows_ + 1) <= most_floats) {
    ++rows_;
  }
  // As many row tiles of about as many rows.
  tiles_ = (height + rows_ - 1) / rows_;
  rows_ = (height + tiles_ - 1) / tiles_;
  tiles_ = (height + rows_ - 1) / rows_;
  floats_ = lay_out(rows_);
}

// The buffers, one behind the other, for row tiles of so many rows.
std::int64_t RowTileSteps::lay_out(std::int64_t rows) {
  constexpr std::int64_t kLine = 16;  // floats of a cache line
  std::int64_t floats = 0;
  for (std::size_t i = axes_.size(); i-- > 1;) {
    const WindowAxis& axis = axes_[i];
    rows = std::min(axis.in, (rows - 1) * axis.stride + axis.reach());
    buffers_[i] = floats;
    floats += (rows * row_floats_[i] + kLine - 1) / kLine * kLine;
  }
  return floats;
}

void RowTileSteps::for_each(std::int64_t part, const Use& use) const {
  for_tiles(first_tile(part), first_tile(part + 1), use);
}

void RowTileSteps::for_each_kind(std::int64_t part, const Use& use) const {
  // The end of an image and then a whole one, of which what follows are copies and a beginning.
  const std::int64_t begin = first_tile(part);
  for_tiles(begin, std::min(first_tile(part + 1), begin + 2 * tiles_), use);
}

void RowTileSteps::for_tiles(std::int64_t begin, std::int64_t end, const Use& use) const {
  std::vector<Rows> held(axes_.size());  // in each buffer
  std::int64_t image = -1;
  for (std::int64_t tile = begin; tile < end; ++tile) {
    if (tile / tiles_ != image) {
      image = tile / tiles_;
      held.assign(axes_.size(), {});
    }
    const std::int64_t first = tile % tiles_ * rows_;
    compute({.convolution = axes_.size() - 1,
             .image = image,
             .in = {},
             .out = {first, std::min(first + rows_, axes_.back().out)}},
            held, use);
  }
}

void RowTileSteps::compute(RowTileStep step, std::vector<Rows>& held, const Use& use) const {
  const WindowAxis& axis = axes_[step.convolution];
  const std::int64_t above = axis.at(step.out.begin, 0);
  step.padding = std::max<std::int64_t>(-above, 0);
  step.in = {above + step.padding, std::min(axis.at(step.out.end - 1, 0) + axis.reach(), axis.in)};
  if (step.convolution > 0) {
    Rows& own = held[step.convolution];
    if (own.end < step.in.end) {
      const Rows fresh{std::max(own.end, step.in.begin), step.in.end};
      compute({.convolution = step.convolution - 1,
               .image = step.image,
               .in = {},
               .out = fresh,
               .to = fresh.begin - step.in.begin,
               .kept = step.in.begin - own.begin},
              held, use);
      own = step.in;
    }
    step.from = step.in.begin - own.begin;
  }
  use(step);
}

}  // namespace bench::kernels
