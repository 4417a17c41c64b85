// The `context` of a result: when, where and with what it was measured, and what the device's maker says of
// it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/host/host_info.h"
#include "bench/result/result.h"

namespace bench {

// Versions of libraries and drivers (onednn, driver, cuda, cudnn, cublas) go from the device's details to
// `software`. "git" there is the commit the program was built from, as `git describe --always --dirty` puts
// it; absent where it was not built in a repository.
RunContext make_context(const DeviceInfo& device, const HostInfo& host, const std::vector<std::string>& argv,
                        std::uint64_t seed);

// Versions of a device's libraries and driver, among its details.
std::map<std::string, std::string> software_of(const DeviceInfo& device);

// The entry of the catalogue of devices (results/gpus.json) that has `name` as its id or among a device's
// names; null where none does.
Json datasheet_of(std::string_view name);

// This program's version.
std::string_view bench_version();
// The version, and the commit where it is known: "1.0 (v1.0-3-gabc)".
std::string build_name();

}  // namespace bench
