# How rooms, tests and benchmarks are built. A room is a static library whose links are its row of the table
# in ARCHITECTURE.md; the compiler does not enforce this, but the linker and tools/check_house.py do.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
find_program(PALMETTE_CCACHE ccache)
if(PALMETTE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Objects that use precompiled headers are kept, too. Paths of the tree are taken as relative to the build
  # folder, so that two builds with the same options (release, check, and those of the second MPI) share units
  # of several sources, which lie in the build folder.
  set(PALMETTE_CCACHE_OPTIONS CCACHE_SLOPPINESS=pch_defines,time_macros)
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    list(APPEND PALMETTE_CCACHE_OPTIONS CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${PALMETTE_CCACHE_OPTIONS} ${PALMETTE_CCACHE})
endif()

add_library(palmette_options INTERFACE)
# GCC 12 reports uninitialized and overlapping memory in moved variants and strings where there is none.
target_compile_options(palmette_options INTERFACE -Wall -Wextra
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:PALMETTE_LOCAL_NAMES_MAY_HIDE>>>:-Wshadow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${PALMETTE_WARNINGS_AS_ERRORS}>:-Werror>
  $<$<AND:$<BOOL:${PALMETTE_NATIVE}>,$<NOT:$<BOOL:$<TARGET_PROPERTY:PALMETTE_LEVEL>>>>:-march=native>)
# Contraction to fused multiply-add is fixed per build, so that the same source line rounds the same way
# everywhere. Where GCC tunes for Zen it leaves the products of some sums unfused (chains of up to 256 bits),
# and a row would have other bits in other company; the parameter turns that off.
target_compile_options(palmette_options INTERFACE -ffp-contract=fast
  $<$<CXX_COMPILER_ID:GNU>:--param=avoid-fma-max-bits=0>)
# Sanitizer builds: little optimization and line numbers only, so that they compile fast; assertions stay on.
# With checks by calls (-asan-instrumentation-with-call-threshold) and few calls inlined, clang takes two
# thirds of the time, but the tests take twice as long, even if only long functions are treated like that.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1")
if(PALMETTE_SANITIZE)
  add_compile_options(-fsanitize=${PALMETTE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PALMETTE_SANITIZE})
  # Undefined behaviour ends the program by an illegal instruction, whose place the address sanitizer names
  # (ASAN_OPTIONS=handle_sigill=1): calls that would say more in words take a sixth of the compiler's time.
  if(PALMETTE_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID MATCHES Clang AND PALMETTE_SANITIZE_TRAPS)
    add_compile_options(-fsanitize-trap=undefined)
  endif()
endif()

# Sources of a room are compiled several at a time: most of what a small file takes to compile are the headers
# that it shares with its neighbours. Rooms whose time is their kernels' gain nothing, and are left alone.
option(PALMETTE_UNITY "Compile several sources of a room at a time" ON)
set(PALMETTE_ROOMS_FILE_BY_FILE blocks columns)
# Rooms that meet input first: what fuzzers learn of them leads to new inputs. Counting in all rooms takes a
# fifth of the compiler's time.
set(PALMETTE_ROOMS_OF_INPUT base matrix order archive capi)

set_property(GLOBAL PROPERTY PALMETTE_ROOMS "")

# Files that are compiled with few optimizations, since their loops take no noticeable part of a solve: all
# of some rooms, and of others all but what is named. The optimizations that they lack take three tenths of
# the compiler's time there. Products and sums are contracted, and with GCC loops vectorized, as everywhere.
set(PALMETTE_FAST_OPTIONS -O1)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND PALMETTE_FAST_OPTIONS -fexpensive-optimizations -ftree-vectorize -finline-small-functions)
endif()
set(PALMETTE_ROOMS_WITHOUT_ARITHMETIC archive capi pardiso place predict simulate transfer transport)
set(PALMETTE_ROOMS_OF_BOTH_KINDS "factorize|solve|solver")
# In these rooms, the files that each solve and each factorization go through. Kernels (PalmetteShared.cmake)
# need not be named, and lack nothing: with -O2, -ftree-vectorize and -fvect-cost-model=dynamic the room
# blocks compiles in two thirds of the time, but a factorization takes up to 2.2 times as long, and fifty
# right-hand sides 1.7 times.
set(PALMETTE_OPTIMIZED_FILES
    "solver/(answer_vectors|changed_matrix|checks|entry_check|hall|report)[.]"
    "solver/(inverse|kept_factor|kept_products|known_matrix|verified_answer)[.]"
    "solver/(long_products|product_residual|products|scaled_solves|solve_request|solver)[.]"
    "solver/(timed_solve|triangular_solver|values_again)[.]"
    "factorize/(panel_waits|pivot_tally|update_factor|workspace)[.]"
    "solve/([a-z_]*engine|plan|schedule|supernode_bundles|sweep_structure)")
