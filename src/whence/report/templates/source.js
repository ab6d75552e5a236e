// The source beside the story. A file is unpacked when it is first shown, and only the lines in view are elements.

const LINE = 20; // height in pixels, as page.css has it
const BEYOND = 40; // lines above and below the view that are there already
const source = byId("source");
const files = data.files.map(() => null); // those that were unpacked
let openFile = -1;
let rendered = [0, 0]; // the lines that are elements: the first (from 0), and the one behind the last
let selected = null; // a place

/** Unpack a file: its lines, the functions, and rank and heat of lines. */
async function load(index) {
  const content = await contentOf(index);
  const lines = content.text.split("\n");
  const ranks = new Map(content.ranks.map(([line, rank, heat]) => [line, { rank, heat }]));
  files[index] ??= { lines, ranks, functions: content.functions, inside: linesInComments(content.text) };
  return files[index];
}

/** The numbers (from 0) of lines that begin inside a comment. */
function linesInComments(text) {
  const found = new Set();
  let [line, at] = [0, 0];
  const upTo = (end) => {
    for (let next = text.indexOf("\n", at); next >= 0 && next < end; next = text.indexOf("\n", at)) [line, at] = [line + 1, next + 1];
    return line;
  };
  for (const match of text.matchAll(/\/\*[^]*?(?:\*\/|$)|\/\/.*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g)) {
    if (!match[0].startsWith("/*")) continue;
    const first = upTo(match.index);
    const last = upTo(match.index + match[0].length);
    for (let number = first + 1; number <= last; number++) found.add(number);
  }
  return found;
}

// --- Colours of C -----------------------------------------------------------

