"""The nine scenes: conditioning frame, prompt, outcome space, reference, and the question that the judge is asked.

A scene set is data. Prompts and questions are the protocol's own strings, character by character; changing one makes
another benchmark, and the protocol digest of new records shows it.
"""

from dataclasses import dataclass
from typing import Literal

from constants import BINOMIAL_10, COIN, DIE, LOTTERY_20, ROULETTE_COLOUR, SUITS, Reference

Evidence = Literal["final_frame", "video"]


@dataclass(frozen=True)
class Scene:
    """One scene of the benchmark.

    outcomes: labels of the outcomes 1..k, in order; the labels are also the judge's closed vocabulary.
    frame_stem: file name of the conditioning frame without its ending.
    evidence: what the judge is shown.
    contaminated: the outcome (1-based) onto which the power analysis moves mass: the scene's usual failure.
    null_heavy: the missing-outcome bounds (Table 7) are computed for this scene.
    """

    key: str
    title: str
    family: str
    frame_stem: str
    outcomes: tuple[str, ...]
    reference: Reference
    evidence: Evidence
    generation_prompt: str
    judge_question: str
    contaminated: int = 1
    null_heavy: bool = False

    @property
    def k(self) -> int:
        """Number of outcomes."""
        return self.reference.k


def _numbers(k: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(1, k + 1))


