// The buttons that step through runs.

/** Four buttons, each with its key; a click tells its name. */
function stepButtons(go) {
  const button = (name, words, icon, key) => {
    const node = html(
      "button",
      { type: "button", "data-go": name, title: `${words} (${key})`, "aria-label": words },
      canvas([0, 0, 16, 16], { "aria-hidden": "true" }, svg("path", { d: icon })),
    );
    node.addEventListener("click", () => go(name));
    return node;
  };
  return [
    button("first", "First step", "M3 3h2v10H3zM13 3v10L6 8z", "Home"),
    button("back", "Step back", "M11 3v10L4 8z", "left arrow"),
    button("on", "Step on", "M5 3v10l7-5z", "right arrow"),
    button("last", "Last step", "M11 3h2v10h-2zM3 3v10l7-5z", "End"),
  ];
}

/** What a key asks for, if it asks to step. */
function stepOfKey(event) {
  const where = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
  const typing = event.target.matches?.("input");
  return typing || event.ctrlKey || event.metaKey || event.altKey ? undefined : where;
}
