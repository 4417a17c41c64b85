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

// The same in one operation.
double fused_updates_of(Optimizer::Kind optimizer) {
  switch (optimizer) {
    case Optimizer::Kind::sgd:
      return 3;
    case Optimizer::Kind::momentum:
      return 5;
    case Optimizer::Kind::adam:
      return 7;
  }
  return 0;
}

// Operations that code writes out of simpler ones.
enum class Written { none, before_fused, all };

class Adder {
  static constexpr double kCast = 6;  // bytes read and written

 public:
  Adder(const EagerTrace& trace, const EagerWidths& widths, bool train, Written written, NetworkTerms& terms)
      : trace_(trace), widths_(widths), train_(train), written_(written), terms_(terms) {}

  void add_all() {
    for (const EagerStep& step : trace_.steps) {
      step.operation.product ? add_product(step, *step.operation.product) : add_other(step);
    }
    if (train_) {
      add_loss();
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

  double written_out_bytes(const WrittenOut& code, double width, bool backward) const {
    const bool is_counted = written_ == Written::all || (written_ == Written::before_fused && code.is_wide);
    return is_counted ? (code.moved + (backward ? code.backward : 0)) *
                            (code.is_wide && widths_.autocast ? 4 : width)
                      : 0;
  }

  // Cross entropy in fp32: the logarithm of the softmax, the chosen ones, and their gradients.
  void add_loss() {
    const EagerTensor& results = trace_.tensors.back();
    if (!results.for_each_sample) {
      return;
    }
    const bool is_cast = widths_.tensors.back() < 4;
    of(terms_.per_sample.bytes, Traffic::norm) += 4 * 4 * results.values;
    of(terms_.per_sample.bytes, Traffic::elementwise) += is_cast ? 2 * kCast * results.values : 0;
    terms_.per_step.launches += 4 + (is_cast ? 2 : 0);
  }

  // Gradients of what is narrower than the result.
  void cast_back(const EagerStep& step, double written) {
    for (const EagerStep::Read& read : step.reads) {
      if (widths_.tensors[read.tensor] < written && trace_.tensors[read.tensor].wants_gradient) {
        cast(step, read.values);
      }
    }
  }

  void cast(const EagerStep& step, double values) {
    move(step, Traffic::elementwise, kCast * values);
    terms_.per_step.launches += 1;
  }

  // Autocast casts what is wide, and the parameter; gradients are cast back.
  void add_casts(const EagerStep& step, const EagerProduct& product, bool backward) {
    for (const EagerStep::Read& read : step.reads) {
      if (widths_.tensors[read.tensor] > widths_.narrow) {
        cast(step, read.values);
        if (backward && trace_.tensors[read.tensor].wants_gradient) {
          cast(step, read.values);
        }
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
    double bytes = operation.flow.written * written + operation.beside;
    for (const EagerStep::Read& read : step.reads) {
      bytes += read.values * widths_.tensors[read.tensor];
    }
    bytes += backward ? operation.backward * written : 0;
    bytes += written_out_bytes(operation.written_out, written, backward);
    if (backward && operation.traffic == Traffic::elementwise && operation.autocast == AutocastDtype::wide) {
      cast_back(step, written);
    }
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
  Written written_;
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

  // Language models train with dropout, and their batches are padded.
  CodeForm form(AttentionForm attention) const {
    return {.attention = attention, .masks = is_language_, .dropout = is_language_ && setting_.train};
  }

  // A language model in mixed precision may be cast to 16 bits, with a copy of its weights in fp32. Code that
  // writes attention out trains with dropout.
  double least() const {
    CodeForm least = form(told_.value_or(AttentionForm::fused));
    least.dropout = least.dropout && least.attention == AttentionForm::eager;
    return of(least, {}, is_language_);
  }
  // Whatever the graph tells.
  double least_of_all() const {
    return of({.attention = setting_.attention.value_or(AttentionForm::fused)}, {}, is_language_);
  }
  // Code that writes attention out writes GELU out too.
  double likely() const {
    const AttentionForm attention = told_.value_or(AttentionForm::fused);
    return of(form(attention), {.activations = is_language_ && attention == AttentionForm::eager});
  }
  double most() const {
    const AttentionForm attention = told_.value_or(AttentionForm::eager);
    const bool writes_out = is_language_ && attention == AttentionForm::eager;
    return of(form(attention), {.activations = writes_out, .norms = writes_out});
  }

 private:
  double of(CodeForm form, const SavedForms& saved, bool cast_whole = false) const {
    form.recompute = setting_.train && setting_.recompute;
    const EagerTrace trace = eager_trace(graph_, form);
    const EagerWidths widths = eager_widths(trace, setting_.dtype, setting_.cast_whole || cast_whole);
    return eager_peak_bytes(trace, widths, setting_.train, saved) / setting_.micro_batches;
  }

  const Graph& graph_;
  const EagerSetting& setting_;
  bool is_language_;
  std::optional<AttentionForm> told_;
};

NetworkTerms moved(const Graph& graph, const EagerSetting& setting, const CodeForm& form, Written written) {
  const EagerTrace trace = eager_trace(graph, form);
  NetworkTerms terms;
  const EagerWidths widths = eager_widths(trace, setting.dtype, setting.cast_whole);
  Adder(trace, widths, setting.train, written, terms).add_all();
  terms.input_bytes_per_sample = trace.tensors[0].values * (graph.tokens() ? kTokenBytes : widths.tensors[0]);
  return terms;
}

// Code that writes attention out writes GELU out too, where PyTorch did not have it yet.
NetworkTerms moved_terms(const Graph& graph, const EagerSetting& setting, const PeakBytes& peak) {
  const CodeForm form = peak.form(peak.told().value_or(AttentionForm::fused));
  const bool writes_out = form.masks && form.attention == AttentionForm::eager;
  NetworkTerms terms = moved(graph, setting, form, writes_out ? Written::before_fused : Written::none);
  const NetworkTerms least = moved(graph, setting, {.attention = form.attention}, Written::none);
  const bool may_write_out = peak.told().value_or(AttentionForm::eager) == AttentionForm::eager;
  const NetworkTerms most = moved(graph, setting, may_write_out ? peak.form(AttentionForm::eager) : form,
                                  form.masks && may_write_out ? Written::all : Written::none);
  for (std::size_t i = 0; i < kTraffics; ++i) {
    terms.spared[i] = terms.per_sample.bytes[i] - least.per_sample.bytes[i];
    terms.added[i] = most.per_sample.bytes[i] - terms.per_sample.bytes[i];
  }
  return terms;
}

}  // namespace

NetworkTerms eager_terms(const Graph& graph, const EagerSetting& setting) {
  const EagerTrace fused = eager_trace(graph);
  const bool is_language = !has_convolution(fused);
  const PeakBytes peak(graph, setting, is_language);
  NetworkTerms terms = moved_terms(graph, setting, peak);
  terms.unknown_share /= std::max(all_bytes(terms), 1.0);
  terms.parameters = static_cast<double>(graph.parameter_count());
  terms.is_language = is_language;
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
  terms.has_other_loss = !is_language && graph.nodes().back().shape.rank() > 2;
  terms.computes_again = setting.train && setting.recompute;
  repeat(terms.per_step, setting.micro_batches);
  if (setting.train) {
    // Each gradient is zeroed and added to, or since PyTorch 2.0 put in its place; then the optimizer's work.
    constexpr double kZeroedAndAdded = 4;
    const double updates = updates_of(setting.optimizer);
    of(terms.per_step.bytes, Traffic::weights) +=
        terms.parameters * 4 * (kZeroedAndAdded * setting.micro_batches + updates);
    terms.spared_weights =
        terms.parameters * 4 * (kZeroedAndAdded + updates - fused_updates_of(setting.optimizer));
  }
  return terms;
}

NetworkTerms eager_terms_of_file(const Graph& graph, const EagerSetting& setting) {
  const FoldedNorms folded = folded_norms(graph);
  if (folded == FoldedNorms::some) {  // PyTorch runs them
    NetworkTerms terms = eager_terms(with_norms_unfolded(graph), setting);
    terms.norms_put_back = true;
    return terms;
  }
  NetworkTerms terms = eager_terms(graph, setting);
  terms.may_lack_norms = folded == FoldedNorms::perhaps;
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
