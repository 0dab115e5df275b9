# The library as one shared library, for a wheel and a Debian package: built for x86-64, and again for its
# levels v3 (AVX2) and v4 (AVX-512), which lie in glibc-hwcaps/<level> beside it. The dynamic linker (glibc
# 2.33 or later) takes the highest level that the processor has; an older one takes the first. Files whose
# time is in their arithmetic are compiled for each level, the others once. Every file whose types or
# constants depend on the width of a register (palmette/blocks/lanes.hpp) must be among them. A build for the
# processor of this machine (PALMETTE_NATIVE) has no other levels.
set(PALMETTE_LEVELED_FILES
    "blocks/|columns/|machine/bandwidth|matrix/multiply"
    "factorize/(assemble|factorize|finish|gather|program|rank_work|update_run)[.]"
    "refine/(condition|krylov|one_norm|refine|residual|verify)[.]"
    "solve/(device_row|lower_tri|plan_factor|row_|selected_inv|supernodal|triangle)"
    "solve/(layered_program|rank_program)[.]")
list(JOIN PALMETTE_LEVELED_FILES "|" PALMETTE_LEVELED_FILES)
set(PALMETTE_LEVELED_FILES "/palmette/(${PALMETTE_LEVELED_FILES})")
set(levels "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT PALMETTE_NATIVE)
  set(levels x86-64-v3 x86-64-v4)
endif()
set(PALMETTE_LEVELS "${levels}" CACHE STRING "Levels of x86-64 for which the shared library is built again")

# palmette_leveled_objects(<variable> <target> <level>): sets the variable to the objects of those files of a
# room that are compiled for each level.
function(palmette_leveled_objects variable room level)
  set(${variable} "" PARENT_SCOPE)
  get_target_property(sources ${room} SOURCES)
  list(FILTER sources INCLUDE REGEX ${PALMETTE_LEVELED_FILES})
  if(NOT level OR NOT sources)
    return()
  endif()
  get_target_property(links ${room} LINK_LIBRARIES)
  get_target_property(definitions ${room} COMPILE_DEFINITIONS)
  add_library(${room}_${level} OBJECT ${sources})
  target_link_libraries(${room}_${level} PRIVATE ${links})
  target_include_directories(${room}_${level} PRIVATE ${PROJECT_SOURCE_DIR})
  if(definitions)
    target_compile_definitions(${room}_${level} PRIVATE ${definitions})
  endif()
  target_compile_options(${room}_${level} PRIVATE -march=${level})
  set_target_properties(${room}_${level} PROPERTIES PALMETTE_LEVEL ${level})
  set(${variable} $<TARGET_OBJECTS:${room}_${level}> PARENT_SCOPE)
endfunction()

# palmette_shared_for_level(<target> <level>): the library for one level of the processor; without one, for
# all processors. Objects of the level come first: where several hold the same inline function, the linker
# takes the first.
function(palmette_shared_for_level target level)
  get_property(rooms GLOBAL PROPERTY PALMETTE_ROOMS)
  list(REMOVE_ITEM rooms palmette palmette_mpi palmette_capi_mpi)
  set(leveled "")
  set(common "")
  set(outside "")
  foreach(room ${rooms})
    palmette_leveled_objects(objects ${room} "${level}")
    list(APPEND leveled ${objects})
    if(objects)
      list(APPEND common $<FILTER:$<TARGET_OBJECTS:${room}>,EXCLUDE,${PALMETTE_LEVELED_FILES}>)
    else()
      list(APPEND common $<TARGET_OBJECTS:${room}>)
    endif()
    get_target_property(links ${room} LINK_LIBRARIES)
    list(APPEND outside ${links})
  endforeach()
  list(FILTER outside INCLUDE REGEX "^[A-Za-z]+::")
  list(REMOVE_DUPLICATES outside)
  add_library(${target} SHARED ${leveled} ${common})
  # The hooks of the kernels' emulator have the thread sanitizer's names: no other program may see them.
  set(script ${PROJECT_SOURCE_DIR}/cmake/palmette.map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${script} LINKER:-Bsymbolic-functions
                      LINKER:--as-needed)
  target_link_libraries(${target} PRIVATE ${outside} ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME palmette LINK_DEPENDS ${script}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "${PALMETTE_BLAS_FOLDER}"
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/$<$<BOOL:${level}>:glibc-hwcaps/${level}>)
endfunction()

# palmette_shared(): the libraries of all levels. The first is the target palmette_shared; users of it find
# the others at run time.
function(palmette_shared)
  palmette_shared_for_level(palmette_shared "")
  target_include_directories(palmette_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(palmette_shared INTERFACE cxx_std_20)
  target_link_libraries(palmette_shared INTERFACE Threads::Threads)
  set_target_properties(palmette_shared PROPERTIES EXPORT_NAME palmette)
  foreach(level ${PALMETTE_LEVELS})
    palmette_shared_for_level(palmette_shared_${level} ${level})
    add_dependencies(palmette_shared palmette_shared_${level})
  endforeach()
endfunction()

# palmette_use_shared(<target>): links a program with the shared library, if there is one. It must come before
# the rooms that the program names: these then have nothing to add.
function(palmette_use_shared target)
  if(PALMETTE_SHARED)
    target_link_libraries(${target} PRIVATE palmette_shared)
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
  install(TARGETS palmette_shared ${export} LIBRARY DESTINATION ${folder} ${options})
  list(REMOVE_ITEM options NAMELINK_SKIP)
  foreach(level ${PALMETTE_LEVELS})
    install(TARGETS palmette_shared_${level} LIBRARY DESTINATION ${folder}/glibc-hwcaps/${level} ${options}
            NAMELINK_SKIP)
  endforeach()
endfunction()
