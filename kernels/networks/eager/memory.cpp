#include "kernels/networks/eager/memory.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench::kernels {
namespace {

double bytes_in_use(const EagerStep& step, const EagerWidths& widths) {
  double bytes = step.operation.flow.written * widths.tensors[step.result] + step.operation.beside;
  for (const EagerStep::Read& read : step.reads) {
    bytes += read.values * widths.tensors[read.tensor];
  }
  return bytes;
}

// Tensors that the backward pass reads: what an operation casts before it reads it is saved as that.
class SavedTensors {
 public:
  SavedTensors(const EagerTrace& trace, const EagerWidths& widths, const SavedForms& forms)
      : trace_(trace), widths_(widths), forms_(forms), is_saved_(trace.tensors.size(), false) {
    keep_between_blocks();
  }

  double bytes() const { return bytes_; }

  void add(const EagerStep& step) {
    if (step.block != block_) {
      block_ = step.block;
      is_saved_ = kept_;
      bytes_ = kept_bytes_;
    }
    const EagerOperation& operation = step.operation;
    bytes_ += operation.for_each_sample ? operation.beside : 0;
    if (operation.saved == Saved::result) {
      save(step.result, 0, widths_.tensors[step.result]);
    } else if (operation.saved == Saved::inputs) {
      for (const EagerStep::Read& read : step.reads) {
        save(read.tensor, read.values, width_of(operation, read.tensor));
      }
    }
    add_written_out(step);
  }

 private:
  void keep_between_blocks() {
    std::vector<std::size_t> made_in(trace_.tensors.size(), 0);
    for (const EagerStep& step : trace_.steps) {
      made_in[step.result] = step.block;
      for (const EagerStep::Read& read : step.reads) {
        if (made_in[read.tensor] != 0 && made_in[read.tensor] != step.block) {
          save(read.tensor, read.values, widths_.tensors[read.tensor]);
        }
      }
    }
    kept_ = is_saved_;
    kept_bytes_ = bytes_;
  }

  void add_written_out(const EagerStep& step) {
    if (step.operation.traffic == Traffic::norm ? forms_.norms : forms_.activations) {
      bytes_ += step.operation.written_out.saved * widths_.tensors[step.result];
    }
  }

  double width_of(const EagerOperation& operation, std::size_t tensor) const {
    const bool is_cast = widths_.autocast && operation.product;
    const bool is_widened = widths_.autocast && operation.autocast == AutocastDtype::wide;
    return is_cast ? widths_.narrow : is_widened ? 4 : widths_.tensors[tensor];
  }

  void save(std::size_t tensor, double values, double width) {
    if (!trace_.tensors[tensor].for_each_sample) {
      return;
    }
    if (widths_.tensors[tensor] != width) {
      bytes_ += values * width;
    } else if (!is_saved_[tensor]) {
      is_saved_[tensor] = true;
      bytes_ += trace_.tensors[tensor].values * width;
    }
  }

  const EagerTrace& trace_;
  const EagerWidths& widths_;
  const SavedForms& forms_;
  std::vector<bool> is_saved_;
  double bytes_ = 0;
  std::size_t block_ = 0;
  std::vector<bool> kept_;  // between blocks
  double kept_bytes_ = 0;
};

// Cross entropy in fp32: the logarithm of the softmax is saved; its gradient and that of the network's
// results are made while the results live.
double loss_bytes(const EagerTrace& trace, const EagerWidths& widths) {
  const EagerTensor& results = trace.tensors.back();
  return results.for_each_sample ? results.values * (widths.tensors.back() + 3 * 4) : 0;
}

double training_peak(const EagerTrace& trace, const EagerWidths& widths, const SavedForms& forms) {
  SavedTensors saved(trace, widths, forms);
  double peak = 0;
  for (const EagerStep& step : trace.steps) {
    if (step.operation.for_each_sample) {
      saved.add(step);
      peak = std::max(peak, saved.bytes() + bytes_in_use(step, widths));
    }
  }
  return std::max(peak, saved.bytes() + loss_bytes(trace, widths));
}

double inference_peak(const EagerTrace& trace, const EagerWidths& widths) {
  std::vector<std::size_t> last_reader(trace.tensors.size(), 0);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    for (const EagerStep::Read& read : trace.steps[i].reads) {
      last_reader[read.tensor] = i;
    }
  }
  const auto size = [&](std::size_t tensor) {
    const EagerTensor& of = trace.tensors[tensor];
    return of.for_each_sample ? of.values * widths.tensors[tensor] : 0;
  };
  double live = 0;
  double peak = 0;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const EagerStep& step = trace.steps[i];
    live += size(step.result);
    double casts = 0;
    for (const EagerStep::Read& read : step.reads) {
      const bool is_cast = step.operation.product && widths.tensors[read.tensor] > widths.narrow;
      casts += is_cast && trace.tensors[read.tensor].for_each_sample ? read.values * widths.narrow : 0;
    }
    const double beside = step.operation.for_each_sample ? step.operation.beside : 0;
    peak = std::max(peak, live + casts + beside);
    std::vector<std::size_t> done;
    for (const EagerStep::Read& read : step.reads) {
      if (read.tensor != 0 && last_reader[read.tensor] == i && std::ranges::count(done, read.tensor) == 0) {
        live -= size(read.tensor);
        done.push_back(read.tensor);
      }
    }
  }
  return peak;
}

}  // namespace

double eager_peak_bytes(const EagerTrace& trace, const EagerWidths& widths, bool train,
                        const SavedForms& forms) {
  return train ? training_peak(trace, widths, forms) : inference_peak(trace, widths);
}

}  // namespace bench::kernels
