// The chat widget of Cairn: one plain script, without a build step. docs/use/widget.md says how to use it.
// It draws into a shadow root, writes texts as text and never as markup, and keeps nothing but a session.
(() => {
  "use strict";
  if (window.Cairn) return;
  const script = document.currentScript;
  const WORDS = {
    close: "Close the chat", send: "Send", sources: "Sources",
    you: "You", us: "Answer", writing: "An answer is being written",
    lost: "This was not answered. Check your connection and try again.",
    solved: "That helped", ended: "Glad to hear it. Write again whenever you like.",
    check: "One moment: we check that a browser is there.",
    unchecked: "Your browser could not be checked. Try again in a moment.",
    person: "Talk to a person", pending: "A person was asked to join. Write on: nothing is lost.",
    accepted: "{name} answers from now on.", left: "{name} has left; somebody else is asked to join.",
    returned: "You are talking to our assistant again.", closed: "This chat was closed. Write again whenever you like.",
    ticket: "Nobody could come in time. We have made a ticket of this chat and will be in touch: {ticket}",
  };
  const CSS = `
    :host { all: initial; }
    * { box-sizing: border-box; }
    .root { position: fixed; bottom: 16px; z-index: 2147483000; font: 16px/1.45 var(--font); color: var(--text); }
    .root.right { right: 16px; } .root.left { left: 16px; }
    button, textarea { font: inherit; color: inherit; }
    :focus-visible { outline: 3px solid var(--primary); outline-offset: 2px; }
    .launch { display: block; margin-left: auto; border: 0; border-radius: 28px; min-height: 56px; padding: 0 22px;
      background: var(--primary); color: var(--on); cursor: pointer; box-shadow: 0 4px 16px #0004; }
    .left .launch { margin-left: 0; }
    .panel { display: none; flex-direction: column; width: min(380px, calc(100vw - 32px));
      height: min(560px, calc(100vh - 104px)); height: min(560px, calc(100dvh - 104px)); margin-bottom: 12px;
      background: var(--background); border: 1px solid #8886; border-radius: 12px; overflow: hidden;
      box-shadow: 0 8px 32px #0005; }
    .open .panel { display: flex; }
    header { display: flex; align-items: center; gap: 8px; padding: 10px 8px 10px 16px; background: var(--primary);
      color: var(--on); }
    h2 { flex: 1; margin: 0; font-size: 1rem; font-weight: 600; overflow-wrap: anywhere; }
    header button { border: 0; background: none; color: inherit; width: 40px; height: 40px; font-size: 1.3rem;
      cursor: pointer; border-radius: 8px; }
    header button:focus-visible { outline-color: var(--on); outline-offset: -4px; }
    .log { flex: 1; overflow-y: auto; padding: 12px; display: flex; flex-direction: column; gap: 10px; }
    .say { max-width: 88%; padding: 8px 12px; border-radius: 12px; background: var(--soft); white-space: pre-wrap;
      overflow-wrap: anywhere; align-self: flex-start; }
    .say.you { align-self: flex-end; background: var(--primary); color: var(--on); }
    .say.note { align-self: center; background: none; border: 1px solid currentColor; }
    .say.wait::after { content: "\\2026"; }
    .say, .who, .cites a { unicode-bidi: isolate; }
    .cites { margin: 8px 0 0; padding: 0 0 0 20px; font-size: .85rem; }
    .cites a { color: inherit; }
    .head { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
    form { display: flex; gap: 8px; padding: 10px; border-top: 1px solid #8884; align-items: flex-end; }
    textarea { flex: 1; min-width: 0; resize: none; height: 44px; max-height: 132px; padding: 10px; border: 1px solid
      #767676; border-radius: 8px; background: var(--background); }
    textarea::placeholder { color: inherit; opacity: .75; }
    form button, .solved { border: 0; border-radius: 8px; min-height: 44px; padding: 0 14px; background: var(--primary);
      color: var(--on); cursor: pointer; }
    .deeds { display: flex; flex-wrap: wrap; gap: 8px; }
    .who { display: block; font-size: .8rem; font-weight: 600; }
    .solved { align-self: flex-start; min-height: 36px; background: none; color: inherit; border: 1px solid #767676; }
    [aria-disabled=true] { opacity: .6; cursor: default; }
    @media (prefers-reduced-motion: no-preference) { .panel { animation: rise .15s ease-out; }
      @keyframes rise { from { transform: translateY(8px); opacity: .5; } } }`;
  const TURNSTILE = "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit", LOADING = 15000;
  const CITATION = /\s?\[(doc):([^[\]\n]{1,2000})\]/g;
  const K = [], H0 = [];
  for (let n = 2, at = 0; at < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break; }
    if (!prime) continue;
    if (at < 8) H0.push(((n ** 0.5) % 1) * 2 ** 32 | 0);
    K.push(((n ** (1 / 3)) % 1) * 2 ** 32 | 0);
    at++;
  }

  /** The first 32 bits of SHA-256 of a short ASCII text (FIPS 180-4; one block of 64 bytes). */
  function firstBits(text) {
    const w = new Int32Array(64);
    for (let i = 0; i < text.length; i++) w[i >> 2] |= text.charCodeAt(i) << (24 - 8 * (i % 4));
    w[text.length >> 2] |= 0x80 << (24 - 8 * (text.length % 4));
    w[15] = text.length * 8;
    const turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = H0;
    for (let i = 0; i < 64; i++) {
      const t1 = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    return (H0[0] + a) >>> 0;
  }

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  /** Find what solves a challenge, in slices, so that the page goes on meanwhile. */
  async function work(challenge, bits) {
    for (let number = 0; ; number++) {
      if (firstBits(`${challenge}.${number}`) >>> (32 - bits) === 0) return String(number);
      if (number % 4096 === 4095) await pause(0);
    }
  }

  function newId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  class Refusal extends Error {
    constructor(status, problem, wait) {
      super(problem.detail || "");
      Object.assign(this, { status, reason: problem.reason || "", wait });
    }
  }

  /** What the door of a widget is asked; it opens sessions and solves challenges by itself. */
  class Door {
    constructor(base, id, hostToken, turnstile) {
      Object.assign(this, { base: `${base}/v1/widget/${id}`, store: `cairn.${id}`, hostToken, turnstile });
      this.token = this.kept("token");
    }
    kept(name) { try { return sessionStorage.getItem(`${this.store}.${name}`); } catch { return null; } }
    keep(name, value) {
      try {
        if (value === null) sessionStorage.removeItem(`${this.store}.${name}`);
        else sessionStorage.setItem(`${this.store}.${name}`, value);
      } catch { /* without storage a session ends with its page */ }
    }
    async ask(method, path, body, accept) {
      const headers = { accept: accept || "application/json" };
      if (this.token) headers.authorization = `Bearer ${this.token}`;
      if (body !== undefined) headers["content-type"] = "application/json";
      const options = { method, headers, credentials: "omit", cache: "no-store", referrerPolicy: "origin" };
      const answer = await fetch(this.base + path, { ...options, body: body && JSON.stringify(body) });
      if (answer.ok) return answer;
      const problem = await answer.json().catch(() => ({}));
      throw new Refusal(answer.status, problem, Number(answer.headers.get("retry-after")) || 0);
    }
    async open() {
      this.token = null;
      const token = this.hostToken ? await this.hostToken() : null;
      const answer = await this.ask("POST", "/sessions", token ? { host_token: token } : {});
      this.token = (await answer.json()).token;
      this.keep("token", this.token);
    }
    async solve() {
      const asked = await (await this.ask("GET", "/challenge")).json();
      const answer = asked.challenge === null ? await this.turnstile() : await work(asked.challenge, asked.bits);
      await this.ask("POST", "/challenge", { answer });
    }
    /** Send a message, opening a session and solving a challenge where that is wanted, each once. */
    async say(message, accept, notice) {
      if (!this.token) await this.open();
      let opened = false, solved = false;
      for (;;) {
        const turn_id = this.begun(message);
        try {
          return await this.ask("POST", "/messages", { message, turn_id }, accept);
        } catch (refusal) {
          if (refusal.status < 500) this.keep("turn", null); // it is known that it was not begun
          if (refusal.status === 401 && !opened) { opened = true; await this.open(); }
          else if (refusal.reason === "challenge" && !solved) { solved = true; notice(); await this.solve(); }
          else throw refusal;
        }
      }
    }
    /** The message of which it is not known what became. Sent again it has the same id: it is said once. */
    unknown() { try { return JSON.parse(this.kept("turn")); } catch { return null; } }
    begun(message) {
      const before = this.unknown();
      const id = before && before.message === message ? before.id : newId();
      this.keep("turn", JSON.stringify({ id, message }));
      this.turnId = id; // where nothing can be kept
      return id;
    }
    /** Hear an answer: `hear(name, data)` for each piece; comes back when it has ended. */
    async hear(message, hear, notice) {
      let answer;
      try {
        answer = await this.say(message, "text/event-stream", notice);
      } catch (refusal) {
        if (refusal.status !== 501) throw refusal; // where nothing streams, it comes whole
        const whole = await (await this.say(message, "application/json", notice)).json();
        this.keep("turn", null);
        return hear("turn_end", whole);
      }
      await this.rest(this.turnId, hear, answer.body);
    }
    /** Hear what is told of a turn: from its stream, and by asking where there is none, or it was cut. */
    async rest(turnId, hear, body) {
      let last = 0, ended = false;
      const told = (name, data, seq) => {
        if (seq && seq <= last) return;
        last = seq || last;
        ended = ended || name === "turn_end" || name === "problem";
        hear(name, data);
      };
      if (body) try { await events(body, told); } catch { /* cut off: the rest is asked for */ }
      for (let tries = 0, failed = 0; !ended && tries < 200; tries++) {
        try {
          const page = await (await this.ask("GET", `/turns/${turnId}?after=${last}`)).json();
          for (const item of page.items) told(item.name, item.data, item.seq);
          if (page.ended) break;
        } catch (problem) {
          if (problem.status < 500 || ++failed > 60) {
            if (problem.status === 404) this.keep("turn", null); // it never came there
            throw new Refusal(problem.status || 0, {}, 0);
          }
        }
        await pause(500);
      }
      this.keep("turn", null);
      if (!ended) throw new Refusal(0, {}, 0);
    }
    async state() { return (await (await this.ask("GET", "/session")).json()).state; }
    /** Hear a person: `hear(view)` for what is new after a mark; comes back when nobody answers any more. */
    async person(mark, hear) {
      for (let wait = 0; ; wait = Math.min(wait + 1000, 5000)) {
        let told = false;
        try {
          let view = await this.lines(mark.after);
          if (view.id !== mark.id) { // another time that a person was asked for: its lines begin anew
            Object.assign(mark, { id: view.id, after: 0 });
            view = await this.lines(0);
          }
          mark.after = view.after;
          const over = view.state !== "pending" && view.state !== "active";
          if (view.lines.length) wait = 0;
          hear({ ...view, over });
          if (over) return;
          const path = `/hand-off/events?after=${mark.after}`;
          const answer = await this.ask("GET", path, undefined, "text/event-stream");
          await events(answer.body, (name, data, seq) => {
            wait = 0;
            told = told || name === "state";
            if (name === "line" && seq > mark.after) { mark.after = seq; hear({ lines: [data] }); }
          });
        } catch (refusal) {
          if ([401, 403, 404].includes(refusal.status)) throw refusal;
        }
        if (!told) await pause(1000 + wait);
      }
    }
    async lines(after) { return (await this.ask("GET", `/hand-off?after=${after}`)).json(); }
  }

  /** Read server-sent events as they come. */
  async function events(body, told) {
    const reader = body.getReader(), decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const of = (name) => (block.match(new RegExp(`^${name}: (.*)$`, "m")) || [])[1];
        if (of("data")) told(of("event"), JSON.parse(of("data")), Number(of("id")) || 0);
      }
      if (done) return;
    }
  }

  /** Black or white, whichever is read better on a colour (WCAG 2). */
  function readable(colour) {
    const part = (at) => {
      const value = parseInt(colour.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    const light = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
    return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
  }

  function element(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  /** Where a citation leads, for people: its name, and a link when it is one of the web. */
  function source(citation) {
    const [uri, ...parts] = citation.replace(/^\[doc:|\]$/g, "").split("#");
    const where = parts.filter((part) => !/^[Lp]\d+-[Lp]\d+$/.test(part));
    const name = [uri, ...where].join(" › ");
    if (!/^https?:\/\//.test(uri)) return document.createTextNode(name);
    return element("a", { href: uri, target: "_blank", rel: "noopener noreferrer" }, name);
  }

  class Chat {
    constructor(door, page, words) {
      Object.assign(this, { door, page, words, busy: false, hearing: false, ticket: "" });
      this.host = element("cairn-chat");
      this.shadow = this.host.attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(CSS);
      this.shadow.adoptedStyleSheets = [sheet];
      this.draw();
      document.body.append(this.host);
    }
    draw() {
      const { theme, texts } = this.page, words = this.words;
      this.log = element("div", { class: "log", role: "log", "aria-live": "off", tabindex: "0", "aria-label": texts.title });
      this.status = element("div", { class: "head", role: "status" });
      this.field = element("textarea", {
        id: "message", rows: "1", maxlength: this.page.max_chars, placeholder: texts.placeholder,
        onkeydown: (event) => this.onKey(event),
      });
      this.button = element("button", { type: "submit" }, words.send);
      const form = element(
        "form", { onsubmit: (event) => { event.preventDefault(); this.send(); } },
        element("label", { class: "head", for: "message" }, texts.placeholder), this.field, this.button,
      );
      this.panel = element(
        "section", { class: "panel", id: "panel", role: "dialog", "aria-label": texts.title },
        element("header", {}, element("h2", {}, texts.title),
          element("button", { type: "button", "aria-label": words.close, onclick: () => this.toggle(false) }, "×")),
        this.log, this.status, element("slot", { name: "challenge" }), form,
      );
      this.launch = element("button", {
        class: "launch", type: "button", "aria-expanded": "false", "aria-controls": "panel",
        onclick: () => this.toggle(!this.root.classList.contains("open")),
      }, texts.title);
      this.root = element("div", { class: `root ${theme.side}` }, this.panel, this.launch);
      this.panel.addEventListener("keydown", (event) => { if (event.key === "Escape") this.toggle(false); });
      for (const name of ["primary", "background", "text", "font"]) this.root.style.setProperty(`--${name}`, theme[name]);
      this.root.style.setProperty("--on", readable(theme.primary));
      this.root.style.setProperty("--soft", `color-mix(in srgb, ${theme.text} 8%, ${theme.background})`);
      this.shadow.append(this.root);
      this.said = [];
      this.add("us", texts.greeting);
      let earlier = [];
      try { earlier = JSON.parse(this.door.kept("said")) || []; } catch { /* begins anew */ }
      if (this.door.token && Array.isArray(earlier)) {
        for (const each of earlier) this.add(each.by, each.text, each.citations, true, each.name);
        this.goOn();
      }
      setInterval(() => { if (this.root.classList.contains("open") && !document.hidden) this.look(); }, 15000);
    }
    /** Go on after a reload: with the message whose answer was not heard, and with a person. */
    async goOn() {
      const before = this.door.unknown();
      if (before) await this.exchange(before.message, (hear) => this.door.rest(before.id, hear));
      await this.look(this.door.kept("heard") !== null);
    }
    /** See whether a person has this chat by now, or had it when `before`, and hear them. */
    async look(before = false) {
      if (this.hearing || this.busy || !this.door.token) return;
      try {
        const state = await this.door.state();
        if (before || state.startsWith("handoff") || state === "closed") this.listen();
      } catch { /* the next message says so */ }
    }
    async askPerson() {
      this.shadow.querySelector(".deeds")?.remove();
      try {
        await this.door.ask("POST", "/hand-off");
        this.listen();
      } catch (refusal) {
        this.note(refusal.message || this.words.lost);
      }
      this.field.focus();
    }
    /** Hear a person until nobody answers any more; what was shown before is not shown again. */
    async listen() {
      if (this.hearing) return;
      this.hearing = true;
      this.shadow.querySelector(".deeds")?.remove();
      const session = this.door.token;
      let mark = null;
      try { mark = JSON.parse(this.door.kept("heard")); } catch { /* hears all */ }
      if (!mark || mark.session !== session) mark = { session, id: null, after: 0 };
      try {
        await this.door.person(mark, (view) => {
          for (const line of view.lines) this.line(line);
          this.door.keep("heard", JSON.stringify(mark));
          if (view.over && (view.state === "closed" || view.state === "ticket")) this.over(view);
        });
      } catch { /* the session is over */ }
      this.hearing = false;
    }
    line(line) {
      const name = line.name || this.words.us;
      if (line.kind === "said") {
        if (line.speaker !== "operator") return;
        this.add("us", line.text || "", null, true, name);
        this.status.textContent = `${name}: ${line.text || ""}`;
      } else if (line.kind !== "closed" && line.kind !== "ticket") {
        const word = this.words[line.kind === "requested" ? "pending" : line.kind] || "";
        this.note(word.replace("{name}", name), true);
      }
      this.keepSaid();
    }
    over(view) {
      this.note(this.words[view.state].replace("{ticket}", view.ticket_id || ""));
      this.forget();
    }
    keepSaid() { this.door.keep("said", JSON.stringify(this.said.slice(-40))); }
    forget() {
      this.door.token = null;
      for (const name of ["token", "said", "heard", "turn"]) this.door.keep(name, null);
      this.said = [];
    }
    toggle(open) {
      this.root.classList.toggle("open", open);
      this.launch.setAttribute("aria-expanded", String(open));
      (open ? this.field : this.launch).focus();
      this.log.scrollTop = this.log.scrollHeight;
    }
    onKey(event) {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.send();
    }
    /** Show what somebody said, as text. */
    add(by, text, citations, keep, name) {
      const line = element("div", { class: `say ${by}` });
      this.log.append(line);
      this.write(line, by, text, citations, name);
      if (keep) this.said.push({ by, text, citations, name });
      return line;
    }
    write(line, by, text, citations, name) {
      const speaker = name || (by === "you" ? this.words.you : this.words.us);
      const who = by === "note" ? [] : [element("span", { class: name ? "who" : "head" }, name ? name : `${speaker}: `)];
      line.replaceChildren(...who, by === "us" ? text.replace(CITATION, "").trim() : text);
      if (citations && citations.length) {
        const list = element("ul", { class: "cites", "aria-label": this.words.sources });
        for (const each of citations) list.append(element("li", {}, source(each)));
        line.append(list);
      }
      this.log.scrollTop = this.log.scrollHeight;
    }
    setBusy(busy) {
      this.busy = busy;
      this.button.setAttribute("aria-disabled", String(busy));
      if (busy) this.status.textContent = this.words.writing;
    }
    async send() {
      const text = this.field.value.trim();
      if (!text || this.busy) return;
      this.field.value = "";
      await this.exchange(text, (hear) => this.door.hear(text, hear, () => { this.status.textContent = this.words.check; }));
    }
    /** Show a message and its answer, which `ask(hear)` brings; what was not answered goes back to its field. */
    async exchange(text, ask) {
      this.setBusy(true);
      this.shadow.querySelector(".deeds")?.remove();
      const mine = this.add("you", text);
      const line = this.add("us", "");
      line.classList.add("wait");
      try {
        await this.answer(text, line, ask);
      } catch (refusal) {
        mine.remove();
        line.remove();
        this.field.value = this.field.value || text;
        const wait = refusal.wait ? ` (${refusal.wait < 120 ? `${refusal.wait} s` : `${Math.ceil(refusal.wait / 60)} min`})` : "";
        this.note((refusal instanceof Refusal && refusal.message ? refusal.message : this.words.lost) + wait);
      } finally {
        this.setBusy(false);
      }
    }
    async answer(text, line, ask) {
      let words = "", end = null, problem = null;
      const hear = (name, data) => {
        if (name === "text_chunk") words += data.text;
        else if (name === "text_dropped") words = "";
        else if (name === "turn_end") end = data;
        else if (name === "problem") problem = data;
        if (name === "text_chunk" || name === "text_dropped") this.write(line, "us", words);
      };
      await ask(hear);
      line.classList.remove("wait");
      if (end && end.state === "passed") {
        line.remove();
        this.status.textContent = "";
        this.said.push({ by: "you", text });
        this.keepSaid();
        this.listen();
        return;
      }
      if (problem || !end || end.answer === null) throw new Refusal(0, problem || {}, 0);
      this.write(line, "us", end.answer, end.citations);
      this.status.textContent = `${this.words.us}: ${end.answer.replace(CITATION, "")}`;
      this.said.push({ by: "you", text }, { by: "us", text: end.answer, citations: end.citations });
      this.keepSaid();
      if (this.page.person && (await this.door.state().catch(() => "")).startsWith("handoff")) return void this.listen();
      const deed = (word, does) => element("button", { class: "solved", type: "button", onclick: does }, this.words[word]);
      const deeds = element("div", { class: "deeds" }, deed("solved", () => this.resolve()));
      if (this.page.person) deeds.append(deed("person", () => this.askPerson()));
      this.log.append(deeds);
      this.log.scrollTop = this.log.scrollHeight;
    }
    async resolve() {
      this.shadow.querySelector(".deeds")?.remove();
      try { await this.door.ask("POST", "/resolve"); } catch { /* it was over */ }
      this.forget();
      this.note(this.words.ended);
      this.field.focus();
    }
    note(text, keep) {
      this.add("note", text, null, keep);
      this.status.textContent = text;
    }
    /** Let Turnstile look at the browser, in the page: it knows no shadow roots. */
    async turnstile() {
      const place = element("div", { slot: "challenge" });
      let shown;
      this.host.append(place);
      try {
        if (!window.turnstile) await this.load(TURNSTILE);
        return await new Promise((done, failed) => {
          const refused = () => { failed(); return true; }; // told here, not in the page's console
          shown = window.turnstile.render(place, {
            sitekey: this.page.site_key, action: "cairn-chat", appearance: "interaction-only", size: "flexible",
            retry: "never", callback: done, "error-callback": refused, "timeout-callback": refused,
            "unsupported-callback": refused,
          });
        });
      } catch {
        throw new Refusal(0, { detail: this.words.unchecked }, 0);
      } finally {
        if (shown) window.turnstile.remove(shown);
        place.remove();
      }
    }
    async load(src) {
      const script = element("script", { src });
      const loaded = new Promise((done, failed) => { script.onload = done; script.onerror = failed; });
      document.head.append(script);
      try {
        await Promise.race([loaded, pause(LOADING).then(() => { throw new Error(src); })]);
      } catch (problem) {
        script.remove();
        throw problem;
      }
    }
  }

  async function init(options) {
    const base = (options.url || new URL(script ? script.src : location.href).origin).replace(/\/$/, "");
    const hostToken = typeof options.token === "function" ? options.token : options.token ? () => options.token : null;
    let chat = null;
    const door = new Door(base, options.widget, hostToken, () => chat.turnstile());
    const token = door.token;
    door.token = null;
    const page = await (await door.ask("GET", "")).json();
    door.token = token;
    if (!page.anonymous && !hostToken) return null;
    page.theme = { ...page.theme, ...options.theme };
    chat = new Chat(door, page, { ...WORDS, ...options.words });
    return { open: () => chat.toggle(true), close: () => chat.toggle(false), element: chat.host };
  }

  window.Cairn = { init };
  if (script && script.dataset.widget) {
    const begin = () => init({ widget: script.dataset.widget }).catch((problem) => console.warn("Cairn chat:", problem.message));
    if (document.body) begin(); else document.addEventListener("DOMContentLoaded", begin);
  }
})();
