"use strict";
// Verifies a chain with Web Crypto, by the rules of scripts/verify_ledger.py. Asks nobody whether it holds.
(() => {
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
  const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
  const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  const OUTSIDE = new Set(["body", "prev_hash", "hash"]);
  const encoder = new TextEncoder();

  // Canonical JSON: RFC 8785 with integers below 2^53 and no other numbers.
  const canonical = (value, without = new Set(), depth = 64) => {
    if (depth < 0) throw new Error("too deep");
    if (value === null || typeof value === "boolean") return String(value);
    if (typeof value === "number") {
      if (!Number.isSafeInteger(value)) throw new Error("a number without canonical form");
      return String(value === 0 ? 0 : value);
    }
    if (typeof value === "string") {
      if (value.includes("\0") || LONE.test(value)) throw new Error("a character without canonical form");
      return JSON.stringify(value);
    }
    if (Array.isArray(value)) return `[${value.map((each) => canonical(each, undefined, depth - 1)).join(",")}]`;
    const keys = Object.keys(value).filter((key) => !without.has(key)).sort();
    return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key], undefined, depth - 1)}`).join(",")}}`;
  };

  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const unhex = (text) => {
    if (typeof text !== "string" || !/^(?:[0-9a-f]{2})*$/.test(text)) throw new Error("no hex");
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  };
  const unbase64 = (text) => {
    if (typeof text !== "string" || !BASE64.test(text)) throw new Error("no base64");
    return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  };
  const joined = (...parts) => {
    const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    let at = 0;
    for (const part of parts) { whole.set(part, at); at += part.length; }
    return whole;
  };
  const sha256 = async (bytes) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));

  // A line as it was written: the same text again, so no key twice and no number in another form.
  const strict = (text) => {
    const value = JSON.parse(text);
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("no object");
    if (JSON.stringify(value) !== text) throw new Error("written in another form");
    return value;
  };

  const wellFormed = (entry, bodies) => {
    if (bodies) unbase64(entry.body);
    unhex(entry.prev_hash);
    const ids = [entry.id, entry.workspace_id, ...(entry.parent_id === null ? [] : [entry.parent_id]), ...entry.data_subjects];
    return ids.every((id) => UUID.test(id)) && Number.isSafeInteger(entry.position);
  };

  const checks = (chain, bodies) => [
    ["malformed", (entry) => wellFormed(entry, bodies)],
    ["foreign-entry", (entry) => entry.workspace_id === chain.workspace],
    ["gap", (entry) => entry.position === chain.hashes.length],
    ["prev-mismatch", (entry) => entry.prev_hash === chain.hashes.at(-1)],
    ["body-mismatch", async (entry) => !bodies || entry.body_hash === await sha256(unbase64(entry.body))],
    ["meta-not-canonical", (entry) => entry.meta.startsWith("{") && canonical(JSON.parse(entry.meta)) === entry.meta],
    ["hash-mismatch", async (entry) => entry.hash === await sha256(
      joined(Uint8Array.of(1), unhex(chain.hashes.at(-1)), encoder.encode(canonical(entry, OUTSIDE))))],
    ["time-went-back", (entry) => entry.recorded_at >= chain.last],
  ];

  const fault = async (text, chain, bodies) => {
    let entry = null;
    let name = "malformed";
    try {
      entry = strict(text);
      for (const [label, holds] of checks(chain, bodies)) {
        name = label;
        if (!(await holds(entry))) return [entry, name];
      }
    } catch { return [entry, name]; }
    return [entry, null];
  };

  // Lines come from an async generator; the first says whose chain it is and where it ends.
  const verifyChain = async (lines, bodies, progress) => {
    const first = await lines.next();
    const top = JSON.parse(first.value ?? "");
    if (top.format !== "cairn-ledger-1" || !UUID.test(top.workspace_id)) throw new Error("This is no export of a ledger.");
    const chain = { workspace: top.workspace_id, hashes: [], last: "", reason: null, bad: null, line: "" };
    chain.hashes.push(await sha256(unhex(chain.workspace.replaceAll("-", ""))));
    for await (const text of lines) {
      const [entry, reason] = await fault(text, chain, bodies);
      if (reason) { Object.assign(chain, { reason, bad: chain.hashes.length, line: text }); break; }
      chain.hashes.push(entry.hash);
      chain.last = entry.recorded_at;
      if (chain.hashes.length % 500 === 0) progress(chain.hashes.length - 1, top.head.position);
    }
    const checked = chain.hashes.length - 1;
    if (!chain.reason && (top.head.position !== checked || top.head.hash !== chain.hashes[checked])) {
      chain.reason = "head-mismatch";
      chain.bad = Math.min(top.head.position, checked) + (top.head.position === checked ? 0 : 1);
    }
    return { ...chain, checked };
  };

  const publicKey = async (bytes) => {
    const text = new TextDecoder("latin1").decode(bytes);
    const pem = /-----BEGIN PUBLIC KEY-----([\s\S]+?)-----END PUBLIC KEY-----/.exec(text);
    const der = pem ? unbase64(pem[1].replace(/\s/g, "")) : bytes;
    const kind = hex(der).includes("06032b6570") ? { name: "Ed25519" } : { name: "ECDSA", namedCurve: "P-256" };
    try {
      return { key: await crypto.subtle.importKey("spki", der, kind, false, ["verify"]), kind };
    } catch (error) {
      if (error.name === "NotSupportedError") throw new Error(`This browser cannot check ${kind.name} signatures: use scripts/verify_ledger.py.`);
      throw new Error("This is no public key of Ed25519 or P-256.");
    }
  };

  // Web Crypto takes r and s of an ECDSA signature, each of 32 bytes; the anchors have DER.
  const rawOf = (der) => {
    const number = (at) => {
      const size = der[at + 1];
      const value = der.slice(at + 2, at + 2 + size);
      const digits = value[0] === 0 ? value.slice(1) : value;
      if (der[at] !== 2 || digits.length > 32) throw new Error("no signature");
      return [joined(new Uint8Array(32 - digits.length), digits), at + 2 + size];
    };
    if (der[0] !== 0x30 || der[1] !== der.length - 2) throw new Error("no signature");
    const [r, next] = number(2);
    const [s, end] = number(next);
    if (end !== der.length) throw new Error("no signature");
    return joined(r, s);
  };

  const anchorFault = async (text, bytes, known, workspace) => {
    let name = "malformed";
    try {
      const anchor = strict(text);
      if (!("signature" in anchor)) return [anchor, "unsigned"];
      name = "not-authentic";
      const value = unhex(anchor.signature.value);
      const ed25519 = known.kind.name === "Ed25519";
      const how = ed25519 ? "Ed25519" : { name: "ECDSA", hash: "SHA-256" };
      const content = encoder.encode(canonical(anchor, new Set(["signature"])));
      if (!(await crypto.subtle.verify(how, known.key, ed25519 ? value : rawOf(value), content))) return [anchor, name];
      if (anchor.format !== "cairn-anchor-1") return [anchor, "malformed"];
      if (anchor.workspace_id !== workspace) return [anchor, "foreign"];
      return [{ ...anchor, digest: await sha256(bytes) }, null];
    } catch { return [null, name]; }
  };

  const verifyAnchors = async (files, key, chain) => {
    const trusted = [];
    const faults = [];
    let known = null;
    try { known = await publicKey(key); } catch (error) { return { trusted: 0, faults: [error.message] }; }
    for (const file of files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const [anchor, reason] = await anchorFault(new TextDecoder().decode(bytes), bytes, known, chain.workspace);
      if (reason) faults.push(`${file.name}: ${reason}`);
      else trusted.push(anchor);
    }
    const there = new Set(trusted.map((each) => each.number));
    const digests = new Set(trusted.map((each) => `${each.number} ${each.digest}`));
    const missing = new Set();
    for (let number = 1; number < Math.max(0, ...there); number += 1) if (!there.has(number)) missing.add(number);
    for (const each of trusted) {
      if (each.number === 1 && each.previous === null) continue;
      if (!digests.has(`${each.number - 1} ${each.previous}`)) missing.add(each.number - 1);
    }
    for (const number of [...missing].sort((a, b) => a - b)) faults.push(`anchor ${number}: missing`);
    if (!trusted.length) faults.push("no anchor is trusted");
    const wrong = trusted.filter((each) => chain.hashes[each.position] !== each.hash).map((each) => each.position);
    if (!chain.reason && wrong.length) {
      Object.assign(chain, { reason: "head-mismatch", bad: Math.min(...wrong, chain.hashes.length) });
    }
    return { trusted: trusted.length, faults };
  };

  // Where lines come from

  const fromFile = async function* (file) {
    const reader = file.stream().pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop();
      for (const line of lines) if (line || !done) yield line;
      if (done) return;
    }
  };

  const fromServer = async function* () {
    let head = null;
    let after = 0;
    for (;;) {
      const answer = await window.cairnAsk(`/console/ledger/chain?after=${after}`);
      if (!answer.ok) throw new Error("The server does not answer; sign in again, or try later.");
      const [top, ...lines] = (await answer.text()).trimEnd().split("\n");
      if (!head) { head = JSON.parse(top).head; yield top; }
      for (const line of lines) {
        if (after >= head.position) return; // written since: the next verification has it
        after += 1;
        yield line;
      }
      if (!lines.length || after >= head.position) return;
    }
  };

  // What is said of it

  const outcome = document.getElementById("outcome");
  const put = (name, text, parent = outcome, kind = "") => {
    const element = document.createElement(name);
    element.textContent = text;
    if (kind) element.className = kind;
    parent.append(element);
    return element;
  };
  const report = (chain, anchors, live) => {
    outcome.replaceChildren();
    if (chain.reason) {
      const line = put("p", `Bad at entry ${chain.bad}: ${chain.reason}. `, outcome, "wrong");
      if (live) put("a", "The entry", line).href = `/console/ledger/${chain.bad}`;
      put("p", `${Math.min(chain.checked, chain.bad - 1)} entries before it are good.`);
      if (chain.line) {
        put("h3", `Entry ${chain.bad}, as the ${live ? "server" : "file"} has it`);
        put("pre", chain.line.length > 4000 ? `${chain.line.slice(0, 4000)} …` : chain.line).tabIndex = 0;
      }
    } else put("p", `The chain holds: ${chain.checked} entries.`, outcome, "done");
    put("p", "Head: ").append(put("code", chain.hashes.at(-1)));
    if (live) put("p", "Bodies and anchors were not looked at; an export has the bodies.", outcome, "quiet");
    else if (!anchors) put("p", "Without anchors: that the chain was not rewritten as a whole is not shown.", outcome, "quiet");
    else {
      put("p", `${anchors.trusted} anchors are signed by this key.`, outcome, anchors.faults.length ? "" : "done");
      for (const each of anchors.faults) put("p", each, outcome, "wrong");
    }
  };
  const progress = (checked, all) => { outcome.textContent = `${checked} of ${all} entries …`; };

  const run = async (button, work) => {
    button.disabled = true;
    outcome.textContent = "Reading …";
    try {
      if (!window.crypto?.subtle) throw new Error("A browser verifies on https:// and on this machine only.");
      await work();
    } catch (error) {
      outcome.replaceChildren();
      put("p", error.message || "This is no export of a ledger.", outcome, "wrong");
    }
    button.disabled = false;
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#verify-chain");
    if (button) run(button, async () => report(await verifyChain(fromServer(), false, progress), null, true));
  });
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "verify-files") return;
    event.preventDefault();
    const [file, anchors, key] = ["export", "anchors", "key"].map((id) => document.getElementById(id).files);
    run(event.target.querySelector("button"), async () => {
      if (Boolean(anchors.length) !== Boolean(key.length)) throw new Error("Anchors and their public key go together.");
      const chain = await verifyChain(fromFile(file[0]), true, progress);
      const signed = anchors.length ? await verifyAnchors(anchors, new Uint8Array(await key[0].arrayBuffer()), chain) : null;
      report(chain, signed, false);
    });
  });
  // pressed before this script was there, they would do nothing
  for (const button of document.querySelectorAll("#verify-chain, #verify-files button")) button.disabled = false;
})();
