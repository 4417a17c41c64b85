// Bilinear resize with antialiasing, as Pillow and torchvision do it: a triangle as wide as the reduction,
// across first, rounded to 8 bits, then down. Weights are fixed point; both ways to run it give the same
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::loader {

// Pixels of four bytes: red, green, blue, and one that is ignored. Memory goes on for another row and
// kSlack bytes past the last: what is read there is weighed with 0.
inline constexpr std::size_t kSlack = 64;

struct Pixels {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;  // bytes from row to row
  int width = 0;
  int height = 0;
};

// For one direction: output i is the sum over k of weights[i * taps + k] * input[first[i] + k], over 2^14.
struct Filter {
  int taps = 0;  // of every output; filled up with weights of 0 to a multiple of the group
  std::vector<int> first;
  std::vector<std::int16_t> weights;

  static constexpr int kAcross = 4;  // groups: what the loops take at once
  static constexpr int kDown = 2;
  static constexpr int kShift = 14;
  static constexpr int kOne = 1 << kShift;

  // The part [from, to) of a line of `size` inputs becomes `outputs`, the last first if `reversed`. `from`
  // and `to` may lie between inputs. Inputs outside the part are never weighed: the crop comes before the
  // resize.
  void set(int size, double from, double to, int outputs, bool reversed, int group);
};

enum class Instructions { portable, avx2 };
Instructions best_instructions();

class Resizer {
 public:
  explicit Resizer(Instructions instructions = best_instructions()) : instructions_(instructions) {}

  // The part of `from` between the corners (left, top) and (right, bottom) into `to`: size · size pixels of
  // four bytes.
  struct Part {
    double left;
    double top;
    double right;
    double bottom;
  };
  void resize(const Pixels& from, const Part& part, int size, bool flip, std::uint8_t* to);
  std::int64_t scratch_bytes() const;

 private:
  Instructions instructions_;
  Filter across_;
  Filter down_;
  std::vector<std::uint8_t> rows_;  // resized across only
};

}  // namespace bench::loader
