#include <algorithm>
#include <filesystem>
#include <utility>

#include "pipelines/files/still.h"
#include "src/cli/batch/report.h"
#include "src/cli/batch/state.h"
#include "src/cli/batch/still_tap.h"
#ifdef EQUALUX_HAVE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace equalux::cli {

#ifdef EQUALUX_HAVE_OPENCV

namespace {

constexpr int kColumns = 2;
constexpr int kGap = 12;
constexpr int kCaption = 22;
constexpr int kCellWidth = 2 * StillTap::kWidth;
constexpr int kCellHeight = StillTap::kHeight + kCaption;
/// More stills than this make no sheet that one looks at: every n-th is shown then.
constexpr std::size_t kMostCells = 120;
constexpr double kTextScale = 0.42;

struct Cell {
  Image pair;
  std::string caption;
};

/// OpenCV's letters are ASCII; what else there is becomes one mark a character.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) result += c;
    if ((byte & 0xC0U) == 0xC0U) result += '?';
  }
  return result;
}

std::vector<Cell> read_cells(const std::vector<Outcome>& outcomes, const std::string& out) {
  std::vector<Cell> cells;
  const std::size_t step = (outcomes.size() + kMostCells - 1) / kMostCells;
  for (std::size_t i = 0; i < outcomes.size(); i += std::max<std::size_t>(1, step)) {
    const Outcome& outcome = outcomes[i];
    const bool shown = outcome.result &&
                       (outcome.result->status == "done" || outcome.result->status == "partial" ||
                        outcome.result->status == "skipped");
    const std::string still = state_paths(out, outcome.job.output).still;
    std::error_code ignored;
    if (!shown || !std::filesystem::exists(still, ignored)) continue;
    try {
      Cell cell{read_still(still),
                std::filesystem::path(outcome.job.output)
                    .lexically_relative(std::filesystem::path(out).lexically_normal())
                    .string()};
      if (outcome.result->status == "partial") cell.caption += " (partial)";
      cells.push_back(std::move(cell));
    } catch (const Error&) {
      continue;  // A still is no result.
    }
  }
  return cells;
}

void draw(const Cell& cell, int left, int top, cv::Mat& sheet) {
  const ConstImageView pair = cell.pair.view();
  const int width = std::min(pair.desc.width, kCellWidth);
  const int height = std::min(pair.desc.height, StillTap::kHeight);
  const int x0 = left + (kCellWidth - width) / 2;
  const int y0 = top + (StillTap::kHeight - height) / 2;
  const bool is_rgb = pair.desc.format == PixelFormat::rgb;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const std::uint8_t* pixel = pair.row(0, y) + 3 * x;
      sheet.at<cv::Vec3b>(y0 + y, x0 + x) = is_rgb ? cv::Vec3b(pixel[2], pixel[1], pixel[0])
                                                   : cv::Vec3b(pixel[0], pixel[1], pixel[2]);
    }
  }
  std::string caption = plain(cell.caption);
  const auto too_wide = [&] {
    int baseline = 0;
    return cv::getTextSize(caption, cv::FONT_HERSHEY_SIMPLEX, kTextScale, 1, &baseline).width >
           kCellWidth;
  };
  while (caption.size() > 4 && too_wide())
    caption = "..." + caption.substr(4);
  cv::putText(sheet, caption, {left, top + StillTap::kHeight + kCaption - 7},
              cv::FONT_HERSHEY_SIMPLEX, kTextScale, {220, 220, 220}, 1, cv::LINE_AA);
}

}  // namespace

bool write_contact_sheet(const std::string& path, const std::vector<Outcome>& outcomes,
                         const std::string& out) {
  const std::vector<Cell> cells = read_cells(outcomes, out);
  if (cells.empty() || !knows_still(path)) return false;
  const int columns = std::min(kColumns, static_cast<int>(cells.size()));
  const int rows = (static_cast<int>(cells.size()) + columns - 1) / columns;
  ImageDesc desc;
  desc.format = PixelFormat::bgr;
  desc.width = kGap + columns * (kCellWidth + kGap);
  desc.height = kGap + rows * (kCellHeight + kGap);
  Image picture(desc);
  const ImageView view = picture.view();
  cv::Mat sheet(desc.height, desc.width, CV_8UC3, view.data[0],
                static_cast<std::size_t>(view.stride[0]));
  sheet = cv::Scalar(32, 32, 32);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int column = static_cast<int>(i) % columns;
    const int row = static_cast<int>(i) / columns;
    draw(cells[i], kGap + column * (kCellWidth + kGap), kGap + row * (kCellHeight + kGap), sheet);
  }
  write_still(path, std::as_const(picture).view());
  return true;
}

#else

bool write_contact_sheet(const std::string&, const std::vector<Outcome>&, const std::string&) {
  return false;
}

#endif

}  // namespace equalux::cli