list(JOIN PALMETTE_OPTIMIZED_FILES "|" PALMETTE_OPTIMIZED_FILES)
set(PALMETTE_OPTIMIZED_FILES "/palmette/(${PALMETTE_OPTIMIZED_FILES})")

# palmette_compile_together(<target> [<number>]): has the sources of a target compiled several at a time,
# twelve if no number is given. Kernels, the other optimized files of the rooms of both kinds, and the rest
# are compiled only with each other.
function(palmette_compile_together target)
  set(number 12)
  if(ARGC GREATER 1)
    set(number ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PALMETTE_UNITY} UNITY_BUILD_MODE GROUP)
  # GCC takes a source that is included for a header, where an anonymous namespace would be a mistake.
  if(PALMETTE_UNITY)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  get_target_property(rest ${target} SOURCES)
  # Clang refuses members of a class that are instantiated before their class in one unit.
  set(members ${rest})
  list(FILTER members INCLUDE REGEX
    "/solver/(rank_entries|rank_inverse_columns|rank_selected|row_equations)[.]cpp$")
  set_source_files_properties(${members} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(kernels ${rest})
  list(FILTER kernels INCLUDE REGEX ${PALMETTE_LEVELED_FILES})
  list(FILTER rest EXCLUDE REGEX ${PALMETTE_LEVELED_FILES})
  if(NOT PALMETTE_SHARED)
    list(APPEND rest ${kernels})
    set(kernels "")
  endif()
  set(fast "")
  if(target MATCHES "^palmette_(${PALMETTE_ROOMS_OF_BOTH_KINDS})$")
    set(fast ${rest})
    list(FILTER fast EXCLUDE REGEX ${PALMETTE_OPTIMIZED_FILES})
    list(FILTER fast EXCLUDE REGEX ${PALMETTE_LEVELED_FILES})
    list(REMOVE_ITEM rest ${fast})
  endif()
  palmette_group(${target} kernels ${number} "" ${kernels})
  palmette_group(${target} rest ${number} "" ${rest})
  palmette_group(${target} fast ${number} "$<$<CONFIG:Release>:${PALMETTE_FAST_OPTIONS}>" ${fast})
endfunction()

# palmette_group(<target> <name> <number> <options> <source>…): has sources of a target compiled together, at
# most so many at a time, with more options.
function(palmette_group target name number options)
  list(LENGTH ARGN sources)
  math(EXPR units "(${sources} + ${number} - 1) / ${number}")
  set(count 0)
  foreach(source ${ARGN})
    math(EXPR unit "${count} * ${units} / ${sources}")
    get_source_file_property(group ${source} UNITY_GROUP)
    if(NOT group)  # a source of two targets stays in its unit
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${unit})
    endif()
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${name}_${unit}_cxx.cxx)
    if(options AND PALMETTE_UNITY)
      set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS "${options}")
    elseif(options)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
    endif()
    math(EXPR count "${count} + 1")
  endforeach()
endfunction()

