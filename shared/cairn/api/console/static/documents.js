"use strict";
// Sends a file as it is, and leads to its page. Without this script a text is sent by the form.
(() => {
  const form = document.getElementById("add");
  if (!form) return;
  const file = document.getElementById("file");
  const wrong = document.getElementById("file-wrong");
  const sending = document.getElementById("sending");
  document.getElementById("choose").hidden = false;

  const refuse = (text) => {
    wrong.textContent = text;
    wrong.hidden = false;
    sending.hidden = true;
    wrong.scrollIntoView({ block: "nearest" });
  };

  file.addEventListener("change", () => {
    const name = document.getElementById("source_uri");
    if (file.files.length && !name.value) name.value = file.files[0].name;
  });

  form.addEventListener("submit", async (event) => {
    if (!file.files.length) return;
    event.preventDefault();
    wrong.hidden = true;
    sending.hidden = false;
    const query = new URLSearchParams();
    for (const name of ["source_uri", "title", "client_id", "scope"]) {
      query.set(name, form.elements[name].value);
    }
    try {
      const answer = await fetch(`${form.dataset.file}?${query}`, {
        method: "POST",
        body: await file.files[0].arrayBuffer(),
        headers: {
          "content-type": "application/octet-stream",
          "x-csrf-token": document.querySelector('meta[name="csrf"]').content,
        },
      });
      if (answer.ok) return location.assign((await answer.json()).path);
      if (answer.status === 413) return refuse("The file is larger than 4 MB: use cairn ingest.");
      if (answer.status === 422) return refuse((await answer.json()).wrong);
      refuse("It was not taken. Reload the page, and try again.");
    } catch { refuse("The server was not reached. Try again."); }
  });
})();
