# Installs the build into a new folder, moves it, rejects paths of the build in it, then builds and runs
# tests/package/user against it.
set(work ${BUILD_FOLDER}/tests/package/work)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed:\n${output}")
  endif()
  message(STATUS "${what}: ok")
endfunction()

run("Installing" ${CMAKE_COMMAND} --install ${BUILD_FOLDER} --prefix ${work}/first)
file(RENAME ${work}/first ${work}/moved)

file(GLOB_RECURSE files ${work}/moved/*.cmake)
if(NOT files)
  message(FATAL_ERROR "nothing of CMake was installed")
endif()
foreach(file ${files})
  file(READ ${file} text)
  foreach(folder ${BUILD_FOLDER} ${SOURCE_FOLDER} ${work})
    string(FIND "${text}" "${folder}" found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "${file} names the folder ${folder} of the build")
    endif()
  endforeach()
endforeach()

run("Configuring the user" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/user -B ${work}/build
    -DCMAKE_PREFIX_PATH=${work}/moved
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -DCMAKE_BUILD_TYPE=Release
    -DPALMETTE_WANTED=${VERSION})
run("Building the user" ${CMAKE_COMMAND} --build ${work}/build)
run("Running the user" ${work}/build/user)
