"""A model's live input schema against what we are about to send it."""

from collections.abc import Mapping, Sequence
from typing import Any

from credentials import one_line
from errors import UserError


def input_schema(model: Mapping[str, Any]) -> Mapping[str, Any]:
    """The OpenAPI component schemas in the answer to a request for a model; empty when it publishes none."""
    schemas: Any = model
    for name in ("latest_version", "openapi_schema", "components", "schemas"):
        schemas = schemas.get(name) if isinstance(schemas, Mapping) else None
    match schemas:
        case {"Input": {"properties": {**properties}}} if properties and all(
            isinstance(part, Mapping) for part in (*schemas.values(), *properties.values())
        ):
            return dict(schemas)
    return {}


def check_inputs(key: str, replicate_id: str, inputs: Mapping[str, object], schemas: Mapping[str, Any]) -> None:
    """Check names, required inputs and closed choices. Raises UserError naming the model and the input."""
    properties = schemas["Input"]["properties"]
    where = f"model {key} ({replicate_id})"
    for name in inputs:
        if name not in properties:
            raise UserError(f"{where}: takes no input {name}; expected one of {_listed(sorted(properties))}")
    missing = [name for name in schemas["Input"].get("required", []) if name not in inputs]
    if missing:
        raise UserError(f"{where}: needs the input {_listed(missing)}; expected it in the model's entry in models.py")
    for name, value in inputs.items():
        choices = _choices(properties[name], schemas)
        if choices and value not in choices:
            raise UserError(f"{where}: {name} is {value!r}; expected one of {_listed(choices)}")


def _listed(values: Sequence[Any]) -> str:
    return one_line(", ".join(map(str, values)), limit=1000)


def _choices(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[Any]:
    """The closed choices of one input: its own `enum`, or the one that it refers to, as Replicate writes it."""
    for part in (schema, *schema.get("allOf", [])):
        reference = str(part.get("$ref", ""))
        enum = part.get("enum") or schemas.get(reference.rpartition("/")[2], {}).get("enum")
        if enum:
            return list(enum)
    return []
