// The labelling page: shows the present clip, sends each answer, and goes on once the server has it on disk.
"use strict";

const PAUSE_AT_END_MS = 1000; // a video rests on its last frame before it starts again
const element = (id) => document.getElementById(id);
const choices = element("choices");
const nullButton = element("null");

let view = null; // what the server said last
let busy = true; // an answer is on its way to the server
let shown = false; // the clip is on the screen: until then it takes no label
let typed = ""; // digits of an outcome's number so far

// What the server says next, and a remark when an answer was not taken.
async function talk(route, message) {
  const options = message === undefined ? {} : { method: "POST", body: JSON.stringify(message) };
  let response;
  try {
    response = await fetch(route, options);
  } catch {
    throw new Error(
      "The server does not answer. Your labels so far are on disk: run label_rollouts.py again and open its new URL.",
    );
  }
  if (response.status === 409) {
    return [await response.json(), "Not taken: this clip was answered before, in another window."];
  }
  if (!response.ok) {
    const text = await response.text();
    throw new Error(response.status === 500 ? `Not saved: ${JSON.parse(text).error}` : `Not saved: ${text}`);
  }
  return [await response.json(), ""];
}

async function act(route, message, said) {
  if (busy) return;
  busy = true;
  try {
    const [next, remark] = await talk(route, message);
    alarm(remark);
    show(next, remark ? "" : said);
  } catch (error) {
    alarm(error.message);
  } finally {
    busy = false;
  }
}

const label = (outcome) =>
  shown && act("label", { clip: view.place, label: outcome }, `${outcome ?? "null"} saved.`);
const undo = () => view.place > 0 && act("undo", { clip: view.place - 1 }, "Last answer taken back.");

function show(next, said = "") {
  view = next;
  typed = "";
  element("progress").max = view.total;
  element("progress").value = view.place;
  for (const id of ["labelling", "review", "result"]) element(id).hidden = true;
  if (view.result) showResult(view.result);
  else if (view.clip) showClip(view.clip, said);
  else showReview(said);
}

function showClip(clip, said) {
  const place = `Clip ${view.place + 1} of ${view.total}`;
  const isNew = element("question").textContent !== clip.question;
  element("labelling").hidden = false;
  element("place").textContent = `${place} · ${clip.scene} ${clip.place + 1} of ${clip.total}`;
  document.title = `${view.place + 1} of ${view.total} · Label rollouts`;
  element("scene").textContent = clip.scene;
  element("question").textContent = clip.question;
  element("asked-heading").textContent = isNew ? "New question" : "Question";
  element("undo").disabled = view.place === 0;
  if (isNew || choices.childElementCount !== clip.outcomes.length) showChoices(clip.outcomes);
  element("outcomes").focus({ preventScroll: true });
  announce(`${said} ${place}, ${clip.scene}. ${isNew ? clip.question : ""}`);
  showMedia(clip, place);
}

function showChoices(outcomes) {
  const many = outcomes.length > 9;
  choices.classList.toggle("numbers", many);
  choices.replaceChildren(
    ...outcomes.map((outcome, index) => {
      const button = document.createElement("button");
      button.type = "button";
      if (!many) {
        const key = document.createElement("kbd");
        key.textContent = index + 1;
        button.append(key, " ");
      }
      button.append(outcome);
      button.addEventListener("click", () => label(outcome));
      return button;
    }),
  );
  // With more than nine outcomes a digit alone decides nothing: 1 might be the start of 12.
  element("hint").textContent = many
    ? "Type the number, then Enter; or choose with the arrow keys."
    : `Keys 1–${outcomes.length} answer at once; or choose with the arrow keys and Enter.`;
}

