#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <random>
#include <thread>
#include <utility>

#include <equalux/curve.h>
#include <equalux/device.h>
#include <gmock/gmock.h>
#include <gst/controller/controller.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/plugin/gst_elements.h"
#include "tests/support/long_counts.h"

/// What the element does with its stream: events, queries, changes, failures, memory.
namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using gst::BufferPtr;
using ::testing::HasSubstr;

Stream small(PixelFormat format = PixelFormat::nv12, int width = 64, int height = 48) {
  return stream_of(format, width, height);
}

/// Seeds of the pictures that have come out, by their times.
std::vector<std::uint64_t> seeds_out(Harness& harness) {
  std::vector<std::uint64_t> seeds;
  while (const BufferPtr buffer = harness.pull())
    seeds.push_back(GST_BUFFER_PTS(buffer.get()) / (40 * GST_MSECOND));
  return seeds;
}

TEST(GstPluginStream, QueueDepthHoldsFramesBackUntilTheEnd) {
  for (unsigned depth = 0; depth <= 3; ++depth) {
    for (unsigned frames = 0; frames <= 5; ++frames) {
      Harness harness("equalux backend=cpu queue-depth=" + std::to_string(depth));
      const Stream stream = small();
      harness.set_caps(stream);
      std::vector<std::uint64_t> all;
      for (unsigned i = 0; i < frames; ++i) {
        ASSERT_EQ(harness.push(picture(stream, i)), GST_FLOW_OK);
        all.push_back(i);
      }
      const unsigned early = frames > depth ? frames - depth : 0;
      EXPECT_EQ(gst_harness_buffers_received(harness.get()), early);
      harness.push_event(gst_event_new_eos());
      EXPECT_EQ(seeds_out(harness), all);
    }
  }
}

TEST(GstPluginStream, WhatComesAfterAFrameStaysAfterIt) {
  Harness harness("equalux backend=cpu queue-depth=3");
  const Stream stream = small();
  harness.set_caps(stream);
  const auto expect_drained_by = [&](GstEvent* event) {
    harness.push(picture(stream, 1));
    harness.push(picture(stream, 2));
    EXPECT_EQ(seeds_out(harness).size(), 0U);
    EXPECT_TRUE(harness.push_event(event));
    EXPECT_EQ(seeds_out(harness), (std::vector<std::uint64_t>{1, 2}));
  };
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  expect_drained_by(gst_event_new_segment(&segment));
  expect_drained_by(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "x", nullptr)));
  expect_drained_by(gst_event_new_caps(small(PixelFormat::nv12, 66, 48).caps.get()));
  const Stream wider = small(PixelFormat::nv12, 66, 48);
  harness.push(picture(wider, 3));
  GstQuery* drain = gst_query_new_drain();
  gst_pad_peer_query(harness.get()->srcpad, drain);
  gst_query_unref(drain);
  EXPECT_EQ(seeds_out(harness), (std::vector<std::uint64_t>{3}));
}

TEST(GstPluginStream, CapsChangeEveryTenFrames) {
  for (const int depth : {0, 2}) {
    Harness harness("equalux backend=cpu queue-depth=" + std::to_string(depth));
    std::vector<std::vector<std::uint8_t>> expected;
    std::vector<std::vector<std::uint8_t>> got;
    std::vector<Stream> streams;
    for (unsigned change = 0; change < 12; ++change) {
      const auto format = static_cast<PixelFormat>(change % 17);
      streams.push_back(small(format, 40 + static_cast<int>(change), 30));
      harness.set_caps(streams.back());
      for (unsigned i = 0; i < 10; ++i) {
        BufferPtr buffer = picture(streams.back(), 10 * change + i);
        expected.push_back(filtered(buffer.get(), streams.back()));
        ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
      }
    }
    harness.push_event(gst_event_new_eos());
    while (const BufferPtr buffer = harness.pull())
      got.push_back(samples_of(buffer.get(), streams[got.size() / 10]));
    EXPECT_EQ(got, expected);
  }
}

TEST(GstPluginStream, FlushDropsWhatIsHeldBack) {
  Harness harness("equalux backend=cpu queue-depth=3");
  const Stream stream = small();
  harness.set_caps(stream);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (unsigned round = 0; round < 40; ++round) {
    for (unsigned i = 0; i < round % 4; ++i)
      ASSERT_EQ(harness.push(picture(stream, i)), GST_FLOW_OK);
    harness.push_event(gst_event_new_flush_start());
    harness.push_event(gst_event_new_flush_stop(TRUE));
    harness.push_event(gst_event_new_segment(&segment));
    EXPECT_EQ(seeds_out(harness).size(), 0U);
  }
  harness.push(picture(stream, 9));
  harness.push_event(gst_event_new_eos());
  EXPECT_EQ(seeds_out(harness), (std::vector<std::uint64_t>{9}));
}

TEST(GstPluginStream, LatencyGrowsByTheQueue) {
  for (const unsigned depth : {0U, 3U}) {
    Harness harness("equalux backend=cpu queue-depth=" + std::to_string(depth));
    harness.set_caps(small());
    harness.push(picture(small(), 0));
    gst_harness_set_upstream_latency(harness.get(), 5 * GST_MSECOND);
    EXPECT_EQ(gst_harness_query_latency(harness.get()), (5 + 40 * depth) * GST_MSECOND);
    Stream faster = small();
    faster.caps.reset(gst_caps_copy(faster.caps.get()));
    gst_caps_set_simple(faster.caps.get(), "framerate", GST_TYPE_FRACTION, 50, 1, nullptr);
    harness.set_caps(faster);
    EXPECT_EQ(gst_harness_query_latency(harness.get()), (5 + 20 * depth) * GST_MSECOND);
  }
}

