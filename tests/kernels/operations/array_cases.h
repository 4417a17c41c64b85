// Pointwise functions and reductions of every kind, for the tests of each implementation.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "kernels/operations/pointwise/pointwise.h"
#include "kernels/operations/reduce/reduce.h"

namespace bench::kernels::testing {

struct PointwiseCase {
  std::string name;
  Pointwise spec;
};
struct ReduceCase {
  std::string name;
  Reduce spec;
};

inline std::string text_of(const Dims& dims) {
  std::string text;
  for (std::size_t d = 0; d < dims.rank(); ++d) {
    text += (d == 0 ? "" : "x") + std::to_string(dims[d]);
  }
  return "[" + text + "]";
}

// Pairs of inputs: alike, repeated along some dimensions, in every layout.
inline std::vector<PointwiseCase> pointwise_cases(PointwiseFunction function, Dtype dtype, bool blocks) {
  const bool three = function == PointwiseFunction::where;
  std::vector<PointwiseCase> all;
  const auto add = [&](const Array& a, const Array& b, const Array& dst) {
    all.push_back(
        {fmt::format("{} {} {} {} {}", name_of(function), text_of(a.dims), name_of(a.layout), text_of(b.dims),
                     name_of(b.layout)),
         {.function = function, .inputs = three ? std::vector{a, b, a} : std::vector{a, b}, .dst = dst}});
  };
  const auto array = [&](const Dims& dims, Layout layout = Layout::nchw) {
    return Array{.dims = dims, .layout = layout, .dtype = dtype};
  };
  using Triple = std::array<Dims, 3>;
  for (const auto& [a, b, dst] :
       {Triple{Dims{}, {}, {}}, Triple{Dims{7}, {7}, {7}}, Triple{Dims{7}, {}, {7}},
        Triple{Dims{3, 16}, {16}, {3, 16}}, Triple{Dims{3, 1}, {1, 5}, {3, 5}},
        Triple{Dims{2, 40, 9}, {9}, {2, 40, 9}}, Triple{Dims{2, 3, 4, 5}, {3, 1, 1}, {2, 3, 4, 5}},
        Triple{Dims{4, 5}, {2, 3, 1, 5}, {2, 3, 4, 5}},
        Triple{Dims{2, 1, 3, 1, 300}, {5, 1, 4, 1}, {2, 5, 3, 4, 300}},
        Triple{Dims{2, 3, 1, 2, 3, 4}, {2, 3, 5, 2, 3, 4}, {2, 3, 5, 2, 3, 4}}}) {
    add(array(a), array(b), array(dst));
    add(array(b), array(a), array(dst));
  }
  std::vector<Layout> layouts{Layout::nchw, Layout::nhwc};
  if (blocks) {
    layouts.push_back(Layout::nchw16c);
  }
  for (const std::int64_t channels : {3, 32, 37}) {
    for (const Layout layout : layouts) {
      const Array maps = array({2, channels, 5, 3}, layout);
      add(maps, maps, maps);
      add(maps, array({2, channels, 1, 1}, layout), maps);  // a gate
      add(array({channels, 1, 1}), maps, maps);
      add(maps, array({1}), maps);
      for (const Layout other : layouts) {
        add(maps, array(maps.dims, other), array(maps.dims, layouts.back()));
      }
      if (layout != Layout::nchw16c || channels % 16 == 0) {
        add(maps, array({2, 1, 5, 3}, layout), maps);  // an attention over places
      }
    }
  }
  return all;
}

inline std::vector<ReduceCase> reduce_cases(ReduceFunction function, Dtype dtype, bool blocks) {
  std::vector<ReduceCase> all;
  const auto add = [&](const Dims& dims, unsigned gone, Layout layout, Layout to) {
    Reduce spec{.function = function,
                .src = {.dims = dims, .layout = layout, .dtype = dtype},
                .dst = {.dims = dims, .layout = to, .dtype = dtype}};
    for (std::size_t d = 0; d < dims.rank(); ++d) {
      spec.dst.dims[d] = (gone >> d & 1U) != 0 ? 1 : dims[d];
    }
    all.push_back({fmt::format("{} {} {} to {} {}", name_of(function), text_of(dims), name_of(layout),
                               text_of(spec.dst.dims), name_of(to)),
                   spec});
  };
  for (const Dims& dims : {Dims{}, Dims{5000}, Dims{3, 700}, Dims{2, 3, 5}, Dims{2, 3, 4, 5},
                           Dims{2, 3, 2, 4, 5}, Dims{2, 3, 2, 2, 3, 4}}) {
    for (unsigned gone = 0; gone < (1U << dims.rank()); ++gone) {
      add(dims, gone, Layout::nchw, Layout::nchw);
    }
  }
  std::vector<Layout> layouts{Layout::nhwc};
  if (blocks) {
    layouts.push_back(Layout::nchw16c);
  }
  for (const std::int64_t channels : {16, 37, 200}) {
    for (const Layout layout : layouts) {
      for (const unsigned gone : {0b1100U, 0b1000U, 0b1101U, 0b0010U, 0b1111U}) {
        const bool whole = (gone & 2U) == 0 || channels % 16 == 0 || layout == Layout::nhwc;
        if (whole) {
          add({2, channels, 5, 7}, gone, layout, layout);
          add({2, channels, 5, 7}, gone, layout, Layout::nchw);
        }
      }
    }
  }
  return all;
}

}  // namespace bench::kernels::testing
