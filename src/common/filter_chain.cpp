#include "src/common/filter_chain.h"

#include <utility>

#include <equalux/error.h>
#include <nlohmann/json.hpp>

#include "src/common/filter_recipe.h"
#include "src/common/json_text.h"

namespace equalux {
namespace {

/// Returns true where each filter takes the results of the one before, for frames of this format.
bool goes_through(const std::vector<std::unique_ptr<Filter>>& filters, PixelFormat format) {
  for (const auto& filter : filters) {
    if (!filter->accepts(format)) return false;
    const RecipePtr recipe = recipe_of(*filter);
    if (!recipe) break;
    format = recipe->output_format().value_or(format);
  }
  return true;
}

}  // namespace

FilterChain::FilterChain(std::vector<std::unique_ptr<Filter>> filters, const ImageMemory* between)
    : filters_(std::move(filters)), memory_(between) {}

ImageDesc FilterChain::configure(const ImageDesc& input) {
  between_.clear();
  std::vector<ImageDesc> behind = configure_chain(filters_, input);
  if (behind.empty()) return input;
  const ImageDesc desc = behind.back();
  behind.pop_back();
  for (const ImageDesc& each : behind)
    between_.push_back(memory_ == nullptr ? Image(each) : Image(each, *memory_));
  return desc;
}

bool FilterChain::works_in_place() const {
  // With several filters, the first is done with the frame before the last one writes.
  return filters_.size() != 1 || filters_.front()->works_in_place();
}

void FilterChain::submit(const ConstImageView& in, const ImageView& out, FrameContext context) {
  if (filters_.empty()) {
    copy_image(in, out);
    return;
  }
  ConstImageView from = in;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const ImageView to = i < between_.size() ? between_[i].view() : out;
    filters_[i]->submit(from, to, context);
    from = to;
  }
}

bool chain_accepts(const std::vector<std::unique_ptr<Filter>>& filters, PixelFormat format) {
  if (filters.empty()) return true;
  if (!filters.front()->accepts(format)) return false;
  if (goes_through(filters, format)) return true;
  for (int i = 0; i < kPixelFormatCount; ++i)
    if (goes_through(filters, static_cast<PixelFormat>(i))) return false;
  return true;
}

std::string save_filters(const std::vector<std::unique_ptr<Filter>>& filters) {
  nlohmann::json states = nlohmann::json::array();
  for (const auto& filter : filters)
    states.push_back(parse_json(filter->save()));
  return json_text(states);
}

void load_filters(const std::vector<std::unique_ptr<Filter>>& filters, std::string_view state) {
  const nlohmann::json states = json_or_discarded(state);
  if (!states.is_array() || states.size() != filters.size()) {
    throw Error(ExitCode::usage, "the filters' state is of another chain, must be of " +
                                     std::to_string(filters.size()) + " filters");
  }
  // A filter whose load() throws is unchanged; the ones before it are restored.
  std::vector<std::string> before;
  std::size_t taken = 0;
  try {
    for (; taken < filters.size(); ++taken) {
      if (taken + 1 < filters.size()) before.push_back(filters[taken]->save());
      filters[taken]->load(json_text(states[taken]));
    }
  } catch (...) {
    for (std::size_t i = 0; i < taken; ++i)
      filters[i]->load(before[i]);
    throw;
  }
}

}  // namespace equalux