const TYPES = new Set("bool char double float int long short signed size_t ssize_t unsigned void FILE".split(" "));
const KEYWORDS = new Set(
  ("auto break case const continue default do else enum extern for goto if inline register restrict return sizeof " +
    "static struct switch typedef union volatile while").split(" "),
);
const TOKEN = /(?<c>\/\*.*?(?:\*\/|$)|\/\/.*)|(?<s>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(?<word>[A-Za-z_]\w*)|(?<n>\d[\w.]*)/g;

/** The parts of a line of C; `inside`: it begins in a comment. */
function coloured(line, inside) {
  const end = inside ? line.indexOf("*/") : -2;
  if (inside && end < 0) return [element("span", "c", line)];
  const parts = inside ? [element("span", "c", line.slice(0, end + 2))] : [];
  const directive = !inside && /^\s*#/.test(line);
  let at = end + 2;
  TOKEN.lastIndex = at;
  for (const match of line.matchAll(TOKEN)) {
    const { c, s, n, word } = match.groups;
    const kind = c ? "c" : s ? "s" : n ? "n" : TYPES.has(word) ? "t" : KEYWORDS.has(word) ? "k" : "";
    const name = directive && !c && !s ? "p" : kind;
    parts.push(line.slice(at, match.index), name ? element("span", name, match[0]) : match[0]);
    at = match.index + match[0].length;
  }
  return [...parts, line.slice(at)];
}

// --- Lines ------------------------------------------------------------------

function lineElement(file, number) {
  const [place, known] = [`${data.files[openFile].name}:${number}`, file.ranks.get(number)];
  const names = ["l", known ? `h${known.heat}` : "", place in details.slice ? "sl" : "", place === data.symptom ? "sy" : "", instant >= 0 && place === placeAt(timeline.instants[instant]) ? "now" : ""];
  const steps = data.steps[place] ?? [];
  const row = element("div", [...names, place === selected ? "on" : ""].filter(Boolean).join(" "), [
    element("i", "", known?.rank ?? ""),
    element("u", "", steps.length ? [element("span", "at-step", String(steps[0]))] : []),
    element("b", "", String(number)),
    element("code", "", coloured(file.lines[number - 1], file.inside.has(number - 1))),
    valuesBeside(place),
  ]);
  row.id = `l${openFile}-${number}`;
  row.dataset.line = place;
  return row;
}

/** Make elements of the lines in view; `anew`: of those, too, that are there. */
function render(anew = false) {
  const file = files[openFile];
  if (!file) return byId("rows").replaceChildren();
  const [top, height] = [Math.floor(source.scrollTop / LINE), Math.ceil(source.clientHeight / LINE)];
  if (!anew && top >= rendered[0] && Math.min(top + height, file.lines.length) <= rendered[1]) return;
  rendered = [Math.max(0, top - BEYOND), Math.min(file.lines.length, top + height + BEYOND)];
  const rows = [];
  for (let number = rendered[0] + 1; number <= rendered[1]; number++) rows.push(lineElement(file, number));
  byId("rows").style.transform = `translateY(${rendered[0] * LINE}px)`;
  byId("rows").replaceChildren(...rows);
}

/** Show a file (-1: none), and a line of it in view. */
async function showFile(index, line = 0) {
  const file = index < 0 ? null : (files[index] ?? (await load(index)));
  if (line && selected !== `${data.files[index]?.name}:${line}`) return; // another line was selected meanwhile
  if (index !== openFile) {
    openFile = index;
    byId("no-source").hidden = index >= 0;
    byId("file").value = String(index);
    byId("room").style.height = `${LINE * (file?.lines.length ?? 0)}px`;
    byId("room").style.minWidth = `calc(${file ? file.lines.reduce((most, text) => Math.max(most, text.length), 0) : 0}ch + 14rem)`;
    source.scrollTop = 0;
    showOverview(file);
  }
  if (line) bringIntoView(line);
  byId("function").textContent = file?.functions.filter(([, first, last]) => first <= line && line <= last).map(([name]) => `in ${name}()`)[0] ?? "";
  render(true);
}

function bringIntoView(line) {
  const [top, height] = [(line - 1) * LINE, source.clientHeight];
  const margin = Math.min(4 * LINE, height / 4);
  if (top < source.scrollTop + margin || top + LINE > source.scrollTop + height - margin) {
    source.scrollTop = top - height / 3;
  }
  source.scrollLeft = 0;
}

/** Marks beside the source: where in the file the suspicious lines and the slice are. */
function showOverview(file) {
  const marks = new Map(); // bucket and kind -> heat
  const mark = (line, kind, heat) => {
    const key = `${Math.floor(((line - 1) * 200) / file.lines.length) / 2} ${kind}`;
    marks.set(key, Math.max(heat, marks.get(key) ?? 0));
  };
  for (const [line, { heat }] of file?.ranks ?? []) mark(line, "hot", heat);
  for (const place of file ? Object.keys(details.slice) : []) {
    if (split(place).file === data.files[openFile].name) mark(split(place).line, "slice", 9);
  }
  const spans = [...marks].map(([key, heat]) => {
    const [bucket, kind] = key.split(" ");
    const span = element("span", `at-${kind}`);
    span.style.top = `${bucket}%`;
    span.style.opacity = kind === "hot" ? String(0.1 + (0.9 * heat) / 9) : "";
    return span;
  });
  byId("overview").replaceChildren(...spans);
}

/** Show a place: its file, its line in view, its details; remembered in the browser's history unless told not to. */
function select(place, { remember = true, open = false } = {}) {
  selected = place;
  const { file, line } = split(place);
  const shown = showFile(data.files.findIndex((one) => one.name === file), line);
  showDetail(place);
  markItem();
  const address = `#${new URLSearchParams({ at: place })}`;
  if (remember) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  if (open) openDetail();
  return shown;
}

/** Select the line that stands `step` lines further in the file. */
function moveLine(step) {
  const at = selected && split(selected);
  const file = files[openFile];
  if (!file) return;
  const line = at?.file === data.files[openFile].name ? at.line + step : 1;
  if (line >= 1 && line <= file.lines.length) select(`${data.files[openFile].name}:${line}`, { remember: false });
}
