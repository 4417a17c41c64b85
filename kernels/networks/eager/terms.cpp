#include "kernels/networks/eager/terms.h"

#include <algorithm>

#include "kernels/networks/eager/memory.h"
#include "kernels/networks/eager/trace.h"
#include "kernels/networks/eager/widths.h"
#include "kernels/networks/passes/attention.h"
#include "kernels/networks/passes/unfold_norms.h"

namespace bench::kernels {
namespace {

constexpr double kTokenBytes = 8;

double& of(std::array<double, kTraffics>& bytes, Traffic traffic) {
  return bytes.at(static_cast<std::size_t>(traffic));
}

// What an optimizer reads and writes of each parameter, in values, if each of its functions is an operation.
double updates_of(Optimizer::Kind optimizer) {
  switch (optimizer) {
    case Optimizer::Kind::sgd:
      return 3;  // weight and gradient read, weight written
    case Optimizer::Kind::momentum:
      return 6;
    case Optimizer::Kind::adam:
      return 18;
  }
  return 0;
}

class Adder {
 public:
  Adder(const EagerTrace& trace, const EagerWidths& widths, bool train, NetworkTerms& terms)
      : trace_(trace), widths_(widths), train_(train), terms_(terms) {}

  void add_all() {
    for (const EagerStep& step : trace_.steps) {
      step.operation.product ? add_product(step, *step.operation.product) : add_other(step);
    }
  }

 private:
  // Moved by a step's operation: bytes that no sample needs for itself count as weights.
  void move(const EagerStep& step, Traffic traffic, double bytes) {
    const bool each = step.operation.for_each_sample;
    of(each ? terms_.per_sample.bytes : terms_.per_step.bytes, each ? traffic : Traffic::weights) += bytes;
  }

  bool has_backward(const EagerStep& step) const {
    return train_ && trace_.tensors[step.result].wants_gradient;
  }

  // Gradients are made of the parameter, and of each operand that has one.
  double gradients(const EagerStep& step, const EagerProduct& product) const {
    double count = product.weights > 0 ? 1 : 0;
    for (const EagerStep::Read& read : step.reads) {
      count += trace_.tensors[read.tensor].wants_gradient ? 1 : 0;
    }
    return std::min(count, 2.0);
  }

  void add_product(const EagerStep& step, const EagerProduct& product) {
    StepTerms& per_step = terms_.per_step;
    StepTerms& worked = step.operation.for_each_sample ? terms_.per_sample : per_step;
    const auto kind = static_cast<std::size_t>(product.kind);
    const bool backward = has_backward(step);
    const double flops = product.flops(widths_.narrow == 2);
    const double moved = (step.operation.flow.read() + step.operation.flow.written) * widths_.narrow;
    double& weights = of(per_step.bytes, Traffic::weights);
    worked.flops.at(kind) += flops;
    move(step, step.operation.traffic, moved);
    weights += product.weights * widths_.narrow;
    per_step.launches += 1;
    per_step.tile += product.tile_flops() * (train_ ? 3 : 1);
    if (widths_.autocast) {
      add_casts(step, product, backward);
    }
    if (backward) {
      worked.grads.at(kind) += flops * gradients(step, product);
      move(step, step.operation.traffic, 2 * moved);
      weights += 2 * product.weights * widths_.narrow;
      per_step.launches += 2 + (product.weights > 0 ? 3 : 0);  // 3: a gradient is zeroed and added to
    }
  }

  // Autocast casts what is wide, and the parameter.
  void add_casts(const EagerStep& step, const EagerProduct& product, bool backward) {
    constexpr double kCast = 6;  // bytes read and written
    for (const EagerStep::Read& read : step.reads) {
      if (widths_.tensors[read.tensor] > widths_.narrow) {
        move(step, Traffic::elementwise, kCast * read.values);
        terms_.per_step.launches += 1;
      }
    }
    if (product.weights > 0) {
      of(terms_.per_step.bytes, Traffic::weights) += product.weights * kCast * (backward ? 2 : 1);
      terms_.per_step.launches += 1;
    }
  }

  void add_other(const EagerStep& step) {
    const EagerOperation& operation = step.operation;
    const double written = widths_.tensors[step.result];
    const bool backward = has_backward(step);
    double bytes = operation.flow.written * written + operation.places * kIndexBytes;
    for (const EagerStep::Read& read : step.reads) {
      bytes += read.values * widths_.tensors[read.tensor];
    }
    bytes += backward ? operation.backward * written : 0;
    move(step, operation.traffic, bytes);
    terms_.per_step.launches += 1 + (backward ? operation.backward_launches : 0);
    if (!operation.is_known) {
      terms_.unknown_share += bytes;  // made a share at the end
      if (std::ranges::find(terms_.unknown, step.kind) == terms_.unknown.end()) {
        terms_.unknown.push_back(step.kind);
      }
    }
  }