TEST(GstPluginStream, LateFramesAreSkipped) {
  Harness harness("equalux backend=cpu");
  const Stream stream = small();
  harness.set_caps(stream);
  harness.push(picture(stream, 0));
  gst_harness_push_upstream_event(
      harness.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 10 * GST_MSECOND, GST_SECOND));
  harness.push(picture(stream, 1));
  harness.push(picture(stream, 50));
  EXPECT_EQ(seeds_out(harness), (std::vector<std::uint64_t>{0, 50}));
  GstStructure* timings = nullptr;
  g_object_get(harness.equalux(), "last-timings", &timings, nullptr);
  ASSERT_NE(timings, nullptr);
  guint64 dropped = 0;
  guint64 index = 0;
  EXPECT_TRUE(gst_structure_get_uint64(timings, "dropped_before", &dropped));
  EXPECT_TRUE(gst_structure_get_uint64(timings, "index", &index));
  EXPECT_EQ(dropped, 1U);
  EXPECT_EQ(index, 2U);
  gst_structure_free(timings);
}

/// Seeds of the pictures that have come out, and which of them are marked as a discontinuity.
std::vector<std::pair<std::uint64_t, bool>> marks_out(Harness& harness) {
  std::vector<std::pair<std::uint64_t, bool>> marks;
  while (const BufferPtr buffer = harness.pull()) {
    marks.emplace_back(GST_BUFFER_PTS(buffer.get()) / (40 * GST_MSECOND),
                       GST_BUFFER_FLAG_IS_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT));
  }
  return marks;
}

TEST(GstPluginStream, TheFrameBehindASkippedOneIsMarked) {
  using Marks = std::vector<std::pair<std::uint64_t, bool>>;
  for (unsigned depth = 0; depth <= 3; ++depth) {
    for (const char* enabled : {"true", "false"}) {
      SCOPED_TRACE(depth);
      Harness harness("equalux backend=cpu queue-depth=" + std::to_string(depth) +
                      " enabled=" + enabled);
      const Stream stream = small();
      harness.set_caps(stream);
      const auto late_until = [&](GstClockTime time) {
        gst_harness_push_upstream_event(harness.get(),
                                        gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 0, time));
      };
      const auto push = [&](std::initializer_list<unsigned> seeds) {
        for (const unsigned seed : seeds)
          ASSERT_EQ(harness.push(picture(stream, seed)), GST_FLOW_OK);
      };
      push({0, 1, 2, 3});
      late_until(GST_SECOND);
      push({4, 5, 50, 51, 52});
      late_until(3 * GST_SECOND);
      push({60, 100, 101});
      harness.push_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "x", nullptr)));
      push({102, 103, 104, 105, 106});
      harness.push_event(gst_event_new_eos());
      EXPECT_EQ(marks_out(harness), (Marks{{0, false},
                                           {1, false},
                                           {2, false},
                                           {3, false},
                                           {50, true},
                                           {51, false},
                                           {52, false},
                                           {100, true},
                                           {101, false},
                                           {102, false},
                                           {103, false},
                                           {104, false},
                                           {105, false},
                                           {106, false}}));
    }
  }
}

/// What a harness makes of eight frames, which `change` gets first.
std::vector<std::vector<std::uint8_t>> eight_frames(Harness& harness, const Stream& stream,
                                                    const std::function<void(GstBuffer*)>& change) {
  std::vector<std::vector<std::uint8_t>> out;
  harness.set_caps(stream);
  for (std::uint32_t seed = 1; seed < 9; ++seed) {
    BufferPtr buffer = picture(stream, seed);
    change(buffer.get());
    EXPECT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    const BufferPtr got = harness.pull();
    out.push_back(samples_of(got.get(), stream));
  }
  return out;
}

TEST(GstPluginStream, ABufferWithoutATimeFollowsTheOneBefore) {
  const char* launch = "equalux backend=cpu temporal-ms=300";
  const Stream stream = small();
  Harness usual(launch);
  const auto expected = eight_frames(usual, stream, [](GstBuffer*) {});
  const auto is = [](GstBuffer* buffer, unsigned seed) {
    return GST_BUFFER_PTS(buffer) == seed * 40 * GST_MSECOND;
  };
  Harness one(launch);
  EXPECT_EQ(eight_frames(one, stream,
                         [&](GstBuffer* b) {
                           if (is(b, 4) || is(b, 5)) GST_BUFFER_PTS(b) = GST_CLOCK_TIME_NONE;
                         }),
            expected);
  Harness by_rate(launch);
  EXPECT_EQ(eight_frames(by_rate, stream,
                         [&](GstBuffer* b) {
                           GST_BUFFER_DURATION(b) = GST_CLOCK_TIME_NONE;
                           if (is(b, 4)) GST_BUFFER_PTS(b) = GST_CLOCK_TIME_NONE;
                         }),
            expected);
  Harness none(launch);
  EXPECT_EQ(
      eight_frames(none, stream, [](GstBuffer* b) { GST_BUFFER_PTS(b) = GST_CLOCK_TIME_NONE; }),
      expected);
}

