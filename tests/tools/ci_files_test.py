"""The files for CI systems: valid for the systems that read them, and the steps of gate.sh with a program that answers at once."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

try:
    import jsonschema
    import ruamel.yaml
except ImportError:
    jsonschema = None

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILES = SOURCE / "docs" / "ci"
WORKFLOW, ACTION, COMPONENT = "docs/ci/github-workflow.yml", "docs/ci/action/action.yml", "templates/gate.yml"
SCHEMAS = {WORKFLOW: "github-workflow.json", ACTION: "github-action.json", COMPONENT: "gitlab-ci.json"}


def schema_errors(name, text):
    """Of a file, against its system's schema. A component has two documents: its inputs, and the jobs."""
    schema = json.loads((SOURCE / "tests" / "tools" / "schemas" / SCHEMAS[name]).read_text())
    documents = ruamel.yaml.YAML(typ="safe", pure=True).load_all(text)
    return [error.message for document in documents for error in jsonschema.Draft7Validator(schema).iter_errors(document)]


# Writes its words to calls.txt; "compare" ends with $CODE, with $REFUSED in place of an answer; a sweep writes a file where it is told to.
PROGRAM = """#!/bin/sh
echo "$@" >> calls.txt
if [ "$1" = compare ]; then
  if [ -n "${REFUSED:-}" ]; then echo "$REFUSED" >&2
  else case " $* " in *" --format "*) echo "<text/>" ;; esac
  fi
  exit "${CODE:-0}"
fi
while [ "$1" != --out ]; do shift; done
mkdir -p "$2" && echo '{}' > "$2/batch.json"
"""


