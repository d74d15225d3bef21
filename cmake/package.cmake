# What `find_package(superstep)` finds: Superstep::superstep, all layers but that of the command, with their public headers.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/superstep)
set(configs_dir ${CMAKE_INSTALL_DATADIR}/superstep/configs)

add_library(superstep_library INTERFACE)
target_link_libraries(superstep_library INTERFACE superstep_compiler superstep_sim)
target_compile_features(superstep_library INTERFACE cxx_std_20)
set_target_properties(superstep_library PROPERTIES EXPORT_NAME superstep)
install(TARGETS superstep_library EXPORT superstep)
foreach(layer base isa toolchain sim compiler)
  set_target_properties(superstep_${layer} PROPERTIES EXPORT_NAME ${layer})
  install(TARGETS superstep_${layer} EXPORT superstep FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/superstep)
endforeach()
install(EXPORT superstep NAMESPACE Superstep:: FILE superstep-targets.cmake DESTINATION ${package_dir})

install(DIRECTORY configs/ DESTINATION ${configs_dir})
configure_package_config_file(cmake/superstep-config.cmake.in ${CMAKE_BINARY_DIR}/generated/superstep-config.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS configs_dir)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/superstep-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/superstep-config.cmake ${CMAKE_BINARY_DIR}/generated/superstep-config-version.cmake
        DESTINATION ${package_dir})
