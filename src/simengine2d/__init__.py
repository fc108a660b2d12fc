"""simengine2d: planar mechanisms, from one model to their motion.

    import simengine2d as se

Public names are listed in `__init__.pyi` and loaded when first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import Any

from .errors import answers_misspellings

__version__ = "0.1.0"

# where the public names live; joints and forces are not listed: they register themselves
_NAMES = {
    ".model.model": "Model",
    ".model.body": "Body Bar Disk Plate",
    ".model.frame": "Frame",
    ".system.system": "System",
    ".results.results": "Results",
    ".expressions.table": "Table",
    ".model.elements": "Element Joint Pair ForceElement Row",
    ".model.measure": "Measure x y angle along across misalignment distance half_distance2 direction",
    ".model.curves.curve": "Curve",
    ".model.curves.cam_design": "cam_profile cam_motion CamProfile",
    ".io": "load",
    ".analyses.assembly.assemble": "assemble Assembly",
    ".analyses.assembly.diagnose": "diagnose Diagnosis",
    ".analyses.doctor.doctor": "doctor",
    ".analyses.doctor.finding": "Checkup Finding",
    ".analyses.kinematics.kinematics": "kinematics",
    ".analyses.assembly.assembly_modes": "assembly_modes AssemblyModes",
    ".analyses.dynamics.dynamics": "dynamics",
    ".analyses.dynamics.simulator": "Simulator",
    ".analyses.inverse.inverse_dynamics": "inverse_dynamics",
    ".analyses.assembly.redrawn": "with_initial_pose",
    ".analyses.inverse.feed_forward": "feed_forward",
    ".analyses.statics.equilibrium": "equilibrium Equilibria",
    ".analyses.statics.equilibrium_path": "equilibrium_path EquilibriumPath",
    ".analyses.statics.preload": "preload Preload",
    ".analyses.linear.linearize": "linearize Linearization",
    ".analyses.linear.modes": "modes Modes",
    ".analyses.linear.floquet": "floquet Floquet",
    ".results.events": "Event",
    ".integrators.newmark": "Newmark",
    ".integrators.hht": "HHT",
    ".integrators.generalized_alpha": "GeneralizedAlpha",
    ".integrators.dop853": "DOP853",
    ".integrators.rk4": "RK4",
    ".integrators.tsitouras5": "Tsitouras5",
    ".integrators.forward_euler": "ForwardEuler",
    ".integrators.heun": "Heun",
    ".integrators.bogacki_shampine": "BogackiShampine",
    ".integrators.dormand_prince": "DormandPrince",
    ".integrators.adams_bashforth": "AdamsBashforth",
    ".integrators.adams_bashforth_moulton": "AdamsBashforthMoulton",
    ".integrators.adams_variable": "AdamsVariable",
    ".integrators.backward_euler": "BackwardEuler",
    ".integrators.trapezoidal": "Trapezoidal",
    ".integrators.trapezoidal_adaptive": "TrapezoidalAdaptive",
    ".integrators.implicit_midpoint": "ImplicitMidpoint",
    ".integrators.radau_iia": "RadauIIA",
    ".integrators.radau_adaptive": "RadauAdaptive",
    ".integrators.bdf": "BDF",
    ".integrators.bdf_variable": "BDFVariable",
    ".integrators.tr_bdf2": "TRBDF2",
    ".integrators.rosenbrock": "Rosenbrock",
    ".formulations.augmented": "Augmented",
    ".formulations.augmented_lagrangian": "AugmentedLagrangian",
    ".formulations.ggl": "GGL",
    ".formulations.index3": "Index3",
    ".formulations.projection": "Projection",
    ".formulations.penalty": "Penalty",
    ".formulations.matrix_r": "MatrixR",
    ".formulations.partitioning": "Partitioning",
    ".analyses.formulate": "formulate FormulatedModel",
    ".errors": (
        "SimEngineError ModelError AssemblyError SingularityError ConvergenceError "
        "UnsupportedError OptionError Interrupted ModelWarning"
    ),
    ".draw.html": "html",
    ".draw.widget": "player",
}
MODULES = {
    "builders": ".model.builders",
    "ivp": ".integrators.ivp",
    "lab": ".lab",
    "symbolic": ".symbolic",
}
HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        value = importlib.import_module(MODULES[name], __name__)
    elif name in HOMES:
        value = getattr(importlib.import_module(HOMES[name], __name__), name)
        if not (isinstance(value, type) and issubclass(value, Exception)):
            value = answers_misspellings(value)
    else:
        value = _element(name)
    globals()[name] = value  # the next access does not come here
    return value


def _element(name: str) -> Any:
    """A joint or a force; an error says what was perhaps meant."""
    if name.startswith("_"):
        raise AttributeError(f"module 'simengine2d' has no attribute '{name}'")
    from .model.registry import advice_for, element_class, element_names

    cls = element_class(name) if name[:1].isupper() else None
    if cls is None:
        known = (*HOMES, *MODULES, *element_names())
        raise AttributeError(f"module 'simengine2d' has no attribute '{name}'. {advice_for(name, known)}")
    return cls


def __dir__() -> list[str]:
    from .model.registry import element_names

    return sorted([*HOMES, *MODULES, *element_names(), "__version__"])
