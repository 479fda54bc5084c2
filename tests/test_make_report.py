"""The report without a browser: what is in the file, what it refuses, and that it says what the results say."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_report
from models import PUBLISHED
from outputs import stem_of
from paths import ANALYSIS
from records import read_study
from report import ablations, board, checks, inputs, page, provenance, words
from report.cells import HEAT_BOUNDS, heat, verdict
from report.datatable import DataTable, Field
from report.markers import sheet
from report.sources import SOURCES
from report.svg import element
from report_data import add_model, committed, log_votes
from scenes import SCENES


@pytest.fixture(scope="module")
def results() -> inputs.Results:
    return inputs.read(ANALYSIS)


@pytest.fixture(scope="module")
def text(results: inputs.Results) -> str:
    return page.render(results, ANALYSIS, {}, {})


def embedded(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found.group(1))


class Tags(HTMLParser):
    """Every start tag with its attributes, as a browser's parser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, *names: str) -> Iterator[dict[str, str | None]]:
        return (attributes for tag, attributes in self.found if tag in names)


# --- the file -----------------------------------------------------------------------------------------------------


def test_the_committed_page_is_what_the_committed_results_make(text: str) -> None:
    assert (ANALYSIS / "report.html").read_text(encoding="utf-8") == text


def test_the_same_results_make_the_same_bytes_and_nothing_else_is_written(tmp_path: Path) -> None:
    analysis = committed(tmp_path)
    before = {path: path.read_bytes() for path in analysis.rglob("*") if path.is_file()}
    written = []
    for _ in range(2):
        assert make_report.main(["--analysis", str(analysis)]) == 0
        written.append((analysis / "report.html").read_bytes())
    assert written[0] == written[1]
    (analysis / "report.html").unlink()
    assert {path: path.read_bytes() for path in analysis.rglob("*") if path.is_file()} == before