  const EagerTrace& trace_;
  const EagerWidths& widths_;
  bool train_;
  NetworkTerms& terms_;
};

double all_bytes(const NetworkTerms& terms) {
  double bytes = 0;
  for (const StepTerms* const part : {&terms.per_sample, &terms.per_step}) {
    for (const double of_one : part->bytes) {
      bytes += of_one;
    }
  }
  return bytes;
}

void repeat(StepTerms& terms, double times) {
  for (auto* const values : {&terms.flops, &terms.grads}) {
    for (double& value : *values) {
      value *= times;
    }
  }
  for (double& value : terms.bytes) {
    value *= times;
  }
  terms.tile *= times;
  terms.launches *= times;
}

bool has_convolution(const EagerTrace& trace) {
  return std::ranges::any_of(trace.steps, [](const EagerStep& step) {
    return step.operation.product && step.operation.product->kind < ProductClass::linear;
  });
}

bool has_attention(const EagerTrace& trace) {
  return std::ranges::any_of(trace.steps, [](const EagerStep& step) {
    return step.operation.product && step.operation.product->kind == ProductClass::attention;
  });
}

// Forms of one network's code.
struct Code {
  AttentionForm attention = AttentionForm::fused;
  SavedForms saved{};
  bool cast_whole = false;
};

// What grows with the batch at the peak, by how the code is written: least, likely and most.
class PeakBytes {
 public:
  PeakBytes(const Graph& graph, const EagerSetting& setting, bool is_language)
      : graph_(graph),
        setting_(setting),
        is_language_(is_language),
        told_(setting.attention                     ? setting.attention
              : is_language && scales_scores(graph) ? std::optional(AttentionForm::eager)
                                                    : std::nullopt) {}

  // The option's, or the graph's.
  std::optional<AttentionForm> told() const { return told_; }

  // A language model in mixed precision may be cast to 16 bits, with a copy of its weights in fp32. Code that
  // writes attention out trains with dropout.
  double least() const {
    const AttentionForm attention = told_.value_or(AttentionForm::fused);
    return of({.attention = attention,
               .saved = {.dropout = is_language_ && attention == AttentionForm::eager},
               .cast_whole = is_language_});
  }
  // Whatever the graph tells.
  double least_of_all() const {
    return of({.attention = setting_.attention.value_or(AttentionForm::fused), .cast_whole = is_language_});
  }
  // Language models train with dropout; code that writes attention out writes GELU out too.
  double likely() const {
    const AttentionForm attention = told_.value_or(AttentionForm::fused);
    return of({.attention = attention,
               .saved = {.dropout = is_language_,
                         .activations = is_language_ && attention == AttentionForm::eager}});
  }
  double most() const {
    const AttentionForm attention = told_.value_or(AttentionForm::eager);
    const bool writes_out = is_language_ && attention == AttentionForm::eager;
    return of({.attention = attention,
               .saved = {.dropout = is_language_, .activations = writes_out, .norms = writes_out}});
  }

 private:
  double of(const Code& code) const {
    const EagerTrace trace = eager_trace(graph_, code.attention);
    const EagerWidths widths = eager_widths(trace, setting_.dtype, setting_.cast_whole || code.cast_whole);
    return eager_peak_bytes(trace, widths, setting_.train, code.saved) / setting_.micro_batches;
  }

  const Graph& graph_;
  const EagerSetting& setting_;
  bool is_language_;
  std::optional<AttentionForm> told_;
};

}  // namespace

NetworkTerms eager_terms(const Graph& graph, const EagerSetting& setting) {
  const EagerTrace fused = eager_trace(graph);
  const bool is_language = !has_convolution(fused);
  const PeakBytes peak(graph, setting, is_language);
  const EagerTrace trace = peak.told() == AttentionForm::eager && has_attention(fused)
                               ? eager_trace(graph, AttentionForm::eager)
                               : fused;
  const EagerWidths widths = eager_widths(trace, setting.dtype, setting.cast_whole);
  NetworkTerms terms;
  Adder(trace, widths, setting.train, terms).add_all();
  terms.unknown_share /= std::max(all_bytes(terms), 1.0);
  terms.parameters = static_cast<double>(graph.parameter_count());
  terms.is_language = is_language;
  terms.input_bytes_per_sample = trace.tensors[0].values * (graph.tokens() ? kTokenBytes : widths.tensors[0]);
  terms.reads_tokens = graph.tokens().has_value();
  terms.has_attention = has_attention(fused);
  terms.attention = peak.told();
  terms.peak_bytes_per_sample = terms.input_bytes_per_sample + peak.likely();
  if (terms.peak_bytes_per_sample > 0) {
    const auto share = [&](double bytes) {
      return (terms.input_bytes_per_sample + bytes) / terms.peak_bytes_per_sample;
    };
    terms.least_saving = std::min(1.0, share(peak.least_of_all()));
    terms.saving = {.low = std::min(1.0, share(peak.least())), .high = std::max(1.0, share(peak.most()))};
  }
  repeat(terms.per_step, setting.micro_batches);
  if (setting.train) {
    // Each gradient is zeroed and added to; then the optimizer's work.
    of(terms.per_step.bytes, Traffic::weights) +=
        terms.parameters * 4 * (4 * setting.micro_batches + updates_of(setting.optimizer));
  }
  return terms;
}

NetworkTerms eager_terms_of_file(const Graph& graph, const EagerSetting& setting) {
  NetworkTerms terms = eager_terms(graph, setting);
  terms.may_lack_norms = may_have_folded_norms(graph);
  if (!terms.may_lack_norms || !setting.train) {
    return terms;
  }
  const NetworkTerms unfolded = eager_terms(with_norms_unfolded(graph), setting);
  const double as_it_is = terms.peak_bytes_per_sample / unfolded.peak_bytes_per_sample;
  terms.parameters = unfolded.parameters;
  terms.peak_bytes_per_sample = unfolded.peak_bytes_per_sample;
  terms.least_saving = std::min(unfolded.least_saving, as_it_is * terms.least_saving);
  terms.saving = {.low = std::min(unfolded.saving.low, as_it_is * terms.saving.low),
                  .high = unfolded.saving.high};
  return terms;
}

}  // namespace bench::kernels
