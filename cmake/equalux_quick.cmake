# What makes builds that only run tests quick, and changes no other build: included behind all targets.
if(NOT EQUALUX_QUICK OR NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  return()
endif()

# Options, tables and texts of the core, where a compiler's time at -O2 goes into the tables' templates.
set(plain options/option_table.cpp common/filter_chain.cpp common/filter_recipe.cpp options/filter_spec.cpp
  options/idle_options.cpp equalize/options.cpp equalize/params.cpp equalize/equalize_chain.cpp clahe/clahe_params.cpp
  clahe/tile_chain.cpp clahe/tile_state.cpp equalize/surround_state.cpp convolve/convolve_params.cpp
  denoise/denoise_params.cpp hessian/hessian_params.cpp filters.cpp host/host_filter.cpp
  cpu/clahe/clahe_filter.cpp cpu/convolve/convolve_filter.cpp cpu/equalize/equalize_filter.cpp
  cpu/hessian/hessian_filter.cpp cpu/hessian/shapes_filter.cpp)
get_target_property(sources equalux_core SOURCES)
list(REMOVE_ITEM sources ${plain})
set_property(TARGET equalux_core PROPERTY SOURCES ${sources})
list(TRANSFORM plain PREPEND ${PROJECT_SOURCE_DIR}/src/)
add_library(equalux_core_plain OBJECT ${plain})
foreach(property COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_LIBRARIES)
  get_target_property(values equalux_core ${property})
  list(REMOVE_ITEM values equalux_cuda)
  set_property(TARGET equalux_core_plain PROPERTY ${property} ${values})
endforeach()
target_link_libraries(equalux_core_plain PRIVATE equalux_no_pixels)
target_sources(equalux_core PRIVATE $<TARGET_OBJECTS:equalux_core_plain>)
target_sources(equalux PRIVATE $<TARGET_OBJECTS:equalux_core_plain>)

# Without optimisation, most of a compiler's time goes into headers. Clang reads a precompiled one, of which it takes
# only what a file needs: one for all libraries, since its users must have the flags that it was made with.
add_library(equalux_quick_pch OBJECT ${PROJECT_SOURCE_DIR}/src/common/quick_headers.cpp)
target_include_directories(equalux_quick_pch PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
target_link_libraries(equalux_quick_pch PRIVATE
  spdlog::spdlog nlohmann_json::nlohmann_json equalux_no_pixels equalux_warnings)
target_compile_options(equalux_quick_pch PRIVATE -pthread)
target_precompile_headers(equalux_quick_pch PRIVATE ${PROJECT_SOURCE_DIR}/src/common/quick_headers.h)

# equalux_targets(out folder): all targets of a folder and of those below it.
function(equalux_targets out folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    equalux_targets(found ${below})
    list(APPEND targets ${found})
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# Libraries and programs that only tests use, and that go over no pixels. Programs have the tests' header. Replays of
# states read thousands of them, so they stay optimised.
set(for_tests equalux_program_support equalux_media_files equalux_gst_elements equalux_fake_camera equalux_fake_cuda
  equalux_promised_obs equalux_promised_tables equalux_replay)
equalux_targets(targets ${PROJECT_SOURCE_DIR})
list(REMOVE_ITEM targets equalux_quick_pch)
foreach(target ${targets})
  get_target_property(type ${target} TYPE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  set(from)
  if(type MATCHES "^(STATIC|OBJECT|SHARED|MODULE)_LIBRARY$")
    if(target IN_LIST for_tests OR equalux_no_pixels IN_LIST libraries)
      set(from equalux_quick_pch)
    endif()
  elseif(TARGET equalux_tests_pch AND (target IN_LIST for_tests OR target MATCHES "^replay_") AND NOT target MATCHES "_state$")
    set(from equalux_tests_pch)
  endif()
  if(from)
    target_link_libraries(${target} PRIVATE equalux_no_pixels)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-pthread>)
    set_property(TARGET ${target} PROPERTY PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endforeach()
