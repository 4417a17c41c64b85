#include "bench/commands/completion.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "bench/cli/command.h"
#include "bench/cli/command_line.h"
#include "bench/commands/network_words.h"
#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/result/embedded_files.h"
#include "bench/run/gpu_files.h"
#include "bench/sweep.h"
#include "bench/text/axis.h"
#include "bench/text/suggest.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

using Words = std::vector<std::string>;

// Where the program has no answer, each completes names of files. The word that names the program is as it
// was typed: a ~ in it is the home still.
// Bash splits words at colons, cuda:0 into three; what is before the last colon is not completed again.
constexpr std::string_view kBash = R"(_bench() {
  local -a words=()
  local part joined=
  for part in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#words[@]} -gt 0 && ( $part == : || -n $joined ) ]]; then
      words[-1]+=$part
    else
      words+=("$part")
    fi
    joined=
    if [[ $part == : ]]; then joined=yes; fi
  done
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]/#\~\//$HOME/}" --complete "${words[@]}" 2>/dev/null)
  if [[ ${words[-1]} == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${words[-1]%:*}:"}")
  fi
  if [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _bench bench
)";
constexpr std::string_view kZsh = R"(#compdef bench
_bench() {
  local -a found
  found=("${(@f)$("${words[1]/#\~\//$HOME/}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "${found[1]}" == *= ]]; then
    compadd -S '' -- "${found[@]}"
  elif [[ -n "${found[1]}" ]]; then
    compadd -- "${found[@]}"
  else
    _files
  fi
}
if [[ "${funcstack[1]}" == _bench ]]; then  # a file of fpath, read at the first completion
  _bench "$@"
else
  compdef _bench bench
fi
)";
constexpr std::string_view kFish = R"(function __bench_words
    set -l words (commandline -opc) (commandline -ct)
    set -l program (string replace -r '^~(?=/)' -- $HOME $words[1])
    $program --complete $words[2..-1] 2>/dev/null
end
complete -c bench -f -n 'count (__bench_words) >/dev/null' -a '(__bench_words)'
complete -c bench -F -n 'not count (__bench_words) >/dev/null'
)";

template <class Entries>
void add_options(std::vector<Option>& to, const Entries& entries) {
  for (const auto& entry : entries) {
    std::ranges::transform(entry->options, std::back_inserter(to), option_of);
  }
}

// The word that follows the option; empty: none does.
std::string value_of(const Words& words, const std::string& option) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) {
      return words[i + 1];
    }
    if (words[i].starts_with(option + "=")) {
      return words[i].substr(option.size() + 1);
    }
  }
  return "";
}

// Those of the named entry; of all where none is named.
template <class Entry>
void add_options_of(std::vector<Option>& to, const Words& words, const std::string& option) {
  if (const Entry* const named = registry<Entry>().find(value_of(words, option))) {
    add_options(to, std::vector{named});
  } else {
    add_options(to, registry<Entry>().entries());
  }
}

std::vector<Option> options_of_sweeps(const Words& words) {
  std::vector<Option> choices = program_options();
  add_options_of<SweepType>(choices, words, "--sweep");
  add_options_of<WorkloadType>(choices, words, "--workload");
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    choices.push_back({reader->name, "FILE", ""});
  }
  add_options(choices, registry<WorkloadReader>().entries());
  return choices;
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> choices{{"help", "", ""}};
  choices.insert(choices.end(), command.options.begin(), command.options.end());
  return choices;
}

// "nhwc|nchw" is two words, and "NAME|TIME|FILE" none: what a user fills in is in capitals.
Words without_placeholders(const Words& groups) {
  Words words;
  for (const std::string& group : groups) {
    for (const std::string_view word : split(group, '|')) {
      if (std::ranges::none_of(word, [](unsigned char c) { return std::isupper(c) != 0; })) {
        words.emplace_back(word);
      }
    }
  }
  return words;
}

