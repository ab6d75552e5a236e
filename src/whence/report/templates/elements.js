// What all parts of the page need. Whatever comes from the subject is set as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/** The value that the page holds deflated, in base 64. */
async function unpack(text) {
  const inner = atob(text);
  const bytes = new Uint8Array(inner.length);
  for (let at = 0; at < inner.length; at++) bytes[at] = inner.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const contents = data.files.map(() => null); // of files, once they are asked for
const contentOf = (index) => (contents[index] ??= unpack(data.files[index].content));
if (contents.length) contentOf(0); // the first suspect's: by the time it is shown it has been unpacked
const details = await unpack(data.details); // what is known of single lines, by place

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

const placeOf = (at) => `${at.file}:${at.line}`;

function split(place) {
  const colon = place.lastIndexOf(":");
  return { file: place.slice(0, colon), line: Number(place.slice(colon + 1)) };
}

const entryAt = new Map(data.entries.map((entry) => [placeOf(entry), entry]));
