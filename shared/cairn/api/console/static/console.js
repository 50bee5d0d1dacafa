"use strict";
// Tokens of forms between tabs, one retry after a renewal, copying. Everything else is HTML.
(() => {
  const meta = document.querySelector('meta[name="csrf"]');
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("cairn-session") : null;

  const take = (token) => {
    if (!meta || typeof token !== "string" || !token) return;
    meta.content = token;
    for (const field of document.querySelectorAll('input[name="csrf"]')) field.value = token;
  };
  // The newest page has the newest token: it tells its siblings, which share its cookie.
  if (meta && channel) channel.postMessage(meta.content);
  if (channel) channel.onmessage = (event) => take(event.data);

  // A refused form is no place of its own: going back and reloading lead to the page it was on.
  const form = document.referrer;
  if (document.querySelector('meta[name="refused"]') && form.startsWith(`${location.origin}/`)) {
    history.replaceState(history.state, "", form);
  }

  const banner = () => { document.getElementById("renewed").hidden = false; };

  document.addEventListener("htmx:configRequest", (event) => {
    if (meta) event.detail.headers["x-csrf-token"] = meta.content;
  });

  const renew = async () => {
    const answer = await fetch("/console/csrf", { credentials: "same-origin", redirect: "error" });
    if (!answer.ok) throw new Error(answer.status);
    take((await answer.json()).csrf);
  };
  const rotated = (status, reason) => status === 401 && reason === "session-rotated";

  // Our scripts ask by this: what crossed a renewal is asked once more, with the new token.
  window.cairnAsk = async (url, options = () => ({})) => {
    const ask = () => fetch(url, { credentials: "same-origin", redirect: "error", ...options() });
    const crossed = (answer) => rotated(answer.status, answer.headers.get("x-cairn-reason"));
    const answer = await ask();
    if (!crossed(answer)) return answer;
    await renew().catch(banner);
    const again = await ask();
    if (crossed(again)) banner();
    return again;
  };

  // A tab that nobody can tell, or that comes back out of the history, asks when it is looked at.
  const askAgain = () => { if (meta && !document.hidden) renew().catch(() => {}); };
  if (!channel) document.addEventListener("visibilitychange", askAgain);
  window.addEventListener("pageshow", (event) => { if (event.persisted) askAgain(); });

  document.addEventListener("htmx:responseError", async (event) => {
    const { xhr, elt, requestConfig } = event.detail;
    if (!rotated(xhr.status, xhr.getResponseHeader("x-cairn-reason"))) return;
    if (requestConfig.headers["x-cairn-retry"]) return banner();
    try { await renew(); } catch { return banner(); }
    htmx.ajax(requestConfig.verb, requestConfig.path, {
      source: elt, target: requestConfig.target, headers: { "x-cairn-retry": "1" },
      values: Object.fromEntries(requestConfig.formData ?? []), // the token goes in a header
    });
  });

  // Where a page is not on https or this machine, browsers copy only what is selected.
  const copySelected = (text) => {
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  };
  const copied = async (text) => {
    try { await navigator.clipboard.writeText(text); return true; } catch { return copySelected(text); }
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button || button.dataset.told) return;
    const before = [...button.childNodes];
    button.dataset.told = (await copied(button.dataset.copy)) ? "Copied" : "Not copied";
    button.replaceChildren(button.dataset.told);
    button.focus();
    setTimeout(() => { button.replaceChildren(...before); delete button.dataset.told; }, 4000);
  });

  // The navigation folds where there is no room beside the page; the style sheet says where.
  const menu = document.querySelector("button.menu");
  const fold = (closed) => {
    menu.setAttribute("aria-expanded", String(!closed));
    menu.closest("header").dataset.menu = closed ? "closed" : "open";
  };
  if (menu) {
    menu.hidden = false;
    fold(true);
    menu.addEventListener("click", () => fold(menu.getAttribute("aria-expanded") === "true"));
  }

  // A timeline: server-sent events while the page is looked at, polling where they do not come.
  let source = null;
  const place = () => document.getElementById("live");
  const close = () => { if (source) source.close(); source = null; };
  const poll = () => {
    const live = place();
    close();
    if (!live || !live.dataset.poll) return;
    live.setAttribute("hx-get", `${live.dataset.poll}?after=${live.dataset.after}`);
    htmx.process(live);
  };
  const follow = () => {
    const live = place();
    if (source || document.hidden || !live || !live.dataset.stream || live.hasAttribute("hx-get")) return;
    source = new EventSource(`${live.dataset.stream}?after=${live.dataset.after}`);
    source.addEventListener("lines", (event) => htmx.swap("#steps", event.data, { swapStyle: "beforeend" }));
    source.addEventListener("end", close);
    source.addEventListener("problem", poll);
    source.onerror = () => { if (source && source.readyState === EventSource.CLOSED) poll(); };
  };
  document.addEventListener("DOMContentLoaded", follow);
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else follow(); });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", follow);
})();
