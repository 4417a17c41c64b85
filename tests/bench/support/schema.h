// Checks text against results/schema.json, or against the schema of the version before it.
// BENCH_TEST_SOURCE_DIR is the source tree's root.
#pragma once

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>
// GCC 12 sees overlapping copies in std::string's operator+ where there are none (GCC bug 105651).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wrestrict"
#endif
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace bench::testing {

inline constexpr const char* kEarlierSchema = BENCH_TEST_SOURCE_DIR "/tests/bench/run/golden/schema-1.json";

// Empty where the text follows the schema; else what does not, with its place.
inline std::string schema_errors(const std::string& text,
                                 const char* schema_file = BENCH_TEST_SOURCE_DIR "/results/schema.json") {
  std::ifstream file(schema_file);
  const nlohmann::json schema_json = nlohmann::json::parse(file);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);

  // Strict parsing also refuses NaN and Infinity, which are not JSON.
  const nlohmann::json document = nlohmann::json::parse(text);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  std::string errors;
  if (!validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) {
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      for (const std::string& place : error.context) {
        errors += place;
      }
      errors += ": " + error.description + "\n";
    }
  }
  return errors;
}

}  // namespace bench::testing
