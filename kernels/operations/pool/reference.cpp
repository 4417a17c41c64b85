// Pooling window by window, as it is defined in pool.h. A maximum saves, for each output in NCHW order, where
// in its plane it was: an int64. A sample at a time, which keeps the copies small: adaptive pooling, and
// averages that count the padding in a result that is rounded up, have no other implementation on the CPU.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/pool/pool.h"

namespace bench::kernels {
namespace {

// The real inputs of a window along one axis, `step` apart, the last not included.
struct Range {
  std::int64_t first, last;
  std::int64_t step;
  std::int64_t counted;  // by an average
  std::int64_t size() const { return (last - first + step - 1) / step; }
};

std::vector<Range> adaptive_ranges(std::int64_t in, std::int64_t out) {
  std::vector<Range> ranges;
  for (std::int64_t o = 0; o < out; ++o) {
    const std::int64_t first = o * in / out;
    const std::int64_t last = ((o + 1) * in + out - 1) / out;
    ranges.push_back({first, last, 1, last - first});
  }
  return ranges;
}

// `end_pad`: padding after the input, beyond that in front of it.
std::vector<Range> sliding_ranges(const WindowAxis& axis, bool count_padding, std::int64_t end_pad) {
  const auto steps = [&](std::int64_t distance) { return (distance + axis.dilation - 1) / axis.dilation; };
  std::vector<Range> ranges;
  for (std::int64_t o = 0; o < axis.out; ++o) {
    const std::int64_t begin = axis.at(o, 0);
    Range range{begin >= 0 ? begin : begin + steps(-begin) * axis.dilation,
                std::min(axis.in, begin + axis.reach()), axis.dilation, 0};
    const std::int64_t in_padding = steps(axis.in + axis.pad + end_pad - begin);
    range.counted = count_padding ? std::min(axis.kernel, in_padding) : range.size();
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<Range> row_ranges(const Pool& spec) {
  return spec.kind == Pool::Kind::adaptive ? adaptive_ranges(spec.src.h, spec.height)
                                           : sliding_ranges(spec.rows(), spec.count_padding, spec.pad_bottom);
}
std::vector<Range> column_ranges(const Pool& spec) {
  return spec.kind == Pool::Kind::adaptive
             ? adaptive_ranges(spec.src.w, spec.width)
             : sliding_ranges(spec.columns(), spec.count_padding, spec.pad_right);
}

}  // namespace

double Pool::flops() const {
  const auto inputs = [](const std::vector<Range>& ranges) {
    return std::transform_reduce(ranges.begin(), ranges.end(), std::int64_t{0}, std::plus<>(),
                                 [](const Range& range) { return range.size(); });
  };
  return static_cast<double>(src.n * src.c * inputs(row_ranges(*this)) * inputs(column_ranges(*this)));
}

std::optional<std::string> Pool::invalid() const {
  if (src.n < 1 || src.c < 1 || src.h < 1 || src.w < 1 || stride_h < 1 || stride_w < 1 || dilation_h < 1 ||
      dilation_w < 1) {
    return std::string("pool: sizes, strides and dilations must be at least 1");
  }
  if (kind == Kind::adaptive) {
    return height < 1 || width < 1
               ? std::optional<std::string>("pool: adaptive pooling needs at least one pixel in and out")
               : std::nullopt;
  }
  // Padding as large as the kernel would leave windows without a real input.
  const std::int64_t bottom = pad_h + pad_bottom;
  const std::int64_t right = pad_w + pad_right;
  const std::int64_t reach_h = rows().reach();
  const std::int64_t reach_w = columns().reach();
  if (pad_h < 0 || pad_w < 0 || bottom < 0 || right < 0 || std::max(pad_h, bottom) >= reach_h ||
      std::max(pad_w, right) >= reach_w) {
    return fmt::format("pool: padding {}x{} must be below the kernel's {}x{}", std::max(pad_h, bottom),
                       std::max(pad_w, right), reach_h, reach_w);
  }
  if (src.h + pad_h + bottom < reach_h || src.w + pad_w + right < reach_w) {
    return fmt::format("pool: a {}x{} window does not fit an input of {}x{} with padding {}x{}", reach_h,
                       reach_w, src.h, src.w, pad_h, pad_w);
  }
  if (beyond_h < 0 || beyond_w < 0 || !rows().each_reads() || !columns().each_reads()) {
    return std::string("pool: a window lies outside the input");
  }
  if (count_padding && kind == Kind::max) {
    return std::string("pool: only an average counts padding");
  }
  return std::nullopt;
}

PlainSlots plain_slots(const Pool& spec) {
  PlainSlots slots = PlainSlots::without_parameters(spec.forward(), spec.src, spec.dst());
  if (spec.saves()) {
    slots.add_opaque(Slot::saved, spec.forward() ? Role::output : Role::input,
                     spec.dst().elements() * static_cast<std::int64_t>(sizeof(std::int64_t)));
  }
  return slots;
}

namespace {

class ReferencePool final : public ReferenceOf<Pool> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const bool forward = spec_.forward();
    TensorDesc inner = spec_.src;
    TensorDesc outer = spec_.dst();
    inner.n = outer.n = 1;
    std::vector<float> in(static_cast<std::size_t>(inner.elements()));
    std::vector<float> out(static_cast<std::size_t>(outer.elements()));
    for (std::int64_t n = 0; n < spec_.src.n; ++n) {
      auto* const at_in =
          static_cast<std::byte*>(pointers[forward ? Slot::src : Slot::diff_src]) + n * inner.bytes();
      auto* const at_out =
          static_cast<std::byte*>(pointers[forward ? Slot::dst : Slot::diff_dst]) + n * outer.bytes();
      auto* const saved =
          spec_.saves() ? static_cast<std::int64_t*>(pointers[Slot::saved]) + n * outer.elements() : nullptr;
      if (forward) {
        load(inner, at_in, in);
        pool_sample(in, out, saved);
        store(outer, out, at_out);
      } else {
        load(outer, at_out, out);
        share_sample(out, in, saved);
        store(inner, in, at_in);
      }
    }
  }

 private:
  // Calls visit(plane of the input, its window's rows, its columns, output) for every output of a sample.
  template <class Visit>
  void for_each_output(Visit visit) const {
    std::size_t output = 0;
    for (std::int64_t c = 0; c < spec_.src.c; ++c) {
      for (const Range& h : rows_) {
        for (const Range& w : columns_) {
          visit(c * spec_.src.h * spec_.src.w, h, w, output++);
        }
      }
    }
  }

  void pool_sample(const std::vector<float>& in, std::vector<float>& out, std::int64_t* saved) const {
    for_each_output([&](std::int64_t plane, const Range& rows, const Range& columns, std::size_t output) {
      double sum = 0;
      float largest = -std::numeric_limits<float>::infinity();
      std::int64_t largest_at = -1;
      for (std::int64_t h = rows.first; h < rows.last; h += rows.step) {
        for (std::int64_t w = columns.first; w < columns.last; w += columns.step) {
          const std::int64_t at = h * spec_.src.w + w;
          const float value = in[plane + at];
          sum += value;
          if (largest_at < 0 || value > largest) {
            largest = value;
            largest_at = at;
          }
        }
      }
      const auto count = static_cast<double>(rows.counted * columns.counted);
      out[output] = spec_.kind == Pool::Kind::max ? largest : static_cast<float>(sum / count);
      if (saved != nullptr) {
        saved[output] = largest_at;
      }
    });
  }

  void share_sample(const std::vector<float>& out, std::vector<float>& in, const std::int64_t* saved) const {
    std::vector<double> sums(in.size());
    for_each_output([&](std::int64_t plane, const Range& rows, const Range& columns, std::size_t output) {
      const double gradient = out[output];
      if (saved != nullptr) {
        sums[plane + saved[output]] += gradient;
        return;
      }
      const double share = gradient / static_cast<double>(rows.counted * columns.counted);
      for (std::int64_t h = rows.first; h < rows.last; h += rows.step) {
        for (std::int64_t w = columns.first; w < columns.last; w += columns.step) {
          sums[plane + h * spec_.src.w + w] += share;
        }
      }
    });
    std::ranges::transform(sums, in.begin(), [](double sum) { return static_cast<float>(sum); });
  }

  std::vector<Range> rows_ = row_ranges(spec_);
  std::vector<Range> columns_ = column_ranges(spec_);
};

const Registration<Implementation<Pool>> BENCH_REGISTERED{reference_implementation<Pool, ReferencePool>()};
const Registration<Implementation<Pool>> BENCH_REGISTERED{
    cpu_implementation<Pool, ReferencePool>("loops", 0, [](const Pool& spec, const Device& /*device*/) {
      return spec.kind == Pool::Kind::adaptive || (spec.count_padding && spec.beyond_h + spec.beyond_w > 0)
                 ? std::nullopt
                 : std::optional<std::string>("the loops of the reference serve what no library has");
    })};

}  // namespace
}  // namespace bench::kernels
