"""samples/histeq.ipynb runs from top to bottom."""

import pathlib
import unittest

try:
    import nbclient
    import nbformat
except ImportError:
    nbclient = None

NOTEBOOK = pathlib.Path(__file__).parents[3] / "samples" / "histeq.ipynb"


class Notebook(unittest.TestCase):
    @unittest.skipIf(nbclient is None, "SKIPPED notebook: nbclient is not installed")
    def test_it_runs_and_shows_pictures(self):
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.assertFalse(any(cell.outputs for cell in code), "results are not kept in the repository")
        client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}})
        client.execute()
        pictures = [output for cell in code for output in cell.outputs if "image/png" in output.get("data", {})]
        self.assertGreaterEqual(len(pictures), 3)
        self.assertFalse([output for cell in code for output in cell.outputs if output.output_type == "error"])


if __name__ == "__main__":
    unittest.main()