/// What frames become of a filter that remembers others (seeds 1 to 4) where `between` comes
/// between them, and whether that is what they become of a new filter, or of one that goes on.
enum class Memory { kept, cleared, neither };

Memory memory_after(const std::string& element, std::uint32_t next_seed, std::uint32_t next_time,
                    const std::function<void(Harness&, GstBuffer*)>& between, unsigned depth) {
  const Stream stream = small();
  const auto next = [&] {
    BufferPtr buffer = picture(stream, next_seed);
    GST_BUFFER_PTS(buffer.get()) = next_time * 40 * GST_MSECOND;
    return buffer;
  };
  const auto last_of = [&](bool with_first, bool with_between, bool with_next) {
    Harness harness(element +
                    " backend=cpu queue-depth=" + std::to_string(with_between ? depth : 0));
    harness.set_caps(stream);
    for (std::uint32_t seed = 1; with_first && seed < 5; ++seed)
      harness.push(picture(stream, seed));
    BufferPtr buffer = next();
    if (with_between) between(harness, buffer.get());
    if (with_next) harness.push(std::move(buffer));
    harness.push_event(gst_event_new_eos());
    std::vector<std::vector<std::uint8_t>> out;
    while (const BufferPtr got = harness.pull())
      out.push_back(samples_of(got.get(), stream));
    return out;
  };
  const auto got = last_of(true, true, true);
  const auto before = last_of(true, false, false);
  auto kept = last_of(true, false, true);
  auto cleared = before;
  cleared.push_back(last_of(false, false, true).back());
  EXPECT_NE(kept, cleared) << "the test tells nothing";
  return got == kept ? Memory::kept : got == cleared ? Memory::cleared : Memory::neither;
}

TEST(GstPluginStream, MemoryEndsWithTheStreamAndWhereTimeJumps) {
  const auto start = [](const char* id) {
    return
        [id](Harness& harness, GstBuffer*) { harness.push_event(gst_event_new_stream_start(id)); };
  };
  const auto discontinuity = [](Harness&, GstBuffer* buffer) {
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  };
  const auto nothing = [](Harness&, GstBuffer*) {};
  for (const std::string element :
       {"equalux temporal-ms=4000", "equaluxclahe temporal-ms=4000 tiles=2,2", "equaluxdenoise"}) {
    for (const unsigned depth : {0U, 2U}) {
      SCOPED_TRACE(element + ", " + std::to_string(depth));
      const auto after = [&](std::uint32_t time, const auto& between) {
        return memory_after(element, 5, time, between, depth);
      };
      EXPECT_EQ(after(5, start("another")), Memory::cleared);
      EXPECT_EQ(after(2, discontinuity), Memory::cleared) << "time goes back";
      EXPECT_EQ(after(60, discontinuity), Memory::cleared) << "time jumps";
      EXPECT_EQ(after(6, discontinuity), Memory::kept) << "a frame was lost";
      EXPECT_EQ(after(45, discontinuity), Memory::kept) << "a second was lost";
      EXPECT_EQ(after(60, nothing), Memory::kept) << "a slow stream";
      const auto segment = [](Harness& harness, GstBuffer*) {
        GstSegment all;
        gst_segment_init(&all, GST_FORMAT_TIME);
        harness.push_event(gst_event_new_segment(&all));
      };
      EXPECT_EQ(after(2, segment), Memory::cleared) << "repeats";
      EXPECT_EQ(after(5, segment), Memory::kept) << "goes on";
      EXPECT_EQ(
          after(5,
                [](Harness& harness, GstBuffer*) {
                  GstPad* pad = harness.get()->srcpad;
                  harness.push_event(gst_pad_get_sticky_event(pad, GST_EVENT_STREAM_START, 0));
                }),
          Memory::kept)
          << "the same stream";
    }
  }
}

TEST(GstPluginStream, AMarkStaysOnItsFrame) {
  using Marks = std::vector<std::pair<std::uint64_t, bool>>;
  for (unsigned depth = 0; depth <= 3; ++depth) {
    SCOPED_TRACE(depth);
    Harness harness("equalux backend=cpu queue-depth=" + std::to_string(depth));
    const Stream stream = small();
    harness.set_caps(stream);
    Marks expected;
    for (unsigned seed = 0; seed < 20; ++seed) {
      BufferPtr buffer = picture(stream, seed);
      const bool mark = seed % 5 == 0;
      if (mark) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
      expected.emplace_back(seed, mark);
      ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
      if (seed == 1 || seed == 10) {
        harness.push_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "x", nullptr)));
      }
    }
    harness.push_event(gst_event_new_eos());
    EXPECT_EQ(marks_out(harness), expected);
  }
}

TEST(GstPluginStream, BackwardsTimeRunsBackwards) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = -1;
  segment.stop = 10 * GST_SECOND;
  const auto between = [&](Harness& harness, GstBuffer* buffer) {
    harness.push_event(gst_event_new_segment(&segment));
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  };
  EXPECT_EQ(memory_after("equalux temporal-ms=4000", 5, 3, between, 0), Memory::kept);
  EXPECT_EQ(memory_after("equalux temporal-ms=4000", 5, 5, between, 0), Memory::cleared);
}

