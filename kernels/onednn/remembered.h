// What a library answered to a question it takes long over, for when the same is asked again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>

#include <omp.h>

namespace bench::kernels::onednn {

// Gives back the memory of all answers that this thread remembers: they are for planning, and would be
// counted where the process' memory is measured.
void forget_answers();

// Known to forget_answers() of the thread that makes it.
class Forgetful {
 public:
  Forgetful();
  Forgetful(const Forgetful&) = delete;
  Forgetful& operator=(const Forgetful&) = delete;
  virtual void forget() = 0;

 protected:
  ~Forgetful();
};

// oneDNN's answers depend on how many threads it may use, so that stands in the key. A few questions: a list
// is searched. For one thread, as `thread_local`: nothing is locked.
template <class Question, class Answer>
class Remembered final : public Forgetful {
 public:
  explicit Remembered(std::size_t most) : most_(most) {}

  // Good until the next call. Makes room by forgetting what was not asked for longest.
  template <class Ask>
  const Answer& of(const Question& question, const Ask& ask) {
    const int threads = omp_get_max_threads();
    const auto known = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.threads == threads && entry.question == question; });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
    } else {
      entries_.push_front({question, threads, ask(question)});
      if (entries_.size() > most_) {
        entries_.pop_back();
      }
    }
    return entries_.front().answer;
  }

  void forget() override { entries_.clear(); }

 private:
  struct Entry {
    Question question;
    int threads;
    Answer answer;
  };
  std::size_t most_;
  std::list<Entry> entries_;
};

}  // namespace bench::kernels::onednn