def test_it_is_one_small_file_that_names_nothing_outside_itself(text: str) -> None:
    assert len(text.encode()) < page.MOST_BYTES / 2
    tags = Tags(text)
    addresses = [
        a[name] for _, a in tags.found for name in ("href", "src", "action", "data", "xlink:href") if name in a
    ]
    assert addresses and all(address and address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"@import|url\(", text)
    # A name, not an address: nobody asks for it.
    assert set(re.findall(r"https?://[^\"' )]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not list(tags.named("iframe", "object", "embed", "form", "base", "img"))


def test_no_element_has_a_style_or_a_handler_of_its_own(text: str) -> None:
    for tag, attributes in Tags(text).found:
        assert not {name for name in attributes if name == "style" or name.startswith("on")}, tag


def test_the_policy_allows_exactly_the_style_and_the_script_that_are_there(text: str) -> None:
    policy = next(a["content"] for a in Tags(text).named("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and "default-src 'none'" in policy and "unsafe" not in policy
    for name, pattern in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        (content,) = re.findall(pattern, text, re.DOTALL)
        digest = hashlib.sha256(content.encode()).digest()
        assert f"{name}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_every_id_is_there_once_and_every_inner_link_leads_somewhere(text: str) -> None:
    tags = Tags(text)
    ids = [attributes["id"] for _, attributes in tags.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for attributes in tags.named("a", "use"):
        target = attributes["href"] or ""
        assert target.startswith("#cell/") or target[1:] in ids, target


def test_every_cell_and_section_is_there(text: str) -> None:
    links = [a["href"] for a in Tags(text).named("a") if "cell" in (a.get("class") or "")]
    assert links == [f"#cell/{scene}/{model}" for scene in SCENES for model in PUBLISHED]
    for part in ("leaderboard", "grid", "scatter", "compare", "missing", "power", "judge", "resolution", "duration"):
        assert f'id="{part}"' in text
    for script in ("compute_mcar_sensitivity", "power_chi2", "validate_extraction", "make_seedance_ablation"):
        assert f"<code>python {script}.py</code>" in text


# --- what it says -------------------------------------------------------------------------------------------------


def test_the_embedded_numbers_are_those_of_the_results(text: str, results: inputs.Results) -> None:
    data = embedded(text)
    outcomes = read_study(ANALYSIS, "main")
    for scene in SCENES:
        for model in PUBLISHED:
            cell, scored = data["cells"][scene][model], results.cell("tv", scene, model)
            assert all(cell[name] == scored[name] for name in ("n", "n_valid", "rho", "tv", "floor", "score", "counts"))
            assert cell["bins"] == list(outcomes[scene, model].bins)
            if results.cell("chi2", scene, model)["tested"]:
                tests = results.cell("chi2", scene, model)["tests"]
                assert [test["p"] for test in cell["tests"]] == [
                    tests[name]["p"] for name in ("chi2_monte_carlo", "chi2_exact", "tv_exact")
                ]
            else:
                assert (cell["tests"], cell["log_e"], cell["heat"]) == ([], [], None)


def test_mntv_is_the_sum_of_its_two_parts(results: inputs.Results) -> None:
    rows = board.rows(results)
    assert [row["mntv"] for row in rows] == sorted(row["mntv"] for row in rows)
    for row in rows:
        cells = [results.cell("tv", scene, row["model"]) for scene in SCENES]
        miscalibrated = sum(cell["rho"] * (cell["excess"] or 0) for cell in cells) / len(cells)
        assert row["miscalibrated"] == pytest.approx(miscalibrated, abs=1e-9)
        assert row["mntv"] == pytest.approx(row["unscorable"] + row["miscalibrated"])
        assert sum(row["verdicts"].values()) == len(SCENES)


def test_the_verdict_of_a_cell_follows_both_exact_tests(results: inputs.Results) -> None:
    for scene in SCENES:
        for model in PUBLISHED:
            cell, found = results.cell("chi2", scene, model), verdict(results, scene, model)
            if not cell["tested"]:
                assert found == ("few" if cell["n_valid"] else "none")
                continue
            both = [cell["tests"][name]["significant"] for name in ("chi2_exact", "tv_exact")]
            assert found == {0: "alike", 1: "split", 2: "differs"}[sum(both)]


@given(st.floats(-0.5, 1) | st.sampled_from(HEAT_BOUNDS))
def test_a_colour_step_holds_the_excesses_up_to_its_bound(excess: float) -> None:
    step = heat(excess)
    assert step is not None
    assert all(excess > bound for bound in HEAT_BOUNDS[:step])
    assert all(excess <= bound for bound in HEAT_BOUNDS[step:])
    assert heat(None) is None


def test_every_section_says_something_with_numbers_and_shows_it(results: inputs.Results) -> None:
    makers = (
        checks.missing_outcomes,
        checks.power,
        lambda found: checks.judge_validations(found)[0],
        ablations.resolution,
        ablations.duration,
        ablations.guidance,
        ablations.faces,
    )
    for make in makers:
        section = make(results)
        assert re.search(r"\d", section.sentence) and section.sentence.endswith(".")
        assert section.panels and all("<svg" in panel.drawing for panel in section.panels)
        assert not any(word in panel.drawing for panel in section.panels for word in ("nan", "inf", "None"))
        assert section.table.rows


def test_every_file_behind_the_page_is_listed_with_its_hash(tmp_path: Path) -> None:
    analysis = committed(tmp_path)
    log_votes(analysis, "dice", "wan", "gemini", {0: ["5"]})
    sets = {each.title: each for each in provenance.file_sets(analysis, inputs.read(analysis))}
    listed = {name: digest for each in sets.values() for name, digest in each.files}
    for name, digest in listed.items():
        assert hashlib.sha256((analysis / name).read_bytes()).hexdigest() == digest
    needed = {path.relative_to(analysis).as_posix() for path in analysis.rglob("*_bins.json")}
    needed |= {"human_labels.json", "absent_cells.json", "vlm_logs/main/dice_wan.gemini.jsonl"}
    needed |= {f"results/{stem_of(script)}.json" for script in SOURCES.values()}
    assert needed <= set(listed)
    # As sha256sum prints them.
    labels = sets["hand labels and absent cells"]
    lines = "".join(f"{listed[name]}  {name}\n" for name in ("human_labels.json", "absent_cells.json"))
    assert labels.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert len(provenance.files_table(list(sets.values())).rows) == len(listed)


def test_a_model_without_an_interval_is_not_among_those_compared(results: inputs.Results) -> None:
    rows = board.rows(results)
    assert ", and is the best of all 6 models with probability" in board.findings(results, rows)[0][1]
    rows[-1] = rows[-1] | {"probability_best": None}
    assert ", and is the best of the 5 models that have an interval" in board.findings(results, rows)[0][1]


def test_the_power_sentence_names_the_ends_of_the_range(results: inputs.Results) -> None:
    tv = {scene: row["chi2"]["32"]["min_tv"] for scene, row in results.power["scenes"].items()}
    least, most = min(tv, key=lambda scene: tv[scene]), max(tv, key=lambda scene: tv[scene])
    said = checks.power(results).sentence
    assert f"needs a TV of {tv[least]:.2f} on {SCENES[least].title}, its least, and of {tv[most]:.2f} on" in said
    assert SCENES[most].title in said.split(", its most")[0].split(" on ")[-1]


# --- further models, controls, judges -----------------------------------------------------------------------------


def test_a_further_model_gets_its_row_its_cells_and_its_mark(tmp_path: Path) -> None:
    analysis = committed(tmp_path)
    add_model(analysis, "my.model")
    assert make_report.main(["--analysis", str(analysis)]) == 0
    text = (analysis / "report.html").read_text(encoding="utf-8")
    assert text.count('<span class="badge">additional</span>') == 1
    assert "#cell/dice/my.model" in text
    data = embedded(text)
    assert [model["key"] for model in data["models"]] == [*PUBLISHED, "my.model"]
    assert data["cells"]["dice"]["my.model"]["family"].startswith("corrected over the 8 tested cells of this model")


def test_a_model_key_can_be_copied_into_a_shell(results: inputs.Results, text: str) -> None:
    assert [model["argument"] for model in embedded(text)["models"]] == results.keys
    odd = replace(results, models=(replace(results.models[0], key="$(date) x"), *results.models[1:]))
    assert page._model(odd, "$(date) x")["argument"] == "'$(date) x'"


def test_pinned_versions_are_read_past_comments_and_markers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["# a==1", "", 'numpy==2.4 ; python_version > "3"  # why', "an-extra[one,two] == 1.0", "free", "-r other"]
    (tmp_path / "requirements.txt").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.versions() == [("an-extra", "1.0"), ("numpy", "2.4")]


def test_controls_are_shown_with_what_theory_expects(tmp_path: Path) -> None:
    analysis = committed(tmp_path)
    path = analysis / "results" / "controls.json"
    path.unlink(missing_ok=True)
    assert inputs.read(analysis).controls == ()
    theory = {"scorability": 1.0, "expected": 0.0, "low": -0.04, "high": 0.04}
    controls = {
        law: theory | {"mntv": score, "cells": {scene: {"n": 32, "n_valid": 32, "score": score} for scene in SCENES}}
        for law, score in (("sim_calibrated", 0.013), ("sim_flat", 0.3))
    }
    path.write_text(json.dumps({"controls": controls}))
    results = inputs.read(analysis)
    assert [control.inside for control in results.controls] == [True, False]
    text = page.render(results, analysis, {}, {})
    assert text.count('<span class="badge">control</span>') == 2
    assert "theory allows −0.04 to 0.04: outside" in text
    table = embedded(text)["tables"]["leaderboard"]
    kinds = [row[table["columns"].index("kind")] for row in table["rows"]]
    assert kinds == ["published"] * len(PUBLISHED) + ["control"] * 2


# --- text ---------------------------------------------------------------------------------------------------------


@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_embedded_json_says_the_same_and_holds_no_markup(value: Any) -> None:
    written = page.embedded(value)
    assert json.loads(written) == value
    assert not set("<>&") & set(written) and written.isascii()


@given(st.text())
def test_drawings_escape_what_they_are_given(content: str) -> None:
    drawn = element("text", content, aria_label=content)
    assert drawn.count("<") == drawn.count(">") == 2
    assert re.fullmatch(r'<text aria-label="[^"]*">[^<]*</text>', drawn, re.DOTALL)


def test_every_model_has_a_marker_of_its_own_shape(results: inputs.Results) -> None:
    shapes = re.findall(r'<path d="([^"]+)" fill="#', sheet(results.models))
    assert len(shapes) == len(set(shapes)) == len(PUBLISHED)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (words.number(-0.0004), "0.00"),
        (words.number(-0.256), "−0.26"),
        (words.change(0.004), "0.00"),
        (words.change(0.02), "+0.02"),
        (words.percent(0.996), "over 99\N{NO-BREAK SPACE}%"),
        (words.percent(0.001), "under 1\N{NO-BREAK SPACE}%"),
        (words.percent(1.0), "100\N{NO-BREAK SPACE}%"),
        (words.p_value(0.0496), "0.050"),
        (words.p_value(2.3e-11), "2 × 10⁻¹¹"),
        (words.interval(None, None), "not estimable"),
        (words.listed(["a"]), "a"),
        (words.listed(["a", "b", "c"]), "a, b and c"),
        (words.count(6), "six"),
        (words.count(13), "13"),
    ],
)
def test_numbers_are_written_as_people_read_them(written: str, expected: str) -> None:
    assert written == expected


def test_a_table_whose_rows_do_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="a row of 1 values under 2 fields"):
        DataTable("x", "X", [Field("a", "a"), Field("b", "b", 2)], [["only"]])
