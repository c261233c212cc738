"use strict";
// Asks every second how things stand, and shows it. Names come from programs, so they are only ever set as text.
(() => {
  const at = (id) => document.getElementById(id);
  const make = (tag, className, ...inside) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...inside);
    return node;
  };
  const number = (value) => Number(value).toLocaleString("en", { maximumFractionDigits: 1 });
  const counted = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;

  // What is as it was stays in place, so that it can be selected and copied.
  const before = new Map();
  function redraw(id, nodes) {
    const drawn = nodes.map((node) => node.outerHTML).join("");
    if (before.get(id) === drawn) return;
    before.set(id, drawn);
    at(id).replaceChildren(...nodes);
  }

  function badgeOf({ observed, predicted }) {
    if (observed > 0) return make("span", "badge observed", "OBSERVED");
    if (predicted > 0) return make("span", "badge predicted", "PREDICTED");
    return make("span", "badge holds", "none so far");
  }

  function drawProperties(properties) {
    const rows = properties.map((property) => {
      const name = make("td", "", make("span", "name", property.name), make("span", "formula", property.formula));
      const counts = [property.observed, property.predicted].map((count) => make("td", "count", number(count)));
      return make("tr", "", make("td", "verdict", badgeOf(property)), name, ...counts);
    });
    redraw("rows", rows);
  }

  function drawFigures(state) {
    const lostLines = state.cut_lines + state.long_lines + state.missed_lines;
    const figures = [
      ["events", number(state.events)],
      ["events a second", number(state.events_per_second)],
      ["threads", number(state.threads)],
      ["window", counted(state.kept, "step")],
      ["waiting for others", number(state.held)],
      ["search", state.limit ? `cut: ${state.limit}` : "exhaustive"],
      ["lost", `${counted(state.lost, "event")}, ${counted(lostLines, "line")}`],
      ["refused lines", number(state.refused)],
      ["came twice", number(state.repeated)],
    ];
    if (state.file) figures.push([`recorded in ${state.file}`, `${counted(state.written, "event")}, ${number(state.unwritten)} left out`]);
    redraw("figures", figures.map(([name, value]) => make("div", value.length > 16 ? "wide" : "", make("dt", "", name), make("dd", "", value))));
  }

  // Violations that are listed stay, and so does what somebody looks at.
  let listed = [];
  let shown = null;
  function show(violation) {
    const address = `violation/${violation.index}${location.search}`;
    const frame = at("violation");
    frame.src = address;
    at("alone").firstChild.href = address;
    at("alone").hidden = frame.hidden = false;
    at("past").hidden = true;
    shown?.node.setAttribute("aria-pressed", "false");
    violation.node.setAttribute("aria-pressed", "true");
    shown = violation;
  }

  function list({ property, binding, status, event, page }) {
    const kind = status.toLowerCase();
    const words = binding ? `${property} [${binding}]` : property;
    const node = make(page ? "button" : "span", page ? "" : "plain");
    node.append(make("span", `badge ${kind}`, status), make("span", "what", words), make("span", "when", `event ${number(event)}`));
    node.title = page ? words : `${words}: only the first violations are drawn`;
    const item = make("li", "", node);
    const violation = { item, node, kind, text: words.toLowerCase(), index: listed.length };
    listed.push(violation);
    at("violations").append(item);
    if (!page) return;
    node.type = "button";
    node.setAttribute("aria-pressed", "false");
    node.addEventListener("click", () => show(violation));
    if (at("violation").hidden) show(violation);
  }

  let total = 0;
  function drawViolations({ violations, violation_count }) {
    total = violation_count;
    if (violations.length === listed.length && before.get("total") === total) return;
    before.set("total", total);
    violations.slice(listed.length).forEach(list);
    at("none").hidden = total > 0;
    at("filter").hidden = total === 0;
    filter();
  }

  function filter() {
    const text = at("text").value.trim().toLowerCase();
    const kinds = [...document.querySelectorAll(".switch[aria-pressed='true']")].map((button) => button.dataset.status);
    let passing = 0;
    for (const violation of listed) {
      const passes = kinds.includes(violation.kind) && violation.text.includes(text);
      violation.item.hidden = !passes;
      passing += passes;
    }
    const beyond = total > listed.length ? `; ${number(total)} were found` : "";
    at("found").textContent = `${number(passing)} of ${number(listed.length)}${beyond}`;
  }
  at("text").addEventListener("input", filter);
  for (const button of document.querySelectorAll(".switch")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }

  function drawList(id, texts, nothing) {
    at(id).classList.toggle("nothing", texts.length === 0);
    redraw(id, (texts.length ? texts : [nothing]).map((text) => make("li", "", text)));
  }

  // Another server knows nothing of what this one found; a drawing stays until another is asked for.
  let run = null;
  function meet(server) {
    if (run !== null && run !== server) {
      listed = [];
      shown = null;
      before.delete("total");
      at("violations").replaceChildren();
      at("past").hidden = at("violation").hidden;
      at("alone").hidden = true;
    }
    run = server;
  }

  async function look() {
    const standing = at("standing");
    try {
      const answer = await fetch(`state${location.search}`);
      if (!answer.ok) throw new Error(await answer.text());
      const state = await answer.json();
      meet(state.run);
      drawProperties(state.properties);
      drawFigures(state);
      drawViolations(state);
      drawList("problems", [...state.problems].reverse(), "none");
      const clients = Object.values(state.clients).map(({ name }) => name);
      drawList("clients", clients, "none is connected");
      standing.textContent = [counted(state.events, "event"), counted(clients.length, "program"), counted(state.violation_count, "violation")].join(", ");
      standing.className = "";
    } catch (error) {
      standing.textContent = `The server does not answer (${error.message.trim()}). What is shown is what it last said.`;
      standing.className = "silent";
    }
    setTimeout(look, 1000);
  }
  look();
})();
