"""Figure 2: the conditioning frame of each scene, as our own rendering: frame 0 of every simulation, at 1280x720.

    python make_conditioning_frames.py [--frames DIR] [--force]

Writes  conditioning_frames/{stem}.png, nine files under the published stems
Free: needs no key and no network.

Whoever has the published frames puts them there under the same names. A frame that differs from our rendering is never
overwritten without --force; the protocol digest of new records tells which frames they were made with.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import cli
from constants import CONDITIONING_SIZE
from errors import UserError
from files import write_files
from paths import CONDITIONING_FRAMES
from scenes import SCENES
from simulator import first_frame
from video_io import encode_png


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.Parser(__doc__)
    options.add_argument(
        "--frames", type=Path, default=CONDITIONING_FRAMES, metavar="DIR", help="where to put them (%(default)s)"
    )
    options.add_argument("--force", action="store_true", help="replace frames that are not our renderings")
    args = options.parse_args(argv)
    frames = {
        args.frames / f"{scene.frame_stem}.png": encode_png(first_frame(key, CONDITIONING_SIZE))
        for key, scene in SCENES.items()
    }
    for path, data in frames.items():
        if path.exists() and path.read_bytes() != data and not args.force:
            raise UserError(f"{path}: another frame is there; expected our own rendering, or --force to replace it")
    write_files(frames)
    print(f"wrote {len(frames)} frames to {args.frames}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
