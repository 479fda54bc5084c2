"""From an entry in models.py to a row in the report: the driver and a new model, both services on loopback, no other
network. Every prediction and every vote is paid for once."""

import contextlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from common import STAGES, write_model
from models import MODELS, PUBLISHED
from paths import ANALYSIS
from providers.history import History
from scenes import SCENES
from stats_utils import cell_score, mntv
from studies import STUDIES
from tables import fixed
from tests.services.base import LOOPBACK
from tests.services.clips import moving_clip, unique_clip
from tests.services.gemini_server import KEY, GeminiService
from tests.services.reading_room import ReadingRoom
from tests.services.replicate_server import TOKEN, Outcome, ReplicateService, input_schema
from tests.services.studio import studio

Result = subprocess.CompletedProcess[str]
Git = Callable[..., Result]

# The model that models.py gives as its example.
NEW, NAME, REPLICATE_ID = "mymodel", "My Model 1.0", "owner/my-model"
N = STUDIES["main"].n
PAID = ("generate_rollouts", "extract_bin")
# What makes the same with any further model: its committed results serve.
ELSEWHERE = [
    stage.name
    for stage in STAGES
    if not {"models", "study"} & stage.options and stage.name not in ("compare_with_paper", "report")
]
# What says no more in a second run.
LONG = ["analyze_rollouts", "scatter_grid", "mntv_ci", "chi2", "sequential", "mcar_sensitivity"]
BOTH_KEYS = {"REPLICATE_API_TOKEN": TOKEN, "GEMINI_API_KEY": KEY}
JUDGE_KEY = {"GEMINI_API_KEY": KEY}


def without(stages: Iterable[str]) -> list[str]:
    """Arguments of the driver that leave these stages out."""
    return [word for stage in stages for word in ("--skip", stage)]


