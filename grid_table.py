"""The paper's commonest table: scenes down, models across."""

from collections.abc import Callable, Sequence

from models import Model
from scenes import SCENES, Scene
from tables import Column, Entry, Group, Table


def grid_table(
    caption: str,
    scenes: Sequence[str],
    models: Sequence[Model],
    entries: Callable[[Scene, Model], Sequence[Entry | str]],
    *,
    quantities: Sequence[str] = ("",),
    footer: Sequence[Sequence[Entry | str]] = (),
    notes: Sequence[str] = (),
) -> Table:
    """A table with a row a scene, grouped by family, and len(quantities) columns a model.

    entries(scene, model) gives one entry for each quantity; footer rows stand below a heading of their own.
    """
    columns = [Column("Scene", "l")]
    for model in models:
        if len(quantities) == 1:
            columns.append(Column(model.label))
        else:
            columns += [Column(quantity, group=model.label) for quantity in quantities]
    rows: list[Sequence[Entry | str] | Group] = []
    family = None
    for key in scenes:
        scene = SCENES[key]
        if scene.family != family:
            family = scene.family
            rows.append(Group(family))
        rows.append([scene.title, *(entry for model in models for entry in entries(scene, model))])
    if footer:
        rows += [Group("All nine scenes"), *footer]
    return Table(caption, columns, rows, notes)
