// Forms with data-passkey="create|get" ask the browser for a passkey, and send its answer as their field `credential`.
"use strict";

const SITUATIONS = {
  NotAllowedError: "cancelled", AbortError: "cancelled", InvalidStateError: "known", SecurityError: "insecure",
};

function bytes(text) {
  const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function text(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function decoded(options) {
  const named = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));
  const found = { ...options, challenge: bytes(options.challenge) };
  if (options.user) found.user = { ...options.user, id: bytes(options.user.id) };
  if (options.excludeCredentials) found.excludeCredentials = named(options.excludeCredentials);
  if (options.allowCredentials) found.allowCredentials = named(options.allowCredentials);
  return found;
}

function encoded(credential) {
  const response = {};
  for (const member of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[member]) response[member] = text(credential.response[member]);
  }
  if (credential.response.getTransports) response.transports = credential.response.getTransports();
  return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response });
}

async function ask(form) {
  const answer = await fetch(form.dataset.options, { method: "POST", body: new FormData(form) });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail);
  const publicKey = decoded(body);
  const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
  form.elements.credential.value = encoded(credential);
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  const button = form.querySelector("button");
  const status = form.querySelector("[role=status]");
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const address = form.dataset.address && document.querySelector(form.dataset.address);
    if (address && !address.reportValidity()) return;
    if (address) form.elements.email.value = address.value;
    status.textContent = form.dataset.wait;
    button.disabled = true;
    ask(form).catch((error) => {
      status.textContent = form.dataset[SITUATIONS[error.name] || ""] || error.message;
      button.disabled = false;
    });
  });
}
