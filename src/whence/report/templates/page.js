"use strict";
// The page's behaviour. Whatever comes from the subject is set as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const list = byId("list");
const find = byId("find");
const detail = byId("detail");
const help = byId("help");
const FOUND_LINES = 100; // source lines listed for a search

// --- Elements ---------------------------------------------------------------

/** A new element; `content` is text, a node, or a list of them. */
function element(tag, name, content = []) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  for (const part of [content].flat()) if (part !== null) made.append(part);
  return made;
}

/** Parts of a sentence, with what stands in back quotes set as code. */
function prose(text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, number) => (number % 2 ? element("code", "", part) : part));
}

function meter(share, name = "") {
  const inner = element("span");
  inner.style.width = `${Math.round(100 * share)}%`;
  return element("span", `meter ${name}`, inner);
}

// --- Places -----------------------------------------------------------------

const placeOf = (at) => `${at.file}:${at.line}`;
const entryAt = new Map(data.entries.map((entry) => [placeOf(entry), entry]));
const usersOf = new Map(); // place -> the slice lines with an edge to it
for (const [place, at] of Object.entries(data.slice)) {
  for (const edge of at.edges) {
    if (!usersOf.has(edge.to)) usersOf.set(edge.to, []);
    usersOf.get(edge.to).push({ ...edge, to: place });
  }
}

function split(place) {
  const colon = place.lastIndexOf(":");
  return { file: place.slice(0, colon), line: Number(place.slice(colon + 1)) };
}

/** The element of a source line, or null when the page does not hold it. */
function lineElement(place) {
  const { file, line } = split(place);
  return byId(`l${data.files.indexOf(file)}-${line}`);
}

function sourceText(place) {
  const row = lineElement(place);
  return row ? row.lastChild.textContent.trim() : "";
}

// --- The list ---------------------------------------------------------------

let mode = "ranking";
let selected = null;
let shown = []; // the places in the list, in order

const sliceOrder = Object.keys(data.slice).sort((a, b) => data.slice[a].depth - data.slice[b].depth);
let sourceLines = null; // [place, lower-case text] of every line of the page, made at the first search

function linesOfSource() {
  sourceLines ??= data.files.flatMap((file, index) =>
    [...byId(`file${index}`).querySelectorAll(".l")].map((row) => {
      const place = `${file}:${row.id.slice(row.id.indexOf("-") + 1)}`;
      return [place, `${place} ${row.lastChild.textContent}`.toLowerCase()];
    }),
  );
  return sourceLines;
}

function item(place, lead, under, why) {
  const rank = element("span", "rank", [lead, under]);
  const button = element("button", "item", [
    rank,
    element("span", "where", place),
    element("span", "code", sourceText(place)),
    why ? element("span", "why", prose(why)) : null,
  ]);
  button.dataset.place = place;
  return element("li", "", button);
}

function rankedItem(entry) {
  const under = element("span", "score", [entry.score, meter(entry.heat / 9)]);
  return item(placeOf(entry), entry.rank, under, entry.reasons[0]);
}

function sliceItem(place) {
  const at = data.slice[place];
  const values = at.values.variables.map((v) => `${v.name} = ${v.values[0][0]}`).join(", ");
  return item(place, String(at.depth), element("span", "score", at.depth === 1 ? "step" : "steps"), values);
}

function matches(place, query, ...texts) {
  return `${place} ${sourceText(place)} ${texts.join(" ")}`.toLowerCase().includes(query);
}

