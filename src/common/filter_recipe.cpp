#include "src/common/filter_recipe.h"

#include <utility>

namespace equalux {
namespace {

/// Filter that knows its recipe, on either backend.
class FilterOfRecipe : public Filter {
 public:
  explicit FilterOfRecipe(RecipePtr recipe) : recipe_(std::move(recipe)) {}
  [[nodiscard]] const RecipePtr& recipe() const { return recipe_; }

 protected:
  RecipePtr recipe_;
};

/// Changeable filter; Options are those of a backend.
template <typename Options>
class ChangeableFilter final : public FilterOfRecipe {
 public:
  ChangeableFilter(RecipePtr recipe, const Options& options)
      : FilterOfRecipe(std::move(recipe)), options_(options), filter_(recipe_->make(options_)) {}

  [[nodiscard]] bool accepts(PixelFormat format) const override { return filter_->accepts(format); }
  ImageDesc configure(const ImageDesc& input) override { return configure_with(input, {}); }
  [[nodiscard]] bool takes_fractions(const ImageDesc& input, Fractions fractions) const override {
    return filter_->takes_fractions(input, fractions);
  }
  ImageDesc configure_with(const ImageDesc& input, Fractions fractions) override {
    in_desc_ = {};
    out_desc_ = filter_->configure_with(input, fractions);
    in_desc_ = input;
    fractions_ = fractions;
    return out_desc_;
  }
  [[nodiscard]] bool works_in_place() const override { return filter_->works_in_place(); }
  void submit(const ConstImageView& in, const ImageView& out, FrameContext& context) override {
    filter_->submit(in, out, context);
  }
  void reset() override { filter_->reset(); }
  [[nodiscard]] std::string save() const override { return filter_->save(); }
  void load(std::string_view state) override { filter_->load(state); }
  [[nodiscard]] FilterCurves* curves() override { return filter_->curves(); }

  bool update(const OptionValues& values) override {
    RecipePtr recipe = recipe_->with(values);
    if (!recipe->retune(*filter_)) {
      // A new filter would lose the sum of curves.
      if (FilterCurves* curves = filter_->curves(); curves != nullptr && curves->sum())
        return false;
      std::unique_ptr<Filter> made = recipe->make(options_);
      if (made->works_in_place() != filter_->works_in_place()) return false;
      if (in_desc_.width > 0) {
        if (!made->takes_fractions(in_desc_, fractions_)) return false;
        if (made->configure_with(in_desc_, fractions_) != out_desc_) return false;
      }
      filter_ = std::move(made);
    }
    recipe_ = std::move(recipe);
    return true;
  }

 private:
  Options options_;
  std::unique_ptr<Filter> filter_;
  ImageDesc in_desc_;  // width is 0 until configured
  ImageDesc out_desc_;
  Fractions fractions_;
};

}  // namespace

std::unique_ptr<Filter> make_changeable(RecipePtr recipe, const CpuOptions& options) {
  return std::make_unique<ChangeableFilter<CpuOptions>>(std::move(recipe), options);
}

std::unique_ptr<Filter> make_changeable(RecipePtr recipe, const CudaOptions& options) {
  return std::make_unique<ChangeableFilter<CudaOptions>>(std::move(recipe), options);
}

RecipePtr recipe_of(const Filter& filter) {
  const auto* made = dynamic_cast<const FilterOfRecipe*>(&filter);
  return made == nullptr ? nullptr : made->recipe();
}

}  // namespace equalux
