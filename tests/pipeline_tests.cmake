# Tests of how frames move.
equalux_tests(test_core core LABELS core LIBRARIES equalux_pipelines
  STEMS bounded_queue frame_pool processor engine engine_live engine_failures engine_checkpoints
    frame_hash test_source transparency
  TSAN bounded_queue frame_pool processor engine engine_live engine_failures engine_checkpoints transparency)
equalux_tests(test_picture picture LABELS core LIBRARIES equalux_pipelines STEMS convert_picture convert_rgb orientation)
equalux_tests(test_timings timings LABELS core LIBRARIES equalux_pipelines STEMS timings)
# Its operator new fails when it is told to, for the whole program.
equalux_tests(test_allocation_failures core LABELS core LIBRARIES equalux_pipelines
  STEMS allocation_failures submit_memory SOURCES core/short_memory.cpp)
equalux_tests(test_files files LABELS core LIBRARIES equalux_pipelines
  STEMS pnm float_files y4m y4m_header y4m_pipe image_pattern LONG pnm y4m)
equalux_tests(test_live live LABELS core LIBRARIES equalux_pipelines
  STEMS reconnecting_source recorder steering stream_address TSAN reconnecting_source recorder steering)
equalux_tests(test_v4l2_output v4l2 LABELS core LIBRARIES equalux_pipelines STEMS v4l2_output)
