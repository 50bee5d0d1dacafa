"use strict";
// Uploads: asks where a file goes, puts it there, says how far that is, and sends the form.
(() => {
  const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const DONE = 412; // there are bytes already: the answer to the first try was lost

  const announce = async (form, file) => {
    const told = new URLSearchParams({ csrf: form.elements.csrf.value, name: file.name, size: file.size });
    // An address without TLS that is not this machine has no such function; the size is held to anyway.
    if (crypto.subtle) told.set("sha256", hex(await crypto.subtle.digest("SHA-256", await file.arrayBuffer())));
    const response = await fetch(form.dataset.upload, {
      method: "POST", body: told, credentials: "same-origin", redirect: "error",
    });
    const isJson = (response.headers.get("content-type") || "").includes("json");
    const answer = isJson ? await response.json() : {};
    if (!response.ok) throw new Error(answer.detail || "This was refused: reload the page.");
    return answer;
  };

  const put = (ticket, file, told) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", ticket.url);
    for (const [name, value] of Object.entries(ticket.headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => told(event.loaded / event.total));
    request.addEventListener("load", () => {
      if (request.status < 300 || request.status === DONE) resolve();
      else reject(new Error(`The store refused the file (${request.status}): choose it again.`));
    });
    request.addEventListener("error", () => reject(new Error("The connection was lost: try again.")));
    request.send(file);
  });

  for (const form of document.querySelectorAll("form[data-upload]")) {
    const alert = form.querySelector("[role=alert][hidden]");
    const [place, button] = [form.querySelector("[data-progress]"), form.querySelector("button")];
    const bar = place.querySelector("progress");
    const busy = (is) => { button.disabled = is; place.hidden = !is; };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const file = form.querySelector("input[type=file]").files[0];
      if (!file || button.disabled) return;
      alert.hidden = true;
      bar.value = 0;
      busy(true);
      try {
        const ticket = await announce(form, file);
        await put(ticket, file, (share) => { bar.value = Math.round(100 * share); });
        form.elements.upload_id.value = ticket.upload_id;
        form.elements.name.value = file.name;
        form.submit();
      } catch (error) {
        busy(false);
        alert.textContent = error.message;
        alert.hidden = false;
      }
    });
    window.addEventListener("pageshow", () => busy(false));
  }
})();
