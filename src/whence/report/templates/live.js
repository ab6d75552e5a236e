// What only a page has that is served while the search goes on (whence serve).

let version = null; // of the result that is shown
let touched = false; // by who reads it: then nothing is changed under their hands

function liveText(text, isNew) {
  const button = element("button", "", "Show it");
  button.addEventListener("click", () => location.reload());
  byId("live").replaceChildren(text, ...(isNew ? [" There is a newer result. ", button] : []));
}

async function look() {
  try {
    const answer = await fetch("state");
    const state = await answer.json();
    version ??= state.version;
    const isNew = state.version !== version;
    if (isNew && !touched) return location.reload();
    liveText(state.over ? "The search is over." : `Searching: ${state.doing}.`, isNew);
    if (state.over && !isNew) return;
  } catch {
    return liveText("The search has ended: whence serve is not there any more.", false);
  }
  setTimeout(look, 1000);
}

/** A link to the slice from a line, which is made when it is asked for. */
function sliceLink(place) {
  if (!data.live || !(place in details.slice || entryAt.has(place))) return null;
  const link = element("a", "", "Slice from here");
  link.href = `slice?${new URLSearchParams({ at: place })}`;
  link.target = "_blank";
  return element("p", "", link);
}

if (data.live) {
  for (const kind of ["keydown", "pointerdown", "wheel"]) addEventListener(kind, () => (touched = true), { passive: true });
  look();
}