def delivered(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
    """A small clip, different for every scene and seed, also in its last frame from seed to seed."""
    return Outcome(video=unique_clip(moving_clip(64 + 2 * inputs["seed"]), inputs["prompt"]))


@dataclass(frozen=True)
class Project:
    """A fresh clone of the project, and the services that its driver finds when it has their keys."""

    folder: Path
    replicate: ReplicateService
    room: ReadingRoom
    keyless: Mapping[str, str]

    def run(self, *arguments: str, keys: Mapping[str, str]) -> Result:
        """Run the driver. What it asks of anybody but these two services goes to a port where nobody listens."""
        services = {"REPLICATE_BASE_URL": self.replicate.url, "GOOGLE_GEMINI_BASE_URL": self.room.service.url}
        nobody = f"http://{LOOPBACK}:9"
        network = {"HTTP_PROXY": nobody, "HTTPS_PROXY": nobody, "NO_PROXY": LOOPBACK, "REPLICATE_POLL_INTERVAL": "0.05"}
        return subprocess.run(
            [self.folder / "run_pipeline.sh", *arguments],
            env={**self.keyless, **services, **network, **keys},
            capture_output=True,
            text=True,
        )

    def paid(self) -> tuple[int, int]:
        """Predictions and votes so far."""
        return len(self.replicate.predictions), len(self.room.service.queries)

    def asked(self) -> tuple[int, int]:
        """Requests so far to either service, also those that cost nothing."""
        return len(self.replicate.requests), len(self.room.service.requests)

    def results(self, stem: str) -> Any:
        return json.loads((self.folder / "analysis" / "results" / f"{stem}.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def project(folder: Path, clone: Path, keyless: Mapping[str, str], git: Git) -> Iterator[Project]:
    git(folder, "clone", "--quiet", str(clone), "project")
    place = folder / "project"
    schemas = {REPLICATE_ID: input_schema("image", "duration", "resolution")}
    with ReplicateService(delivered, schemas=schemas) as replicate, GeminiService() as judge:
        yield Project(place, replicate, ReadingRoom(judge, place / "rollouts", place / "analysis"), keyless)


def add_entry(models: Path) -> None:
    """Add a model as a user does: the example at the marked place, no longer a comment."""
    before, mark, after = models.read_text(encoding="utf-8").partition("    # ---- add your model here")
    example, end, rest = after.partition("\n)\n")
    assert mark and end
    models.write_text(before + mark + re.sub(r"(?m)^    # ", "    ", example) + end + rest, encoding="utf-8")


def without_waiting(generate: Path) -> None:
    """Let the clone create as fast as loopback answers: there is no option for it, and no limit to keep to."""
    text, found = re.subn(r"(?m)^RATE = \d+$", "RATE = 60_000", generate.read_text(encoding="utf-8"))
    assert found == 1
    generate.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Evaluated:
    """The project after two runs of the driver for the new model.

    made: the files that the first changed. paid: predictions and votes after it. asked, changed: requests to either
    service in the second, and what git says that this one changed.
    """

    project: Project
    first: Result
    made: set[str]
    paid: tuple[int, int]
    second: Result
    asked: tuple[int, int]
    changed: str


@pytest.fixture(scope="module")
def evaluated(
    clone: Path, keyless: dict[str, str], git: Git, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Evaluated]:
    with project(tmp_path_factory.mktemp("new"), clone, keyless, git) as place:
        add_entry(place.folder / "models.py")
        without_waiting(place.folder / "generate_rollouts.py")
        first = place.run("--models", NEW, *without(ELSEWHERE), keys=BOTH_KEYS)
        paid, before = place.paid(), place.asked()
        git(place.folder, "add", "--all")
        git(place.folder, "commit", "--quiet", "--message", "With my model")
        made = set(git(place.folder, "show", "--name-only", "--format=", "HEAD").stdout.split())
        second = place.run("--models", NEW, *without([*ELSEWHERE, *LONG]), keys=BOTH_KEYS)
        after = place.asked()
        changed = git(place.folder, "status", "--porcelain").stdout
        yield Evaluated(place, first, made, paid, second, (after[0] - before[0], after[1] - before[1]), changed)


def test_the_driver_goes_from_generation_to_the_report(evaluated: Evaluated) -> None:
    assert (evaluated.first.returncode, evaluated.first.stderr.count("Traceback")) == (0, 0), evaluated.first
    # What the stages that are shown live say themselves stands in between.
    known = {*(stage.name for stage in STAGES), "done"}
    lines = [words for line in evaluated.first.stdout.splitlines() if known & {*(words := line.split())[:1]}]
    assert [words[0] for words in lines[:-1]] == [stage.name for stage in STAGES]
    ran = [words[0] for words in lines[:-1] if "skipped:" not in words]
    assert {*PAID, "analyze_rollouts", "tv_band", "chi2", "compare_with_paper", "results", "report"} <= {*ran}
    assert lines[-1][:2] == ["done", "in"]


def test_every_prediction_is_paid_once_and_asks_for_what_the_entry_says(evaluated: Evaluated) -> None:
    predictions = evaluated.project.replicate.predictions.values()
    assert Counter((p.input["prompt"], p.input["seed"]) for p in predictions) == Counter(
        (scene.generation_prompt, seed) for scene in SCENES.values() for seed in range(N)
    )
    assert {(p.model, p.input["duration"], p.input["resolution"]) for p in predictions} == {(REPLICATE_ID, 5, "720p")}
    assert len(evaluated.project.replicate.files) == len(SCENES), "each conditioning frame is uploaded once"
    assert sorted(evaluated.project.room.rollouts.rglob("*.mp4")) == sorted(
        evaluated.project.room.clip(seed, "main", scene, NEW) for scene in SCENES for seed in range(N)
    )


def test_every_vote_is_asked_for_once(evaluated: Evaluated) -> None:
    room = evaluated.project.room
    asked = Counter((query.question, query.sha256) for query in room.service.queries)
    assert asked == {
        (scene.judge_question, room.shown(seed, "main", scene.key, NEW)): 3
        for scene in SCENES.values()
        for seed in range(N)
    }
    assert all(len(room.log("main", scene, NEW)) == 3 * N for scene in SCENES)


def test_the_outcomes_are_what_the_judge_saw_and_carry_the_digest_of_their_protocol(evaluated: Evaluated) -> None:
    room = evaluated.project.room
    history = History(room.rollouts / "main")
    digests = set()
    for scene in SCENES:
        bins = room.bins("main", scene, NEW)
        assert bins == room.truth("main", scene, NEW)
        assert None in bins and len(set(bins)) > 2
        protocol = room.outcomes("main", scene, NEW)["protocol"]
        made_with = {history.rollout((scene, NEW, seed)).attempts[0].digest for seed in range(N)}
        assert made_with == {protocol["generation"]}
        digests.add(protocol["digest"])
    assert len(digests) == len(SCENES) and all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in digests)


def test_the_model_has_its_row_its_panels_and_its_cells_in_the_report(evaluated: Evaluated) -> None:
    analysis = evaluated.project.folder / "analysis"
    scores = {}
    for scene, spec in SCENES.items():
        bins = evaluated.project.room.truth("main", scene, NEW)
        scores[scene] = cell_score([bins.count(k + 1) for k in range(spec.k)], N, spec.reference).score
    score = fixed(float(mntv(scores, SCENES)), 2)
    (row,) = re.findall(
        rf"^\| \d+ \| {NAME}★ \| (\S+) \|.*$", (analysis / "RESULTS.md").read_text("utf-8"), re.MULTILINE
    )
    assert row.strip("*") == score
    page = (analysis / "report.html").read_text(encoding="utf-8")
    assert NAME in page and all(f"#cell/{scene}/{NEW}" in page for scene in SCENES)
    assert {f"analysis/figures/analyze_rollouts_{scene}.png" for scene in SCENES} <= evaluated.made
    assert "analysis/figures/scatter_grid.png" in evaluated.made


def test_its_tests_are_a_family_of_their_own(evaluated: Evaluated) -> None:
    chi2 = evaluated.project.results("chi2")
    assert [family["models"] for family in chi2["families"]] == [list(PUBLISHED), [NEW]]
    assert chi2["families"][1]["n_tests"] == sum(chi2["cells"][scene][NEW]["tested"] for scene in SCENES) == 9
    test = chi2["cells"]["dice"][NEW]["tests"]["chi2_exact"]
    assert test["p_bonferroni"] == pytest.approx(min(1, 9 * test["p"]), rel=1e-9)


def test_no_published_number_changes(evaluated: Evaluated) -> None:
    published = json.loads((ANALYSIS / "results" / "compare_with_paper.json").read_text(encoding="utf-8"))
    assert evaluated.project.results("compare_with_paper") == published
    figures, near, misses = published["figures"], published["last_digit"], published["misses"]
    line = f"{figures - near - misses} of {figures} published figures match, {near} off by one last digit, 0 missed"
    assert line in evaluated.first.stdout
    outcomes = {name for name in evaluated.made if name.endswith("_bins.json")}
    assert outcomes == {f"analysis/{STUDIES['main'].bins_file(scene, NEW)}" for scene in SCENES}


def test_a_second_run_pays_nothing_asks_nothing_and_changes_nothing(evaluated: Evaluated) -> None:
    assert (evaluated.second.returncode, evaluated.second.stderr) == (0, ""), evaluated.second
    assert evaluated.paid == evaluated.project.paid() == (len(SCENES) * N, len(SCENES) * N * 3)
    assert evaluated.asked == (0, 0)
    assert evaluated.changed == ""


# --- a model that Replicate does not make ---------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [JUDGE_KEY, BOTH_KEYS], ids=["judge's key", "both keys"])
def test_clips_that_somebody_else_made_are_read_and_nothing_is_generated(
    keys: dict[str, str], clone: Path, keyless: dict[str, str], git: Git, tmp_path: Path
) -> None:
    with project(tmp_path, clone, keyless, git) as place:
        place.room.put_clips("main", "dice", "mine")
        others = {scene: [1 + seed % 2 for seed in range(N)] for scene in SCENES if scene != "dice"}
        write_model(place.room.analysis, "mine", others)
        needless = [stage.name for stage in STAGES if stage.name not in (*PAID, "tv_band")]
        ran = place.run("--models", "mine", *without(needless), keys=keys)
        assert (ran.returncode, ran.stderr.count("Traceback")) == (0, 0), ran
        assert ("generate_rollouts        skipped: REPLICATE_API_TOKEN is not set" in ran.stdout) == (keys is JUDGE_KEY)
        assert place.asked()[0] == 0 and place.paid() == (0, 3 * N)
        assert place.room.bins("main", "dice", "mine") == place.room.truth("main", "dice", "mine")
        assert place.room.outcomes("main", "dice", "mine")["protocol"]["generation"] is None
        assert "mine" in place.results("tv_band")["mntv"]


def test_of_a_model_made_elsewhere_every_clip_must_be_there(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        clips = [
            place.rollouts / "main" / scene / "mine" / f"seed_{i}.mp4" for scene in ("dice", "ball") for i in (0, 1)
        ]
        for clip in clips:
            clip.parent.mkdir(parents=True, exist_ok=True)
            clip.write_bytes(moving_clip())
        alone = place.run("--count", "2", model="mine", scene="dice ball")
        said = "mine: skipped, it is not made by Replicate and all of its clips are there\n"
        assert (alone.code, alone.out, alone.err) == (0, said, "")
        beside = place.run("--count", "2", model="mine wan", scene="dice ball")
        assert beside.code == 0 and beside.out.startswith(said)
        assert [prediction.model for prediction in place.service.predictions.values()] == [
            MODELS["wan"].replicate_id
        ] * 4
        clips[1].unlink()
        lacking = place.run("--count", "2", model="mine wan", scene="dice ball")
        assert lacking.code == 2 and len(place.service.predictions) == 4
        assert "--model mine: Replicate does not make it, and clips are missing: " in lacking.err
        assert f"{clips[1].parent} seed 1; expected an entry with replicate_id in models.py" in lacking.err


def test_a_cell_that_has_its_outcomes_is_not_made_for_the_driver(tmp_path: Path) -> None:
    outcomes = tmp_path / "analysis"
    with studio(tmp_path) as place:
        arguments = ["--count", "2", "--unread", str(outcomes)]
        refused = place.run(*arguments)
        assert refused.code == 2 and "--unread" in refused.err and "no such folder" in refused.err
        outcomes.mkdir()
        write_model(outcomes, "wan", {"dice": [1] * N})
        some = place.run(*arguments, scene="dice ball")
        assert (some.code, place.videos()) == (0, ["ball/wan/seed_0.mp4", "ball/wan/seed_1.mp4"])
        none = place.run(*arguments, scene="dice")
        assert (none.code, none.out) == (0, f"wan: skipped, all of its outcomes are in {outcomes}\n")
        assert len(place.service.predictions) == 2


def test_a_model_that_is_left_out_is_named_once(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        ran = place.run("--dry-run", model="all", scene="all")
        assert ran.code == 0 and ran.out.count("cosmos3_super: skipped, run it yourself") == 1
