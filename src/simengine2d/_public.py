"""Where each public name lives. Joints and forces are not listed: they register themselves."""

HOMES = {
    **dict.fromkeys(["Model"], ".model"),
    **dict.fromkeys(["Body", "Bar", "Disk", "Plate"], ".bodies"),
    **dict.fromkeys(["Frame"], ".frames"),
    **dict.fromkeys(["System"], ".system"),
    **dict.fromkeys(["Results"], ".results"),
    **dict.fromkeys(["Table"], ".functions"),
    **dict.fromkeys(["Element", "Joint", "Pair", "Force", "Row"], ".elements"),
    **dict.fromkeys(
        [
            "Measure",
            "x",
            "y",
            "angle",
            "along",
            "across",
            "misalignment",
            "distance",
            "half_distance2",
            "direction",
        ],
        ".measures",
    ),
    **dict.fromkeys(["load"], ".io"),
    **dict.fromkeys(["assemble", "Assembly"], ".analyses.assemble"),
    **dict.fromkeys(["diagnose", "Diagnosis"], ".analyses.diagnose"),
    **dict.fromkeys(["kinematics"], ".analyses.kinematics"),
    **dict.fromkeys(
        [
            "SimEngineError",
            "ModelError",
            "AssemblyError",
            "SingularityError",
            "ConvergenceError",
            "UnsupportedError",
            "Interrupted",
            "ModelWarning",
        ],
        ".errors",
    ),
    "builders": ".builders",
}
