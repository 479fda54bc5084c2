"""Whether a reply says that there was nothing to look at: a broken upload, or a model that takes text only.

"I was given no video" is no reading of it. "I cannot see the ball" is one, and what the questions make a null of.
"""

import re

_NAMES = r"(?:images?|pictures?|photos?|photographs?|screenshots?|videos?|clips?|footage|media|attachments?|files?)"
_WHICH = (
    r"(?:(?:an?|the|this|that|these|those|any|your|such|actual|attached|provided|given|supplied|uploaded|final|last|"
    r"single|or|and|images?|pictures?|videos?|frames?) )*"
)
_EVIDENCE = rf"{_WHICH}(?:{_NAMES}(?: (?:frames?|files?|inputs?|content|data|attachments?))?|frames?|visual \w+)\b"
# "The picture of the ball", "no frame in which it rests", "the video clearly": it is there, and a part of it is not.
_WHOLE = (
    r"(?!'s\b| (?:of|where|when|that|which|showing|with|clearly|well|sharply|properly|enough|number|edges?|borders?|on"
    r"|at|(?:in|from)(?! (?:your|this|the|our) (?:prompt|message|request|conversation|chat|input)))\b)"
)
# "The die in the image cannot be seen": the image can.
_SUBJECT = rf"(?:^|[^\w\s] ?|\b(?:because|since|as|that|and|but|so|sorry) ){_EVIDENCE} "
_LOOK = (
    r"(?:access|analy[sz]e|display|download|examine|inspect|interpret|load|look at|open|perceive|play|process|read"
    r"|receive|retrieve|see|view|watch)"
)
_LOOKED = r"(?:(?:access|analy[sz]|display|download|examin|load|open|play|process|retriev|view|watch)ed|read|seen)"
_GIVEN = r"(?:attached|included|provided|received|sent|shared|submitted|supplied|uploaded|given)"
_GIVE = r"(?:attach|give|include|provide|send|share|submit|supply|upload)"
_THERE = r"(?:available|accessible|shown|visible|present|found|displayed)"
_BE = r"(?:is|are|was|were|has been|have been|be|been)"
_NOT = r"(?:cannot|(?:(?:is|are|was|were|has|have|do|does|did|could) )?not|\w+n't)"
_UNABLE = r"(?:cannot|can not|can't|could not|couldn't|(?:un|not )able to|(?:do|did) not|(?:do|did)n't)"
_END = rf"(?= ?(?:$|[.,;:!)\]}}]|(?:so|and|but|because|here)\b|to (?:me|{_LOOK})\b))"

_UNSEEN = re.compile(
    "|".join(
        [
            rf"\b{_UNABLE} (?:\w+ly )?{_LOOK} (?:or {_LOOK} )?{_EVIDENCE}{_WHOLE}",
            rf"\b(?:no|not have|n't have|without) (?:\w+ )?access to {_EVIDENCE}{_WHOLE}",
            rf"\b(?:see|have|got|get|find|received|given|sent) no {_EVIDENCE}{_WHOLE}",
            rf"\b(?:do|did|have)(?: not|n't) (?:have|receive|received|get|got|{_GIVE}|{_GIVEN}) {_EVIDENCE}{_WHOLE}",
            rf"\bno {_EVIDENCE} (?:{_BE} )*(?:{_GIVEN}\b|{_THERE}\b{_WHOLE})",
            rf"\bno (?:visual \w+|{_NAMES}(?: input)?){_END}",
            rf"{_SUBJECT}{_NOT} (?:{_BE} )?(?:{_GIVEN}|{_LOOKED}|available|accessible|load|open|play)\b{_WHOLE}",
            rf"{_SUBJECT}(?:failed to (?:load|open|play|upload)|{_BE} (?:missing|unavailable|inaccessible))\b",
            rf"\b(?:please|could you) (?:re-?)?{_GIVE} {_EVIDENCE}",
            rf"\bwithout (?:(?:access to|seeing|viewing|watching) )?{_EVIDENCE}{_WHOLE}",
            r"\btext-(?:only|based) (?:\w+ )?(?:model|ai|assistant)\b",
        ]
    )
)


def says_nothing_was_shown(reply: str) -> bool:
    """reply: plain (see `judges.reply.plain`)."""
    return any(_UNSEEN.search(" ".join(part.split())) for part in re.split(r"\n\s*\n", reply))
