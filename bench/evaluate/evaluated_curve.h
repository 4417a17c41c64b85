// The curves of a result of the batch sweep.
#pragma once

#include <string_view>
#include <vector>

#include "bench/model/curve.h"
#include "bench/result/result.h"

namespace bench {

// The curves of a document's points, measured or predicted; each sorted, with its peak. `datasheet`: the
// device's entry of the catalogue, or null.
std::vector<Curve> evaluated_curves(const ResultDocument& document, const Json& datasheet);
// The largest batch that the sweep found, by plan or by the model, else by the line through its points; of
// several documents' findings the smallest.
void take_largest(Curve& curve, const std::vector<Finding>& findings);
// By the data sheet, else as the context says that it was measured.
void set_peak(Curve& curve, const RunContext& context, const Json& datasheet);

// fp32 first, then the narrower ones.
int dtype_rank(std::string_view dtype);

}  // namespace bench
