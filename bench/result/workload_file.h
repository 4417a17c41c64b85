// A workload that was read from a file: what a result keeps of it, and what is said before it is measured.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct WorkloadInput {
  std::string name;
  std::string shape;    // "batch x 3 x 224 x 224"
  std::string content;  // "seeded values", "ones (an attention mask)"

  bool operator==(const WorkloadInput&) const = default;
};

struct WorkloadFile {
  std::string format;  // that it is written in, as the option that named it: "onnx"
  std::string path;    // as given
  std::string name;    // the file's, without folder and ending
  std::string hash;    // of its graph; another one is another workload: "1a2b3c4d"
  std::vector<WorkloadInput> inputs{};
  std::vector<std::string> assumptions{};  // "Dropout is off.", a sentence each

  bool operator==(const WorkloadFile&) const = default;
};

}  // namespace bench