TEST(GstPluginStream, MemoryIsProposedAsDownstreamTakesIt) {
  for (const bool video_meta : {false, true}) {
    Harness harness("equalux backend=cpu");
    if (video_meta) {
      gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
    }
    const Stream stream = small();
    harness.set_caps(stream);
    harness.push(picture(stream, 0));
    GstQuery* query = gst_query_new_allocation(stream.caps.get(), TRUE);
    ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
    EXPECT_EQ(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE,
              video_meta);
    gst_query_unref(query);
  }
}

/// Memory of a kind of its own, of which there are few buffers.
struct FewBuffers {
  GstVideoBufferPool parent;
};
struct FewBuffersClass {
  GstVideoBufferPoolClass parent_class;
};
G_DEFINE_TYPE(FewBuffers, few_buffers, GST_TYPE_VIDEO_BUFFER_POOL)
void few_buffers_class_init(FewBuffersClass*) {}
void few_buffers_init(FewBuffers*) {}

/// Downstream's answer to an ALLOCATION query.
struct Offer {
  gst::BufferPoolPtr pool;  // null = none
  guint size = 0;
  guint least = 0;
  guint most = 0;
};

void answer_allocation(Harness& harness, const Offer& offer) {
  gst_pad_add_probe(
      harness.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
        if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
        if (gst_query_get_n_allocation_pools(query) == 0) {
          const auto& with = *static_cast<const Offer*>(data);
          gst_query_add_allocation_pool(query, with.pool.get(), with.size, with.least, with.most);
        }
        return GST_PAD_PROBE_HANDLED;
      },
      const_cast<Offer*>(&offer), nullptr);
}

TEST(GstPluginStream, FramesHeldBackAreAmongTheBuffersAskedFor) {
  for (const auto& [element, downstream] : {std::pair{"equalux", 3U}, {"equaluxconvolve", 0U}}) {
    for (const guint depth : {0U, 3U}) {
      Harness harness(std::string(element) + " backend=cpu queue-depth=" + std::to_string(depth));
      const Stream stream = small();
      const Offer offer{nullptr, static_cast<guint>(stream.info.size), 3, 0};
      answer_allocation(harness, offer);
      harness.set_caps(stream);
      harness.push(picture(stream, 0));
      GstQuery* query = gst_query_new_allocation(stream.caps.get(), FALSE);
      ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
      ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1U);
      guint size = 0;
      guint least = 0;
      guint most = 0;
      gst_query_parse_nth_allocation_pool(query, 0, nullptr, &size, &least, &most);
      EXPECT_EQ(size, stream.info.size);
      EXPECT_EQ(least, depth + 1 + downstream) << element;
      EXPECT_EQ(most, 0U);
      gst_query_unref(query);
    }
  }
}

TEST(GstPluginStream, FramesHeldBackFitIntoDownstreamsPool) {
  for (const guint depth : {0U, 3U}) {
    const Stream stream = small();
    const Offer offer{
        gst::BufferPoolPtr(GST_BUFFER_POOL(g_object_new(few_buffers_get_type(), nullptr))),
        static_cast<guint>(stream.info.size), 1, 2};
    gst_object_ref_sink(offer.pool.get());
    Harness harness("equalux backend=cpu queue-depth=" + std::to_string(depth));
    answer_allocation(harness, offer);
    harness.set_caps(stream);
    harness.push(picture(stream, 0));
    BufferPtr shown = harness.pull();
    GstStructure* config = gst_buffer_pool_get_config(offer.pool.get());
    guint least = 0;
    guint most = 0;
    gst_buffer_pool_config_get_params(config, nullptr, nullptr, &least, &most);
    gst_structure_free(config);
    EXPECT_EQ(least, 1 + depth);
    ASSERT_EQ(most, 2 + depth);  // fewer would wait for each other
    // The frames stay where they are, as with a sink that shows one while another comes.
    for (std::uint32_t seed = 1; seed < 9; ++seed) {
      ASSERT_EQ(harness.push(picture(stream, seed)), GST_FLOW_OK);
      shown = harness.pull();
      if (!shown) continue;
      EXPECT_EQ(shown->pool, offer.pool.get());
    }
    harness.push_event(gst_event_new_eos());
  }
}

TEST(GstPluginStream, PropertiesChangeWhilePlaying) {
  const PipelineEnd end = run_pipeline(
      "videotestsrc num-buffers=400 ! video/x-raw,format=RGB,width=160,height=120 ! "
      "equalux name=e backend=cpu queue-depth=1 ! fakesink",
      [](GstElement* pipeline) {
        GstElement* e = gst_bin_get_by_name(GST_BIN(pipeline), "e");
        for (int i = 0; i < 50; ++i) {
          gst_util_set_object_arg(G_OBJECT(e), "scaler", i % 2 == 0 ? "min-max" : "max-abs");
          g_object_set(e, "bins", 2 + 37 * i, "split", 0.01 * i, "enabled", i % 5 != 0, "regions",
                       i % 7 == 0, nullptr);
          gst_util_set_object_arg(G_OBJECT(e), "chain", i % 3 == 0 ? "staged" : "fused");
          std::this_thread::sleep_for(2ms);
        }
        gst_object_unref(e);
      });
  EXPECT_TRUE(end.eos) << end.error;
}

