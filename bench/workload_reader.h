// Workloads that a file describes, in place of a registered one: `--onnx net.onnx`. A reader is registered
// for each format of such files, by kernels; the command line has its name as an option.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/workload.h"

namespace bench {

// A part of a file that this program has nothing for.
struct UnsupportedNode {
  std::string name;
  std::string operation;  // "Conv"
  std::string reason;
};

struct UnsupportedPart {
  std::vector<UnsupportedNode> nodes;
  std::int64_t of = 0;  // nodes in all
};

struct WorkloadReader {
  std::string name;                    // "onnx": the command line's --onnx FILE, and the ending of such files
  std::string description;             // one line, for lists
  std::vector<CommandOption> options;  // of reading; their default is empty where the file decides

  // `given`: those of its options that the command line has. Both throw UsageError, one sentence: a file that
  // cannot be read, an option with a wrong value, and read() also for unsupported nodes. The
  // returned type has `file` set, and each value that read() used is one of its options.
  std::function<WorkloadType(const std::string& path, const std::map<std::string, std::string>& given)> read;
  // Every node for which read() would refuse the file.
  std::function<UnsupportedPart(const std::string& path, const std::map<std::string, std::string>& given)>
      unsupported;
};

}  // namespace bench