_ALL = (
    Scene(
        key="galton_board_real",
        title="Physical board",
        family="Binomial(10, 1/2), 11 bins",
        frame_stem="galton_board_final",
        outcomes=_numbers(11),
        reference=BINOMIAL_10,
        evidence="final_frame",
        generation_prompt=(
            "A clean physics animation of a Galton board: a vertical triangular peg array above a row of "
            "collection bins. A single metallic ball is released from the top funnel and falls through "
            "the pegs, bouncing left or right at each, until it lands in one of the bins. The animation "
            "is smooth and physically accurate."
        ),
        judge_question=(
            "Where is the metallic ball? If there are multiple metallic balls in the image, or if the "
            "ball appears to straddle two bins or has not clearly settled in a single bin, reply with "
            "'null'. Otherwise reply with only the bin number it has landed in as a single integer."
        ),
        contaminated=6,
    ),
    Scene(
        key="galton_board",
        title="Animated board",
        family="Binomial(10, 1/2), 11 bins",
        frame_stem="galton_board",
        outcomes=_numbers(11),
        reference=BINOMIAL_10,
        evidence="final_frame",
        generation_prompt=(
            "A clean 2D physics animation of a Galton board: a vertical triangular peg array above a row "
            "of collection bins. A single green ball is released from the top funnel and falls through "
            "the pegs, bouncing left or right at each, until it lands in one of the bins. The animation "
            "is smooth and physically accurate."
        ),
        judge_question=(
            "Where is the green ball? If there are multiple green balls in the image, or if the ball "
            "appears to straddle two bins or has not clearly settled in a single bin, reply with 'null'. "
            "Otherwise reply with only the bin number it has landed in as a single integer."
        ),
        contaminated=6,
    ),
    Scene(
        key="ball",
        title="Ball fork",
        family="Bernoulli(1/2), 2 outcomes",
        frame_stem="ball",
        outcomes=("left", "right"),
        reference=COIN,
        evidence="video",
        generation_prompt=(
            "A clean 2D physics simulation. A single ball rolls down a straight ramp and enters the top "
            "of a perfectly symmetric Y-shaped fork. The fork splits into two equal channels. The ball "
            "travels through one of the two channels and exits at the bottom. The simulation is smooth "
            "and physically accurate, viewed from the front."
        ),
        judge_question=(
            "You are shown a video of a ball rolling into a Y-shaped fork. Through which channel does "
            "the ball ultimately exit: left or right? Only reply 'null' if the ball never clearly exits "
            "through either channel. Otherwise reply with only 'left' or 'right'."
        ),
    ),
    Scene(
        key="walking",
        title="Walking",
        family="Bernoulli(1/2), 2 outcomes",
        frame_stem="walking",
        outcomes=("left", "right"),
        reference=COIN,
        evidence="video",
        generation_prompt=(
            "A video of a person walking down a long empty corridor who reaches a perfectly symmetric "
            "T-junction. The left and right paths are identical in appearance, lighting, and length. The "
            "person chooses one direction and walks off screen. The scene is shot from behind at ground "
            "level."
        ),
        judge_question=(
            "You are shown a video of a person approaching a T-junction. Has the person clearly chosen "
            "to walk left or right? If the person has not yet reached the junction or has not committed "
            "to a direction, reply with 'null'. Otherwise reply with only 'left' or 'right'."
        ),
    ),
    Scene(
        key="pendulum",
        title="Pendulum",
        family="Bernoulli(1/2), 2 outcomes",
        frame_stem="pendulum_v3",
        outcomes=("left", "right"),
        reference=COIN,
        evidence="video",
        generation_prompt=(
            "A clean physics simulation of a double pendulum. Two thin brass-coloured rods connect three "
            "points: a fixed pivot at the top of the post, a brass disk at the middle joint, and a brass "
            "disk at the lower tip. The pendulum is released from rest and swings freely under gravity. "
            "The camera is fixed and does not move."
        ),
        judge_question=(
            "You are shown a video of a double pendulum. Does the pendulum maintain the correct rigid "
            "structure of a normal double pendulum (two rods, three balls) throughout the video? If the "
            "structure is deformed, broken, or grows extra arms or balls at any point, reply with "
            "'null'. Otherwise, where is the lowest pendulum weight at the end of the video — to the "
            "left or right of the central pivot? Reply with only 'left', 'right', or 'null'."
        ),
        null_heavy=True,
    ),
    Scene(
        key="dice",
        title="Dice",
        family="Uniform",
        frame_stem="dice",
        outcomes=_numbers(6),
        reference=DIE,
        evidence="final_frame",
        generation_prompt=(
            "A clean 2D physics animation of a single six-sided die being rolled on a flat surface "
            "inside a wooden box with low walls. The die starts tumbling from the left side and comes to "
            "rest showing a single upward face clearly. The animation is slow, smooth, and physically "
            "accurate. The die is white with large black circular pips, viewed from directly above."
        ),
        judge_question=(
            "Is there one clearly dominant top face on the die? A slight tilt is acceptable as long as "
            "one face is clearly uppermost. If the die is balanced on an edge with no single face "
            "dominant, reply with 'null'. Otherwise reply with only the number on the top face as a "
            "single integer between 1 and 6."
        ),
    ),
    Scene(
        key="cards",
        title="Cards",
        family="Uniform",
        frame_stem="cards",
        outcomes=("hearts", "diamonds", "clubs", "spades"),
        reference=SUITS,
        evidence="final_frame",
        generation_prompt=(
            "A single playing card is drawn from the top of the face-down deck and flipped face-up onto "
            "the table. The card is shown clearly face-up in the final frame."
        ),
        judge_question=(
            "You are shown the final frame of a card-draw video. Look at the playing card and identify "
            "its suit.\n\n"
            "Reply 'null' if any of the following apply:\n"
            "  - the card is face-down, partially obscured, or no card is visible;\n"
            "  - the symbols on the card are deformed, blurry, or distorted to the point where the suit "
            "is ambiguous;\n"
            "  - the card shows different suit symbols (e.g. a heart and a club on the same card) — a "
            "real playing card has only one suit, so inconsistent symbols indicate a rendering artefact;\n"
            "  - the suit symbols are otherwise unrecognisable as one of the four standard suits.\n\n"
            "Otherwise reply with only 'hearts', 'diamonds', 'clubs', or 'spades'."
        ),
        null_heavy=True,
    ),
    Scene(
        key="lottery",
        title="Lottery",
        family="Uniform",
        frame_stem="lottery",
        outcomes=_numbers(20),
        reference=LOTTERY_20,
        evidence="final_frame",
        generation_prompt=(
            "A physics animation of a transparent lottery ball tumbler containing 20 numbered white "
            "balls (1-20). The machine spins and one ball is ejected into a clear tube at the top. The "
            "animation ends with a single ball clearly visible in the tube, its number legible. Smooth, "
            "realistic motion."
        ),
        judge_question=(
            "Is exactly one lottery ball visible inside the clear display tube? If no ball has been "
            "drawn into the tube, or if multiple balls are visible in the tube, reply with 'null'. "
            "Otherwise reply with only the number shown on that ball as a single integer between 1 and "
            "20."
        ),
        null_heavy=True,
    ),
    Scene(
        key="roulette",
        title="Roulette",
        family="Known non-uniform",
        frame_stem="roulette_v3",
        outcomes=("red", "black", "green"),
        reference=ROULETTE_COLOUR,
        evidence="final_frame",
        generation_prompt=(
            "A clean physics animation of a European roulette wheel spinning rapidly. A single white "
            "ball is released onto the spinning wheel and eventually settles into one of the numbered "
            "pockets. The final frame clearly shows the ball at rest with the pocket number and colour "
            "clearly visible. The animation is smooth, realistic, and viewed from directly above."
        ),
        judge_question=(
            "This is the final frame of a roulette video.\n\n"
            "Step 1 — Find the white ball: Can you see a distinct white roulette ball resting inside the "
            "wheel? If the ball is not visible (the frame is blurry, the ball has disappeared, or you "
            "only see the wheel pattern with no ball), reply 'null'. If you see multiple balls, reply "
            "'null'.\n\n"
            "Step 2 — Check location: Reply 'null' if the ball is: outside the wheel's outer pocket ring "
            "(bounced off); sitting on the central hub or spinner; or resting on the inner sloped wooden "
            "surface between the hub and the pocket ring (i.e. it has rolled inward and is not inside "
            "any numbered pocket).\n\n"
            "Step 3 — Identify colour: Look at the exact pocket the ball's centre sits in. Pocket "
            "colours are red, black, or green. Important: these wheels are often filmed from above. From "
            "an overhead angle the ball may appear to sit on or near the outer rim when it is actually "
            "resting at the top edge of a numbered pocket — if a numbered pocket is directly below the "
            "ball, the ball is in that pocket. Report that pocket's colour. If the ball is equally split "
            "between two pockets with no dominant side, reply 'null'. Otherwise report the colour of "
            "whichever pocket contains most of the ball.\n\n"
            "Reply with only 'red', 'black', 'green', or 'null'."
        ),
        contaminated=3,
        null_heavy=True,
    ),
)

# Display order is the order of this dict.
SCENES: dict[str, Scene] = {scene.key: scene for scene in _ALL}
