// Shared by every oneDNN implementation: the stream, descriptors of memory and error translation.
#pragma once

#include <omp.h>

#include <optional>
#include <string>
#include <utility>

#include "bench/device.h"
#include "bench/text/lru_cache.h"
#include "kernels/backends/onednn/primitives.h"
#include "kernels/operations/activation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels::onednn {

// Owned by the process, as the engine is. It runs each primitive to its end before it returns.
const dnnl::stream& stream();
void synchronize();

dnnl::memory::data_type type_of(Dtype dtype);

// An activation as 4-D memory, dimensions in the order n, c, h, w.
dnnl::memory::desc describe(const TensorDesc& tensor);
// A matrix (h = w = 1, not nchw16c) as 2-D memory of rows × columns.
dnnl::memory::desc describe_matrix(const TensorDesc& tensor);
// `count` fp32 values in a row.
dnnl::memory::desc describe_vector(std::int64_t count);

// A function as oneDNN has it, its gradient from the result or from what was read as slope_reads_result()
// says.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha = 0;
  float beta = 0;
};
std::optional<Eltwise> eltwise_of(Activation activation);  // nullopt where it has none
// For any activation that is_fusable().
void append(dnnl::post_ops& post_ops, Activation activation);

// Attributes of every primitive here: scratch memory is given by the caller, post-ops run before storing.
dnnl::primitive_attr attributes(const dnnl::post_ops& post_ops = {});

// Gives back the memory of this thread's QueryCaches: they serve planning, and would count where the
// process's memory is measured. CpuDevice::drop_caches() calls it.
void clear_query_caches();

class ClearableCache {  // known to clear_query_caches() of the thread that makes it
 public:
  ClearableCache();
  ClearableCache(const ClearableCache&) = delete;
  ClearableCache& operator=(const ClearableCache&) = delete;
  virtual void clear() = 0;

 protected:
  ~ClearableCache();
};

// LRU cache of slow oneDNN queries. A `thread_local` is its owner and not a device: the answers depend on
// nothing but the question and the number of threads oneDNN may use, which is a thread's own. So that number
// is part of the key, no lock is needed, and `most` bounds the memory.
template <class Question, class Answer>
class QueryCache final : public ClearableCache {
 public:
  explicit QueryCache(std::size_t most) : answers_(most) {}

  template <class Ask>
  const Answer& of(const Question& question, const Ask& ask) {  // good until the next call
    return answers_.get({omp_get_max_threads(), question}, [&] { return ask(question); });
  }
  void clear() override { answers_.clear(); }

 private:
  LruCache<std::pair<int, Question>, Answer> answers_;
};

// Throws what oneDNN's status means: Unsupported, OutOfMemory or runtime_error. `what` names the operation.
[[noreturn]] void rethrow(const dnnl::error& error, const std::string& what);

// Runs `make`, turning oneDNN's exceptions into ours.
template <class Make>
auto translated(const std::string& what, Make make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    rethrow(error, what);
  }
}

}  // namespace bench::kernels::onednn