TEST(GstPluginStream, AChangedParameterCountsFromTheNextFrame) {
  Harness harness("equalux backend=cpu");
  const Stream stream = small(PixelFormat::rgb);
  harness.set_caps(stream);
  for (const int bins : {256, 2, 17, 65536, 0}) {
    EqualizeParams params;
    params.bins = bins;
    g_object_set(harness.equalux(), "bins", bins, nullptr);
    BufferPtr buffer = picture(stream, 1);
    const auto expected = filtered(buffer.get(), stream, params);
    harness.push(std::move(buffer));
    EXPECT_EQ(samples_of(harness.pull().get(), stream), expected) << bins;
  }
}

TEST(GstPluginStream, AControlSourceDrivesProperties) {
  Harness harness("equalux backend=cpu");
  const Stream stream = small(PixelFormat::gray8);
  harness.set_caps(stream);
  GstElement* element = harness.equalux();
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  gst_object_add_control_binding(
      GST_OBJECT(element), gst_direct_control_binding_new(GST_OBJECT(element), "split", source));
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 0.0);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), GST_SECOND, 1.0);
  gst_object_unref(source);
  BufferPtr buffer = picture(stream, 25);  // at one second
  const auto before = samples_of(buffer.get(), stream);
  harness.push(std::move(buffer));
  EXPECT_EQ(samples_of(harness.pull().get(), stream), before);
}

TEST(GstPluginStream, AWrongLiveChangeWarnsAndTheStreamGoesOn) {
  Harness harness("equalux backend=cpu");
  const Stream stream = small(PixelFormat::nv12);
  harness.set_caps(stream);
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), "chain", "staged");
  BufferPtr buffer = picture(stream, 1);
  const auto expected = filtered(buffer.get(), stream);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  EXPECT_EQ(samples_of(harness.pull().get(), stream), expected);
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING),
              HasSubstr("the frame's format is nv12, must be gray8 or packed RGB"));
}

/// Frames of a size go through as with default properties.
void expect_default(Harness& harness, int width) {
  const Stream stream = small(PixelFormat::rgb, width);
  harness.set_caps(stream);
  BufferPtr buffer = picture(stream, 1);
  const auto expected = filtered(buffer.get(), stream);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << width;
  const BufferPtr out = harness.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(samples_of(out.get(), stream), expected) << width;
}

TEST(GstPluginStream, ARefusedChangeStaysSoWhenCapsChange) {
  Harness harness("equalux backend=cpu");
  expect_default(harness, 64);
  g_object_set(harness.equalux(), "bins", 1, nullptr);
  expect_default(harness, 64);
  for (const int width : {80, 48})
    expect_default(harness, width);
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("bins is 1, must be 2 to 65536"));
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "said once";
  // One that no frame has seen before the caps change.
  g_object_set(harness.equalux(), "bins", 0, nullptr);
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), "scan", "baseline");
  expect_default(harness, 64);
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("scan baseline belongs to"));
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "said once";
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
  // Another start is another matter.
  gst_element_set_state(harness.equalux(), GST_STATE_READY);
  gst_element_set_state(harness.equalux(), GST_STATE_PAUSED);
  harness.push_event(gst_event_new_caps(small().caps.get()));
  EXPECT_NE(harness.push(picture(small(), 1)), GST_FLOW_OK);
  EXPECT_THAT(harness.message(GST_MESSAGE_ERROR), HasSubstr("scan baseline belongs to"));
}

/// How a stream is negotiated anew before a changed property meets a frame.
enum class Anew { reconfigure, allocation, other_size };

void negotiate_anew(Harness& harness, Anew way, const Stream& now, const Stream& other) {
  if (way == Anew::reconfigure) {
    gst_harness_push_upstream_event(harness.get(), gst_event_new_reconfigure());
  } else if (way == Anew::allocation) {
    GstQuery* query = gst_query_new_allocation(now.caps.get(), FALSE);
    gst_harness_push_upstream_event(harness.get(), gst_event_new_reconfigure());
    gst_pad_peer_query(harness.get()->srcpad, query);
    gst_query_unref(query);
  } else {
    harness.set_caps(other);
  }
}

/// The frames stay as they are, although the caps of the new properties lack them.
TEST(GstPluginStream, AChangeThatRefusesTheFormatIsRefusedHoweverItIsNegotiated) {
  const std::array<std::array<const char*, 3>, 5> changes{{{"equalux", "chain", "staged"},
                                                           {"equalux", "space", "lightness"},
                                                           {"equalux", "compatible", "opencv"},
                                                           {"equaluxvessel", "channel", "red"},
                                                           {"equaluxshapes", "channel", "red"}}};
  for (const auto& [element, property, value] : changes) {
    for (const Anew way : {Anew::reconfigure, Anew::allocation, Anew::other_size}) {
      SCOPED_TRACE(std::string(property) + "=" + value + ", " +
                   std::to_string(static_cast<int>(way)));
      const std::string launch = std::string(element) + " backend=cpu";
      Harness harness(launch);
      Harness unchanged(launch);
      const Stream first = small();
      const Stream other = small(PixelFormat::nv12, 80);
      harness.set_caps(first);
      ASSERT_EQ(harness.push(picture(first, 1)), GST_FLOW_OK);
      ASSERT_NE(harness.pull(), nullptr);
      gst_util_set_object_arg(G_OBJECT(harness.equalux()), property, value);
      negotiate_anew(harness, way, first, other);
      const Stream& now = way == Anew::other_size ? other : first;
      unchanged.set_caps(now);
      for (std::uint32_t seed = 2; seed < 4; ++seed) {
        ASSERT_EQ(unchanged.push(picture(now, seed)), GST_FLOW_OK);
        ASSERT_EQ(harness.push(picture(now, seed)), GST_FLOW_OK)
            << harness.message(GST_MESSAGE_ERROR);
        const BufferPtr expected = unchanged.pull();
        const BufferPtr out = harness.pull();
        ASSERT_NE(out, nullptr);
        EXPECT_EQ(samples_of(out.get(), now), samples_of(expected.get(), now));
      }
      EXPECT_NE(harness.message(GST_MESSAGE_WARNING), "");
      EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "said once";
      EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
    }
  }
}

