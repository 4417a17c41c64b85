// How a network's step is started: --launch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "bench/workload.h"

namespace bench::kernels {

// stream queues operation by operation; graph records the step once and starts it as a whole, which spares
// the host's work for each launch.
enum class Launch { stream, graph };

WorkloadType::Option launch_option();
// Throws UsageError naming the option, what was given and what is accepted.
Launch launch_of(const WorkloadSpec& spec);

// Why the device cannot start steps as the specification asks; nullopt where it can.
std::optional<std::string> launch_unsupported(const WorkloadSpec& spec, const Device& device);

// The recorded step, or nullptr where the specification asks for none. Runs `step` once, with everything it
// reads in place. Throws Unsupported.
std::unique_ptr<RecordedStep> record_if_asked(const WorkloadSpec& spec, Device& device,
                                              const std::function<void()>& step);

}  // namespace bench::kernels
