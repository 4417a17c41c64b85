#include "bench/model/step_setting.h"

namespace bench {

StepSetting step_setting(const WorkloadSpec& spec, bool cast_whole) {
  const auto optimizer = spec.options.find("optimizer");
  const auto is = [&](const char* name) {
    return optimizer != spec.options.end() && optimizer->second == name;
  };
  return {.dtype = spec.dtype,
          .cast_whole = cast_whole && spec.dtype == Dtype::fp16,
          .train = spec.mode == "train",
          .update = is("adam")       ? UpdateRule::adam
                    : is("momentum") ? UpdateRule::momentum
                                     : UpdateRule::sgd,
          .batch = spec.batch};
}

}  // namespace bench
