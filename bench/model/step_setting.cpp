#include "bench/model/step_setting.h"

namespace bench {

StepSetting step_setting(const WorkloadSpec& spec, const EagerForm& form) {
  const auto optimizer = spec.options.find("optimizer");
  const auto is = [&](const char* name) {
    return optimizer != spec.options.end() && optimizer->second == name;
  };
  return {.dtype = spec.dtype,
          .cast_whole = form.cast_whole && spec.dtype == Dtype::fp16,
          .attention = form.attention,
          .train = spec.mode == "train",
          .update = is("adam")       ? UpdateRule::adam
                    : is("momentum") ? UpdateRule::momentum
                                     : UpdateRule::sgd,
          .channels_last = form.channels_last,
          .batch = spec.batch};
}

EagerForm form_of(const StepSetting& setting) {
  return {.cast_whole = setting.cast_whole,
          .attention = setting.attention,
          .channels_last = setting.channels_last};
}

}  // namespace bench
