// Traces and properties whose reports are looked at, beside those of the examples.

const lines = (events) => events.map((event) => JSON.stringify(event)).join("\n") + "\n";
const event = (t, name, more) => ({ t, op: "event", name, ...more });

/** Four threads that never wait for each other: too many cuts to draw. */
export const wide = {
  spec: "property apart { event step\n var a: int = 0\n var b: int = 0\n ltl: always (step -> a <= b + 4) }",
  trace: lines(
    [1, 2, 3, 4, 5, 6].flatMap((step) => [
      { t: "T1", op: "write", var: "a", val: step },
      { t: "T2", op: "write", var: "b", val: step },
      event("T3", "step"),
      event("T4", "step"),
    ]),
  ),
};

/** A property that no order violates. */
export const safe = {
  spec: "property rises { var x: int = 0\n ltl: always (x >= 0) }",
  trace: lines([1, 2, 3].map((step) => ({ t: `T${step}`, op: "write", var: "x", val: step }))),
};

/** A run that is violated as it was observed. */
export const observed = {
  spec: "property never_bad { event good, bad\n ltl: always !bad }",
  trace: lines([event("T1", "good"), event("T1", "bad"), event("T1", "good")]),
};

/** Names that would be markup if they were not only text. */
const markup = "</script><img src=x onerror=\"document.title='broken'\">";
export const hostile = {
  spec: "property session(u) { event login(u), request(u), logout(u)\n ltl: always (request -> (!logout since login)) }",
  trace: lines([
    event(markup, "login", { args: [markup] }),
    event("T2<!--\u2028", "request", { args: [markup] }),
    event(markup, "logout", { args: [markup] }),
  ]),
};

/** A lock lets two sections swap; then one of them can never end. */
export const prefix = {
  spec: "property order { event a, b\n ltl: always (b -> once a) }",
  trace: lines([
    { portent: 1, init: { x: 0 } },
    { t: "T1", op: "lock", lock: "m" },
    { t: "T1", op: "read", var: "x" },
    event("T1", "a"),
    { t: "T1", op: "unlock", lock: "m" },
    { t: "T2", op: "lock", lock: "m" },
    { t: "T2", op: "write", var: "x", val: 1 },
    event("T2", "b"),
  ]),
  options: ["--causality", "maximal"],
};

/** Long stretches where nothing changes, on threads whose long names differ in the middle. */
export const folded = {
  spec: "property order { event a, open, close\n pattern: open precedes close }",
  trace: lines(
    [...Array(60).fill("a"), "open", ...Array(30).fill("a"), "close", ...Array(30).fill("a")].map((name, place) =>
      event(`pool-1[worker-${place % 2},5,main-group-of-threads]`, name),
    ),
  ),
};

/** A long run of two threads; in its middle one closes what the other has just used. */
export function big(events) {
  const what = (place) => {
    if (place + 1 === events / 2) return event("T2", "use");
    if (place === events / 2) return event("T1", "close");
    return event(place % 3 ? "T1" : "T2", "tick");
  };
  return {
    spec: "property closed { event use, close, tick\n ltl: always (close -> always !use) }",
    trace: lines(Array.from({ length: events }, (_, place) => what(place))),
  };
}
