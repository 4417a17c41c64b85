// --price of `bench evaluate`: what an hour of a device costs, hired or bought.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

struct Price {
  double amount = 0;     // of `currency`
  bool is_hire = false;  // an hour; else of the purchase
};

struct PriceList {
  std::map<std::string, Price> by_device;  // as the option names it
  std::string currency;                    // "$", "EUR"; empty: none was given
  double years = 3;                        // a purchase is used for so long
  double hours_a_day = 8;                  // and for so many hours of each day
  std::optional<double> kwh{};             // price of energy; none: it is not counted
};

// "t4=0.35/h,rtx3060-12gb=280", with an optional currency before or after the amount: "$0.35/h", "280 EUR".
// "/hour" is "/h", and a number without either is a purchase; below kLeastPurchase it is refused, since it is
// likely to be an hour's. Throws UsageError for anything else, and for two currencies.
PriceList parse_prices(std::string_view text);
inline constexpr double kLeastPurchase = 20;
// The prices with each device renamed by `name_of`. Throws UsageError where two get one name.
PriceList renamed(PriceList list, const std::function<std::string(const std::string&)>& name_of);

// That a purchase is used for.
double hours_of_use(const PriceList& list);
// Of an hour in use. A hire's energy is in its price; a purchase's is counted where its price and the power
// are known.
double cost_per_hour(const Price& price, const PriceList& list, std::optional<double> power_w);

// nullopt for anything but a positive number in plain digits.
std::optional<double> positive_number(std::string_view text);
// A positive number, such as --years takes. Throws UsageError.
double parse_positive(std::string_view option, std::string_view text, double most);

}  // namespace bench
