// Which rows the convolutions of ConvRowTiles (row_tiles.h) compute in which order.
//
// A row tile is some rows of the result, of one image. Each convolution but the first has a buffer for the
// rows that a tile reads of the one before. Rows that the tile before read as well stay: they move to the
// buffer's begin, and only the others are computed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/window.h"

namespace bench::kernels {

struct Rows {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
};

// Some rows of one convolution.
struct RowTileStep {
  std::size_t convolution = 0;
  std::int64_t image = 0;
  Rows in, out;              // rows of its input and of its result
  std::int64_t padding = 0;  // rows of padding above `in`
  std::int64_t from = 0;     // row of its own buffer where `in` begins
  // Row of the next one's buffer where `out` begins. As many rows, from `kept` on, move there before.
  std::int64_t to = 0, kept = 0;
};

std::int64_t input_row_floats(const Conv2d& convolution);  // in nhwc

class RowTileSteps {
 public:
  // `parts` of the work, which run side by side; a tile has as many rows as its buffers' floats allow, one
  // at least.
  RowTileSteps(std::span<const Conv2d> convolutions, std::int64_t parts, std::int64_t most_floats);

  std::int64_t floats() const { return floats_; }  // of a part's buffers
  // Where the buffer of a convolution but the first begins.
  std::int64_t buffer(std::size_t convolution) const { return buffers_[convolution]; }

  using Use = std::function<void(const RowTileStep&)>;
  void for_each(std::int64_t part, const Use& use) const;
  // Some of them, among which is one of each height and padding.
  void for_each_kind(std::int64_t part, const Use& use) const;

 private:
  std::int64_t first_tile(std::int64_t part) const { return batch_ * tiles_ * part / parts_; }
  void for_tiles(std::int64_t begin, std::int64_t end, const Use& use) const;
  std::int64_t lay_out(std::int64_t rows);
  // `step` says which convolution, which rows of its result, and where they go.
  void compute(RowTileStep step, std::vector<Rows>& held, const Use& use) const;

  std::vector<WindowAxis> axes_;
  std::vector<std::int64_t> row_floats_, buffers_;
  std::int64_t batch_, parts_;
  std::int64_t rows_ = 1;   // of a tile
  std::int64_t tiles_ = 1;  // of an image
  std::int64_t floats_ = 0;
};

}  // namespace bench::kernels
