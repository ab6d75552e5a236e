// What is known of the selected line.

const detail = byId("detail");
const usersOf = new Map(); // place -> the slice lines with an edge to it
for (const [place, at] of Object.entries(details.slice)) {
  for (const edge of at.edges) {
    if (!usersOf.has(edge.to)) usersOf.set(edge.to, []);
    usersOf.get(edge.to).push({ ...edge, to: place });
  }
}
const NOTHING = { variables: [], more: 0 };

function showDetail(place) {
  const entry = entryAt.get(place);
  const at = details.slice[place];
  const code = codeOf(place);
  const parts = [
    element("h2", "", place),
    facts(place, entry, at),
    code ? scrolled(element("pre", "", code)) : null,
    sliceLink(place),
    ...(entry?.reasons ?? []).map((reason) => element("p", "", prose(reason))),
    entry?.counts ? caseMeters(entry.counts) : null,
    ...changeParts(place),
    ...valueParts(place, at),
    ...edgeParts(place, at),
    ...branchParts(place),
    formulaPart(place),
    entry && Object.keys(entry.more).length ? element("h3", "", "In figures") : null,
    entry && Object.keys(entry.more).length ? rowsTable([], Object.entries(entry.more)) : null,
  ];
  if (!entry && !at && !rankBeyond(place).length && place !== data.symptom) {
    parts.push(element("p", "quiet", "This line is neither ranked nor in the slice."));
  }
  detail.replaceChildren(...parts.filter((part) => part !== null));
  detail.scrollTop = 0;
}

/** An element that scrolls sideways can be reached by keys. */
function scrolled(made) {
  made.tabIndex = 0;
  return made;
}

/** A line's text: of those that the page mentions, and of the open file. */
function codeOf(place) {
  const { file, line } = split(place);
  return data.code[place] ?? (data.files[openFile]?.name === file ? files[openFile].lines[line - 1]?.trim() : null) ?? "";
}

/** The rank of a line that stands beyond the list. */
function rankBeyond(place) {
  const known = files[openFile]?.ranks.get(split(place).line);
  return known && split(place).file === data.files[openFile].name ? [known.rank] : [];
}

function facts(place, entry, at) {
  const texts = [];
  const [rank, score] = entry ? [entry.rank, entry.score] : rankBeyond(place);
  if (rank) texts.push(rank.includes("-") ? `ranks ${rank}, tied` : `rank ${rank}`);
  if (score) texts.push(`score ${score}`);
  if (data.steps[place]) texts.push(`step ${data.steps[place].join(", ")} of how it came about`);
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

/** A chip for each value; those of the failing run, its last ones, bear their clock, and are marked when no passing value equals. */
function chips(group, known) {
  if (!group) return [element("span", "quiet", "none")];
  const made = group.values.map((value) => {
    const [text, clock, times] = Array.isArray(value) ? value : [value, -1, 1];
    const chip = element("span", "chip", [text, times > 1 ? element("small", "", ` \u00d7${times}`) : null]);
    if (clock >= 0) chip.title = `at clock ${clock}`;
    if (known && !known.has(text)) chip.classList.add("new");
    return chip;
  });
  if (!group.more) return made;
  const inOrder = Array.isArray(group.values[0]);
  return inOrder ? [element("span", "quiet", `${group.more} earlier, `), ...made] : [...made, element("span", "quiet", `and ${group.more} more`)];
}

/** Buttons to the lines that a value of the line came from: who wrote this? */
function writers(at, name) {
  const edges = data.direction === "backward" ? (at?.edges ?? []) : [];
  const places = edges.filter((edge) => edge.kind === "data" && edge.name === name).map((edge) => edge.to);
  return [...new Set(places)].flatMap((place) => {
    const button = element("button", "place", `written at ${place}`);
    button.dataset.place = place;
    return [" ", button];
  });
}

/** The values of each variable at the line, below its name: in the failing run and in passing runs side by side. */
function valueParts(place, at) {
  const known = details.values[place];
  const here = known?.failing.variables.length ? known.failing : (at?.values ?? NOTHING);
  const there = known?.passing ?? NOTHING;
  const names = [...new Set([...here.variables, ...there.variables].map((group) => group.name))];
  if (!names.length) return [];
  const headings = ["failing run", ...(there.variables.length ? ["passing runs"] : [])];
  const rows = names.flatMap((name) => {
    const [failing, passing] = [here, there].map((side) => side.variables.find((group) => group.name === name));
    const heading = element("th", "", [name, ...writers(at, name)]);
    heading.colSpan = headings.length;
    heading.scope = "rowgroup";
    const cells = [chips(failing, passing && new Set(passing.values))];
    if (there.variables.length) cells.push(chips(passing));
    const row = element("tr", "", cells.map((cell) => element("td", "", cell)));
    if (passing) row.lastChild.title = `from ${known.cases[name]} passing cases`;
    return [element("tr", "name", heading), row];
  });
  const more = Math.max(here.more, there.more);
  const rest = more ? [element("p", "quiet", `and ${more} more variables`)] : [];
  return [element("h3", "", "Values at this line"), table(headings, rows), ...rest];
}

function edgeButton(edge) {
  const button = element("button", "edge", [
    element("span", "by", edge.kind),
    element("span", "known", [edge.text, " "]),
    element("span", "code", [element("span", "where", edge.to), `  ${data.code[edge.to] ?? ""}`]),
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
  const changes = details.changes[place];
  if (!changes) return [];
  const lines = ({ before, after }) =>
    scrolled(element("pre", "", [element("span", "before", `- ${before}`), element("span", "after", `+ ${after}`)]));

  const shown = changes.map((change) =>
    element("div", "change", [
      change.after === null ? element("p", "", prose(change.words)) : lines(change),
      element("span", "quiet", change.outcome),
    ]),
  );
  return [element("h3", "", "Suggested changes"), ...shown];
}

function branchParts(place) {
  const sides = details.branches[place];
  return sides ? [element("h3", "", "Branch sides"), rowsTable(["side", "rank", ""], sides)] : [];
}

function formulaPart(place) {
  const rows = details.formulas[place];
  if (!rows) return null;
  const grid = rowsTable(["formula", "score", "best", "average", "worst rank"], rows);
  return element("details", "", [element("summary", "", "Rank by each formula"), grid]);
}

function openDetail() {
  byId("beside").classList.add("open");
  render();
  detail.focus({ preventScroll: true });
}

function closeDetail() {
  byId("beside").classList.remove("open");
  source.focus({ preventScroll: true });
}

/** What the line's variables are, told beside it: at the instant that is shown, else the last known values in the failing run. */
function valuesBeside(place) {
  if (valuesAt) return valuesAt.get(place) ? element("span", "beside then", valuesAt.get(place)) : null;
  const groups = details.slice[place]?.values.variables ?? [];
  const told = groups.map((group) => `${group.name} = ${group.values.at(-1)[0]}`);
  return told.length ? element("span", "beside", told.join("   ")) : null;
}
