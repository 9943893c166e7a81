add_test(NAME Version.IsOne
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/compatibility/version.sh ${PROJECT_SOURCE_DIR} $<TARGET_FILE:equalux_program>)
set_tests_properties(Version.IsOne PROPERTIES LABELS program TIMEOUT 60)
# What docs/compatibility.md promises, compared with what was built. Names and bytes are those of a build
# that has everything that they speak of.
if(EQUALUX_PYTHON)
  add_executable(equalux_promised_tables compatibility/promised_tables.cpp)
  target_link_libraries(equalux_promised_tables PRIVATE equalux_cli equalux_warnings)
  set(subjects options filters presets exit-codes bytes)
  if(EQUALUX_HAVE_GSTREAMER AND EQUALUX_HAVE_OPENCV AND EQUALUX_HAVE_HTTP)
    list(APPEND subjects json-keys requests)
  endif()
  list(APPEND subjects symbols elements effects obs)
  set(compatibility ${EQUALUX_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/compatibility/compatibility.py)
  foreach(subject ${subjects})
    add_test(NAME Compatibility.${subject} COMMAND ${compatibility} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
      $<TARGET_FILE:equalux_promised_tables> ${subject})
    set_tests_properties(Compatibility.${subject} PROPERTIES
      LABELS program SKIP_RETURN_CODE 77 TIMEOUT 300 COST 50)
  endforeach()
  # For whoever has changed something on purpose.
  add_custom_target(equalux_promises
    COMMAND ${compatibility} --write ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
      $<TARGET_FILE:equalux_promised_tables> ${subjects}
    DEPENDS equalux_promised_tables equalux_program equalux USES_TERMINAL VERBATIM)
  if(EQUALUX_HAVE_OBS)
    add_executable(equalux_promised_obs compatibility/promised_obs.cpp)
    target_link_libraries(equalux_promised_obs PRIVATE equalux_obs_filters equalux_warnings)
    add_dependencies(equalux_promises equalux_promised_obs)
  endif()
  get_property(effects GLOBAL PROPERTY EQUALUX_FREI0R_TARGETS)
  if(effects)
    add_dependencies(equalux_promises ${effects})
  endif()
  if(EQUALUX_HAVE_GSTREAMER)
    add_dependencies(equalux_promises gstequalux)
  endif()
endif()