/** Fill the list with what the mode and the search ask for. */
function showList() {
  const query = find.value.trim().toLowerCase();
  const places = mode === "slice" ? sliceOrder : [...entryAt.keys()];
  const wanted = places.filter((place) => !query || matches(place, query, (entryAt.get(place)?.reasons ?? []).join(" ")));
  const items = wanted.map((place) => (mode === "slice" ? sliceItem(place) : rankedItem(entryAt.get(place))));
  shown = wanted;
  if (query) {
    const listed = new Set(wanted);
    const others = linesOfSource().filter(([place, text]) => !listed.has(place) && text.includes(query));
    const found = others.slice(0, FOUND_LINES).map(([place]) => place);
    const cut = others.length > found.length ? `, first ${FOUND_LINES}` : "";
    if (found.length) items.push(element("li", "group", `${others.length} other line${others.length === 1 ? "" : "s"} of the source${cut}`));
    items.push(...found.map((place) => item(place, "", null, "")));
    shown = [...wanted, ...found];
  }
  const nothing = query ? "Nothing matches." : `This result has no ${mode}.`;
  list.replaceChildren(...(items.length ? items : [element("li", "none", nothing)]));
  markItem();
}

function markItem() {
  for (const button of list.querySelectorAll(".item")) {
    const current = button.dataset.place === selected;
    button.setAttribute("aria-current", String(current));
    if (current) button.scrollIntoView({ block: "nearest" });
  }
}

function setMode(next) {
  mode = next;
  byId("mode-ranking").setAttribute("aria-pressed", String(mode === "ranking"));
  byId("mode-slice").setAttribute("aria-pressed", String(mode === "slice"));
  showList();
}

/** Select the statement that stands `step` places further in the list. */
function move(step) {
  if (!shown.length) return;
  const at = shown.indexOf(selected);
  const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), shown.length - 1);
  select(shown[next], { remember: false });
}

// --- Source -----------------------------------------------------------------

let openFile = -1;

