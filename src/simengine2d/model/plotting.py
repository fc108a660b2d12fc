"""The pictures of a model. The drawing itself is in `draw`, which is imported on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .model import Model


class ModelPictures:
    """Pictures of a model."""

    def draw(self, ax: Axes | None = None, *, labels: bool = True, centers: bool = False) -> Axes:
        """The mechanism in its assembled pose, on new axes or on `ax`; optionally with mass centers."""
        from ..draw.snapshot import draw_model

        return draw_model(self._model, ax, labels=labels, centers=centers)

    def _repr_html_(self) -> str:
        from ..draw.notebook import model_html

        return model_html(self._model)

    @property
    def _model(self) -> Model:
        return cast("Model", self)
