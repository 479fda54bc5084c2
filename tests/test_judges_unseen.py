"""A judge that was shown nothing has read nothing; one that does not see the outcome has read a null."""

import pytest

from judges.parse import parse_reply
from judges.reply import plain
from judges.unseen import says_nothing_was_shown
from scenes import SCENES

FACES = SCENES["dice"].outcomes
SHOWN_NOTHING = [
    "I cannot view the video. null",
    "No image was provided.\n\nnull",
    "As an AI language model I cannot watch videos, so null.",
    "null. No video was provided.",
    '{"answer": null, "reason": "no image was provided"}',
    "null (no image)",
    "null - I can't see any image.",
    "I don't see an image attached. null",
    "I do not have access to the video, so the answer is null.",
    "No frame is visible to me.\nnull",
    "The video could not be loaded. null",
    "The video cannot be opened. null",
    "The image wasn't attached. null",
    "The image was not provided, null",
    "null, since no video is attached",
    "null because the file failed to load",
    "I'm unable to open the file. null",
    "I am not able to access the image. Null.",
    "There is no video. null",
    "There is no image to analyze. null",
    "Please provide the image. null",
    "Without the video, I cannot determine the outcome: null",
    "Without access to the video frames I answer null.",
    "I did not receive an image. null",
    "You have not provided an image. null",
    "You didn't attach a video. Answer: null",
    "The attachment is missing. null",
    "The video is not accessible to me. null",
    "As a text-based model, null",
    "I see no image. null",
    "I have no access to images. null",
    "I was given no video. null",
    "No visual content was provided; null",
    "No video frames were provided. null",
    "I cannot view or analyze the image. null",
    "Video not available. null",
    "Image not provided. null",
    "No image attached. null",
    "I can’t watch the attached video. null",
    "I cannot directly view video content. null",
    "I cannot process videos. null",
    "I was unable to load the image. null",
    "I cannot see the image.\nnull",
    "I cannot view the video. 6",
    "no video, so null",
    '{"reasoning": "The image did not load", "answer": null}',
    "I couldn't see the provided image, answer: null",
    "No images are available in this conversation. null",
]
SAW_NO_OUTCOME = [
    "I cannot see the ball. null",
    "null. The ball is not visible in the video.",
    "null. The ball is not visible in the image.",
    "null: no ball is visible in any frame",
    "The ball is visible in no frame. null",
    "I cannot see the ball in the final frame. null",
    "I do not see any frame in which the ball rests. null",
    "I cannot see the face of the die in the image. null",
    "No face is visible in the image. null",
    "The image shows no die. null",
    "The video does not show the ball leaving. null",
    "The video ends before the ball leaves. null",
    "null. The video ends before the ball exits, and no exit is shown.",
    "No die is shown in the picture. null",
    "No ball was provided with a channel; null",
    "There is no ball in the video. null",
    "There is no ball in the image, so null.",
    "I cannot see the picture of the card's suit. null",
    "null, since no frame shows the ball in a bin",
    "null. The image is blurred.",
    "The image is too blurred to read: null",
    "The card is not visible in the last frame. null",
    "I cannot see the video clearly. null",
    "The number cannot be read in the image. null",
    "In the video the ball cannot be seen. null",
    "null. In the image, no face is up.",
    "There is no image of a face on the die. null",
    "The video is black. null",
    "In the final image the die is missing. null",
    "In this video, the ball is missing. null",
    "The person in the video did not open the door. null",
    "I see no ball. null",
    "The final frame is blank, null",
    "I cannot determine the suit from the image. null",
    "The suit cannot be read from the image. null",
    "The video cuts off without the ball reaching a channel. null",
    "null. The suit is not shown in the final frame",
    "The die in the image is not available to be read, null",
    "null. The ball is not seen in the footage.",
    "Without a frame that shows the ball at rest: null",
    "I did not see the ball in the video. null",
    "null; the frame does not show a legible face.",
    "null. The clip ends early and does not show the result.",
    "In the frame, no number can be read. null",
    "The ball in the image cannot be seen. null",
]


@pytest.mark.parametrize("reply", SHOWN_NOTHING)
def test_a_judge_that_was_shown_nothing_casts_no_vote(reply: str) -> None:
    assert parse_reply(reply, FACES).state == "judge_refused"


@pytest.mark.parametrize("reply", SAW_NO_OUTCOME)
def test_a_judge_that_does_not_see_the_outcome_votes_null(reply: str) -> None:
    parsed = parse_reply(reply, FACES)
    assert (parsed.state, parsed.outcome) == ("vote", None)


@pytest.mark.parametrize("scene", SCENES)
def test_the_question_itself_says_nothing_of_what_was_shown(scene: str) -> None:
    assert not says_nothing_was_shown(plain(SCENES[scene].judge_question))
