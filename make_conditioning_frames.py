"""Figure 2: the conditioning frame of each scene, as our own rendering: frame 0 of every simulation, at 1280x720.

    python make_conditioning_frames.py [--frames DIR] [--force]

Writes  conditioning_frames/{stem}.png, nine files under the published stems
Free: needs no key and no network.

Whoever has the published frames puts them there under the same names, in place of ours. A frame that differs from our
rendering is never replaced without --force, and one with the same pixels is left as it is, to the byte; the protocol
digest of new records tells which frames they were made with.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

import cli
from constants import CONDITIONING_SIZE
from errors import UserError
from files import write_files
from paths import CONDITIONING_FRAMES
from protocol import frames_there
from scenes import SCENES
from simulator import first_frame
from video_io import Frame, encode_png


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.Parser(__doc__)
    options.add_argument(
        "--frames", type=Path, default=CONDITIONING_FRAMES, metavar="DIR", help="where to put them (%(default)s)"
    )
    options.add_argument("--force", action="store_true", help="replace frames that are not our renderings")
    args = options.parse_args(argv)
    made, replaced = {}, []
    for key, scene in SCENES.items():
        path, frame = args.frames / f"{scene.frame_stem}.png", first_frame(key, CONDITIONING_SIZE)
        there = frames_there(scene, args.frames)
        others = [found for found in there if found != path or not shows(found, frame)]
        if others and not args.force:
            raise UserError(
                f"{others[0]}: another frame is there; expected our own rendering, or --force to replace it"
            )
        if others or path not in there:
            made[path] = encode_png(frame)
        replaced += [found for found in others if found != path]
    write_files(made)
    # Of two pictures under one stem neither would be taken for the frame.
    for found in replaced:
        found.unlink()
    print(f"wrote {len(made)} frames to {args.frames}, {len(SCENES) - len(made)} were there")
    return 0


def shows(path: Path, frame: Frame) -> bool:
    """Whether a file is a picture with exactly these pixels, however it was compressed."""
    height, width = frame.shape[:2]
    try:
        with Image.open(path) as picture:
            return picture.size == (width, height) and np.array_equal(np.asarray(picture.convert("RGB")), frame)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        # What cannot be opened is nobody's frame, and not ours to replace unasked.
        return False


if __name__ == "__main__":
    sys.exit(main())
