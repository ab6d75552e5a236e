// Theme, keys and clicks; what is shown at first.

const help = byId("help");
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

function turnFile(step) {
  const next = openFile + step;
  if (data.files[next]) showFile(next);
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  Enter: () => selected && openDetail(),
  "/": () => find.select(),
  "?": () => help.showModal(),
  s: () => setMode(mode === "slice" ? "ranking" : "slice"),
  t: toggleTheme,
  "[": () => turnFile(-1),
  "]": () => turnFile(1),
  Escape: closeDetail,
  ...(slider ? { ",": () => step(-1), ".": () => step(1), "+": () => timeline && zoom(0.5), "-": () => timeline && zoom(2) } : {}),
};
const arrows = { ArrowDown: 1, ArrowUp: -1 };

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
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (at === find) return inSearch(event);
  if (at.matches("select, input")) return;
  const act = actionOf(at, event.key);
  if (!act) return;
  event.preventDefault();
  act();
});

/** What a key does on an element; nothing where it is the browser's. */
function actionOf(at, key) {
  if (at.matches(".cause > details > summary") && treeKeys.includes(key)) return () => inTree(at, key);
  if (key in arrows && at === source) return () => moveLine(arrows[key]);
  if (key in arrows && at.closest("#list")) return () => move(arrows[key]);
  const presses = key === "Enter" && at.closest("button, summary, a") && !at.matches("#list .item");
  return presses ? null : keys[key];
}

document.addEventListener("click", (event) => {
  const mark = event.target.closest(".fine");
  if (mark) return markFine(mark.dataset.marked ?? mark.closest("[data-cause]").dataset.cause);
  const written = event.target.closest("[data-instant]");
  if (written) return goTo(Number(written.dataset.instant));
  const button = event.target.closest("[data-place]");
  if (button?.dataset.place) return select(button.dataset.place, { open: !button.matches("summary") });
  const row = event.target.closest(".l");
  if (row && !String(getSelection())) select(row.dataset.line, { open: true });
});

byId("overview").addEventListener("click", (event) => {
  const frame = byId("overview").getBoundingClientRect();
  source.scrollTop = ((event.clientY - frame.top) / frame.height) * byId("room").offsetHeight - source.clientHeight / 2;
});

source.addEventListener("scroll", () => render());
addEventListener("resize", () => render());
find.addEventListener("input", search);
byId("file").addEventListener("change", () => showFile(Number(byId("file").value)));
for (const filter of Object.values(filters)) filter.addEventListener("change", showList);
byId("more").addEventListener("click", showAll);
byId("close").addEventListener("click", closeDetail);
byId("mode-ranking").addEventListener("click", () => setMode("ranking"));
byId("mode-slice").addEventListener("click", () => setMode("slice"));
byId("theme").addEventListener("click", toggleTheme);
byId("help-open").addEventListener("click", () => help.showModal());
byId("help-close").addEventListener("click", () => help.close());
byId("to-symptom")?.addEventListener("click", () => select(data.symptom, { open: true }));
addEventListener("popstate", () => selectAddress());
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("main details")) folded.open = true;
});

/** Select the place that the address names, if it names one. */
function selectAddress() {
  const named = new URLSearchParams(location.hash.slice(1)).get("at") ?? "";
  return /:\d+$/.test(named) ? select(named, { remember: false }) : null;
}

/** Show the first statement, or what the address names. */
async function start() {
  if (storedTheme()) root.dataset.theme = storedTheme();
  byId("file").append(...data.files.map((file, index) => new Option(file.name, String(index))));
  fillFilters();
  setMode(data.entries.length || !sliceOrder.length ? "ranking" : "slice");
  const first = shown[0] ?? data.symptom;
  await (selectAddress() ?? (first ? select(first, { remember: false }) : showFile(data.files.length ? 0 : -1)));
  root.dataset.ready = "";
  performance.mark("whence-ready"); // for who measures how long it took
}

await start();