TEST(GstPluginStream, AChangeCountsWithCapsThatItTakes) {
  Harness harness("equalux backend=cpu");
  const Stream first = small();
  harness.set_caps(first);
  ASSERT_EQ(harness.push(picture(first, 1)), GST_FLOW_OK);
  ASSERT_NE(harness.pull(), nullptr);
  gst_util_set_object_arg(G_OBJECT(harness.equalux()), "space", "luma");
  const Stream rgb = small(PixelFormat::rgb);
  harness.set_caps(rgb);
  EqualizeParams params;
  set_option(params, "space", "luma");
  BufferPtr buffer = picture(rgb, 2);
  const auto expected = filtered(buffer.get(), rgb, params);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  EXPECT_EQ(samples_of(harness.pull().get(), rgb), expected);
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

/// Tiles that a smaller frame cannot have.
TEST(GstPluginStream, AChangeThatTheNextSizeRefusesIsRefused) {
  Harness harness("equaluxclahe backend=cpu");
  const Stream first = small();
  harness.set_caps(first);
  ASSERT_EQ(harness.push(picture(first, 1)), GST_FLOW_OK);
  ASSERT_NE(harness.pull(), nullptr);
  g_object_set(harness.equalux(), "tiles", "16,16", nullptr);
  const Stream smaller = small(PixelFormat::nv12, 20, 16);
  harness.set_caps(smaller);
  const auto filter = make_cpu_filter(FilterSpec{"clahe", {}}, {}, {1});
  BufferPtr buffer = picture(smaller, 2);
  const auto expected = filtered(buffer.get(), smaller, *filter);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  EXPECT_EQ(samples_of(harness.pull().get(), smaller), expected);
  EXPECT_THAT(harness.message(GST_MESSAGE_WARNING), HasSubstr("tiles"));
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "said once";
}

TEST(GstPluginStream, ASourceThatNegotiatesAnewKeepsItsFormat) {
  for (const char* source :
       {"videotestsrc num-buffers=150", "videotestsrc num-buffers=150 ! videoconvert"}) {
    const PipelineEnd end = run_pipeline(
        std::string(source) +
            " ! video/x-raw,format=NV12,width=64,height=48,framerate=500/1 ! equalux name=e "
            "backend=cpu ! fakesink name=s sync=true",
        [](GstElement* pipeline) {
          const gst::ElementPtr e(gst_bin_get_by_name(GST_BIN(pipeline), "e"));
          const gst::ElementPtr s(gst_bin_get_by_name(GST_BIN(pipeline), "s"));
          gst_element_get_state(pipeline, nullptr, nullptr, GST_SECOND);
          GstPad* pad = gst_element_get_static_pad(s.get(), "sink");
          for (int i = 0; i < 20; ++i) {
            gst_util_set_object_arg(G_OBJECT(e.get()), "chain", i % 2 == 0 ? "staged" : "fused");
            gst_pad_push_event(pad, gst_event_new_reconfigure());
            std::this_thread::sleep_for(5ms);
          }
          gst_object_unref(pad);
        });
    EXPECT_TRUE(end.eos) << source << ": " << end.error;
  }
}

TEST(GstPluginStream, CapsThatAreRefusedAreNamedOnce) {
  Harness harness("equalux backend=cpu");
  expect_default(harness, 64);
  const Stream wrong = stream_of(PixelFormat::rgb, 64, 48, "interlace-mode=fields");
  harness.push_event(gst_event_new_caps(wrong.caps.get()));
  for (int i = 0; i < 5; ++i)
    EXPECT_NE(harness.push(picture(small(PixelFormat::rgb), 1)), GST_FLOW_OK);
  EXPECT_THAT(harness.message(GST_MESSAGE_ERROR), HasSubstr("interlace-mode is fields"));
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "") << "said once";
  expect_default(harness, 80);
}

