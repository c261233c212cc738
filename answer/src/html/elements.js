// Makes elements. Whatever comes from a trace is set as text or as an attribute, never as markup.

const SVG = document.getElementById("seed").namespaceURI;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

/** An HTML element. */
function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A drawing of a size, in its own units. */
function canvas(box, attributes, ...children) {
  const [, , width, height] = box;
  return svg("svg", { viewBox: box.join(" "), width, height, role: "img", ...attributes }, ...children);
}

/** 1234567 as 1,234,567. */
function number(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "1 cut", "2 cuts". */
function counted(n, thing) {
  return `${number(n)} ${thing}${Number(n) === 1 ? "" : "s"}`;
}

function clip(text, most) {
  const characters = [...text];
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : text;
}

/** Names often differ at their ends. */
function clipMiddle(text, most) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return [...characters.slice(0, most - 1 - tail), "…", ...characters.slice(-tail)].join("");
}

/** The names in at most `most` characters each, such that they can still be told apart if that is possible. */
function shortNames(names, most) {
  const shared = sharedStart(names);
  // Where the names part, but not in the middle of a word like worker-1.
  const begun = /[\p{L}\p{N}_-]*$/u.exec(names[0]?.slice(0, shared) ?? "")[0].length;
  const start = names.length > 1 ? shared - begun : 0;
  const rest = names.map((name) => (name.length > most && start > 1 ? `…${name.slice(start)}` : name));
  const short = rest.map((name) => clipMiddle(name, most));
  return short.map((name, index) => {
    const alike = rest.filter((other, place) => short[place] === name && other !== rest[index]);
    if (!alike.length) return name;
    const parting = sharedStart([rest[index], ...alike]);
    // With the word before the place where they part, if that is short.
    const word = /\p{L}*[^\p{L}]?$/u.exec(rest[index].slice(0, parting))[0].length;
    const from = Math.max(0, parting - (word <= most / 2 ? word : 4));
    return from > 0 ? clip(`…${rest[index].slice(from)}`, most) : clip(rest[index], most);
  });
}

/** How many characters at their beginning all names have in common. */
function sharedStart(names) {
  let length = names[0]?.length ?? 0;
  for (const name of names) while (!name.startsWith(names[0].slice(0, length))) length -= 1;
  return length;
}

/** How wide a text is in the font of labels. */
const textWidth = (() => {
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "12px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  return (text) => ruler.measureText(text).width;
})();

/** A sentence with what stands in backquotes as code. */
function sentence(text) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html("code", {}, part) : part));
}

/** Verdicts have a sign of their own, so that nobody depends on colours. */
const SIGNS = { violated: "✗", satisfied: "✓", pending: "…", ok: "○", unknown: "?" };

function verdictPill(verdict) {
  return html("span", { class: `pill ${verdict}` }, html("span", { "aria-hidden": "true" }, SIGNS[verdict]), html("span", { class: "word" }, ` ${verdict}`));
}

function isViolated(entry) {
  return entry.status === "observed" || entry.status === "predicted";
}

/** Whether the witness is another run than the observed one, so that two are drawn. */
function hasTwoRuns({ drawing, predicted }) {
  const swapped = predicted.swapped ?? drawing.events.filter((event) => event.earlier).length;
  return swapped > 0 && drawing.witness.length > 0;
}
