# The library as two shared libraries, for a wheel and a Debian package: libpalmette, and
# libpalmette_kernels with the files whose time is in their arithmetic. The latter is built for x86-64, and
# again for its levels v3 (AVX2) and v4 (AVX-512), which lie in glibc-hwcaps/<level> beside it. The dynamic
# linker (glibc 2.33 or later) takes the highest level that the processor has; an older one takes the first.
# Every file whose types or constants depend on the width of a register (palmette/blocks/lanes.hpp) must be
# among the kernels. A build for the processor of this machine (PALMETTE_NATIVE) has no other levels.
set(PALMETTE_LEVELED_FILES
    "batch/batch_group|blocks/|columns/|machine/bandwidth|matrix/multiply"
    "factorize/(assemble|factorize|finish|gather|program|rank_work|update_run)[.]"
    "refine/(condition|krylov|one_norm|refine|residual|verify)[.]"
    "solve/(block_diag|device_row|lower_tri|plan_factor|row_|selected_inv|supernodal|triangle)"
    "solve/(layered_program|rank_program)[.]")
list(JOIN PALMETTE_LEVELED_FILES "|" PALMETTE_LEVELED_FILES)
set(PALMETTE_LEVELED_FILES "/palmette/(${PALMETTE_LEVELED_FILES})")
# Their objects: of one source, or of several in a file of CMake's.
set(PALMETTE_LEVELED_OBJECTS "${PALMETTE_LEVELED_FILES}|/Unity/unity_kernels_")
set(levels "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT PALMETTE_NATIVE)
  set(levels x86-64-v3 x86-64-v4)
endif()
set(PALMETTE_LEVELS "${levels}" CACHE STRING "Levels of x86-64 for which the shared library is built again")

# palmette_compiled_rooms(<variable>): the rooms of the shared libraries, without those of headers alone.
function(palmette_compiled_rooms variable)
  get_property(rooms GLOBAL PROPERTY PALMETTE_ROOMS)
  list(REMOVE_ITEM rooms palmette palmette_mpi palmette_capi_mpi)
  set(compiled "")
  foreach(room ${rooms})
    get_target_property(type ${room} TYPE)
    if(NOT type STREQUAL INTERFACE_LIBRARY)
      list(APPEND compiled ${room})
    endif()
  endforeach()
  set(${variable} ${compiled} PARENT_SCOPE)
endfunction()


# palmette_kernel_objects(<variable> <target> <level>): sets the variable to the objects of a room's kernels,
# compiled for a level; without one, to those of the room itself.
function(palmette_kernel_objects variable room level)
  set(${variable} "" PARENT_SCOPE)
  get_target_property(sources ${room} SOURCES)
  list(FILTER sources INCLUDE REGEX ${PALMETTE_LEVELED_FILES})
  if(NOT sources)
    return()
  elseif(NOT level)
    set(${variable} $<FILTER:$<TARGET_OBJECTS:${room}>,INCLUDE,${PALMETTE_LEVELED_OBJECTS}> PARENT_SCOPE)
    return()
  endif()
  get_target_property(links ${room} LINK_LIBRARIES)
  get_target_property(definitions ${room} COMPILE_DEFINITIONS)
  get_target_property(together ${room} UNITY_BUILD)
  add_library(${room}_${level} OBJECT ${sources})
  if(together)
    palmette_compile_together(${room}_${level})
  endif()
  target_link_libraries(${room}_${level} PRIVATE ${links})
  target_include_directories(${room}_${level} PRIVATE ${PROJECT_SOURCE_DIR})
  if(definitions)
    target_compile_definitions(${room}_${level} PRIVATE ${definitions})
  endif()
  target_compile_options(${room}_${level} PRIVATE -march=${level})
  set_target_properties(${room}_${level} PROPERTIES PALMETTE_LEVEL ${level})
  set(${variable} $<TARGET_OBJECTS:${room}_${level}> PARENT_SCOPE)
endfunction()

# palmette_shared_part(<target> <name> <folder> <objects>): one of the shared libraries.
function(palmette_shared_part target name folder)
  palmette_compiled_rooms(rooms)
  set(outside "")
  foreach(room ${rooms})
    get_target_property(links ${room} LINK_LIBRARIES)
    list(APPEND outside ${links})
  endforeach()
  list(FILTER outside INCLUDE REGEX "^[A-Za-z]+::")
  list(REMOVE_DUPLICATES outside)
  add_library(${target} SHARED ${ARGN})
  # The hooks of the kernels' emulator have the thread sanitizer's names: no other program may see them.
  set(script ${PROJECT_SOURCE_DIR}/cmake/palmette.map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${script} LINKER:-Bsymbolic-functions
                      LINKER:--as-needed)
  target_link_libraries(${target} PRIVATE ${outside} ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${name} LINK_DEPENDS ${script}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} BUILD_WITH_INSTALL_RPATH ON
      INSTALL_RPATH "$ORIGIN;$ORIGIN/../..;${PALMETTE_BLAS_FOLDER}"
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
endfunction()

# palmette_kernels_for_level(<target> <level>): the kernels for one level of the processor; without one, for
# all processors. Kernels and the rest call each other, so each library names the other as needed: whichever
# a program loads first, it gets both. The linker learns the other's name from an empty library.
function(palmette_kernels_for_level target level)
  palmette_compiled_rooms(rooms)
  set(all "")
  foreach(room ${rooms})
    palmette_kernel_objects(objects ${room} "${level}")
    list(APPEND all ${objects})
  endforeach()
  set(folder lib)
  if(level)
    set(folder lib/glibc-hwcaps/${level})
  endif()
  palmette_shared_part(${target} palmette_kernels ${folder} ${all})
  target_link_options(${target} BEFORE PRIVATE LINKER:--no-as-needed $<TARGET_FILE:palmette_name>)
  add_dependencies(${target} palmette_name)
endfunction()

# palmette_shared(): both libraries, the kernels for all levels. Programs link palmette_shared and
# palmette_kernels, and find the other levels at run time.
function(palmette_shared)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/palmette_name.cpp CONTENT "")
  add_library(palmette_name SHARED ${PROJECT_BINARY_DIR}/palmette_name.cpp)
  set_target_properties(palmette_name PROPERTIES OUTPUT_NAME palmette
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/palmette_name)
  palmette_kernels_for_level(palmette_kernels "")
  palmette_compiled_rooms(rooms)
  set(rest "")
  foreach(room ${rooms})
    list(APPEND rest $<FILTER:$<TARGET_OBJECTS:${room}>,EXCLUDE,${PALMETTE_LEVELED_OBJECTS}>)
  endforeach()
  palmette_shared_part(palmette_shared palmette lib ${rest})
  target_link_libraries(palmette_shared PUBLIC palmette_kernels INTERFACE Threads::Threads)
  target_include_directories(palmette_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(palmette_shared INTERFACE cxx_std_20)
  set_target_properties(palmette_shared PROPERTIES EXPORT_NAME palmette)
  foreach(level ${PALMETTE_LEVELS})
    palmette_kernels_for_level(palmette_kernels_${level} ${level})
    add_dependencies(palmette_shared palmette_kernels_${level})
  endforeach()
endfunction()

# palmette_use_shared(<target>): links a program with the shared library, if there is one. It must come before
# the rooms that the program names: these then have nothing to add.
function(palmette_use_shared target)
  if(PALMETTE_SHARED)
    target_link_libraries(${target} PRIVATE palmette_shared palmette_kernels)
    target_link_options(${target} PRIVATE LINKER:--as-needed)
  endif()
endfunction()

# palmette_install_shared(wheel|system <folder>): installs the libraries of all levels where the dynamic
# linker looks for them: below the folder of the first. A wheel holds no links.
function(palmette_install_shared kind folder)
  set(export "")
  set(options "")
  if(kind STREQUAL wheel)
    set(options COMPONENT python EXCLUDE_FROM_ALL NAMELINK_SKIP)
  else()
    set(export EXPORT palmette-targets)
  endif()
  install(TARGETS palmette_shared palmette_kernels ${export} LIBRARY DESTINATION ${folder} ${options})
  list(REMOVE_ITEM options NAMELINK_SKIP)
  foreach(level ${PALMETTE_LEVELS})
    install(TARGETS palmette_kernels_${level} LIBRARY DESTINATION ${folder}/glibc-hwcaps/${level} ${options}
            NAMELINK_SKIP)
  endforeach()
endfunction()