/// The file is read once, and while nobody waits for the element's properties.
TEST(GstPluginStream, ACurveIsReadOnceAndOutsideOfTheLock) {
  const std::filesystem::path folder =
      ::testing::TempDir() + "equalux-curve-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  const std::string file = folder / "curve.json";
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  ToneCurve curve;
  curve.frames = 1;
  for (std::uint32_t v = 0; v < 256; ++v)
    curve.levels.push_back(v << 22);
  Harness harness("equalux backend=cpu");
  g_object_set(harness.equalux(), "curve-from", file.c_str(), nullptr);
  std::thread starts([&] { harness.set_caps(small(PixelFormat::rgb)); });
  {
    std::ofstream to(file);  // opens when the element reads
    auto answer = std::async(std::launch::async, [&] {
      int bins = -1;
      g_object_get(harness.equalux(), "bins", &bins, nullptr);
      return bins;
    });
    EXPECT_EQ(answer.wait_for(10s), std::future_status::ready) << "reading holds the lock";
    to << curve_text(curve);
  }
  starts.join();
  std::filesystem::remove_all(folder);
  for (const int width : {64, 80}) {
    const Stream stream = small(PixelFormat::rgb, width);
    harness.set_caps(stream);
    BufferPtr buffer = picture(stream, 1);
    const auto expected = samples_of(buffer.get(), stream);
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    EXPECT_EQ(samples_of(harness.pull().get(), stream), expected);
  }
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
}

TEST(GstPluginStream, WrongPropertiesAreNamedAtTheStart) {
  const std::pair<const char*, const char*> cases[] = {
      {"bins=1", "bins is 1, must be 2 to 65536"},
      {"grid=a chain=staged", "grid is 'a', must be"},
      {"scan=baseline", "scan baseline belongs to the staged chain"},
      {"backend=cpu chain=staged scan=cub", "scan cub exists on the CUDA backend only"},
      {"pixels-per-thread=3 chain=staged", "pixels-per-thread is 3"},
  };
  for (const auto& [properties, text] : cases) {
    const PipelineEnd end = run_pipeline(std::string("videotestsrc num-buffers=2 ! equalux ") +
                                         properties + " ! fakesink");
    EXPECT_FALSE(end.eos);
    EXPECT_THAT(end.error, HasSubstr(text));
  }
}

TEST(GstPluginStream, WithoutADeviceCudaIsAnErrorAndAutoTheCpu) {
  if (cuda_status().available) GTEST_SKIP() << "a CUDA device is here";
  for (const char* properties : {"backend=cuda", "chain=staged scan=cub"}) {
    const PipelineEnd end = run_pipeline(std::string("videotestsrc num-buffers=2 ! equalux ") +
                                         properties + " ! fakesink");
    EXPECT_THAT(end.error, HasSubstr("cuda: "));
  }
  Harness harness("equalux");
  harness.set_caps(small());
  harness.push(picture(small(), 0));
  EXPECT_THAT(harness.device_used(), ::testing::StartsWith("CPU, "));
}

TEST(GstPluginStream, StagedAsksForRgb) {
  const PipelineEnd end = run_pipeline(
      "videotestsrc num-buffers=2 ! equalux chain=staged backend=cpu ! capsfilter name=c ! "
      "video/x-raw,format=(string){NV12,RGB} ! fakesink");
  EXPECT_TRUE(end.eos) << end.error;
  const PipelineEnd refused = run_pipeline(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12 ! equalux chain=staged ! fakesink");
  EXPECT_FALSE(refused.eos);
}

TEST(GstPluginStream, TimingsAreRead) {
  Harness harness("equalux backend=cpu message-timings=true");
  harness.set_caps(small());
  harness.push(picture(small(), 3));
  GstStructure* timings = nullptr;
  g_object_get(harness.equalux(), "last-timings", &timings, nullptr);
  ASSERT_NE(timings, nullptr);
  gint64 pts = 0;
  double latency = -1;
  EXPECT_TRUE(gst_structure_get_int64(timings, "pts_ns", &pts));
  EXPECT_EQ(pts, 120'000'000);
  EXPECT_TRUE(gst_structure_get_double(timings, "latency_ms", &latency));
  EXPECT_GT(latency, 0);
  EXPECT_FALSE(gst_structure_has_field(timings, "upload_ms"));
  const GstStructure* stages = gst_value_get_structure(gst_structure_get_value(timings, "stages"));
  EXPECT_TRUE(gst_structure_has_field(stages, "histogram"));
  gst_structure_free(timings);
}

TEST(GstPluginStream, SeekStorm) {
  const PipelineEnd end = run_pipeline(
      "videotestsrc num-buffers=2000 ! video/x-raw,width=64,height=48 ! "
      "equalux backend=cpu queue-depth=2 ! fakesink sync=false",
      [](GstElement* pipeline) {
        std::mt19937 random(1);
        gst_element_get_state(pipeline, nullptr, nullptr, GST_SECOND);
        for (int i = 0; i < 40; ++i) {
          const auto to = static_cast<gint64>(random() % 3000) * GST_MSECOND;
          gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, to);
        }
        gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 66 * GST_SECOND);
      });
  EXPECT_TRUE(end.eos) << end.error;
}

TEST(GstPluginStream, NeighboursThatFailOrDrop) {
  const PipelineEnd failed = run_pipeline(
      "videotestsrc num-buffers=50 ! identity error-after=10 ! equalux backend=cpu queue-depth=3 ! "
      "fakesink");
  EXPECT_FALSE(failed.eos);
  EXPECT_THAT(failed.error, HasSubstr("Failed after iterations"));
  const PipelineEnd after = run_pipeline(
      "videotestsrc num-buffers=50 ! equalux backend=cpu queue-depth=3 ! identity error-after=10 ! "
      "fakesink");
  EXPECT_FALSE(after.eos);
  const PipelineEnd dropping = run_pipeline(
      "videotestsrc num-buffers=200 ! video/x-raw,width=64,height=48 ! "
      "identity drop-probability=0.3 ! equalux backend=cpu queue-depth=1 ! fakesink");
  EXPECT_TRUE(dropping.eos) << dropping.error;
}

