"""What the command lines of all scripts share: options, checks of their values, and how errors reach a person."""

import argparse
import functools
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from errors import UserError
from models import PUBLISHED
from paths import ANALYSIS, ROLLOUTS
from scenes import SCENES
from studies import STUDIES, Study

# Stands for every scene or model of a study.
ALL = "all"
# A key becomes part of file names, so it must not be able to leave its folder or look like an option.
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Parser(argparse.ArgumentParser):
    """argparse whose errors are UserErrors: one line, exit 2; options are never guessed from a prefix."""

    def __init__(self, doc: str | None, **kwargs: Any) -> None:
        super().__init__(
            description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **kwargs
        )

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see --help)")


def parser(doc: str | None, *, scenes: bool = True, models: bool = True) -> Parser:
    """Options of an analysis script: --analysis, and where they make sense --scene, --model and --models."""
    options = Parser(doc)
    options.add_argument(
        "--analysis",
        type=Path,
        default=ANALYSIS,
        metavar="DIR",
        help="folder of the outcome files; results go into its results/, tables/ and figures/",
    )
    if scenes:
        options.add_argument(
            "--scene",
            nargs="+",
            default=[],
            metavar="SCENE",
            help=f"only these scenes: print their rows, write nothing ({', '.join(SCENES)})",
        )
    if models:
        options.add_argument(
            "--model", nargs="+", default=[], metavar="MODEL", help="only these models: print their rows, write nothing"
        )
        options.add_argument(
            "--models",
            nargs="+",
            default=[],
            metavar="MODEL",
            help="evaluate these further models beside the published six; each needs its nine outcome files",
        )
    return options


def selected_scenes(args: argparse.Namespace) -> list[str]:
    """The scenes asked for, in display order; all of them when none was named."""
    for scene in args.scene:
        if scene not in SCENES:
            raise UserError(f"--scene {scene}: unknown scene; expected one of {', '.join(SCENES)}")
    return [scene for scene in SCENES if not args.scene or scene in args.scene]


def selected_models(args: argparse.Namespace) -> list[str]:
    """The models asked for: the published six and the further ones, or only those of --model."""
    for model in (*args.models, *args.model):
        check_model_key(model)
    every = list(dict.fromkeys((*PUBLISHED, *args.models, *args.model)))
    return [model for model in every if not args.model or model in args.model]


def is_selection(args: argparse.Namespace) -> bool:
    """Whether only a part was asked for, which is printed and never written over the whole."""
    return bool(getattr(args, "scene", None) or getattr(args, "model", None))


def add_cells(options: argparse.ArgumentParser) -> None:
    """Options of a script that makes or reads rollouts: --study, --scene and --rollouts."""
    options.add_argument("--study", default="main", metavar="STUDY", help=f"one of {', '.join(STUDIES)} (default main)")
    options.add_argument("--scene", nargs="+", default=[ALL], metavar="SCENE", help="scenes, or all (default)")
    options.add_argument("--rollouts", type=Path, default=ROLLOUTS, metavar="DIR", help="the videos (rollouts/)")


def study_and_scenes(args: argparse.Namespace) -> tuple[Study, list[str]]:
    """The study, and those of its scenes that were asked for, in display order."""
    if args.study not in STUDIES:
        raise UserError(f"--study {args.study}: unknown study; expected one of {', '.join(STUDIES)}")
    study = STUDIES[args.study]
    for name in args.scene:
        if name != ALL and name not in study.scenes:
            raise UserError(f"--scene {name}: not a scene of {study.key}; expected all or {', '.join(study.scenes)}")
    return study, [scene for scene in study.scenes if scene in args.scene or ALL in args.scene]


def count(args: argparse.Namespace, study: Study) -> int:
    """The rollouts a cell that --count asks for; all of the study where it was not given."""
    if args.count is not None and args.count > study.n:
        raise UserError(
            f"--count {args.count}: too many; expected at most {study.n}, the rollouts of a {study.key} cell"
        )
    return study.n if args.count is None else int(args.count)


def check_model_key(model: str) -> str:
    """The key itself, if it can stand in a file name. Raises UserError otherwise."""
    return check_key(model, "model")


def check_key(key: str, what: str) -> str:
    """The key itself, if it can stand in a file name; `what` says whose key it is. Raises UserError otherwise."""
    if not _KEY.fullmatch(key):
        raise UserError(f"{what} {key!r}: not a usable key; expected letters, digits, '_', '-' or '.', at most 64")
    return key


def whole(minimum: int) -> Callable[[str], int]:
    """Type of an option that takes an integer of at least `minimum`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < minimum:
            raise argparse.ArgumentTypeError(f"{text!r}; expected an integer of at least {minimum}")
        return int(text)

    return parse


class Main(Protocol):
    """A script's main: arguments (None: those of the process) -> exit code."""

    def __call__(self, argv: Sequence[str] | None = None) -> int: ...


def command(main: Callable[[Sequence[str] | None], int]) -> Main:
    """Let `main` raise UserError: its message goes to stderr in one line and the exit code is 2."""

    @functools.wraps(main)
    def run(argv: Sequence[str] | None = None) -> int:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Where the character set has no ρ, an escape is printed instead of a traceback.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            code = main(argv)
            # Here, not at exit, where a reader that has gone could no longer be caught.
            if sys.stdout is not None:
                sys.stdout.flush()
            return code
        except UserError as error:
            message = " ".join(str(error).split())
            print(f"{Path(main.__code__.co_filename).name}: {message}", file=sys.stderr)
            return 2
        except BrokenPipeError:
            # The reader of our output (head, less) has gone; what was to be written is written.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except OSError as error:
            # What no module foresaw: a full disk behind the output, a path that is too long.
            where = f"{str(error.filename)[:200]}: " if error.filename else ""
            print(f"{Path(main.__code__.co_filename).name}: {where}{error.strerror}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print(f"{Path(main.__code__.co_filename).name}: interrupted", file=sys.stderr)
            return 130

    return run
