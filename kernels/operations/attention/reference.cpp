// Attention and its gradient head by head and position by position, as they are defined in attention.h.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels {

std::optional<std::string> Attention::invalid() const {
  if (batch < 1 || sequence < 1 || heads < 1 || head_size < 1 || keys < 0) {
    return "attention: batch, sequence, heads and their size must be at least 1";
  }
  if ((causal || packed) && key_count() != sequence) {
    return "attention: where it is causal or packed, there are as many keys as queries";
  }
  return std::nullopt;
}

PlainSlots plain_slots(const Attention& spec) {
  PlainSlots slots;
  const auto add_each = [&](const std::array<Slot, 3>& each, Role role) {
    slots.add_activation(each[0], role, spec.src());
    for (std::size_t i = 1; i < each.size() && !spec.packed; ++i) {
      slots.add_activation(each[i], role, spec.keys_or_values());
    }
  };
  add_each(kAttentionInputs, Role::input);
  if (spec.training || !spec.forward()) {
    slots.add_opaque(Slot::saved, spec.saves() ? Role::output : Role::input, spec.saved_bytes());
  }
  if (spec.forward()) {
    slots.add_activation(Slot::dst, Role::output, spec.dst());
    return slots;
  }
  if (spec.statistics) {
    slots.add_activation(Slot::dst, Role::input, spec.dst());
  }
  slots.add_activation(Slot::diff_dst, Role::input, spec.dst());
  add_each(kAttentionGradients, Role::output);
  return slots;
}

