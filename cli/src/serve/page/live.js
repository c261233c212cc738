"use strict";
// Asks every second how things stand, and shows it. Names come from programs, so they are only ever set as text.
(() => {
  const at = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.textContent = text;
    return node;
  };
  const number = (value) => Number(value).toLocaleString("en", { maximumFractionDigits: 1 });

  function verdictOf({ observed, predicted }) {
    if (observed > 0) return make("td", "verdict violated", "violated");
    if (predicted > 0) return make("td", "verdict violated", "violation predicted");
    return make("td", "verdict fine", "no violation so far");
  }

  function drawProperties(properties) {
    const rows = properties.map((property) => {
      const row = document.createElement("tr");
      row.append(
        make("td", "name", property.name),
        make("td", "formula", property.formula),
        make("td", "count", number(property.observed)),
        make("td", "count", number(property.predicted)),
        verdictOf(property),
      );
      return row;
    });
    document.querySelector("#properties tbody").replaceChildren(...rows);
  }

  function drawFigures(state) {
    const lostLines = state.cut_lines + state.long_lines + state.missed_lines;
    const figures = [
      ["events", number(state.events)],
      ["events a second", number(state.events_per_second)],
      ["threads", number(state.threads)],
      ["window", `${number(state.kept)} steps kept`],
      ["waiting for others", number(state.held)],
      ["search", state.limit ? `cut: ${state.limit}` : "exhaustive"],
      ["lost", `${number(state.lost)} events, ${number(lostLines)} lines`],
      ["refused lines", number(state.refused)],
      ["came twice", number(state.repeated)],
    ];
    if (state.file) figures.push(["recorded", `${number(state.written)} in ${state.file}`], ["not recorded", number(state.unwritten)]);
    const nodes = figures.map(([name, value]) => {
      const box = document.createElement("div");
      box.append(make("dt", "", name), make("dd", "", value));
      return box;
    });
    at("figures").replaceChildren(...nodes);
  }

  let shown = null;
  function show(index, button) {
    const frame = at("violation");
    frame.src = `violation/${index}${location.search}`;
    frame.hidden = false;
    if (shown) shown.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    shown = button;
  }

  // Those that are listed stay, so that what somebody looks at is not taken away.
  let listed = 0;
  let pages = 0;
  function drawViolations({ violations, violation_count }) {
    for (; listed < violations.length; listed += 1) {
      const { property, binding, status, event, page } = violations[listed];
      const words = `${status} ${property}${binding ? `, ${binding}` : ""} (event ${number(event)})`;
      const item = document.createElement("li");
      if (page) {
        const button = make("button", "", words);
        button.type = "button";
        const index = pages;
        pages += 1;
        button.addEventListener("click", () => show(index, button));
        item.append(button);
        if (!shown) show(index, button);
      } else {
        item.append(make("span", "", words));
      }
      at("violations").append(item);
    }
    const more = violation_count - violations.length;
    at("none").hidden = violation_count > 0 && more === 0;
    if (more > 0) at("none").textContent = `${number(violation_count)} in all; the first ${number(violations.length)} are listed`;
  }

  function drawList(id, texts, nothing) {
    at(id).replaceChildren(...(texts.length ? texts : [nothing]).map((text) => make("li", "", text)));
  }

  async function look() {
    try {
      const answer = await fetch(`state${location.search}`);
      if (!answer.ok) throw new Error(await answer.text());
      const state = await answer.json();
      drawProperties(state.properties);
      drawFigures(state);
      drawViolations(state);
      drawList("problems", state.problems, "none");
      const clients = Object.values(state.clients).map(({ name }) => name);
      drawList("clients", clients, "none is connected");
      at("standing").textContent = `${number(state.events)} events, ${number(clients.length)} programs, ${number(state.violation_count)} violations`;
    } catch (error) {
      at("standing").textContent = `the server does not answer: ${error.message}`;
    }
    setTimeout(look, 1000);
  }
  look();
})();
