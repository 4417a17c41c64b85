// The text of --input: sizes of a network's inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::kernels::onnx {

// "images=1x3x320x320,mask=1x77", or "1x3x320x320" for the only one of `inputs`. A name may hold commas and
// equals signs: an item ends after the sizes that follow an equals sign. Throws UsageError naming --input,
// what was given and what is accepted, with `example`; a name that is not among `inputs` is refused too.
std::map<std::string, std::vector<std::int64_t>> input_sizes(const std::string& text,
                                                             const std::vector<std::string>& inputs,
                                                             const std::string& example);

}  // namespace bench::kernels::onnx