function showFile(index) {
  if (index === openFile) return;
  openFile = index;
  byId("no-source").hidden = index >= 0;
  data.files.forEach((_, number) => {
    byId(`file${number}`).hidden = number !== index;
    byId(`tab${number}`).setAttribute("aria-selected", String(number === index));
    byId(`tab${number}`).tabIndex = number === index ? 0 : -1;
  });
  if (index >= 0) byId(`tab${index}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  showOverview(index);
}

/** Marks beside the source: where in the file the suspicious lines and the slice are. */
function showOverview(index) {
  const rows = index < 0 ? [] : [...byId(`file${index}`).querySelectorAll(".l, .gap")];
  const marks = new Map(); // bucket and kind -> heat
  rows.forEach((row, number) => {
    const bucket = Math.floor((number * 200) / rows.length) / 2;
    const heat = /\bh(\d)/.exec(row.className);
    if (heat) marks.set(`${bucket} hot`, Math.max(Number(heat[1]), marks.get(`${bucket} hot`) ?? 0));
    if (row.classList.contains("sl")) marks.set(`${bucket} slice`, 9);
  });
  const spans = [...marks].map(([key, heat]) => {
    const [bucket, kind] = key.split(" ");
    const mark = element("span", `at-${kind}`);
    mark.style.top = `${bucket}%`;
    mark.style.opacity = kind === "hot" ? String(0.15 + (0.85 * heat) / 9) : "";
    return mark;
  });
  byId("overview").replaceChildren(...spans);
}

/** Show a place: its file, its line in view, its details; remembered in the browser's history unless told not to. */
function select(place, { remember = true, open = false } = {}) {
  lineElement(selected ?? ":0")?.classList.remove("on");
  selected = place;
  showFile(data.files.indexOf(split(place).file));
  const row = lineElement(place);
  if (row) {
    row.classList.add("on");
    bringIntoView(row);
  }
  showDetail(place);
  markItem();
  const address = `#${new URLSearchParams({ at: place })}`;
  if (remember) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  if (open) openDetail();
}

function bringIntoView(row) {
  const box = byId("source");
  const [frame, at] = [box.getBoundingClientRect(), row.getBoundingClientRect()];
  const margin = Math.min(80, frame.height / 4);
  if (at.top < frame.top + margin || at.bottom > frame.bottom - margin) {
    box.scrollTop += at.top - frame.top - frame.height / 3;
  }
}

// --- Details of a line ------------------------------------------------------

function showDetail(place) {
  const entry = entryAt.get(place);
  const at = data.slice[place];
  const close = element("button", "close", "Close");
  close.addEventListener("click", closeDetail);
  const code = sourceText(place);
  const parts = [
    close,
    element("h2", "", place),
    facts(place, entry, at),
    code ? element("pre", "", code) : null,
    ...(entry?.reasons ?? []).map((reason) => element("p", "", prose(reason))),
    entry?.counts ? caseMeters(entry.counts) : null,
    ...changeParts(place),
    entry && Object.keys(entry.more).length ? rowsTable([], Object.entries(entry.more)) : null,
    ...valueParts(place, at),
    ...edgeParts(place, at),
    ...branchParts(place),
    formulaPart(place),
  ];
  if (!entry && !at && !(place in data.ranks) && place !== data.symptom) {
    parts.push(element("p", "quiet", "This line is neither ranked nor in the slice."));
  }
  detail.replaceChildren(...parts.filter((part) => part !== null));
  detail.scrollTop = 0;
}

function facts(place, entry, at) {
  const texts = [];
  const [rank, score] = entry ? [entry.rank, entry.score] : (data.ranks[place] ?? []);
  if (rank) texts.push(rank.includes("-") ? `ranks ${rank}, tied` : `rank ${rank}`, `score ${score}`);
  if (place === data.symptom) texts.push("symptom");
  if (at) texts.push(`slice depth ${at.depth}`);
  if (at?.instances > 1) texts.push(`${at.instances} instances in the slice`);
  return element("div", "facts", texts.map((text) => element("span", "fact", text)));
}

function caseMeters([failing, failingTotal, passing, passingTotal]) {
  const row = (name, count, total) => [
    element("span", "", name),
    meter(total ? count / total : 0, name),
    element("span", "number", `${count} of ${total}`),
  ];
  return element("div", "cases", [...row("failing", failing, failingTotal), ...row("passing", passing, passingTotal)]);
}

function table(headings, rows) {
  const head = element("tr", "", headings.map((heading) => element("th", "", heading)));
  return element("table", "", [headings.length ? element("thead", "", head) : null, element("tbody", "", rows)]);
}

/** A table of plain texts. */
function rowsTable(headings, rows) {
  return table(headings, rows.map((cells) => element("tr", "", cells.map((cell) => element("td", "", cell)))));
}

/** A chip for each value; those of the failing run bear their clock, and are marked when no passing value equals. */
function chips(group, known) {
  if (!group) return [element("span", "quiet", "none")];
  const made = group.values.map((value) => {
    const [text, clock, times] = Array.isArray(value) ? value : [value, -1, 1];
    const chip = element("span", "chip", [text, times > 1 ? element("small", "", ` \u00d7${times}`) : null]);
    if (clock >= 0) chip.title = `at clock ${clock}`;
    if (known && !known.has(text)) chip.classList.add("new");
    return chip;
  });
  if (group.more) made.push(element("span", "quiet", `and ${group.more} more`));
  return made;
}

/** The values of each variable at the line, in the failing run and in passing runs side by side. */
function valueParts(place, at) {
  const known = data.values[place];
  const none = { variables: [], more: 0 };
  const here = known?.failing.variables.length ? known.failing : (at?.values ?? none);
  const there = known?.passing ?? none;
  const names = [...new Set([...here.variables, ...there.variables].map((group) => group.name))];
  if (!names.length) return [];
  const rows = names.map((name) => {
    const [failing, passing] = [here, there].map((side) => side.variables.find((group) => group.name === name));
    const cells = [[name], chips(failing, passing && new Set(passing.values))];
    if (there.variables.length) cells.push(chips(passing));
    const row = element("tr", "", cells.map((cell) => element("td", "", cell)));
    if (passing) row.lastChild.title = `from ${known.cases[name]} passing cases`;
    return row;
  });
  const headings = ["variable", "failing run", ...(there.variables.length ? ["passing runs"] : [])];
  const more = Math.max(here.more, there.more);
  const rest = more ? [element("p", "quiet", `and ${more} more variables`)] : [];
  return [element("h3", "", "Values at this line"), table(headings, rows), ...rest];
}

function edgeButton(edge) {
  const button = element("button", "edge", [
    element("span", "by", edge.kind),
    element("span", "known", [edge.text, " "]),
    element("span", "code", [element("span", "where", edge.to), `  ${sourceText(edge.to)}`]),
  ]);
  button.dataset.place = edge.to;
  return button;
}

function edgeParts(place, at) {
  const users = usersOf.get(place) ?? [];
  const words = ["Depends on", "Used by"];
  if (data.direction === "forward") words.reverse();
  const parts = [];
  if (at?.edges.length) {
    parts.push(element("h3", "", words[0]), ...at.edges.map(edgeButton));
    if (at.more) parts.push(element("p", "quiet", `and ${at.more} more`));
  }
  if (users.length) parts.push(element("h3", "", words[1]), ...users.map(edgeButton));
  return parts;
}

/** The suggested changes of the line: each with the edited line, or in words, and what it did to the cases. */
function changeParts(place) {
  const changes = data.changes[place];
  if (!changes) return [];
  const shown = changes.map((change) => {
    const lines = change.after === null ? [element("span", "", prose(change.words))] : [
      element("code", "before", `- ${change.before}`),
      element("code", "after", `+ ${change.after}`),
    ];
    return element("div", "change", [...lines, element("span", "quiet", change.outcome)]);
  });
  return [element("h3", "", "Suggested changes"), ...shown];
}

function branchParts(place) {
  const sides = data.branches[place];
  return sides ? [element("h3", "", "Branch sides"), rowsTable(["side", "rank", ""], sides)] : [];
}

function formulaPart(place) {
  const rows = data.formulas[place];
  if (!rows) return null;
  const grid = rowsTable(["formula", "score", "best", "average", "worst rank"], rows);
  return element("details", "", [element("summary", "", "Rank by each formula"), grid]);
}

function openDetail() {
  detail.classList.add("open");
  detail.focus({ preventScroll: true });
}

function closeDetail() {
  detail.classList.remove("open");
  byId("source").focus({ preventScroll: true });
}

// --- Theme ------------------------------------------------------------------

const root = document.documentElement;

function storedTheme() {
  try {
    return localStorage.getItem("whence-theme");
  } catch {
    return null; // storage is not open to pages of some kinds; the system's theme serves
  }
}

function toggleTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("whence-theme", root.dataset.theme);
  } catch {
    // not remembered, then
  }
}

