"""Table 1: the generation settings of each model, from the same mappings that generation uses.

    python make_config_table.py [--models MINE] [--model wan]

Reads   models.py
Writes  analysis/results/config_table.json, analysis/tables/config_table.{md,tex}
Free: needs no key and no network.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cli
from models import Model, resolve
from outputs import Outputs
from tables import DASH, Column, Entry, Table, fixed

NOT_EXPOSED = "N/A"


@dataclass(frozen=True)
class Setting:
    """One setting in words, and whether it equals what the service does by itself."""

    text: str
    is_default: bool = False

    @property
    def printed(self) -> str:
        """The setting in plain text, where italics cannot be seen."""
        return f"{self.text} (default)" if self.is_default else self.text


def _seconds(value: Any) -> str:
    return f"{value} s"


def _prompt(value: Any) -> str:
    if value is None:
        return "unset"
    return "set" if value else '""'


# Column of the table -> parameter of the services, and its value in words.
PARAMETERS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "duration": ("duration", _seconds),
    "resolution": ("resolution", str),
    "prompt_expansion": ("enable_prompt_expansion", lambda on: "yes" if on else "no"),
    "negative_prompt": ("negative_prompt", _prompt),
    "audio": ("generate_audio", lambda on: "on" if on else "off"),
}
HEADERS = {
    "model_id": "Model ID",
    "duration": "Duration",
    "resolution": "Resolution",
    "prompt_expansion": "Prompt exp.",
    "negative_prompt": "Neg. prompt",
    "audio": "Audio",
}


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False).parse_args(argv)
    models = resolve(cli.selected_models(args))
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    grid = {model.key: settings(model) for model in models}
    outputs.results({"settings": {key: {column: s.printed for column, s in row.items()} for key, row in grid.items()}})
    outputs.table(table_1(grid, models))
    outputs.finish()
    return 0


def settings(model: Model) -> dict[str, Setting]:
    """Column -> setting. A model without an entry in models.py has none that are known."""
    if not model.inputs and not model.api_defaults:
        return dict.fromkeys(HEADERS, Setting(DASH))
    identity = f"{model.local_id} (local)" if model.local_id else model.replicate_id or DASH
    row = {"model_id": Setting(identity)}
    for column, (parameter, words) in PARAMETERS.items():
        row[column] = _setting(model, parameter, words)
    if "num_frames" in model.inputs:
        row["duration"] = Setting(_frames(model))
    return row


def _setting(model: Model, parameter: str, words: Callable[[Any], str]) -> Setting:
    if parameter in model.inputs:
        value = model.inputs[parameter]
        is_default = parameter in model.api_defaults and value == model.api_defaults[parameter]
        return Setting(words(value), is_default)
    if parameter in model.api_defaults:
        return Setting(words(model.api_defaults[parameter]), is_default=True)
    return Setting(NOT_EXPOSED)


def _frames(model: Model) -> str:
    """The clip length of a model that is asked for frames, with the sampler's settings, which it exposes as well."""
    inputs = model.inputs
    return (
        f"{fixed(model.duration_s or 0.0, 2)} s: {inputs['num_frames']} frames at {inputs['fps']} fps, "
        f"steps {inputs['num_inference_steps']}, guidance {inputs['guidance_scale']}"
    )


def table_1(grid: dict[str, dict[str, Setting]], models: Sequence[Model]) -> Table:
    """Models down, settings across; what the frames of a clip are is a note, so that the column stays narrow."""
    rows: list[Sequence[Entry | str]] = []
    notes: list[str] = []
    for model in models:
        entries = [Entry(setting.text, italic=setting.is_default) for setting in grid[model.key].values()]
        duration, colon, detail = grid[model.key]["duration"].text.partition(": ")
        if colon:
            entries[1] = Entry(f"{duration}†")
            notes.append(f"† {model.name}: {detail}.")
        rows.append([model.name, *entries])
    if any(setting.text == DASH for row in grid.values() for setting in row.values()):
        notes.append(f"{DASH} not known: the model has no settings in models.py.")
    return Table(
        "Generation settings. All models get the same frames, prompts and seeds; only these differ.",
        [Column("Model", "l"), *(Column(header, "l") for header in HEADERS.values())],
        rows,
        ["Italic: equal to the service's default, whether set or left unset. N/A: not exposed by the service.", *notes],
    )


if __name__ == "__main__":
    sys.exit(main())
