#include "pipelines/container/output/muxer.h"

#include <new>
#include <utility>

#include <equalux/error.h>

#include "pipelines/container/input/open_input.h"

namespace equalux {

Muxer::Muxer(std::string path, ContainerKind kind) : path_(std::move(path)) {
  route_libav_log();
  AVFormatContext* raw = nullptr;
  if (avformat_alloc_output_context2(&raw, nullptr, muxer_name(kind), file_url(path_).c_str()) <
      0) {
    throw std::bad_alloc();
  }
  context_.reset(raw);
  context_->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  // Keeps the input's timestamps, and makes the same bytes of the same input.
  context_->avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED;
  context_->flags |= AVFMT_FLAG_BITEXACT;
}

Muxer::~Muxer() {
  if (context_ && context_->pb != nullptr) avio_closep(&context_->pb);
}

void Muxer::write_head(Dictionary& options) {
  const int opened = avio_open(&context_->pb, context_->url, AVIO_FLAG_WRITE);
  if (opened < 0) {
    throw Error(ExitCode::cannot_create, path_ + ": cannot be created: " + av_text(opened));
  }
  const int written = avformat_write_header(context_.get(), options.address());
  if (written < 0 && context_->pb->error >= 0) {
    throw Error(ExitCode::cannot_create,
                path_ + ": its head cannot be written: " + av_text(written));
  }
  check(written, "its head");
}

void Muxer::write(AVPacket& packet) {
  check(av_write_frame(context_.get(), &packet), "a packet");
}

void Muxer::flush() {
  check(av_write_frame(context_.get(), nullptr), "a part");
  avio_flush(context_->pb);
  check(0, "a part");
}

void Muxer::close() {
  if (std::exchange(closed_, true)) throw Error(ExitCode::write_failed, path_ + ": has no end");
  check(av_write_trailer(context_.get()), "its end");
  avio_flush(context_->pb);
  check(0, "its end");
  const int closed = avio_closep(&context_->pb);
  if (closed < 0)
    throw Error(ExitCode::write_failed, path_ + ": cannot be closed: " + av_text(closed));
}

void Muxer::check(int result, const char* what) {
  // Prefers the file's own error, which is more precise and may come without one of the muxer.
  const int file_error = context_->pb != nullptr ? context_->pb->error : 0;
  const int error = file_error < 0 ? file_error : result;
  if (error < 0) {
    throw Error(ExitCode::write_failed,
                path_ + ": " + what + " cannot be written: " + av_text(error));
  }
}

}  // namespace equalux
