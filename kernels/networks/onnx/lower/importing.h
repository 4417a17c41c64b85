// The network that is being made of a file's nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/text/quote.h"
#include "kernels/networks/onnx/constants/refused.h"
#include "kernels/networks/onnx/file_index.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/networks/onnx/lower/value.h"

namespace bench::kernels::onnx {

// Why a layer does not fit, without the name that the node has too.
std::string without_name(const std::string& why, const std::string& layer);

class Importing {
 public:
  Importing(const Model& file, Layers layers) : model(file), index(file.graph), graph(std::move(layers)) {}

  const Model& model;
  FileIndex index;
  Layers graph;
  Budget budget;
  std::int64_t file_batch = 1;  // that the file's numbers hold
  bool batch_is_free = false;   // in the file: a slice up to element 1 is then of one sample
  std::unordered_map<std::string, Value> values;
  std::set<std::string> unknown;  // results of nodes that were refused
  std::vector<ParameterSource> sources;
  std::vector<std::string> assumptions;
  std::set<std::string> convolved;          // weights of convolutions
  std::set<std::int64_t> joined_positions;  // that a reshape has made rows of, with the batch behind them
  std::set<const Node*> absorbed;           // what they compute is done by an earlier node's layer
  // Known values whose elements the file does not tell, and the input or the tensor that they come from.
  std::unordered_map<std::string, std::string> guesses;

  std::int64_t opset() const;
  // A value, or an initializer, which becomes one when it is first read; nullptr: there is none yet. Throws
  // Refused.
  const Value* find(const std::string& name);
  void assume(const std::string& assumption);  // once
  // The same of several things, told in one sentence, in which {} stands for the list of their names.
  void assume_of(const std::string& sentence, const std::string& name);
  void finish_assumptions();  // those of several things become sentences
  // Integers and booleans that are not read have a value all the same.
  void note_unread(const std::string& name, const Tensor& tensor);

  static constexpr std::size_t kLongestName = 200;  // characters of a layer's
  // Adds a layer; a shape that does not fit is refused.
  template <class Options>
  Layers::Value append(const std::string& name, const std::vector<Layers::Value>& inputs,
                       const Options& options) {
    try {
      const Layers::Value made = graph.append(printable(name, kLongestName), inputs, options);
      count(made);
      return made;
    } catch (const ShapeTooSmall& error) {
      throw Refused(without_name(error.what(), name));
    } catch (const std::logic_error& error) {
      throw Refused(without_name(error.what(), name));
    }
  }

  // Keeps all sums over the network within 63 bits. Throws Refused.
  void count(Layers::Value made);

  // The value in exactly its shape; repeated for each sample, where `repeated`, if it is a constant. `start`
  // is how a weight is drawn.
  Layers::Value layer(const Value& value, const Uniform& start = {}, bool repeated = true);
  // Whether it is the network's token ids, cut or moved at most.
  bool is_tokens(const Value& value) const {
    return value.layer && *value.layer == graph.image() && graph.tokens().has_value();
  }
  // What texts are drawn for. Throws Refused where no text is left.
  void draw_tokens(const Tokens& tokens);
  // Token ids can only be looked up in a table. Throws Refused.
  void require_numbers(const Value& value) const;
  // A layer of the value's elements in order.
  Layers::Value elements(const Value& value, const Uniform& start = {});
  // The elements of `from` as `shape`.
  Layers::Value reshaped(Layers::Value from, const Shape& shape);
  // A layer that has one element along the batch of `shape`, or is that shape already, for each sample.
  Layers::Value repeated(Layers::Value from, const Shape& shape);
  // Rows of the value's last dimension, as a layer over features reads them; in the order in which flattened
  // maps are stored, where the layer takes `any_order`.
  Layers::Value rows(const Value& value, bool any_order = false);

  // The layer that has that weight already and the same form; nullopt: none.
  std::optional<Layers::Value> owner(const std::string& parameter, const std::string& form) const;
  void own(const std::string& parameter, const std::string& form, Layers::Value layer);

 private:
  Layers::Value materialised(const Value& value, const Uniform& start);
  Layers::Value reshaped_weight(const Value& value, const Shape& shape, const Uniform& start);
  Layers::Value parameter(const Value& value, const Shape& shape, const Uniform& start);

  std::map<std::string, Layers::Value> parameters_;  // values that are a parameter's
  std::map<std::pair<const Constant*, std::string>, Layers::Value> constants_;
  std::vector<std::shared_ptr<const Constant>> kept_;
  std::map<std::pair<Layers::Value, std::string>, Layers::Value> reshaped_;
  std::map<std::pair<std::string, std::string>, Layers::Value> owners_;
  std::map<std::string, std::set<std::string>> assumed_of_;  // names by sentences
  double elements_ = 0;                                      // of all results and parameters
  double macs_ = 0;
};

// Layers are named after the weights they hold, without ".weight".
std::string layer_name(const std::string& parameter);

}  // namespace bench::kernels::onnx
