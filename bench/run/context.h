// The `context` of a result: when, where and with what it was measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/host/host_info.h"
#include "bench/measure/result.h"

namespace bench {

// Versions of libraries and drivers (onednn, driver, cuda, cudnn, cublas) go from the device's details to
// `software`. "git" there is the commit the program was built from, as `git describe --always --dirty` puts
// it; absent where it was not built in a repository.
RunContext make_context(const DeviceInfo& device, const HostInfo& host, const std::vector<std::string>& argv,
                        std::uint64_t seed);

// This program's version.
std::string_view bench_version();

}  // namespace bench