function showMedia(clip, place) {
  const video = clip.evidence === "video";
  const media = document.createElement(video ? "video" : "img");
  const what = `${place}, ${video ? "video" : "final frame"}`;
  element("skip").hidden = true;
  setShown(false);
  if (video) {
    Object.assign(media, { muted: true, controls: true, playsInline: true, disablePictureInPicture: true });
    media.setAttribute("controlslist", "nodownload noremoteplayback");
    media.setAttribute("aria-label", what);
    media.autoplay = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    media.addEventListener("ended", () => setTimeout(() => media.isConnected && media.play(), PAUSE_AT_END_MS));
  } else {
    media.alt = what;
  }
  media.addEventListener(video ? "loadeddata" : "load", () => {
    // A clip that was left before it came is not the one on the screen.
    if (!media.isConnected) return;
    setShown(true);
    if (view.ahead) new Image().src = view.ahead;
  });
  media.addEventListener("error", () => {
    if (!media.isConnected) return;
    alarm("This clip cannot be shown. Skip it: it gets no label, and is named at the end.");
    element("skip").hidden = false;
  });
  media.src = clip.media;
  element("stage").replaceChildren(media);
}

function showReview(said) {
  element("review").hidden = false;
  element("place").textContent = `${view.total} of ${view.total} clips`;
  element("review-skipped").hidden = view.skipped === 0;
  element("review-skipped").textContent = `Without a label: ${view.skipped}, which could not be shown.`;
  document.title = "All clips done · Label rollouts";
  element("review-heading").focus();
  announce(`${said} All clips are done.`);
  element("stage").replaceChildren();
}

function showResult(result) {
  element("result").hidden = false;
  element("place").textContent = "Labels are final";
  document.title = "Done · Label rollouts";
  element("summary").textContent = result.summary;
  element("agreement").hidden = result.rows.length === 0;
  element("caption").textContent = result.caption;
  element("columns").replaceChildren(...result.columns.map((text) => cell("th", text, "col")));
  element("rows").replaceChildren(
    ...result.rows.map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map((text, index) => (index ? cell("td", text) : cell("th", text, "row"))));
      return line;
    }),
  );
  element("notes").replaceChildren(...result.notes.map((text) => cell("p", text)));
  element("remarks").replaceChildren(...result.remarks.map((text) => cell("li", text)));
  element("rates").hidden = result.command === "";
  element("command").textContent = result.command;
  element("result-heading").focus();
}

function cell(tag, text, scope) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (scope) made.scope = scope;
  return made;
}

function setShown(now) {
  shown = now;
  element("labelling").setAttribute("aria-busy", String(!now));
}

function announce(text) {
  element("status").textContent = text;
}

function alarm(text) {
  element("alert").textContent = text;
  element("alert").hidden = text === "";
}

// The highlight is the focus itself, so that Enter and screen readers need nothing more.
function move(key) {
  const buttons = [...choices.children, nullButton];
  const columns = getComputedStyle(choices).gridTemplateColumns.split(" ").length;
  const now = buttons.indexOf(document.activeElement);
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key];
  const next = now < 0 ? (step > 0 ? 0 : buttons.length - 1) : Math.min(Math.max(now + step, 0), buttons.length - 1);
  buttons[next].focus();
}

function digit(key) {
  const count = choices.childElementCount;
  if (count <= 9) {
    const outcome = view.clip.outcomes[Number(key) - 1];
    if (outcome !== undefined) label(outcome);
    return;
  }
  typed = [typed + key, key].find((text) => Number(text) >= 1 && Number(text) <= count) ?? "";
  if (typed) choices.children[Number(typed) - 1].focus();
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || !view || view.result) return;
  const inVideo = event.target instanceof HTMLVideoElement;
  const letter = event.key.toLowerCase(); // Caps Lock may be on
  if (letter === "u") undo();
  else if (!view.clip) return;
  else if (letter === "n") label(null);
  else if (/^[0-9]$/.test(event.key)) digit(event.key);
  else if (event.key.startsWith("Arrow") && !inVideo) move(event.key);
  else return;
  event.preventDefault();
});

nullButton.addEventListener("click", () => label(null));
element("undo").addEventListener("click", undo);
element("review-undo").addEventListener("click", undo);
element("skip").addEventListener("click", () => act("skip", { clip: view.place }, "Skipped."));
element("finish").addEventListener("click", () => act("finish", {}));

talk("state")
  .then(([first]) => show(first), (error) => alarm(error.message))
  .finally(() => (busy = false));
