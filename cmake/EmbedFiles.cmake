# Writes OUTPUT, which holds the text of FILES, paths below SOURCE separated by commas: see bench/result/embedded_files.h.
cmake_minimum_required(VERSION 3.22)
string(REPLACE "," ";" files "${FILES}")
file(WRITE "${OUTPUT}.new" "#include \"bench/result/embedded_files.h\"\n\nnamespace bench {\nnamespace {\n\n"
                           "constexpr EmbeddedFile kFiles[] = {\n")
foreach(name IN LISTS files)
  file(READ "${SOURCE}/${name}" text)
  file(APPEND "${OUTPUT}.new" "    {\"${name}\", R\"embedded_file(" "${text}" ")embedded_file\"},\n")
endforeach()
file(APPEND "${OUTPUT}.new" "};\n\n}  // namespace\n\nstd::span<const EmbeddedFile> embedded_files() {\n  return kFiles;\n}\n\n"
                            "}  // namespace bench\n")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
