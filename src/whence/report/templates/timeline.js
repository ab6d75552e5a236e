// The run over time: its calls, and instants with their values beside the source.

const ROW = 18; // height of a call in pixels, as page.css has it
const LEAST = 0.2; // per cent of the width that a call takes to be drawn
const slider = byId("instant");
let timeline = null; // once it was asked for
let view = [0, 1]; // the events that are drawn: the first, and the one behind the last
let instant = -1; // the number of the one that is shown
let valuesAt = null; // place -> what its variables were when that line was executed last, as of the instant

const unpackTimeline = async () => {
  if (timeline || !data.timeline) return timeline;
  const found = await unpack(data.timeline);
  timeline ??= found;
  view = [0, Math.max(1, timeline.events)];
  slider.max = String(timeline.instants.length - 1);
  drawCalls();
  return timeline;
};

const placeAt = ([, file, line]) => `${timeline.files[file]}:${line}`;

/** The calls in view, a row each; short ones are left out until they are zoomed at. */
function drawCalls() {
  const [from, to] = view;
  const share = (event) => (100 * (event - from)) / (to - from);
  const spans = [];
  for (const [name, row, first, last] of timeline.calls) {
    const [left, right] = [Math.max(0, share(first)), Math.min(100, share(last + 1))];
    if (right <= 0 || left >= 100 || right - left < LEAST) continue;
    const span = element("span", `call tone${row % 3}`, name);
    Object.assign(span.style, { left: `${left}%`, width: `${right - left}%`, top: `${row * ROW}px` });
    spans.push(span);
  }
  if (instant >= 0) {
    const mark = element("span", "moment");
    mark.style.left = `${Math.min(100, Math.max(0, share(timeline.instants[instant][0])))}%`;
    spans.push(mark);
  }
  const rows = timeline.calls.reduce((most, [, row]) => Math.max(most, row + 1), 1);
  byId("calls").style.height = `${rows * ROW}px`;
  byId("calls").replaceChildren(...spans);
}

/** Show twice as much, or half of it, around the instant. */
function zoom(factor, around = timeline.instants[Math.max(0, instant)]?.[0] ?? 0) {
  const whole = Math.max(1, timeline.events);
  const width = Math.min(whole, Math.max(20, (view[1] - view[0]) * factor));
  const from = Math.min(whole - width, Math.max(0, around - width / 2));
  view = [from, from + width];
  drawCalls();
}

/** What lines were when they were executed last, of the calls that are open at an instant. */
function linesAt(number) {
  const open = new Set();
  for (let call = timeline.instants[number][3]; call >= 0; call = timeline.open[call]) open.add(call);
  const found = new Map();
  for (let at = number; at >= 0; at--) {
    const [, , , call, , values] = timeline.instants[at];
    const place = placeAt(timeline.instants[at]);
    if (!open.has(call) || found.has(place)) continue;
    found.set(place, values.filter(([, value, role]) => role !== "returned" && !value.startsWith("0x")).map(([name, value]) => `${name} = ${value}`).join("   "));
  }
  return found;
}

/** Go to an instant: its line, its values, and those of other lines as they were then. */
async function goTo(number, { open = false } = {}) {
  await unpackTimeline();
  if (!timeline?.instants.length) return;
  instant = Math.min(timeline.instants.length - 1, Math.max(0, number));
  const at = timeline.instants[instant];
  const [event, , , , clock, values] = at;
  slider.value = String(instant);
  if (event < view[0] || event >= view[1]) zoom(1, event);
  else drawCalls();
  valuesAt = linesAt(instant);
  const words = `Instant ${instant + 1} of ${timeline.instants.length}, event ${event} of ${timeline.events}, clock ${clock}: `;
  const leave = element("button", "leave", "Leave the timeline");
  leave.addEventListener("click", leaveTimeline);
  byId("now").replaceChildren(words, placeButton(placeAt(at)), " ", leave);
  slider.setAttribute("aria-valuetext", `${words}${placeAt(at)}`);
  const rows = values.map(([name, value, role, writer]) =>
    element("tr", "", [element("td", "name", name), element("td", "", element("span", "chip", value)), element("td", "quiet", role), element("td", "", writerOf(writer))]),
  );
  const told = rows.length ? table(["name", "value", "how", "who wrote it?"], rows) : element("p", "quiet", "This instant read and wrote nothing that is known.");
  byId("now-values").replaceChildren(told);
  await select(placeAt(at), { remember: false, open });
  render(true);
}

function placeButton(place) {
  const button = element("button", "place", place);
  button.dataset.place = place;
  return button;
}

/** A button to the instant that wrote a value, or to its line where that instant is not part of the page. */
function writerOf(writer) {
  if (writer === null) return "";
  if (typeof writer === "string") return [placeButton(writer), element("span", "quiet", " (an instant that was left out)")];
  const button = element("button", "place", `instant ${writer + 1}, ${placeAt(timeline.instants[writer])}`);
  button.dataset.instant = String(writer);
  return button;
}

function leaveTimeline() {
  [instant, valuesAt] = [-1, null];
  byId("now").replaceChildren();
  byId("now-values").replaceChildren();
  drawCalls();
  render(true);
}

const step = (by) => goTo(instant < 0 ? (by > 0 ? 0 : Infinity) : instant + by);

/** The last instant at or before a point of the drawing. */
function instantAt(x) {
  const frame = byId("calls").getBoundingClientRect();
  const event = view[0] + ((x - frame.left) / frame.width) * (view[1] - view[0]);
  let [low, high] = [0, timeline.instants.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (timeline.instants[middle][0] <= event) low = middle;
    else high = middle - 1;
  }
  return low;
}

if (slider) {
  slider.addEventListener("input", () => goTo(Number(slider.value)));
  byId("calls").addEventListener("click", (event) => timeline && goTo(instantAt(event.clientX)));
  byId("calls").addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !timeline) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.5 : 2, timeline.instants[instantAt(event.clientX)]?.[0]);
  }, { passive: false });
  byId("instant-back").addEventListener("click", () => step(-1));
  byId("instant-on").addEventListener("click", () => step(1));
  byId("zoom-in").addEventListener("click", () => unpackTimeline().then(() => zoom(0.5)));
  byId("zoom-out").addEventListener("click", () => unpackTimeline().then(() => zoom(2)));
  new IntersectionObserver((seen, observer) => {
    if (seen.some((one) => one.isIntersecting)) unpackTimeline().then(() => observer.disconnect());
  }, { rootMargin: "400px" }).observe(byId("timeline"));
}
