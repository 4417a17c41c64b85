// Attention and its gradient head by head and position by position, as they are defined in attention.h.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels {
namespace {

// A head's [sequence][head_size] within rows of several heads' features.
template <class Float>
struct Head {
  Float* data;
  std::int64_t row;  // values from one position to the next
  Float& at(std::int64_t position, std::int64_t feature) const { return data[position * row + feature]; }
};

class ReferenceAttention final : public ReferenceOperation {
 public:
  explicit ReferenceAttention(const Attention& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.src());
    if ((spec.training || !spec.forward())) {
      add_opaque(Slot::saved, spec.saves() ? Role::output : Role::input, spec.saved_bytes());
    }
    if (!spec.forward()) {
      if (spec.statistics) {
        add_activation(Slot::dst, Role::input, spec.dst());
      }
      add_activation(Slot::diff_dst, Role::input, spec.dst());
      add_activation(Slot::diff_src, Role::output, spec.src());
    } else {
      add_activation(Slot::dst, Role::output, spec.dst());
    }
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> qkv = read(pointers, Slot::src);
    std::vector<float> p(static_cast<std::size_t>(spec_.probabilities().elements()));
    if (spec_.forward()) {
      std::vector<float> out(static_cast<std::size_t>(spec_.dst().elements()));
      for_each_head([&](std::int64_t n, std::int64_t head) {
        forward(part(qkv, n, head, 0), part(qkv, n, head, 1), part(qkv, n, head, 2), square(p, n, head),
                rows(out, n, head));
      });
      write(pointers, Slot::dst, out);
      if (spec_.saves() && spec_.statistics) {
        for_each_row(qkv, [&](std::int64_t row, std::span<const double> scores, double largest) {
          double sum = 0;
          for (const double score : scores) {
            sum += std::exp(score - largest);
          }
          static_cast<float*>(pointers[Slot::saved])[row] = static_cast<float>(largest + std::log(sum));
        });
      } else if (spec_.saves()) {
        store(spec_.probabilities(), p, pointers[Slot::saved]);
      }
      return;
    }
    if (spec_.statistics) {
      for_each_row(qkv, [&](std::int64_t row, std::span<const double> scores, double /*largest*/) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
          const float statistic = static_cast<const float*>(pointers[Slot::saved])[row];
          p[row * spec_.sequence + static_cast<std::int64_t>(j)] =
              static_cast<float>(std::exp(scores[j] - statistic));
        }
      });
    } else {
      load(spec_.probabilities(), pointers[Slot::saved], p);
    }
    const std::vector<float> diff = read(pointers, Slot::diff_dst);
    std::vector<float> gradient(qkv.size());
    for_each_head([&](std::int64_t n, std::int64_t head) {
      const Head<const float> diff_out = rows(diff, n, head);
      const std::vector<double> ds = score_gradient(square(p, n, head), part(qkv, n, head, 2), diff_out);
      const std::int64_t size = spec_.sequence;
      const Head<const float> q = part(qkv, n, head, 0);
      const Head<const float> k = part(qkv, n, head, 1);
      for (std::int64_t i = 0; i < size; ++i) {
        for (std::int64_t f = 0; f < spec_.head_size; ++f) {
          double dq = 0;
          double dk = 0;
          double dv = 0;
          for (std::int64_t j = 0; j < size; ++j) {
            dq += ds[i * size + j] * k.at(j, f);
            dk += ds[j * size + i] * q.at(j, f);
            dv += static_cast<double>(square(p, n, head)[j * size + i]) * diff_out.at(j, f);
          }
          part(gradient, n, head, 0).at(i, f) = static_cast<float>(dq);
          part(gradient, n, head, 1).at(i, f) = static_cast<float>(dk);
          part(gradient, n, head, 2).at(i, f) = static_cast<float>(dv);
        }
      }
    });
    write(pointers, Slot::diff_src, gradient);
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Visit>
  void for_each_head(Visit visit) const {
#pragma omp parallel for collapse(2)
    for (std::int64_t n = 0; n < spec_.batch; ++n) {
      for (std::int64_t head = 0; head < spec_.heads; ++head) {
        visit(n, head);
      }
    }
  }

  // Calls visit with each row of scores: its number, those that it sees, the largest of them.
  template <class Visit>
  void for_each_row(const std::vector<float>& qkv, const Visit& visit) const {
    for_each_head([&](std::int64_t n, std::int64_t head) {
      const Head<const float> q = part(qkv, n, head, 0);
      const Head<const float> k = part(qkv, n, head, 1);
      for (std::int64_t i = 0; i < spec_.sequence; ++i) {
        std::vector<double> scores;
        for (std::int64_t j = 0; j <= i; ++j) {
          scores.push_back(dot(q, i, k, j) / std::sqrt(static_cast<double>(spec_.head_size)));
        }
        visit((n * spec_.heads + head) * spec_.sequence + i, std::span<const double>(scores),
              std::ranges::max(scores));
      }
    });
  }

  // Query (0), key (1) or value (2) of a head.
  Head<const float> part(const std::vector<float>& qkv, std::int64_t n, std::int64_t head, int which) const {
    return {qkv.data() + part_offset(n, head, which), 3 * spec_.width()};
  }
  Head<float> part(std::vector<float>& qkv, std::int64_t n, std::int64_t head, int which) const {
    return {qkv.data() + part_offset(n, head, which), 3 * spec_.width()};
  }
  std::int64_t part_offset(std::int64_t n, std::int64_t head, int which) const {
    return n * spec_.sequence * 3 * spec_.width() + which * spec_.width() + head * spec_.head_size;
  }
  Head<const float> rows(const std::vector<float>& out, std::int64_t n, std::int64_t head) const {
    return {out.data() + n * spec_.sequence * spec_.width() + head * spec_.head_size, spec_.width()};
  }
  Head<float> rows(std::vector<float>& out, std::int64_t n, std::int64_t head) const {
    return {out.data() + n * spec_.sequence * spec_.width() + head * spec_.head_size, spec_.width()};
  }
  float* square(std::vector<float>& p, std::int64_t n, std::int64_t head) const {
    return p.data() + (n * spec_.heads + head) * spec_.sequence * spec_.sequence;
  }

  double dot(const Head<const float>& a, std::int64_t i, const Head<const float>& b, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t f = 0; f < spec_.head_size; ++f) {
      sum += static_cast<double>(a.at(i, f)) * b.at(j, f);
    }
    return sum;
  }

  void forward(const Head<const float>& q, const Head<const float>& k, const Head<const float>& v, float* p,
               const Head<float>& out) const {
    std::vector<double> weight(static_cast<std::size_t>(spec_.sequence));
    for (std::int64_t i = 0; i < spec_.sequence; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        weight[j] = dot(q, i, k, j) / std::sqrt(static_cast<double>(spec_.head_size));
      }
      const double largest = *std::max_element(weight.begin(), weight.begin() + i + 1);
      double sum = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        weight[j] = std::exp(weight[j] - largest);
        sum += weight[j];
      }
      for (std::int64_t j = 0; j <= i; ++j) {
        weight[j] /= sum;
        p[i * spec_.sequence + j] = static_cast<float>(weight[j]);
      }
      std::vector<double> mixed(static_cast<std::size_t>(spec_.head_size));
      for (std::int64_t j = 0; j <= i; ++j) {
        for (std::int64_t f = 0; f < spec_.head_size; ++f) {
          mixed[f] += weight[j] * v.at(j, f);
        }
      }
      for (std::int64_t f = 0; f < spec_.head_size; ++f) {
        out.at(i, f) = static_cast<float>(mixed[f]);
      }
    }
  }

  // dS, row-major.
  std::vector<double> score_gradient(const float* p, const Head<const float>& v,
                                     const Head<const float>& diff_out) const {
    const std::int64_t size = spec_.sequence;
    std::vector<double> ds(static_cast<std::size_t>(size * size));
    for (std::int64_t i = 0; i < size; ++i) {
      double along = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        ds[i * size + j] = dot(diff_out, i, v, j);
        along += ds[i * size + j] * p[i * size + j];
      }
      for (std::int64_t j = 0; j <= i; ++j) {
        ds[i * size + j] =
            p[i * size + j] * (ds[i * size + j] - along) / std::sqrt(static_cast<double>(spec_.head_size));
      }
    }
    return ds;
  }

  Attention spec_;
};

const Registration<Implementation<Attention>> registered{
    reference_implementation<Attention, ReferenceAttention>()};

}  // namespace
}  // namespace bench::kernels