TEST(GstPluginStream, InARowAndSideBySide) {
  const PipelineEnd end = run_pipeline(
      "videotestsrc num-buffers=60 ! video/x-raw,width=160,height=120 ! tee name=t "
      "t. ! queue ! equalux backend=cpu ! equalux backend=cpu queue-depth=2 ! fakesink "
      "t. ! queue ! equalux backend=cpu threads=1 ! fakesink "
      "t. ! queue ! fakesink");
  EXPECT_TRUE(end.eos) << end.error;
}

TEST(GstPluginStream, StartedAndStoppedManyTimes) {
  load_plugin();
  const int cycles = wants_every_count() ? 1000 : 40;
  const gst::ElementPtr pipeline(GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(
      "videotestsrc ! video/x-raw,width=64,height=48 ! equalux name=e queue-depth=2 ! fakesink",
      nullptr))));
  for (int i = 0; i < cycles; ++i) {
    gst_element_set_state(pipeline.get(), i % 3 == 0 ? GST_STATE_PAUSED : GST_STATE_PLAYING);
    if (i % 2 == 0) gst_element_get_state(pipeline.get(), nullptr, nullptr, 5 * GST_SECOND);
    ASSERT_NE(gst_element_set_state(pipeline.get(), i % 5 == 0 ? GST_STATE_READY : GST_STATE_NULL),
              GST_STATE_CHANGE_FAILURE);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

/// An application that puts the filter in and takes it out while pictures move: behind a pad that
/// is blocked for it, as GStreamer's manual tells. A probe for an idle pad would not do:
/// GStreamer 1.22 may call it in two threads at once.
TEST(GstPluginStream, PutInAndTakenOutWhilePlaying) {
  load_plugin();
  const int times = wants_every_count() ? 1000 : 100;
  const gst::ElementPtr pipeline(GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(
      "videotestsrc is-live=true ! video/x-raw,format=NV12,width=64,height=48,framerate=500/1 ! "
      "queue name=before ! identity name=after ! fakesink name=end sync=false",
      nullptr))));
  const auto named = [&](const char* name) {
    return gst::ElementPtr(gst_bin_get_by_name(GST_BIN(pipeline.get()), name));
  };
  const gst::ElementPtr before = named("before");
  const gst::ElementPtr after = named("after");
  const gst::ElementPtr end = named("end");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  struct Change {
    GstElement* pipeline;
    GstElement* before;
    GstElement* after;
    GstElement* filter = nullptr;  // null = none is there
    std::promise<bool> done;
  };
  GstElement* filter = nullptr;
  for (int i = 0; i < 2 * times; ++i) {
    Change change{pipeline.get(), before.get(), after.get(), filter, {}};
    GstPad* pad = gst_element_get_static_pad(before.get(), "src");
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo*, gpointer data) {
          Change& at = *static_cast<Change*>(data);
          bool fine = true;
          if (at.filter == nullptr) {
            at.filter = gst_element_factory_make("equalux", nullptr);
            g_object_set(at.filter, "temporal-ms", 500.0, nullptr);
            gst_bin_add(GST_BIN(at.pipeline), at.filter);
            gst_element_unlink(at.before, at.after);
            fine = gst_element_link_many(at.before, at.filter, at.after, nullptr) != FALSE &&
                   gst_element_sync_state_with_parent(at.filter) != FALSE;
          } else {
            gst_element_unlink_many(at.before, at.filter, at.after, nullptr);
            gst_element_set_state(at.filter, GST_STATE_NULL);
            gst_bin_remove(GST_BIN(at.pipeline), at.filter);
            at.filter = nullptr;
            fine = gst_element_link(at.before, at.after) != FALSE;
          }
          at.done.set_value(fine);
          return GST_PAD_PROBE_REMOVE;
        },
        &change, nullptr);
    auto done = change.done.get_future();
    ASSERT_EQ(done.wait_for(20s), std::future_status::ready) << "change " << i;
    ASSERT_TRUE(done.get()) << "change " << i;
    gst_object_unref(pad);
    filter = change.filter;
    std::this_thread::sleep_for(3ms);
  }
  const gst::BusPtr bus(gst_element_get_bus(pipeline.get()));
  const gst::MessagePtr message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  if (message) {
    GError* error = nullptr;
    gst_message_parse_error(message.get(), &error, nullptr);
    const gst::ErrorPtr owned(error);
    ADD_FAILURE() << error->message;
  }
  // Pictures go on behind the last change.
  const auto shown = [&] {
    GstStructure* stats = nullptr;
    guint64 rendered = 0;
    g_object_get(end.get(), "stats", &stats, nullptr);
    gst_structure_get_uint64(stats, "rendered", &rendered);
    gst_structure_free(stats);
    return rendered;
  };
  const guint64 until_then = shown();
  for (int i = 0; i < 1000 && shown() < until_then + 5; ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_GE(shown(), until_then + 5);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

}  // namespace
}  // namespace equalux::test
