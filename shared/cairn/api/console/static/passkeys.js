"use strict";
// Passkeys: asks what to sign, lets the browser sign it, and sends the form with the answer.
(() => {
  const able = Boolean(window.PublicKeyCredential && PublicKeyCredential.parseRequestOptionsFromJSON);

  const answer = async (form) => {
    for (const field of form.querySelectorAll("[data-from]")) {
      field.value = document.getElementById(field.dataset.from).value;
    }
    const response = await window.cairnAsk(
      form.dataset.passkey, () => ({ method: "POST", body: new URLSearchParams(new FormData(form)) }),
    );
    const options = await response.json();
    if (!response.ok) throw new Error(options.detail);
    const credential = "add" in form.dataset
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
    return JSON.stringify(credential.toJSON());
  };

  const words = (error) => {
    if (error.name === "InvalidStateError") return "This device has a passkey of yours already.";
    if (error.name === "NotAllowedError") return "No passkey was chosen, or it took too long.";
    return error.message;
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = !able;
    const alert = form.querySelector("[role=alert]");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      alert.hidden = true;
      try {
        form.elements.credential.value = await answer(form);
        form.submit();
      } catch (error) {
        alert.textContent = words(error);
        alert.hidden = false;
      }
    });
  }
  for (const note of document.querySelectorAll("[data-no-passkeys]")) note.hidden = able;
})();
