#include "tests/support/media/sample_media.h"

#include <fstream>

namespace equalux::test {
namespace {

constexpr const char* kSubtitles =
    "1\n00:00:00,500 --> 00:00:01,200\nHello\n\n"
    "2\n00:00:01,200 --> 00:00:02,000\nGr\xC3\xBC\xC3\x9F"
    "e\n\n"
    "3\n00:00:02,500 --> 00:00:03,100\nEnd\n";

constexpr const char* kTags =
    ";FFMETADATA1\ntitle=Gr\xC3\xB6\xC3\x9F"
    "e \xE6\x9D\xB1\xE4\xBA\xAC\nartist=me\n"
    "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1500\ntitle=Eins\n"
    "[CHAPTER]\nTIMEBASE=1/1000\nSTART=1500\nEND=3000\ntitle=Zwei \xC3\x9F\n";

/// Picture, two tones, subtitles, tags and a cover: inputs 0 to 5 of an ffmpeg command.
std::string inputs(const TempFolder& folder) {
  std::ofstream(folder / "subtitles.srt") << kSubtitles;
  std::ofstream(folder / "tags.txt") << kTags;
  ffmpeg("-f lavfi -i color=red:s=64x64 -frames:v 1 '" + folder / "cover.jpg" + "'");
  return "-f lavfi -i testsrc2=s=160x120:r=30:d=3 -f lavfi -i sine=440:d=3.2 "
         "-f lavfi -i sine=880:r=48000:d=2.9 -i '" +
         folder / "subtitles.srt" + "' -i '" + folder / "tags.txt" + "' -i '" +
         folder / "cover.jpg" + "' -map_metadata 4 -map_chapters 4 ";
}

constexpr const char* kVideo = "-c:v:0 libx264 -preset veryfast -g 45 -bf 2 ";
constexpr const char* kLanguages =
    "-metadata:s:a:0 language=deu -metadata:s:a:1 language=jpn -metadata:s:s language=fra "
    "-metadata:s:v:0 language=eng ";

}  // namespace

void make_rich_mkv(const TempFolder& folder, const std::string& path) {
  std::ofstream(folder / "font.ttf") << std::string(5000, 'f');
  ffmpeg(inputs(folder) + "-map 0:v -map 1:a -map 2:a -map 3:s " + kVideo +
         "-c:a:0 aac -c:a:1 libopus -c:s srt " + kLanguages +
         "-metadata:s:a:1 title=Kommentar -disposition:a:1 comment -attach '" +
         folder / "font.ttf" + "' -metadata:s:t:0 mimetype=font/ttf -attach '" +
         folder / "cover.jpg" +
         "' -metadata:s:t:1 mimetype=image/jpeg -metadata:s:t:1 filename=cover.jpg '" + path + "'");
}

void make_rich_mp4(const TempFolder& folder, const std::string& path) {
  const std::string whole = folder / "whole.mp4";
  ffmpeg(inputs(folder) + "-map 0:v -map 1:a -map 2:a -map 3:s " + kVideo +
         "-c:a:0 aac -c:a:1 flac -strict -2 -c:s mov_text " + kLanguages +
         "-metadata creation_time=2024-05-06T07:08:09Z '" + whole + "'");
  // Offsets in samples of no round number come with a second copy.
  ffmpeg("-itsoffset 0.023 -i '" + whole + "' -itsoffset 0.517 -i '" + whole + "' -i '" + whole +
         "' -i '" + folder / "cover.jpg" +
         "' -map 0:v -map 1:a -map 2:s -map 3:v -c copy -strict -2 -movie_timescale 90000 "
         "-avoid_negative_ts disabled -disposition:v:1 attached_pic "
         "-map_metadata 2 -map_chapters 2 '" +
         path + "'");
  turn_mp4(path);
}

void make_variable_rate_mp4(const std::string& path) {
  ffmpeg(
      "-f lavfi -i testsrc2=s=160x120:r=30:d=3 -vf "
      "\"setpts='(N+0.3*sin(N)+if(gt(N,50),20,0))/30/TB'\" -fps_mode passthrough "
      "-enc_time_base 1/90000 -c:v libx264 -preset veryfast -bf 2 -video_track_timescale 90000 '" +
      path + "'");
}

void make_clip(const std::string& path, const std::string& options) {
  ffmpeg("-f lavfi -i testsrc2=s=160x120:r=25:d=2 -f lavfi -i sine=440:d=2 " + options + " '" +
         path + "'");
}

}  // namespace equalux::test