// --- Keys and clicks --------------------------------------------------------

function turnFile(step) {
  const next = openFile + step;
  if (data.files[next] !== undefined) showFile(next);
}

const marked = new Set(); // places of the tree of causes that are known to be right

const keys = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => selected && openDetail(),
  "/": () => find.select(),
  "?": () => help.showModal(),
  s: () => setMode(mode === "slice" ? "ranking" : "slice"),
  t: toggleTheme,
  "[": () => turnFile(-1),
  "]": () => turnFile(1),
  Escape: closeDetail,
};

function inSearch(event) {
  if (event.key === "Escape") {
    find.value = "";
    showList();
    find.blur();
  } else if (event.key === "Enter" && shown.length) {
    find.blur();
    select(shown[0], { open: true });
  } else if (event.key === "ArrowDown") {
    find.blur();
    move(1);
  } else return;
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target === find) return inSearch(event);
  if (event.target.matches(".cause > details > summary") && inTree(event.target, event.key)) return event.preventDefault();
  const scrolls = event.target === detail && event.key.startsWith("Arrow");
  const presses = event.target.closest("button, summary") && event.key === "Enter";
  if (scrolls || presses || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

/** Mark a line of the tree of causes as fine, or no longer: it and what only it led to disappear. */
function markFine(place) {
  const fine = !marked.delete(place);
  if (fine) marked.add(place);
  for (const other of document.querySelectorAll("[data-cause]")) {
    if (other.dataset.cause !== place) continue;
    other.classList.toggle("is-fine", fine);
    const button = other.querySelector(":scope > .fine, :scope > details > summary > .fine");
    button?.setAttribute("aria-pressed", String(fine));
  }
  const note = document.getElementById("marked");
  note.hidden = !marked.size;
  const places = [...marked].map((one) => {
    const button = element("button", "fine", `${one} \u00d7`);
    button.title = "Not fine after all: show it again";
    button.dataset.marked = one;
    return button;
  });
  note.replaceChildren("Marked as fine: ", ...places.flatMap((button) => [button, " "]));
}

/** Keys of the tree: causes that can be seen are walked like the rows of a list. Whether the key was one of them. */
function inTree(summary, key) {
  const details = summary.parentElement;
  const seen = [...document.querySelectorAll(".cause > details > summary")].filter((one) => one.offsetParent);
  const go = (one) => {
    if (!one) return;
    one.focus();
    select(one.closest(".cause").dataset.cause);
  };
  if (key === "ArrowDown") go(seen[seen.indexOf(summary) + 1]);
  else if (key === "ArrowUp") go(seen[seen.indexOf(summary) - 1]);
  else if (key === "ArrowRight" && !details.open) details.open = true;
  else if (key === "ArrowRight") go(details.querySelector(":scope > .causes summary"));
  else if (key === "ArrowLeft" && details.open) details.open = false;
  else if (key === "ArrowLeft") go(details.parentElement.parentElement.closest(".cause")?.querySelector("summary"));
  else if (key === "f") markFine(details.parentElement.dataset.cause);
  else return false;
  return true;
}

document.addEventListener("click", (event) => {
  const mark = event.target.closest(".fine");
  if (mark) {
    event.preventDefault(); // a summary stays as it is
    return markFine(mark.dataset.marked ?? mark.closest("[data-cause]").dataset.cause);
  }
  const button = event.target.closest("[data-place]");
  if (button) return select(button.dataset.place, { open: true });
  const row = event.target.closest(".l");
  if (!row || String(getSelection())) return;
  const [file, line] = row.id.slice(1).split("-");
  select(`${data.files[file]}:${line}`, { open: true });
});

byId("overview").addEventListener("click", (event) => {
  const [box, frame] = [byId("source"), byId("overview").getBoundingClientRect()];
  const height = openFile < 0 ? 0 : byId(`file${openFile}`).offsetHeight;
  box.scrollTop = ((event.clientY - frame.top) / frame.height) * height - box.clientHeight / 2;
});

data.files.forEach((_, index) => byId(`tab${index}`).addEventListener("click", () => showFile(index)));
find.addEventListener("input", showList);
byId("mode-ranking").addEventListener("click", () => setMode("ranking"));
byId("mode-slice").addEventListener("click", () => setMode("slice"));
byId("theme").addEventListener("click", toggleTheme);
byId("help-open").addEventListener("click", () => help.showModal());
byId("help-close").addEventListener("click", () => help.close());
byId("to-symptom")?.addEventListener("click", () => select(data.symptom, { open: true }));
addEventListener("popstate", () => selectAddress());

/** Select the place that the address names, if it names one. */
function selectAddress() {
  const named = new URLSearchParams(location.hash.slice(1)).get("at") ?? "";
  if (!/:\d+$/.test(named)) return false;
  select(named, { remember: false });
  return true;
}

if (storedTheme()) root.dataset.theme = storedTheme();
setMode(data.entries.length || !sliceOrder.length ? "ranking" : "slice");
if (!selectAddress()) {
  if (shown.length) select(shown[0], { remember: false });
  else if (data.symptom) select(data.symptom, { remember: false });
  else showFile(data.files.length ? 0 : -1);
}