# palmette_compile_fast(<target>): compiles a target that spends no noticeable time in loops.
function(palmette_compile_fast target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${PALMETTE_FAST_OPTIONS}>")
endfunction()

# palmette_room(<name> [ROOMS other rooms…] [LIBS private libraries…] [PUBLIC_LIBS libraries…])
function(palmette_room name)
  cmake_parse_arguments(ARG "" "" "ROOMS;LIBS;PUBLIC_LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/palmette/${name}/*.cpp)
  list(TRANSFORM ARG_ROOMS PREPEND palmette_)
  if(sources)
    add_library(palmette_${name} STATIC ${sources})
    target_include_directories(palmette_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(palmette_${name} PUBLIC ${ARG_ROOMS} ${ARG_PUBLIC_LIBS} PRIVATE ${ARG_LIBS}
                          $<BUILD_INTERFACE:palmette_options>)
  else()
    add_library(palmette_${name} INTERFACE)
    target_include_directories(palmette_${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(palmette_${name} INTERFACE ${ARG_ROOMS} ${ARG_PUBLIC_LIBS} ${ARG_LIBS})
  endif()
  if(sources)
    target_compile_features(palmette_${name} PUBLIC cxx_std_20)
    if(NOT name IN_LIST PALMETTE_ROOMS_FILE_BY_FILE)
      palmette_compile_together(palmette_${name})
    endif()
    if(name IN_LIST PALMETTE_ROOMS_WITHOUT_ARITHMETIC)
      palmette_compile_fast(palmette_${name})
    endif()
    # These report their coverage to the fuzzers.
    if(PALMETTE_FUZZ AND name IN_LIST PALMETTE_ROOMS_OF_INPUT)
      target_compile_options(palmette_${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endif()
  set_target_properties(palmette_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY PALMETTE_ROOMS palmette_${name})
endfunction()

# palmette_room_mpi(<name>): the part of a room that calls MPI, palmette/<name>/mpi, as the target
# palmette_mpi: programs that do not link it need no MPI at run time.
function(palmette_room_mpi name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/palmette/${name}/mpi/*.cpp)
  add_library(palmette_mpi STATIC ${sources})
  palmette_compile_together(palmette_mpi)
  target_link_libraries(palmette_mpi PUBLIC palmette_${name} MPI::MPI_CXX PRIVATE
      $<BUILD_INTERFACE:palmette_options>)
  palmette_compile_fast(palmette_mpi)
  target_compile_definitions(palmette_mpi PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set_target_properties(palmette_mpi PROPERTIES EXPORT_NAME mpi)
  set_property(GLOBAL APPEND PROPERTY PALMETTE_ROOMS palmette_mpi)
endfunction()

# palmette_room_over_mpi(<name>): the part of a room that needs palmette_mpi but does not call MPI itself,
# palmette/<name>/mpi, as the target palmette_<name>_mpi.
function(palmette_room_over_mpi name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/palmette/${name}/mpi/*.cpp)
  add_library(palmette_${name}_mpi STATIC ${sources})
  palmette_compile_together(palmette_${name}_mpi)
  target_link_libraries(palmette_${name}_mpi PUBLIC palmette_${name} palmette_mpi PRIVATE
      $<BUILD_INTERFACE:palmette_options>)
  palmette_compile_fast(palmette_${name}_mpi)
  set_target_properties(palmette_${name}_mpi PROPERTIES EXPORT_NAME ${name}_mpi)
  set_property(GLOBAL APPEND PROPERTY PALMETTE_ROOMS palmette_${name}_mpi)
endfunction()

# palmette_room_under_foreign_names(<name> <part> <library>): palmette/<name>/<part> as a shared library that
# shows only the symbols listed in its exports.map, so that programs made for another library find them there.
function(palmette_room_under_foreign_names name part library)
  set(folder ${PROJECT_SOURCE_DIR}/palmette/${name}/${part})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  add_library(lib${library} SHARED ${sources})
  set_target_properties(lib${library} PROPERTIES OUTPUT_NAME ${library} LINK_DEPENDS ${folder}/exports.map
      INSTALL_RPATH $ORIGIN)
  # Beside libpalmette it is linked with none of the rooms: of them the linker would take the kernels, which
  # libpalmette calls, for every processor.
  if(PALMETTE_SHARED)
    target_link_libraries(lib${library} PRIVATE palmette_shared palmette_kernels palmette_options)
  else()
    target_link_libraries(lib${library} PRIVATE palmette_${name} palmette_options)
  endif()
  palmette_compile_fast(lib${library})
  target_link_options(lib${library} PRIVATE LINKER:--version-script=${folder}/exports.map)
  install(TARGETS lib${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# palmette_room_for_tests(<name> <part>): a part of a room that only tests and benchmarks need,
# palmette/<name>/<part>, as the target palmette_<name>_<part>; it is neither built for users nor installed.
function(palmette_room_for_tests name part)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/palmette/${name}/${part}/*.cpp)
  add_library(palmette_${name}_${part} STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(palmette_${name}_${part} PUBLIC palmette_${name} PRIVATE palmette_options)
  palmette_compile_together(palmette_${name}_${part})
endfunction()

# The one target that users link: every room through the hall.
function(palmette_umbrella hall)
  add_library(palmette INTERFACE)
  add_library(palmette::palmette ALIAS palmette)
  target_link_libraries(palmette INTERFACE palmette_${hall})
  set_property(GLOBAL APPEND PROPERTY PALMETTE_ROOMS palmette)
endfunction()

# palmette_precompile_for_tests(<target>): the headers that nearly every test reads, read once for all tests.
# The first target that asks makes them.
function(palmette_precompile_for_tests target)
  # so that ccache can keep what is compiled with them
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  get_property(maker GLOBAL PROPERTY PALMETTE_PRECOMPILED_FOR_TESTS)
  if(maker)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  else()
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <algorithm> <complex> <functional> <map>
                              <numeric> <random> <span> <string> <thread> <variant> <vector>)
    set_property(GLOBAL PROPERTY PALMETTE_PRECOMPILED_FOR_TESTS ${target})
  endif()
endfunction()

# Sources of tests that need the emulator of devices, which sanitizers refuse: they would only be skipped.
string(JOIN "|" PALMETTE_TESTS_BY_EMULATOR device_network device_plan device_ranks element_columns
       element_layers element_levels elements_faults elements_plan device_refine device_solver device_data
       region_devices rank_triangle)

# palmette_test(<room> [THREADED] [LIBS…]): one GoogleTest program tests/<room>/*_test.cpp, named test_<room>;
# its tests carry the label unit, or unit-threaded, by which ./check chooses what runs under which sanitizer.
function(palmette_test name)
  cmake_parse_arguments(ARG "THREADED" "" "LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(PALMETTE_SANITIZE)
    list(FILTER sources EXCLUDE REGEX "/(${PALMETTE_TESTS_BY_EMULATOR})_test[.]cpp$")
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  palmette_precompile_for_tests(test_${name})
  # A local name may be one of another source. Tests of the emulator are long, and gain nothing.
  list(FILTER sources INCLUDE REGEX "/(${PALMETTE_TESTS_BY_EMULATOR})_test[.]cpp$|/tests/device/")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  palmette_compile_together(test_${name})
  set_target_properties(test_${name} PROPERTIES PALMETTE_LOCAL_NAMES_MAY_HIDE ${PALMETTE_UNITY})
  # What is tested is optimized; the tests themselves take longer to compile than to run. With -O1, GCC 12
  # sees writes beyond the end of temporary strings where there are none.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>
      "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-array-bounds;-Wno-stringop-overflow>")
  target_link_libraries(test_${name} PRIVATE ${ARG_LIBS} GTest::gtest_main palmette_options)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(test_${name} PRIVATE PALMETTE_DATA_FOLDER="${PROJECT_SOURCE_DIR}/data"
                             PALMETTE_MATRICES_FOLDER="${PALMETTE_MATRICES_FOLDER}")
  if(PALMETTE_SANITIZE AND NOT PALMETTE_TEST_EVERY_SCALAR)
    target_compile_definitions(test_${name} PRIVATE PALMETTE_TEST_TWO_SCALARS)
  endif()
  # What some tests ask, since the compilers' own macros differ.
  if(PALMETTE_SANITIZE STREQUAL thread)
    target_compile_definitions(test_${name} PRIVATE PALMETTE_THREAD_SANITIZER)
  elseif(PALMETTE_SANITIZE)
    target_compile_definitions(test_${name} PRIVATE PALMETTE_ADDRESS_SANITIZER)
  endif()
  add_dependencies(palmette_tests test_${name})
  set(label unit)
  if(ARG_THREADED)
    target_sources(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/call_all_members.cpp)
    add_dependencies(palmette_threaded_tests test_${name})
    set(label unit-threaded)
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 900 LABELS
      ${label})
endfunction()

# palmette_cuda_codes(<variable>): sets the variable to nvcc's options for PALMETTE_CUDA_ARCHITECTURES.
function(palmette_cuda_codes variable)
  set(codes "")
  foreach(arch IN LISTS PALMETTE_CUDA_ARCHITECTURES)
    list(APPEND codes -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  set(${variable} ${codes} PARENT_SCOPE)
endfunction()

# palmette_cuda_object(<variable> <file.cu>): has nvcc compile a file, given by its path in the tree, and sets
# the variable to its object file. Products and sums are not contracted, as for the tests.
function(palmette_cuda_object variable file)
  set(source ${PROJECT_SOURCE_DIR}/${file})
  cmake_path(GET source STEM name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  palmette_cuda_codes(codes)
  list(GET PALMETTE_CUDA_ARCHITECTURES -1 newest)
  add_custom_command(OUTPUT ${object}
    COMMAND ${PALMETTE_NVCC} -std=c++20 -O3 -fmad=false -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler -fPIC
            ${codes} -gencode arch=compute_${newest},code=compute_${newest}
            -I ${PROJECT_SOURCE_DIR} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc ${name}.cu" VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${variable} ${object} PARENT_SCOPE)
endfunction()

# palmette_nvshmem_objects(<variable>): has nvcc compile the network of GPUs over NVSHMEM, and link its
# kernels with NVSHMEM's. Sets the variable to its objects; palmette::nvshmem is what they need.
function(palmette_nvshmem_objects variable)
  set(source ${PROJECT_SOURCE_DIR}/palmette/device/gpu/nvshmem_network.cu)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/nvshmem_network.o)
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/nvshmem_network_linked.o)
  palmette_cuda_codes(codes)
  set(nvcc ${PALMETTE_NVCC} -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler -fPIC ${codes})
  add_custom_command(OUTPUT ${object}
    COMMAND ${nvcc} -std=c++20 -O3 -fmad=false -rdc=true -DPALMETTE_WITH_NVSHMEM
            -I ${PROJECT_SOURCE_DIR} -isystem ${PALMETTE_NVSHMEM}/include
            -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc nvshmem_network.cu" VERBATIM)
  add_custom_command(OUTPUT ${linked}
    COMMAND ${nvcc} -dlink ${object} -o ${linked} -L ${PALMETTE_NVSHMEM}/lib -lnvshmem_device
    DEPENDS ${object} COMMENT "nvcc links nvshmem_network.o with NVSHMEM" VERBATIM)
  set_source_files_properties(${object} ${linked} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${variable} ${object} ${linked} PARENT_SCOPE)
  if(NOT TARGET palmette::nvshmem)
    add_library(palmette::nvshmem INTERFACE IMPORTED GLOBAL)
    target_link_libraries(palmette::nvshmem INTERFACE ${PALMETTE_NVSHMEM}/lib/libnvshmem_device.a
                          ${PALMETTE_NVSHMEM}/lib/libnvshmem_host.so.3)
  endif()
endfunction()

# palmette_gpu_bench(<name>): bench/<name>.cu, one program for one question about a GPU, without the library.
function(palmette_gpu_bench name)
  palmette_cuda_object(object bench/${name}.cu)
  add_executable(bench_${name} ${object})
  set_target_properties(bench_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(bench_${name} PRIVATE palmette::cudart)
endfunction()

# palmette_ptx(<variable> <file.cu> <arch> [OPTION…]): the PTX alone; sets the variable to its path without
# the ending. The kernels do not ask for their architecture, so nvcc's PTX for a newer one differs from that
# for the oldest in the line that names it, and without PALMETTE_PTX_OF_EACH_ARCHITECTURE it is copied with
# another line.
set(PALMETTE_OLDEST_PTX 80)
option(PALMETTE_PTX_OF_EACH_ARCHITECTURE "Have nvcc make the tests' PTX of each architecture" OFF)
function(palmette_ptx variable source arch)
  cmake_path(GET source STEM name)
  set(stem ${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}_sm_)
  set(out ${stem}${arch})
  if(arch EQUAL PALMETTE_OLDEST_PTX OR PALMETTE_PTX_OF_EACH_ARCHITECTURE)
    add_custom_command(OUTPUT ${out}.ptx
      COMMAND ${PALMETTE_NVCC} -std=c++20 -O3 -fmad=false -arch=sm_${arch} -ccbin ${CMAKE_CXX_COMPILER}
              -I ${PROJECT_SOURCE_DIR} -MD -MF ${out}.d -MT ${out}.ptx -ptx ${ARGN}
              ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${out}.ptx
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${out}.d
      COMMENT "nvcc ${source} for sm_${arch}" VERBATIM)
  else()
    set(oldest ${stem}${PALMETTE_OLDEST_PTX}.ptx)
    add_custom_command(OUTPUT ${out}.ptx
      COMMAND sed "s/^[.]target sm_${PALMETTE_OLDEST_PTX}$/.target sm_${arch}/" ${oldest} > ${out}.ptx
      COMMAND grep -q "^[.]target sm_${arch}$" ${out}.ptx
      DEPENDS ${oldest} COMMENT "PTX of ${source} for sm_${arch}" VERBATIM)
  endif()
  set(${variable} ${out} PARENT_SCOPE)
endfunction()

# palmette_compile_kernels(<test> [SASS name…] KERNELS <file.cu>…): has nvcc compile kernels into the folder
# kernels of the build: for each architecture <file>_<arch>.ptx, a .cubin made of it, the .log of ptxas, and,
# of the names after SASS, the .sass, if there is cuobjdump. The test finds the folder as
# PALMETTE_KERNELS_FOLDER, which is empty without nvcc.
# Products and sums are not contracted: fused multiply-adds are where the kernels write them.
function(palmette_compile_kernels test)
  cmake_parse_arguments(ARG "" "" "SASS;KERNELS" ${ARGN})
  set(folder "")
  set(files "")
  if(PALMETTE_NVCC_WORKS)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernels)
    file(MAKE_DIRECTORY ${folder})
  endif()
  foreach(source ${ARG_KERNELS})
    cmake_path(GET source STEM name)
    foreach(arch 80 90)
      if(PALMETTE_NVCC_WORKS)
        palmette_ptx(out ${source} ${arch})
        set(sass "true")
        if(name IN_LIST ARG_SASS AND PALMETTE_CUOBJDUMP AND PALMETTE_NVDISASM)
          cmake_path(GET PALMETTE_NVDISASM PARENT_PATH nvdisasm_folder)
          set(sass "NVDISASM_PATH='${nvdisasm_folder}' '${PALMETTE_CUOBJDUMP}' -sass ${out}.cubin \
> ${out}.sass")
        endif()
        add_custom_command(OUTPUT ${out}.cubin
          COMMAND sh -c "'${PALMETTE_NVCC}' -arch=sm_${arch} -Xptxas -v -cubin ${out}.ptx -o ${out}.cubin \
2> ${out}.log || { cat ${out}.log; exit 1; }; ${sass}"
          DEPENDS ${out}.ptx COMMENT "ptxas ${name} for sm_${arch}" VERBATIM)
        list(APPEND files ${out}.cubin)
      endif()
    endforeach()
  endforeach()
  add_custom_target(${test}_kernels DEPENDS ${files})
  add_dependencies(${test} ${test}_kernels)
  target_compile_definitions(${test} PRIVATE PALMETTE_KERNELS_FOLDER="${folder}"
      PALMETTE_PTX_OF_EACH=$<BOOL:${PALMETTE_PTX_OF_EACH_ARCHITECTURE}>
      PALMETTE_HAS_SASS=$<AND:$<BOOL:${PALMETTE_CUOBJDUMP}>,$<BOOL:${PALMETTE_NVDISASM}>>)
endfunction()

# Contracts nothing, as nvcc above. No block has more than 256 threads, so registers are not saved for more.
set(PALMETTE_HIP_OPTIONS -x hip -std=c++20 -O3 -ffp-contract=off --gpu-max-threads-per-block=256
    -Wall -Wno-unused-command-line-argument -I ${PROJECT_SOURCE_DIR})

# palmette_hip_object(<variable>): has hipcc compile the HIP back end, and sets the variable to its object
# file.
function(palmette_hip_object variable)
  set(source ${PROJECT_SOURCE_DIR}/palmette/device/gpu/gpu_device.cu)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/hip_device.o)
  list(TRANSFORM PALMETTE_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE architectures)
  add_custom_command(OUTPUT ${object}
    COMMAND ${PALMETTE_HIPCC} ${PALMETTE_HIP_OPTIONS} ${architectures} -fPIC -MD -MF ${object}.d -MT
            ${object} -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "hipcc gpu_device.cu" VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${variable} ${object} PARENT_SCOPE)
endfunction()

# palmette_compile_kernels_for_hip(<test> <file.cu>…): has hipcc make assembly of kernels for gfx90a, in the
# folder hip_kernels of the build, which the test finds as PALMETTE_HIP_FOLDER.
function(palmette_compile_kernels_for_hip test)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/hip_kernels)
  file(MAKE_DIRECTORY ${folder})
  foreach(source ${ARGN})
    cmake_path(GET source STEM name)
    set(out ${folder}/${name}_gfx90a.s)
    add_custom_command(OUTPUT ${out}
      COMMAND ${PALMETTE_HIPCC} ${PALMETTE_HIP_OPTIONS} --offload-arch=gfx90a --cuda-device-only -S -MD -MF
              ${out}.d -MT ${out} ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${out}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${out}.d
      COMMENT "hipcc ${source} for gfx90a" VERBATIM)
    list(APPEND files ${out})
  endforeach()
  add_custom_target(${test}_kernels DEPENDS ${files})
  add_dependencies(${test} ${test}_kernels)
  target_compile_definitions(${test} PRIVATE PALMETTE_HIP_FOLDER="${folder}")
endfunction()

# palmette_fuzzer(<name> [LIBS…]): tests/fuzz/<name>.cpp, a libFuzzer program. ./check gives it the files of
# data/ as seeds, and tests/fuzz/<name without fuzz_read_>.dict, if there is one, as dictionary.
function(palmette_fuzzer name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} palmette_options)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(palmette_fuzzers ${name})
endfunction()

# palmette_bench(<name> [LIBS…]): bench/<name>.cpp, one program for one question.
function(palmette_bench name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(bench_${name} ${PROJECT_SOURCE_DIR}/bench/${name}.cpp)
  target_link_libraries(bench_${name} PRIVATE ${ARG_LIBS} palmette_options)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

function(palmette_install)
  get_property(rooms GLOBAL PROPERTY PALMETTE_ROOMS)
  if(PALMETTE_SHARED)
    palmette_install_shared(system ${CMAKE_INSTALL_LIBDIR})
  else()
    install(TARGETS ${rooms} EXPORT palmette-targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  install(DIRECTORY palmette DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
      PATTERN "*.hpp" PATTERN "*.inc" PATTERN "*.h")
  # The room targets that a package of the shared library offers are names for the whole of it.
  set(PALMETTE_CONFIG_ROOMS "")
  if(PALMETTE_SHARED)
    list(REMOVE_ITEM rooms palmette palmette_mpi palmette_capi_mpi)
    list(TRANSFORM rooms REPLACE "^palmette_" "" OUTPUT_VARIABLE PALMETTE_CONFIG_ROOMS)
  endif()
  set(PALMETTE_CONFIG_METIS ${PALMETTE_HAVE_METIS})
  set(PALMETTE_CONFIG_SCOTCH ${PALMETTE_HAVE_SCOTCH})
  install(EXPORT palmette-targets NAMESPACE palmette:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/palmette)
  include(CMakePackageConfigHelpers)
  # No paths: an installed package finds its libraries again where it is used.
  configure_package_config_file(cmake/palmette-config.cmake.in palmette-config.cmake
                                INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/palmette
                                NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(palmette-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/palmette-config.cmake
      ${PROJECT_BINARY_DIR}/palmette-config-version.cmake
          ${PROJECT_SOURCE_DIR}/cmake/FindPalmetteBlas.cmake
          ${PROJECT_SOURCE_DIR}/cmake/FindPalmetteCudart.cmake
          ${PROJECT_SOURCE_DIR}/cmake/FindPalmetteHip.cmake
          ${PROJECT_SOURCE_DIR}/cmake/FindPalmetteOrderings.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/palmette)
endfunction()

function(palmette_summary)
  message(STATUS "Palmette ${PROJECT_VERSION}: BLAS ${PALMETTE_BLAS_SUMMARY}")
  message(STATUS "Palmette orderings: ${PALMETTE_ORDERINGS_SUMMARY}")
  message(STATUS "Palmette transports: loopback, threads, simulated (${PALMETTE_MPI_SUMMARY})")
  message(STATUS "Palmette for PETSc: ${PALMETTE_PETSC_SUMMARY}")
  message(STATUS "Palmette devices: host (${PALMETTE_CUDA_SUMMARY}; ${PALMETTE_HIP_SUMMARY})")
endfunction()