namespace {

// A head's [sequence][head_size] within rows of several heads' features.
template <class Float>
struct Head {
  Float* data;
  std::int64_t row;  // values from one position to the next
  Float& at(std::int64_t position, std::int64_t feature) const { return data[position * row + feature]; }
};

// Queries, keys and values of all heads, or their gradients: one after the other in each row of the first
// vector where they are packed, else a vector each.
using Inputs = std::array<std::vector<float>, 3>;
// Query (0), key (1) or value (2) of a head.
template <class Values>
auto part(const Attention& spec, Values& qkv, std::int64_t n, std::int64_t head, std::size_t which) {
  const std::int64_t positions = which == 0 ? spec.sequence : spec.key_count();
  auto* const first =
      spec.packed ? qkv[0].data() + static_cast<std::int64_t>(which) * spec.width() : qkv.at(which).data();
  return Head{first + n * positions * spec.row() + head * spec.head_size, spec.row()};
}
// A head's values in dst or diff_dst.
template <class Values>
auto rows(const Attention& spec, Values& out, std::int64_t n, std::int64_t head) {
  return Head{out.data() + n * spec.sequence * spec.width() + head * spec.head_size, spec.width()};
}

class ReferenceAttention final : public ReferenceOf<Attention> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    Inputs qkv;
    for (std::size_t i = 0; i < (spec_.packed ? 1U : 3U); ++i) {
      qkv.at(i) = read(pointers, kAttentionInputs.at(i));
    }
    std::vector<float> p(static_cast<std::size_t>(spec_.probabilities().elements()));
    auto* const statistics = static_cast<float*>(spec_.statistics ? pointers[Slot::saved] : nullptr);
    if (spec_.forward()) {
      std::vector<float> out(static_cast<std::size_t>(spec_.dst().elements()));
      for_each_head([&](std::int64_t n, std::int64_t head) {
        forward(n, head, qkv, p, rows(spec_, out, n, head), spec_.saves() ? statistics : nullptr);
      });
      write(pointers, Slot::dst, out);
      if (spec_.saves() && !spec_.statistics) {
        store(spec_.probabilities(), p, pointers[Slot::saved]);
      }
      return;
    }
    if (!spec_.statistics) {
      load(spec_.probabilities(), pointers[Slot::saved], p);
    }
    const std::vector<float> diff = read(pointers, Slot::diff_dst);
    Inputs gradient;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient.at(i).resize(qkv.at(i).size());
    }
    for_each_head([&](std::int64_t n, std::int64_t head) {
      if (spec_.statistics) {
        compute_again(n, head, qkv, statistics, p);
      }
      backward(n, head, qkv, p, rows(spec_, diff, n, head), gradient);
    });
    for (std::size_t i = 0; i < (spec_.packed ? 1U : 3U); ++i) {
      write(pointers, kAttentionGradients.at(i), gradient.at(i));
    }
  }

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

  // The number of a head's first row, among all heads'.
  std::int64_t first_row(std::int64_t n, std::int64_t head) const {
    return (n * spec_.heads + head) * spec_.sequence;
  }

  double dot(const Head<const float>& a, std::int64_t i, const Head<const float>& b, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t f = 0; f < spec_.head_size; ++f) {
      sum += static_cast<double>(a.at(i, f)) * b.at(j, f);
    }
    return sum;
  }

  // The products of row i with the positions that it sees.
  std::vector<double> scores(const Head<const float>& q, const Head<const float>& k, std::int64_t i) const {
    std::vector<double> all;
    for (std::int64_t j = 0; j < spec_.seen(i); ++j) {
      all.push_back(dot(q, i, k, j) * spec_.factor());
    }
    return all;
  }

  // `statistics` may be null.
  void forward(std::int64_t n, std::int64_t head, const Inputs& qkv, std::vector<float>& p,
               const Head<float>& out, float* statistics) const {
    const Head<const float> v = part(spec_, qkv, n, head, 2);
    for (std::int64_t i = 0; i < spec_.sequence; ++i) {
      const std::int64_t row = first_row(n, head) + i;
      std::vector<double> weight = scores(part(spec_, qkv, n, head, 0), part(spec_, qkv, n, head, 1), i);
      const double largest = std::ranges::max(weight);
      double sum = 0;
      for (double& score : weight) {
        score = std::exp(score - largest);
        sum += score;
      }
      if (statistics != nullptr) {
        statistics[row] = static_cast<float>(largest + std::log(sum));
      }
      std::vector<double> mixed(static_cast<std::size_t>(spec_.head_size));
      for (std::int64_t j = 0; j < spec_.seen(i); ++j) {
        const double share = weight[j] / sum;
        p[row * spec_.key_count() + j] = static_cast<float>(share);
        for (std::int64_t f = 0; f < spec_.head_size; ++f) {
          mixed[f] += share * v.at(j, f);
        }
      }
      for (std::int64_t f = 0; f < spec_.head_size; ++f) {
        out.at(i, f) = static_cast<float>(mixed[f]);
      }
    }
  }

  // P from the statistics.
  void compute_again(std::int64_t n, std::int64_t head, const Inputs& qkv, const float* statistics,
                     std::vector<float>& p) const {
    for (std::int64_t i = 0; i < spec_.sequence; ++i) {
      const std::int64_t row = first_row(n, head) + i;
      const std::vector<double> seen = scores(part(spec_, qkv, n, head, 0), part(spec_, qkv, n, head, 1), i);
      std::ranges::transform(seen, p.begin() + row * spec_.key_count(), [&](double score) {
        return static_cast<float>(std::exp(score - statistics[row]));
      });
    }
  }

  void backward(std::int64_t n, std::int64_t head, const Inputs& qkv, const std::vector<float>& p,
                const Head<const float>& diff_out, Inputs& gradient) const {
    const std::int64_t keys = spec_.key_count();
    const float* const square = p.data() + first_row(n, head) * keys;
    const std::vector<double> ds = score_gradient(square, part(spec_, qkv, n, head, 2), diff_out);
    const Head<const float> q = part(spec_, qkv, n, head, 0);
    const Head<const float> k = part(spec_, qkv, n, head, 1);
    for (std::int64_t f = 0; f < spec_.head_size; ++f) {
      for (std::int64_t i = 0; i < spec_.sequence; ++i) {
        double dq = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
          dq += ds[i * keys + j] * k.at(j, f);
        }
        part(spec_, gradient, n, head, 0).at(i, f) = static_cast<float>(dq);
      }
      for (std::int64_t j = 0; j < keys; ++j) {
        double dk = 0;
        double dv = 0;
        for (std::int64_t i = 0; i < spec_.sequence; ++i) {
          dk += ds[i * keys + j] * q.at(i, f);
          dv += static_cast<double>(square[i * keys + j]) * diff_out.at(i, f);
        }
        part(spec_, gradient, n, head, 1).at(j, f) = static_cast<float>(dk);
        part(spec_, gradient, n, head, 2).at(j, f) = static_cast<float>(dv);
      }
    }
  }

  // dS, row-major.
  std::vector<double> score_gradient(const float* p, const Head<const float>& v,
                                     const Head<const float>& diff_out) const {
    const std::int64_t keys = spec_.key_count();
    std::vector<double> ds(static_cast<std::size_t>(spec_.sequence * keys));
    for (std::int64_t i = 0; i < spec_.sequence; ++i) {
      double along = 0;
      for (std::int64_t j = 0; j < spec_.seen(i); ++j) {
        ds[i * keys + j] = dot(diff_out, i, v, j);
        along += ds[i * keys + j] * p[i * keys + j];
      }
      for (std::int64_t j = 0; j < spec_.seen(i); ++j) {
        ds[i * keys + j] = p[i * keys + j] * (ds[i * keys + j] - along) * spec_.factor();
      }
    }
    return ds;
  }
};

const Registration<Implementation<Attention>> BENCH_REGISTERED{
    reference_implementation<Attention, ReferenceAttention>()};

}  // namespace
}  // namespace bench::kernels
