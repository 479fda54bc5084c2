#!/usr/bin/env bash
# Everything published, recomputed from the committed outcomes, compared with the paper, and drawn.
#
#   ./run_pipeline.sh                     all stages in order
#   ./run_pipeline.sh --list              what there is
#   ./run_pipeline.sh --only STAGE        one stage
#   ./run_pipeline.sh --from STAGE        this stage and those after it
#   ./run_pipeline.sh --skip STAGE        all but this stage (may be given again)
#   ./run_pipeline.sh --models NAME...    evaluate further models beside the published six
#
# The control, simulated clips that are made and read here, takes two to three minutes the first time; what is there is kept.
# Studies take a minute or more and do not depend on any model's outcomes: their results are committed, and they run
# when named with --only.
# Makes its own environment the first time. Stops at the first failing stage, names it, and exits non-zero.
set -euo pipefail
cd "$(dirname "$0")"

# name | command | what it makes | options
# (models: takes --models; alone: after all before it; show: its output is shown; live: so is its progress; study: only
# when named; key NAME: needs that key, and further models)
# Several commands of one stage are separated by ";". A model whose outcomes are in analysis/ needs no videos, which may
# be gone: none is paid for.
CONTROLS="generate_rollouts.py --study controls --provider simulator --model sim_calibrated"
CONTROLS="$CONTROLS;extract_bin.py --study controls --judge pixels --model sim_calibrated;compute_controls.py"
ARTEFACTS="generate_rollouts.py --study artefacts --provider simulator"
ARTEFACTS="$ARTEFACTS;extract_bin.py --study artefacts --judge pixels;validate_judge.py"
STAGES=(
    "generate_rollouts|generate_rollouts.py --unread analysis|videos of further models|models alone live key REPLICATE_API_TOKEN"
    "extract_bin|extract_bin.py|outcomes of further models, read by the judge|models alone live key GEMINI_API_KEY"
    "config_table|make_config_table.py|Table 1: generation settings|"
    "analyze_rollouts|analyze_rollouts.py|Figures 4 and 6-12: distributions|models"
    "tv_band|compute_tv_band.py|Tables 2 and 4: scorability, TV, score, mnTV|models"
    "mntv_ci|compute_mntv_ci.py|intervals on mnTV, pairwise differences|models"
    "chi2|compute_chi2.py|Tables 3 and 6: tests, published and exact|models"
    "sequential|compute_sequential.py|anytime-valid verdicts|models"
    "mcar_sensitivity|compute_mcar_sensitivity.py|Table 7: missing-outcome bounds|models"
    "power_chi2|power_chi2.py|Table 5 and Figure 13: detectability|"
    "validate_extraction|validate_extraction.py|Table 8: the judge against hand labels|"
    "seedance_ablation|make_seedance_ablation.py|Table 9: resolution|"
    "recompute_dur5s|recompute_dur5s.py|Table 10: duration|"
    "dice_ablation_figures|make_dice_ablation_figures.py|Tables 11 and 12, Figures 14 and 15|"
    "scatter_grid|make_scatter_grid.py|Figure 5: scorability against TV|models"
    "rollout_examples|make_rollout_examples.py|Figure 3: frame strips|"
    "verify_pendulum_v3|verify_pendulum_v3.py|the pendulum's reference, by integration|"
    "study_interval_coverage|study_interval_coverage.py|coverage of the intervals|study"
    "study_controls|study_controls.py|the simulated laws against theory|study"
    "validate_judge|$ARTEFACTS|the pixels judge against the truth of simulated clips|study alone live"
    "compare_with_paper|compare_with_paper.py|every published figure against the recomputed one|alone show"
    "controls|$CONTROLS|a calibrated control: 288 simulated clips, made, read, scored|alone live"
    "results|make_results.py|analysis/RESULTS.md|models alone show"
    "report|make_report.py|analysis/report.html|alone"
)

usage_error() {
    echo "run_pipeline.sh: $1; expected --list, --only STAGE, --from STAGE, --skip STAGE or --models NAME..." >&2
    exit 2
}

check_stage() {
    local stage
    for stage in "${STAGES[@]}"; do
        [ "${stage%%|*}" = "$1" ] && return
    done
    echo "run_pipeline.sh: unknown stage '$1'; expected one of those that --list shows" >&2
    exit 2
}

