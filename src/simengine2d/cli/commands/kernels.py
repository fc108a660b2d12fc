"""Kernels: compile them ahead of the first use."""

from __future__ import annotations

from ..terminal import answer, say
from .app import command


@command()
def warmup() -> None:
    """Compile everything now, and say where it is stored."""
    from ...numerics import kernel

    seconds, folder = kernel.warmup(_use_every_kernel)
    where = f"the machine code is stored in {folder}" if folder else "without numba there is nothing to store"
    say(f"ready after {seconds:.1f} s; {where}")
    answer({"seconds": seconds, "folder": folder or None})


def _use_every_kernel() -> None:
    """Take a small four-bar linkage through every analysis and every kind of integrator, and others through some."""
    from ...analyses.assembly.assemble import assemble
    from ...analyses.assembly.diagnose import diagnose
    from ...analyses.dynamics.dynamics import dynamics as motion_under_forces
    from ...analyses.inverse.inverse_dynamics import inverse_dynamics as forces_of_motion
    from ...analyses.kinematics.kinematics import kinematics as driven_motion
    from ...analyses.statics.equilibrium import equilibrium
    from ...model import builders
    from ...model.forces.spring import Spring
    from ...model.joints.driver import Driver
    from ...model.joints.translational import Translational
    from ...model.model import Model
    from ...system.system import System

    driven = builders.four_bar(1, 2, 3, 3, speed=1)
    diagnose(assemble(driven))
    driven_motion(builders.four_bar(1, 2, 1, 2, crank_angle=0.1, speed=-2), t_end=0.1)  # over a change point
    pushed = builders.slider_crank(1, 2, crank_angle=1)
    pushed.add(Driver("push", "x(ground, slider)", f"{pushed.check().bodies['slider'].pose[0]!r} + 0.1*t"))
    driven_motion(pushed, t_end=0.1)
    forces_of_motion(driven, t_end=0.1)
    results = driven_motion(driven, t_end=0.1)
    results.measure("distance(crank.start, rocker.end) + direction(ground, coupler)")
    free = builders.four_bar(1, 2, 3, 3)
    motion_under_forces(free, t_end=0.1, integrator="newmark", step=0.05)
    results = motion_under_forces(free, t_end=0.1)
    results.summary()
    results.power_balance()
    results.reaction("B", on="crank")
    sliding = Model("slider on a rail")
    sliding.add(Translational("rail", sliding.ground, sliding.body("slider", mass=1, inertia=1)))
    motion_under_forces(sliding, t_end=0.1)
    motion_under_forces(builders.chain(2), t_end=0.1)
    repeated = System(builders.slider_crank(1, 2, crank_angle=1))
    for _ in range(2):
        motion_under_forces(repeated, t_end=0.1)
    motion_under_forces(builders.four_bar_ladder(1), t_end=1.0)  # through a singular pose
    free.add(Spring("stiff", "angle(ground, crank)", damping=1e4))
    motion_under_forces(free, t_end=0.1).power_balance()  # that of the spring
    equilibrium(free)
