"""tools/releases: which files are compiled with another version's headers, and how; a toolkit laid out from Debian's packages; what
is said where it cannot be done."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools" / "releases"))
import cuda12  # noqa: E402
import other_versions  # noqa: E402
import releases  # noqa: E402


class OtherVersions(unittest.TestCase):
    """A project of two libraries' versions: `rename` is `named` in the other one."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.write("installed/library/it.hpp", "struct It { int renamed; };")
        self.write("other/library/it.hpp", "struct It { int named; };")
        self.write("source/room/wrapper.h", "#pragma once\n#include <library/it.hpp>\n")
        self.write("source/room/next.h", '#pragma once\n#include "wrapper.h"\n#include "next.h"\n')
        self.write("source/direct.cpp", "#include <library/it.hpp>\nint main() { return It{1}.renamed; }")
        self.write("source/through.cpp", '#  include "room/next.h"\nauto of(It it) { return it.named; }')
        self.write("source/both.cpp", '#include "room/wrapper.h"\n'
                   "template <class T> int of(T it) { if constexpr (requires { it.named; }) return it.named; else return it.renamed; }\n"
                   "int main() { return of(It{1}); }")
        self.write("source/other.cpp", '// #include <library/it.hpp>\n#include <vector>\nint main() { return "not C++"; }')
        self.write("build/unity_0.cxx", f'#include "{self.folder}/source/both.cpp"\n')
        self.entries = []

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def entry(self, file):
        path = self.folder / file
        includes = f"-I{self.folder}/source -isystem {self.folder}/installed"
        self.entries.append({"directory": str(self.folder / "build"), "file": str(path),
                             "command": f"c++ {includes} -std=c++20 -Werror -Winvalid-pch -include none/cmake_pch.hxx "
                                        f"-o {path.stem}.o -c {path}"})

    def compile(self, *files):
        for file in files:
            self.entry(file)
        self.write("build/compile_commands.json", json.dumps(self.entries))
        other_versions.includes_of.cache_clear()
        count, refused = other_versions.compile_against(self.folder / "build", self.folder / "other")
        return count, {pathlib.Path(file).name: text for file, text in refused.items()}

    def test_a_file_that_needs_the_installed_version_is_refused_with_the_compilers_words(self):
        count, refused = self.compile("source/direct.cpp", "source/through.cpp")
        self.assertEqual(count, 2)
        self.assertEqual(list(refused), ["direct.cpp"])
        self.assertIn("renamed", refused["direct.cpp"])

    def test_files_that_include_no_header_of_the_packages_are_left_out(self):
        self.assertEqual(self.compile("source/both.cpp", "source/other.cpp"), (1, {}))

    def test_several_files_that_are_compiled_as_one_count_by_what_they_include(self):
        self.assertEqual(self.compile("build/unity_0.cxx"), (1, {}))

    def test_an_instantiation_of_a_template_is_compiled_too(self):
        self.write("source/late.cpp", '#include "room/wrapper.h"\ntemplate <class T> int of(T it) { return it.renamed; }\n'
                   "int main() { return of(It{1}); }")
        count, refused = self.compile("source/late.cpp")
        self.assertEqual((count, list(refused)), (1, ["late.cpp"]))

    def test_nothing_is_written(self):
        self.compile("source/through.cpp")
        self.assertFalse((self.folder / "build/through.o").exists())

    def test_a_folder_that_was_not_configured_is_named(self):
        ended = subprocess.run([sys.executable, str(SOURCE / "tools/releases/other_versions.py"), str(self.folder)],
                               stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("there is no compile_commands.json; run make configure first", ended.stderr)


class Roots(unittest.TestCase):
    def test_another_code_name_is_refused_with_those_there_are(self):
        ended = subprocess.run([sys.executable, str(SOURCE / "tools/releases/root_check.py"), "/nowhere", "sid"],
                               stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("sid: accepted: bookworm, trixie, jammy, noble", ended.stderr)

    @unittest.skipIf(shutil.which("apt-get") is None, "there is no apt")
    def test_a_download_without_a_source_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            nowhere = releases.Release("Nowhere", "nowhere", "Debian", "none.gpg", "main")
            with self.assertRaises(OSError) as raised:
                releases.download(nowhere, f"file://{folder}/none", ["none"], pathlib.Path(folder) / "nowhere")
            self.assertIn("nowhere", str(raised.exception))
            self.assertFalse((pathlib.Path(folder) / "nowhere").exists())


NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


class Cuda12(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "root"
        self.toolkit = pathlib.Path(scratch.name) / "toolkit"

    def unpack(self, toolkit):
        """Its parts where Debian's packages have them."""
        debian = {"usr/include": "include", "usr/lib/x86_64-linux-gnu": "lib64", "usr/lib/nvidia-cuda-toolkit/bin/crt": "bin/crt",
                  "usr/lib/nvidia-cuda-toolkit/bin/cicc": "nvvm/bin/cicc", "usr/lib/nvidia-cuda-toolkit/libdevice": "nvvm/libdevice",
                  "usr/lib/nvidia-cuda-toolkit/bin/nvcc": "bin/nvcc", **{f"usr/bin/{name}": f"bin/{name}" for name in cuda12.TOOLS}}
        for place, part in debian.items():
            path = self.root / place
            path.parent.mkdir(parents=True, exist_ok=True)
            if (toolkit / part).exists():
                path.symlink_to((toolkit / part).resolve())
            else:
                path.touch()  # wheels lack programs that no compilation calls

    @unittest.skipIf(NVCC is None, "no nvcc")
    def test_debians_parts_are_a_toolkit_that_compiles(self):
        self.unpack(pathlib.Path(NVCC).resolve().parents[1])
        for _ in range(2):  # where the folder is there already
            cuda12.lay_out(self.root, self.toolkit)
        source = self.toolkit / "program.cu"
        source.write_text("__global__ void sine(float* to) { *to = sinf(*to) / cosf(*to); }\n"
                          "int main() { int version = 0; return cudaRuntimeGetVersion(&version) != cudaSuccess || version < 12000; }\n",
                          encoding="utf-8")
        program = self.toolkit / "program"
        compiled = subprocess.run([str(self.toolkit / "bin/nvcc"), "-v", "-arch=sm_75", "-o", str(program), str(source)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(compiled.returncode, 0, compiled.stdout)
        if f"_HERE_={self.toolkit}/bin\n" not in compiled.stdout:
            self.skipTest("this nvcc is a script that calls the one of another folder")
        self.assertIn(f"TOP={self.toolkit}/bin/..\n", compiled.stdout)  # CMake takes the toolkit's folder from this
        self.assertEqual(subprocess.run([str(program)], check=False).returncode, 0)

    def test_a_package_that_lacks_a_part_is_an_error(self):
        self.unpack(pathlib.Path("/nowhere"))
        (self.root / "usr/lib/nvidia-cuda-toolkit/bin/cicc").unlink()
        with self.assertRaises(FileNotFoundError):
            cuda12.lay_out(self.root, self.toolkit)


if __name__ == "__main__":
    unittest.main()