list=false only="" from="" skipped=" " models=()
while [ $# -gt 0 ]; do
    case "$1" in
    --list) list=true ;;
    --only | --from | --skip)
        [ $# -ge 2 ] || usage_error "$1 without a stage"
        check_stage "$2"
        case "$1" in
        --only) only="$2" ;;
        --from) from="$2" ;;
        --skip) skipped="$skipped$2 " ;;
        esac
        shift
        ;;
    --models)
        shift
        while [ $# -gt 0 ] && [ "${1#--}" = "$1" ]; do
            models+=("$1")
            shift
        done
        [ ${#models[@]} -gt 0 ] || usage_error "--models without a name"
        continue
        ;;
    -h | --help)
        sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"
        exit 0
        ;;
    *) usage_error "unknown argument '$1'" ;;
    esac
    shift
done

[ -z "$only" ] || [ -z "$from" ] || usage_error "--only together with --from"

if $list; then
    for stage in "${STAGES[@]}"; do
        IFS='|' read -r name command makes _ <<<"$stage"
        command="${command##*;}"
        printf '%-24s %-32s %s\n' "$name" "${command%% *}" "$makes"
    done
    exit 0
fi

source ./environment.sh
use_environment requirements.txt
logs="$(mktemp -d)"
# Stages run in the background, where an interrupt does not reach them: whatever ends this script ends them, and waits
# until they no longer write to their logs.
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

# Some languages write the seconds with a comma, which awk does not read.
now() { local at="${EPOCHREALTIME:-$SECONDS}" && echo "${at/,/.}"; }
since() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f s", b - a }'; }

# Why a stage is not run, or nothing.
reason_to_skip() {
    local name="$1" options=" $3 " key script scripts
    IFS=';' read -ra scripts <<<"$2"
    for script in "${scripts[@]}"; do
        [ -f "${script%% *}" ] || { echo "there is no ${script%% *}" && return; }
    done
    [[ "$skipped" != *" $name "* ]] || { echo "as asked" && return; }
    if [[ "$options" == *" study "* ]] && [ "$only" != "$name" ]; then
        echo "a study, whose results are committed (--only $name)" && return
    fi
    if [[ "$options" == *" key "* ]]; then
        key="${options##* key }" && key="${key%% *}"
        [ -n "${!key:-}" ] || { echo "$key is not set" && return; }
        [ ${#models[@]} -gt 0 ] || echo "every published cell has its outcomes; name further models with --models"
    fi
}

# Two stages run at a time, one a core; they are started, and reported, in order.
queue=() # "name|what it makes|options|pid|start" of the running stages

run_stage() {
    local code=0 command commands
    # Before the stage starts, and for both signals: one that ended this shell alone would leave the stage running.
    trap 'kill $! 2>/dev/null; exit 143' INT TERM
    [ -z "$3" ] || exec >>"$3"
    IFS=';' read -ra commands <<<"$2"
    for command in "${commands[@]}"; do
        # Unquoted: a command is a script and its options, none of which holds a space.
        "$PYTHON" $command "${@:4}" &
        wait $! || code=$?
        [ "$code" -eq 0 ] || break
    done
    now >"$logs/$1.end"
    return "$code"
}

report_first() {
    local name makes options pid begun code=0
    IFS='|' read -r name makes options pid begun <<<"${queue[0]}"
    queue=(${queue[@]+"${queue[@]:1}"})
    wait "$pid" || code=$?
    if [ "$code" -ne 0 ]; then
        [ ! -f "$logs/$name.log" ] || tail -n 30 "$logs/$name.log"
        echo "run_pipeline.sh: stage $name failed (exit $code)" >&2
        exit "$code"
    fi
    printf '%-24s %-62s %s\n' "$name" "$makes" "$(since "$begun" "$(cat "$logs/$name.end")")"
    [[ " $options " != *" show "* ]] || sed 's/^/    /' "$logs/$name.log"
}

report_all() {
    while [ ${#queue[@]} -gt 0 ]; do report_first; done
}

# Until fewer than two stages run. Those that have ended are reported, unless an earlier one still runs.
wait_for_a_core() {
    local name makes options pid begun stage alive
    while true; do
        alive=0
        for stage in ${queue[@]+"${queue[@]}"}; do
            IFS='|' read -r name makes options pid begun <<<"$stage"
            if kill -0 "$pid" 2>/dev/null; then
                alive=$((alive + 1))
            elif [ "$alive" -eq 0 ]; then
                report_first
            fi
        done
        [ "$alive" -ge 2 ] || break
        sleep 0.05
    done
}

started="$(now)"
waiting="$from"
for stage in "${STAGES[@]}"; do
    IFS='|' read -r name script makes options <<<"$stage"
    [ -z "$only" ] || [ "$only" = "$name" ] || continue
    [ "$waiting" = "$name" ] && waiting=""
    [ -z "$waiting" ] || continue
    why="$(reason_to_skip "$name" "$script" "$options")"
    if [ -n "$why" ]; then
        report_all
        printf '%-24s skipped: %s\n' "$name" "$why"
        continue
    fi
    arguments=()
    if [ ${#models[@]} -gt 0 ]; then
        case " $options " in
        *" models "*" key "*) arguments=(--model "${models[@]}") ;;
        *" models "*) arguments=(--models "${models[@]}") ;;
        esac
    fi
    case " $options " in
    *" alone "*) report_all ;;
    *) wait_for_a_core ;;
    esac
    begun="$(now)" log="$logs/$name.log"
    [[ " $options " != *" live "* ]] || log=""
    run_stage "$name" "$script" "$log" ${arguments[@]+"${arguments[@]}"} &
    queue+=("$name|$makes|$options|$!|$begun")
    [[ " $options " != *" alone "* ]] || report_all
done
report_all
printf 'done in %s: open analysis/RESULTS.md, or analysis/report.html in a browser\n' "$(since "$started" "$(now)")"
