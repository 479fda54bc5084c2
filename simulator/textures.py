"""Material textures, for still backgrounds: made of smoothed noise, the same on every machine."""

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from simulator.base import Size, generator
from simulator.drawing import Colour, Floats


def wood(size: Size, name: str, dark: Colour, light: Colour, *, upright: bool = False) -> Image.Image:
    """Planed wood with its grain along x, or along y when `upright`; `name` picks one of many boards."""
    width, height = (size[1], size[0]) if upright else size
    unit = min(size)  # the grain is as coarse, relative to the picture, at every size
    broad = _noise(f"{name}/broad", (height, width), (unit / 18, unit / 1.2))
    fibre = _noise(f"{name}/fibre", (height, width), (unit / 700, unit / 10))
    pores = _noise(f"{name}/pores", (height, width), (unit / 900, unit / 45))
    rings = 0.5 + 0.5 * np.sin(9 * broad + 0.9 * fibre)
    level = np.clip(0.45 + 0.28 * (rings - 0.5) + 0.10 * fibre + 0.05 * pores, 0, 1)
    return _blend(level.T if upright else level, dark, light)


def felt(size: Size, dark: Colour, light: Colour) -> Image.Image:
    """Cloth of a card table: fine noise, lit from above the middle."""
    width, height = size
    unit = min(size)
    nap = 0.6 * _noise("felt/fine", (height, width), (unit / 900, unit / 900))
    nap += 0.4 * _noise("felt/coarse", (height, width), (unit / 160, unit / 160))
    x = (np.arange(width) - width / 2) / height
    y = (np.arange(height)[:, None] - 0.42 * height) / height
    return _blend(np.clip(0.85 - 0.62 * (0.7 * x * x + y * y) + 0.05 * nap, 0, 1), dark, light)


def _noise(name: str, shape: tuple[int, int], smoothing: tuple[float, float]) -> Floats:
    """Gaussian noise with mean 0 and variance 1, shape (H, W), smooth over so many pixels down and across.

    It is drawn on a grid that is as coarse as the smoothing allows, so that the picture hardly depends on its size.
    """
    step = [max(1.0, s / 2) for s in smoothing]
    coarse = [int(np.ceil(n / s)) + 2 for n, s in zip(shape, step, strict=True)]
    grid = gaussian_filter(
        generator("texture", name).standard_normal(coarse), [s / t for s, t in zip(smoothing, step, strict=True)]
    )
    grid = (grid - grid.mean()) / grid.std()
    rows, columns = (np.arange(n) / s for n, s in zip(shape, step, strict=True))
    return np.asarray(map_coordinates(grid, np.meshgrid(rows, columns, indexing="ij"), order=1), dtype=np.float32)


def _blend(level: Floats, dark: Colour, light: Colour) -> Image.Image:
    low, high = np.asarray(dark, np.float32), np.asarray(light, np.float32)
    return Image.fromarray((low + (high - low) * level[..., None] + 0.5).astype(np.uint8))
