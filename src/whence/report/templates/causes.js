// The tree of causes: lines that are right are marked, and the tree is walked by keys.

const marked = new Set(); // places of the tree of causes that are known to be right

/** Mark a line of the tree of causes as fine, or no longer: it and what only it led to disappear. */
function markFine(place) {
  const fine = !marked.delete(place);
  if (fine) marked.add(place);
  for (const other of document.querySelectorAll("[data-cause]")) {
    if (other.dataset.cause !== place) continue;
    other.classList.toggle("is-fine", fine);
    const button = other.querySelector(":scope > .fine, :scope > details > .tools > .fine");
    button?.setAttribute("aria-pressed", String(fine));
  }
  const note = byId("marked");
  note.hidden = !marked.size;
  const places = [...marked].map((one) => {
    const button = element("button", "fine", `${one} \u00d7`);
    button.title = "Not fine after all: show it again";
    button.dataset.marked = one;
    return button;
  });
  note.replaceChildren("Marked as fine: ", ...places.flatMap((button) => [button, " "]));
}

const treeKeys = ["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "f"];

/** What a key does in the tree: causes that can be seen are walked like the rows of a list. */
function inTree(summary, key) {
  const folded = summary.parentElement;
  const seen = [...document.querySelectorAll(".cause > details > summary")].filter((one) => one.offsetParent);
  const go = (one) => {
    if (!one) return;
    one.focus();
    select(one.closest(".cause").dataset.cause);
  };
  if (key === "ArrowDown") go(seen[seen.indexOf(summary) + 1]);
  else if (key === "ArrowUp") go(seen[seen.indexOf(summary) - 1]);
  else if (key === "ArrowRight" && !folded.open) folded.open = true;
  else if (key === "ArrowRight") go(folded.querySelector(":scope > .causes summary"));
  else if (key === "ArrowLeft" && folded.open) folded.open = false;
  else if (key === "ArrowLeft") go(folded.parentElement.parentElement.closest(".cause")?.querySelector("summary"));
  else markFine(folded.parentElement.dataset.cause);
}
