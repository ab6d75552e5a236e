// The ranking, or the slice, with search and filters.

const FOUND_LINES = 100; // source lines listed for a search
const FIRST = 20; // statements that are listed at first
const list = byId("list");
const find = byId("find");
const filters = { file: byId("by-file"), function: byId("by-function"), technique: byId("by-technique") };
const sliceOrder = Object.keys(details.slice).sort((a, b) => details.slice[a].depth - details.slice[b].depth);
let mode = "ranking";
let shown = []; // the places in the list, in order
let whole = false; // whether more than the first are listed

/** Lines of the source, of unpacked files, that hold a text: the first, and how many there are. */
function sourceLinesWith(query, but) {
  const found = [];
  let count = 0;
  files.forEach((file, index) => {
    const name = data.files[index].name;
    file?.lines.forEach((text, number) => {
      const place = `${name}:${number + 1}`;
      if (but.has(place) || !`${place} ${text}`.toLowerCase().includes(query)) return;
      count += 1;
      if (found.length < FOUND_LINES) found.push([place, text.trim()]);
    });
  });
  return { found, count };
}

function item(place, code, lead, under, where, why) {
  const button = element("button", "item", [
    element("span", "rank", [lead, under]),
    element("span", "where", place),
    where ? element("span", "in", ` in ${where}()`) : null,
    details.changes[place] ? element("span", "mark", "change suggested") : null,
    element("span", "code", code),
    why ? element("span", "why", prose(why)) : null,
  ]);
  button.dataset.place = place;
  return element("li", "", button);
}

function rankedItem(entry) {
  const place = placeOf(entry);
  const made = item(place, data.code[place] ?? "", entry.rank, element("span", "score", entry.score), entry.function, entry.reasons[0]);
  made.classList.add(`h${entry.heat}`);
  return made;
}

function sliceItem(place) {
  const at = details.slice[place];
  const values = at.values.variables.map((v) => `${v.name} = ${v.values[0][0]}`).join(", ");
  const under = element("span", "score", at.depth === 1 ? "step" : "steps");
  return item(place, data.code[place] ?? "", String(at.depth), under, entryAt.get(place)?.function ?? "", values);
}

function wanted(place, query) {
  const entry = entryAt.get(place);
  const text = `${place} ${data.code[place] ?? ""} ${(entry?.reasons ?? []).join(" ")}`.toLowerCase();
  return (
    text.includes(query) &&
    (!filters.file.value || split(place).file === filters.file.value) &&
    (!filters.function.value || entry?.function === filters.function.value) &&
    (!filters.technique.value || entry?.techniques.includes(filters.technique.value))
  );
}

/** Fill the list with what the mode, the search and the filters ask for. */
function showList() {
  const query = find.value.trim().toLowerCase();
  const places = mode === "slice" ? sliceOrder : [...entryAt.keys()];
  shown = places.filter((place) => wanted(place, query));
  const listed = whole ? shown : shown.slice(0, FIRST);
  const items = listed.map((place) => (mode === "slice" ? sliceItem(place) : rankedItem(entryAt.get(place))));
  byId("more").hidden = listed.length === shown.length;
  byId("more").textContent = `Show all ${shown.length}`;
  byId("count").textContent = shown.length < places.length ? `${shown.length} of ${places.length} match` : "";
  if (query) {
    const { found, count } = sourceLinesWith(query, new Set(shown));
    const cut = count > found.length ? `, first ${FOUND_LINES}` : "";
    if (count) items.push(element("li", "group", `${count} other line${count === 1 ? "" : "s"} of the source${cut}`));
    items.push(...found.map(([place, text]) => item(place, text, "", null, "", "")));
    shown = [...shown, ...found.map(([place]) => place)];
  }
  const nothing = query || places.length ? "Nothing matches." : `This result has no ${mode}.`;
  list.replaceChildren(...(items.length ? items : [element("li", "none", nothing)]));
  markItem();
}

/** Search: files that were not looked at yet are unpacked first. */
async function search() {
  showList();
  if (!find.value.trim() || !files.includes(null)) return;
  await Promise.all(files.map((file, index) => file ?? load(index)));
  showList();
}

function markItem() {
  for (const button of list.querySelectorAll(".item")) {
    button.setAttribute("aria-current", String(button.dataset.place === selected));
  }
}

function setMode(next) {
  mode = next;
  byId("mode-ranking").setAttribute("aria-pressed", String(mode === "ranking"));
  byId("mode-slice").setAttribute("aria-pressed", String(mode === "slice"));
  byId("filters").hidden = mode === "slice";
  if (mode === "slice") for (const filter of Object.values(filters)) filter.value = "";
  showList();
}

/** Select the statement that stands `step` places further in the list. */
function move(step) {
  if (!shown.length) return;
  const at = shown.indexOf(selected);
  const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), shown.length - 1);
  if (next >= FIRST && !whole) showAll();
  select(shown[next], { remember: false });
  const button = [...list.querySelectorAll(".item")].find((one) => one.dataset.place === selected);
  button?.focus({ preventScroll: true });
  button?.scrollIntoView({ block: "nearest" });
}

function showAll() {
  whole = true;
  showList();
}

/** Give the filters what there is to choose; one with a single choice is not shown. */
function fillFilters() {
  const choices = {
    file: data.entries.map((entry) => entry.file),
    function: data.entries.map((entry) => entry.function),
    technique: data.entries.flatMap((entry) => entry.techniques),
  };
  for (const [name, filter] of Object.entries(filters)) {
    const names = [...new Set(choices[name])].filter(Boolean).sort();
    filter.append(new Option("all", ""), ...names.map((one) => new Option(one, one)));
    filter.parentElement.hidden = names.length < 2;
  }
}
