# What a build may choose, and the interface targets that carry those choices.

set(EQUALUX_FEATURES CUDA OPENCV GSTREAMER LIBAV HTTP EXIV2 FREI0R RTSP PYTHON OBS PIPEWIRE)
foreach(feature ${EQUALUX_FEATURES})
  set(EQUALUX_WITH_${feature} AUTO CACHE STRING "Build with ${feature}: AUTO, ON or OFF")
  set_property(CACHE EQUALUX_WITH_${feature} PROPERTY STRINGS AUTO ON OFF)
  if(NOT EQUALUX_WITH_${feature} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "EQUALUX_WITH_${feature} is '${EQUALUX_WITH_${feature}}', must be AUTO, ON or OFF")
  endif()
endforeach()

option(EQUALUX_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EQUALUX_BUILD_BENCH "Build the benchmarks" OFF)
option(EQUALUX_BUILD_FUZZERS "Build the fuzzers; with clang only" OFF)
option(EQUALUX_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
option(EQUALUX_UNITY "Compile several files at a time, which halves a whole build" OFF)
set(EQUALUX_SANITIZER none CACHE STRING "none, address (with undefined) or thread")
set_property(CACHE EQUALUX_SANITIZER PROPERTY STRINGS none address thread)
option(EQUALUX_QUICK "Optimise nothing but what goes over pixels, for builds that run tests" OFF)
option(EQUALUX_QUICK_KERNELS "Do not optimise kernels, for builds that run none" OFF)
set(EQUALUX_LINKER "" CACHE STRING "The linker of -fuse-ld, gold for instance; the compiler's own where empty")
if(EQUALUX_LINKER)
  add_link_options($<HOST_LINK:-fuse-ld=${EQUALUX_LINKER}>)
endif()
set(EQUALUX_WITHOUT_SIMD "" CACHE STRING "Instruction sets of Highway to leave out, as in SSE4;AVX3, for builds that take long")

# Exact bytes need every operation as IEEE 754 has it. A parent project's flags reach the kernels and
# loops too.
function(equalux_refuse_fast_math)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  get_directory_property(inherited COMPILE_OPTIONS)
  set(cxx "-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math|-freciprocal-math")
  set(cuda "-use_fast_math|-ftz=true|-prec-div=false|-prec-sqrt=false")
  if("${inherited} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}" MATCHES "${cxx}")
    message(FATAL_ERROR "The C++ flags have ${CMAKE_MATCH_0}, must be without: equalux's results are exact to the byte")
  endif()
  if(EQUALUX_HAVE_CUDA AND
      "${inherited} ${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${config}}" MATCHES "-?(${cuda})|${cxx}")
    message(FATAL_ERROR "The CUDA flags have ${CMAKE_MATCH_0}, must be without: equalux's results are exact to the byte")
  endif()
endfunction()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Sanitizers know the types of one object file from another's by their addresses, of which modules have
# two.
option(EQUALUX_MODULES "Load OpenCV, GStreamer and libavformat when a command needs them" ON)
if(NOT EQUALUX_SANITIZER STREQUAL none)
  set(EQUALUX_MODULES OFF)
endif()

add_library(equalux_warnings INTERFACE)
target_compile_options(equalux_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion>
  # Clang counts changes of sign among conversions, GCC does not; and names what macros of PipeWire expand to,
  # which GCC takes as the system's.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion;-Wno-gnu-statement-expression>
  # GCC 12 warns of overlaps inside std::string's operator+ that cannot happen (its bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # Where several files are compiled at a time, GCC takes them for headers, and a nested struct with a
  # member out of an anonymous namespace for one that other files see too.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${EQUALUX_UNITY}>>:-Wno-subobject-linkage>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${EQUALUX_WARNINGS_AS_ERRORS}>>:-Werror>
  # What GCC's optimiser suspects inside the standard library changes with its version and flags: it
  # is shown, but does not stop a build.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<BOOL:${EQUALUX_WARNINGS_AS_ERRORS}>>:-Wno-error=array-bounds;-Wno-error=stringop-overread;-Wno-error=stringop-overflow;-Wno-error=maybe-uninitialized>)

# For code that talks to people, files and libraries, and hands frames over: without loops over pixels, -O3 gives
# it nothing but a quarter more time in the compiler. -O0 takes a third less than -O1.
add_library(equalux_no_pixels INTERFACE)
target_compile_options(equalux_no_pixels INTERFACE $<$<CONFIG:Release>:$<IF:$<BOOL:${EQUALUX_QUICK}>,-O0,-O1>>)

# GCC looks for memory that it no longer needs from 256 MiB on, which several files at a time pass again and
# again: a tenth of its time. From 1 GiB on few do.
if(EQUALUX_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=524288>")
endif()

add_library(equalux_sanitizer INTERFACE)
if(EQUALUX_SANITIZER STREQUAL address)
  target_compile_options(equalux_sanitizer INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(equalux_sanitizer INTERFACE -fsanitize=address,undefined)
elseif(EQUALUX_SANITIZER STREQUAL thread)
  target_compile_options(equalux_sanitizer INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(equalux_sanitizer INTERFACE -fsanitize=thread)
elseif(NOT EQUALUX_SANITIZER STREQUAL none)
  message(FATAL_ERROR "EQUALUX_SANITIZER is '${EQUALUX_SANITIZER}', must be none, address or thread")
endif()
