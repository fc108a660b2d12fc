"""Files of the ME451 course: a model (.adm) and an analysis (.acf), run by the course's method, kept as YAML.

python examples/03_course_files.py                       runs the pendulum beside this file
python examples/03_course_files.py MODEL.adm RUN.acf     runs yours

`simengine2d run MODEL.adm RUN.acf` does the same from the command line.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import simengine2d as se
from simengine2d.io import load_analysis

HERE = Path(__file__).parent
files = sys.argv[1:3] if len(sys.argv) > 2 else [HERE / "pendulum.adm", HERE / "pendulum.acf"]
model, analysis = se.load(files[0]), load_analysis(files[1])
print(f"{model.name}: {analysis}")

# the course's method is Newmark's on the index-3 equations; outputs are equally spaced
times = np.linspace(0, analysis["t_end"], analysis["output_steps"] + 1)
course = se.dynamics(
    model, t_eval=times, step=analysis["step"], integrator=se.Newmark(beta=0.3025, gamma=0.6)
)
print(course.summary())

# without an integrator the error is controlled, which tells how far the fixed steps are off
exact = se.dynamics(model, t_eval=times, rtol=1e-10)
print(f"largest difference from the exact motion: {np.abs(course.q - exact.q).max():.1e}")

# the same model in our own format, with names instead of numbers
with tempfile.TemporaryDirectory() as folder:
    print(model.save(Path(folder) / "model.yaml").read_text(encoding="utf-8"))