// Of the workload that is named, its modes; else the words of the option, also where another entry has them.
Words values_of(const std::vector<Option>& choices, const std::string& name, const Words& words) {
  if (name == "mode") {
    if (const WorkloadType* const type = registry<WorkloadType>().find(value_of(words, "--workload"))) {
      return type->modes;
    }
  }
  for (const Option& option : choices) {
    if (option.name == name && option.words) {
      return without_placeholders(option.words());
    }
  }
  return {};
}

// Sorted, each once, those that begin as `start` does, behind what comes before them in the word.
Words matching(Words candidates, const std::string& before, std::string_view start) {
  std::erase_if(candidates, [&](const std::string& candidate) { return !candidate.starts_with(start); });
  std::ranges::sort(candidates);
  const auto repeated = std::ranges::unique(candidates);
  candidates.erase(repeated.begin(), repeated.end());
  for (std::string& candidate : candidates) {
    candidate.insert(0, before);
  }
  return candidates;
}

// Of a list, the part behind its last comma: what the list has not yet.
Words matching_in_list(Words candidates, const std::string& before, const std::string& list) {
  const std::size_t last = list.rfind(',') + 1;  // 0 where there is none
  for (const std::string_view given : split(std::string_view(list).substr(0, last), ',')) {
    std::erase(candidates, given);
  }
  return matching(std::move(candidates), before + list.substr(0, last), list.substr(last));
}

const Option* named(const std::vector<Option>& choices, std::string_view word) {
  if (!word.starts_with("--")) {
    return nullptr;
  }
  const auto found = std::ranges::find(choices, word.substr(2), &Option::name);
  return found == choices.end() ? nullptr : &*found;
}

Words after_help() {
  Words words = names_of<SweepType>();
  for (const Command& command : commands()) {
    words.push_back(command.name);
  }
  return words;
}

}  // namespace

std::string completion_stub(std::string_view shell) {
  if (shell == "bash" || shell == "zsh" || shell == "fish") {
    return std::string(shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
  }
  throw UsageError(unknown_value("--completion", shell, {"bash", "zsh", "fish"}));
}

std::vector<std::string> completions(std::vector<std::string> words) {
  // bash takes "--sweep=ba" for three words.
  if (words.size() > 1 && words.back() == "=") {
    words.back().clear();
  } else if (words.size() > 2 && words[words.size() - 2] == "=") {
    words.erase(words.end() - 2);
  }
  if (words.empty()) {
    return {};
  }
  const auto command = std::ranges::find(commands(), words.front(), &Command::name);
  bool of_command = words.size() > 1 && command != commands().end();
  if (of_command && command->ends_at_dashes && command->name == "ab") {
    const auto dashes = std::find(words.begin(), words.end() - 1, "--");
    if (dashes != words.end() - 1) {  // what follows are the options of a sweep
      words.erase(words.begin(), dashes + 1);
      of_command = false;
    }
  }
  const std::vector<Option> choices = of_command ? options_of(*command) : options_of_sweeps(words);
  const std::string last = words.back();
  if (words.size() > 1) {
    if (const Option* const option = named(choices, words[words.size() - 2]);
        option != nullptr && !option->value.empty()) {
      return matching_in_list(values_of(choices, option->name, words), "", last);
    }
  }
  if (const std::size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const Option* const option = named(choices, last.substr(0, equals));
    return option == nullptr ? Words{}
                             : matching_in_list(values_of(choices, option->name, words),
                                                last.substr(0, equals + 1), last.substr(equals + 1));
  }
  Words candidates;
  if (last.starts_with('-')) {
    for (const Option& choice : choices) {
      candidates.push_back(
          fmt::format("--{}{}", choice.name, choice.takes_equals && !choice.value.empty() ? "=" : ""));
    }
  } else if (words.size() == 1 && !of_command) {
    for (const Command& one : commands()) {
      candidates.push_back(one.name);
    }
    candidates.insert(candidates.end(), {"help", "--sweep", "--list"});
  } else if (words.size() == 2 && words.front() == "help") {
    candidates = after_help();
  } else if (of_command && command->name == "inspect") {
    candidates = network_names();
  }
  return matching(std::move(candidates), "", last);
}

}  // namespace bench
