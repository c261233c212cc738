// Traces and properties whose reports are looked at, besides those of the examples.

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

/** Pseudo-random numbers below some bound, the same in every run. */
function dice(seed) {
  return (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
}

/**
 * Eight workers that take locks and send each other messages; near the end one of them reports on a job
 * that another has just finished, and nothing makes it wait for that.
 */
export function busy(events) {
  const roll = dice(7);
  const list = [{ portent: 1, init: { done: 0, load: 0 } }];
  const worker = (n) => `worker-${n}`;
  const at = (line) => ({ loc: `src/pool.rs:${line}` });
  let message = 0;
  const section = (t, lock, inner) => [{ t, op: "lock", lock }, ...inner, { t, op: "unlock", lock }];
  while (list.length < events - 12) {
    const t = worker(roll(8));
    const kind = roll(4);
    if (kind === 0) list.push(...section(t, `shelf-${roll(3)}`, [event(t, "put", at(10 + roll(80)))]));
    if (kind === 1) {
      message += 1;
      list.push({ t, op: "send", chan: "jobs", msg: message }, { t: worker(roll(8)), op: "recv", chan: "jobs", msg: message });
    }
    if (kind === 2) list.push({ t, op: "write", var: "load", val: roll(40), ...at(120) });
    if (kind === 3) list.push(event(t, "start", at(131)));
  }
  list.push(
    event("worker-2", "start", at(131)),
    { t: "worker-2", op: "send", chan: "jobs", msg: "last" },
    { t: "worker-5", op: "recv", chan: "jobs", msg: "last" },
    { t: "worker-5", op: "write", var: "done", val: 1, ...at(140) },
    event("worker-2", "put", at(150)),
    event("worker-2", "report", at(160)),
    event("worker-1", "put", at(90)),
  );
  return {
    spec: `property reported {
      event start, put, report
      var done: int = 0
      var load: int = 0
      let finished = done > 0
      let sane = load < 100
      ltl: always (report -> finished && sane)
    }`,
    trace: lines(list),
    options: ["--count", "never"],
  };
}

/** Seven hundred sessions, a few of which are used after they may have been closed. */
export const bindings = {
  spec: "property session(u) { event login(u), request(u), logout(u)\n ltl: always (request -> (!logout since login)) }",
  trace: lines(
    Array.from({ length: 700 }, (_, n) => {
      const user = `user-${n}@${["example.org", "mail.example.com", "a-rather-long-host-name.example.net"][n % 3]}`;
      const other = n % 20 === 7 ? "T2" : "T1";
      const last = n % 100 === 50 ? ["logout", "request"] : ["request", "logout"];
      return [event("T1", "login", { args: [user] }), { t: "T1", op: "send", chan: "c", msg: n }, { t: "T2", op: "recv", chan: "c", msg: n }, ...last.map((name) => event(name === "request" ? other : "T1", name, { args: [user] }))];
    }).flat(),
  ),
};

/** Messages between four threads, with long labels between the lanes that the arrows cross. */
export const messages = {
  spec: "property order { event prepare_the_order, ship_the_order, cancel\n ltl: always (ship_the_order -> once prepare_the_order) }",
  trace: lines([
    event("T1", "prepare_the_order"),
    { t: "T1", op: "send", chan: "c", msg: 1 },
    event("T2", "cancel"),
    event("T3", "prepare_the_order"),
    { t: "T4", op: "recv", chan: "c", msg: 1 },
    event("T4", "ship_the_order"),
    { t: "T4", op: "send", chan: "c", msg: 2 },
    event("T2", "prepare_the_order"),
    event("T3", "cancel"),
    { t: "T1", op: "recv", chan: "c", msg: 2 },
    event("T1", "ship_the_order"),
  ]),
};

/** A message to the neighbour: an arrow that can pass by the labels. */
export const neighbours = {
  spec: "property order { event ask, answer\n ltl: always (answer -> once ask) }",
  trace: lines([
    event("T1", "ask"),
    { t: "T1", op: "send", chan: "c", msg: 1 },
    { t: "T2", op: "recv", chan: "c", msg: 1 },
    event("T2", "answer"),
    { t: "T2", op: "send", chan: "c", msg: 2 },
    { t: "T1", op: "recv", chan: "c", msg: 2 },
    event("T1", "ask"),
  ]),
};

/** Files of which a part could have been read after they were closed; every fiftieth was. */
export function files(count) {
  const events = (n) => {
    const call = (t, name) => event(t, name, { args: [`/var/data/${n}.log`] });
    const read = call(n % 7 < 3 || n % 50 === 49 ? "T1" : "T2", "read");
    const last = n % 50 === 49 ? [call("T1", "close"), read] : [read, call("T1", "close")];
    return [call("T1", "open"), { t: "T1", op: "send", chan: "c", msg: n }, { t: "T2", op: "recv", chan: "c", msg: n }, ...last];
  };
  return {
    spec: "property file(f) { event open(f), read(f), close(f)\n ere: (open read* close)* }",
    trace: lines(Array.from({ length: count }, (_, n) => events(n)).flat()),
  };
}

/** Eight threads with names of sixty characters; one of them uses what another has just done. */
export function longNames(use) {
  const worker = (n) => `tokio-runtime-worker-${n}-of-the-order-processing-service-${n % 3}`;
  const ticks = Array.from({ length: 8 }, (_, n) => event(worker(n), "tick"));
  return {
    spec: `property order { event tick, ${use}\n var done: int = 0\n ltl: always (${use} -> done > 0) }`,
    trace: lines([...ticks, { t: worker(5), op: "write", var: "done", val: 1 }, event(worker(2), use)]),
  };
}

/** Forty names, of which the eight that are about one variable become false. */
export const lets = {
  spec: `property limits { event report
    ${[0, 1, 2, 3, 4].map((n) => `var x${n}: int = 0`).join("\n")}
    ${Array.from({ length: 40 }, (_, n) => `let limit_${n} = x${n % 5} < ${100 + (Math.floor(n / 5) % 3)}`).join("\n")}
    ltl: always (report -> ${Array.from({ length: 40 }, (_, n) => `limit_${n}`).join(" && ")}) }`,
  trace: lines([
    { t: "T1", op: "write", var: "x1", val: 7 },
    { t: "T2", op: "write", var: "x3", val: 500 },
    { t: "T2", op: "write", var: "x3", val: 5 },
    event("T1", "report"),
  ]),
};

/** A step of each of many threads. */
export function crowd(threads) {
  const worker = (n) => `worker-${n}`;
  const round = Array.from({ length: threads }, (_, n) => event(worker(n), "step"));
  return {
    spec: "property order { event step, done, use\n ltl: always (use -> once done) }",
    trace: lines([...round, ...round, event(worker(7), "done"), event(worker(8), "use")]),
    options: ["--count", "never"],
  };
}
