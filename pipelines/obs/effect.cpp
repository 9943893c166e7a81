#include "pipelines/obs/effect.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include <util/base.h>

#include "src/format/layout.h"

namespace equalux::obs {

std::string FrameCost::text() const {
  char text[80];
  std::snprintf(text, sizeof text, "%.2f ms each, %.2f to %.2f",
                frames == 0 ? 0.0 : sum / static_cast<double>(frames), least, most);
  return text;
}

void Effect::tell(const char* what, const char* and_then) noexcept {
  const std::lock_guard lock(told_mutex_);
  if (told_ == what) return;
  blog(LOG_WARNING, "[equalux] '%s': %s%s", name_.c_str(), what, and_then);
  try {
    told_ = what;
  } catch (const std::exception&) {
    // Memory is short; the message will be tried again.
  }
}

void Effect::set(RecipePtr recipe, double split) {
  const std::lock_guard lock(mutex_);
  recipe_ = std::move(recipe);
  split_ = std::clamp(split, 0.0, 1.0);
  changed_ = true;
  broken_ = false;
}

FrameCost Effect::cost() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

/// Gives the recipe and the frames' size and format to the filter. All allocation happens here.
void Effect::prepare(const ImageDesc& desc) {
  if (desc != desc_) filter_.reset();
  if (filter_ && !changed_) return;
  desc_ = desc;
  broken_ = true;
  throw_violations(recipe_->violations(Backend::cpu, &desc));
  if (!filter_ || !recipe_->retune(*filter_)) {
    std::unique_ptr<Filter> filter = recipe_->make(CpuOptions{});
    if (filter->configure(desc) != desc)
      throw Error(ExitCode::usage, "the filter makes frames of another format");
    filter_ = std::move(filter);
  }
  if (split_ > 0 && before_.desc() != desc) before_ = Image(desc);
  broken_ = false;
  changed_ = false;
}

/// Returns the number of columns on the left that stay unchanged, in whole chroma cells.
int Effect::kept_columns(const ImageDesc& desc) {
  const int columns = static_cast<int>(std::lround(split_ * desc.width));
  return columns == desc.width ? columns
                               : columns & ~((1 << traits(desc.format).chroma_shift_x) - 1);
}

bool Effect::filter(const ConstImageView& in, const ImageView& out, std::int64_t pts_ns,
                    FieldOrder field_order) noexcept {
  using Clock = std::chrono::steady_clock;
  const std::lock_guard lock(mutex_);
  try {
    if (!recipe_ || (broken_ && in.desc == desc_)) return false;
    const auto begin = Clock::now();
    prepare(in.desc);
    // The clip begins again, so the history is from later frames.
    if (pts_ns < last_ns_) filter_->reset();
    last_ns_ = pts_ns;
    FrameContext context;
    context.index = index_++;
    context.pts_ns = pts_ns;
    context.field_order = field_order;
    const int kept = kept_columns(in.desc);
    if (kept == 0) {
      filter_->submit(in, out, context);
    } else {
      const ImageView before = part_of(before_.view(), 0, 0, kept, in.desc.height);
      copy_image(part_of(in, 0, 0, kept, in.desc.height), before);
      filter_->submit(in, out, context);
      copy_image(before, part_of(out, 0, 0, kept, in.desc.height));
    }
    cost_.add(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    return true;
  } catch (const std::exception& error) {
    tell(error.what(), "; frames pass as they are");
    return false;
  }
}

}  // namespace equalux::obs