class CiFiles(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        program = self.folder / "bench"
        program.write_text(PROGRAM)
        program.chmod(0o755)

    def gate(self, *words, **variables):
        environment = {"PATH": os.environ["PATH"], "BENCH": str(self.folder / "bench"), **variables}
        return subprocess.run([FILES / "gate.sh", *words], cwd=self.folder, env=environment, text=True,
                              capture_output=True, check=False)

    def calls(self):
        return (self.folder / "calls.txt").read_text().splitlines()

    def test_five_runs_have_a_folder_each(self):
        self.assertEqual(self.gate("measure", "base").returncode, 0)
        self.assertEqual(len(list((self.folder / "base").glob("run-*/batch.json"))), 5)
        self.assertTrue(all("--time-budget 20s" in call for call in self.calls()))

    def test_runs_of_two_builds_are_not_mixed_in_a_folder(self):
        self.gate("measure", "base", RUNS="1")
        ended = self.gate("measure", "base", RUNS="1")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("base has runs already", ended.stderr)
        self.assertEqual(len(self.calls()), 1)

    def test_the_smoke_sweep_ends_within_two_minutes(self):
        seconds = re.search(r"--time-budget (\d+)s", (FILES / "gate.sh").read_text())
        runs = re.search(r"RUNS:-(\d+)", (FILES / "gate.sh").read_text())
        self.assertLess(int(seconds[1]) * int(runs[1]), 120)

    def test_the_comparison_decides_and_leaves_its_files(self):
        for folder in ("base", "new"):
            self.gate("measure", folder, RUNS="2")
        for code in (0, 1, 3, 4):
            ended = self.gate("compare", "base", "new", CODE=str(code), OPTIONS="--threshold 5%")
            self.assertEqual(ended.returncode, code, ended.stderr)
        for name in ("comment.md", "junit.xml"):
            self.assertTrue((self.folder / "new" / name).exists())
        self.assertEqual(self.calls()[-1], "compare --threshold 5% base/run-1/batch.json base/run-2/batch.json -- "
                                           "new/run-1/batch.json new/run-2/batch.json")

    def test_a_folder_without_runs_is_named(self):
        self.gate("measure", "base", RUNS="1")
        ended = self.gate("compare", "base", "new")
        self.assertEqual(ended.returncode, 4)
        self.assertIn("new holds no runs; measure first", ended.stdout + ended.stderr)

    def test_the_comment_says_why_nothing_was_compared(self):
        for folder in ("base", "new"):
            self.gate("measure", folder, RUNS="1")
        ended = self.gate("compare", "base", "new", CODE="4", REFUSED="bench: 'x' failed: <b>bad</b>")
        self.assertEqual(ended.returncode, 4)
        self.assertEqual((self.folder / "new" / "comment.md").read_text(),
                         "### bench compare: nothing compared\n\n    bench: 'x' failed: <b>bad</b>\n")
        self.assertNotIn("refused.txt", os.listdir(self.folder / "new"))

    def test_ab_leaves_a_comment_where_it_compared_nothing(self):
        program = self.folder / "refuses"
        program.write_text("#!/bin/sh\necho 'bench: refused' >&2\nexit 4\n")
        program.chmod(0o755)
        ended = self.gate("ab", "base/bench", "runs", BENCH=str(program))
        self.assertEqual(ended.returncode, 4)
        self.assertIn("nothing compared", (self.folder / "runs" / "comment.md").read_text())
        self.assertIn("bench: refused", ended.stderr)

    def test_annotations_are_written_in_github_only(self):
        self.gate("measure", "base", RUNS="1")
        self.gate("measure", "new", RUNS="1")
        self.gate("compare", "base", "new")
        self.assertFalse(any("--format github" in call for call in self.calls()))
        self.gate("compare", "base", "new", GITHUB_ACTIONS="true")
        self.assertTrue(any("--format github" in call for call in self.calls()))

    def test_clocks_that_cannot_be_locked_are_said(self):
        tools = self.folder / "tools"
        tools.mkdir()
        smi = tools / "nvidia-smi"
        smi.write_text("#!/bin/sh\nexit 4\n")
        smi.chmod(0o755)
        ended = self.gate("lock", PATH=f"{tools}:{os.environ['PATH']}")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("clocks: not locked", ended.stdout)

    def test_an_unknown_step_shows_the_steps(self):
        ended = self.gate("weigh")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("gate.sh measure DIR", ended.stderr)

    def test_the_program_next_to_an_installed_gate_is_taken(self):
        gate = self.folder / "bench-gate"
        gate.write_text((FILES / "gate.sh").read_text())
        gate.chmod(0o755)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        subprocess.run([gate, "measure", "base"], cwd=elsewhere, env={"PATH": os.environ["PATH"], "RUNS": "1"}, check=True)
        self.assertTrue((elsewhere / "base" / "run-1" / "batch.json").exists())

    def test_steps_in_the_files_exist(self):
        steps = re.search(r"^  ([a-z |]+)\) \"\$@\"", (FILES / "gate.sh").read_text(), re.M)[1].split(" | ")
        for name in (ACTION, COMPONENT):
            used = re.findall(r"(?:gate\.sh\"|\[\[ inputs\.gate \]\]) (\w+)", (SOURCE / name).read_text())
            self.assertEqual(set(used), set(steps) - {"ab"}, name)

    def test_inputs_in_the_files_are_declared(self):
        for name, used in ((ACTION, r"\$\{\{[^}]*?inputs\.(\w+)"), (COMPONENT, r"\$\[\[ inputs\.(\w+)")):
            text = (SOURCE / name).read_text()
            declared = re.findall(r"^ {2,4}(\w+):\n +description:", text, re.MULTILINE)
            self.assertEqual(set(re.findall(used, text)), set(declared), name)

    @unittest.skipIf(jsonschema is None, "needs python3-jsonschema and python3-ruamel.yaml")
    def test_files_follow_their_systems_schemas(self):
        for name in SCHEMAS:
            self.assertEqual(schema_errors(name, (SOURCE / name).read_text()), [], name)

    @unittest.skipIf(jsonschema is None, "needs python3-jsonschema and python3-ruamel.yaml")
    def test_what_the_schemas_forbid_is_found(self):
        for name, line, wrong in ((WORKFLOW, "    runs-on: [self-hosted, gpu]\n", ""),
                                  (WORKFLOW, "cancel-in-progress: false", "cancel: false"),
                                  (ACTION, "  using: composite\n", ""),
                                  (ACTION, "      shell: bash\n", ""),
                                  (COMPONENT, "expire_in: 90 days", "expire_in: [90]"),
                                  (COMPONENT, "exit_codes: [3]", "exit_codes: three")):
            text = (SOURCE / name).read_text()
            self.assertIn(line, text)
            self.assertNotEqual(schema_errors(name, text.replace(line, wrong)), [], f"{name}: {line}")


if __name__ == "__main__":
    unittest.main()
