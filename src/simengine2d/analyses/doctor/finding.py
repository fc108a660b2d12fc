"""Findings: one thing that is wrong or suspicious, what it concerns, and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ...answer import Answer, Part, Rows
from ...errors import counted

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)


@dataclass(frozen=True, repr=False)
class Finding(Answer):
    """`elements` are names of bodies, joints, forces or parameters; `values` the numbers in the sentence."""

    severity: str
    kind: str
    elements: tuple[str, ...]
    text: str
    remedy: str = ""
    values: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.severity}: {self.text}", self.remedy) if part)


@dataclass(frozen=True, repr=False)
class Checkup(Answer):
    """What the doctor found, the most likely cause of trouble first."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is or looks wrong; notes do not count."""
        return all(finding.severity == NOTE for finding in self.findings)

    def of(self, kind: str) -> list[Finding]:
        """The findings of one kind, such as "dependent"."""
        return [finding for finding in self.findings if finding.kind == kind]

    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        findings = [asdict(finding) for finding in self.findings]
        return {"model": self.name, "healthy": self.healthy, "findings": findings}

    def json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.data(), indent=2)

    def __str__(self) -> str:
        counts = [
            counted(sum(f.severity == severity for f in self.findings), severity) for severity in SEVERITIES
        ]
        head = f"{self.name}: {'healthy' if self.healthy else 'in trouble'} ({', '.join(counts)})"
        return "\n".join([*map(str, self.findings), head])

    def _parts(self) -> Iterator[Part]:
        yield str(self).splitlines()[-1]
        if self.findings:
            rows = [[f.severity, ", ".join(f.elements), f.text, f.remedy] for f in self.findings]
            yield Rows(["", "where", "what", "what to do"], rows, 4)


def in_order(name: str, findings: Iterable[Finding]) -> Checkup:
    """Errors first; findings of equal severity keep their order."""
    return Checkup(name, tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))))
