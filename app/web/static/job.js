// Follows one job: server-sent events where they work, polling with ETag where they do not.
// When the job ends the page is loaded again, and the server renders the result.
"use strict";

const card = document.querySelector("[data-job]");
const states = JSON.parse(card.dataset.states);
const phases = JSON.parse(card.dataset.phases);
const POLL_MS = 2000;
const FINAL = new Set(["completed", "failed", "cancelled"]);
const find = (name) => card.querySelector(`[data-${name}]`);
let since = Date.parse(card.dataset.since);
let began = card.dataset.began;
let attempt = Number(card.dataset.attempt);
let reached = Math.max(0, find("progress").position); // of this attempt; -1 while nobody can say how far it is
let source = null;
let polling = false;

const write = (name, text) => {
  const element = find(name);
  if (element.textContent !== text) element.textContent = text; // a live region speaks on every change
};

function show(job) {
  if (FINAL.has(job.status)) {
    stop();
    location.reload();
    return;
  }
  const word = (job.progress && phases[job.progress.phase]) || states[job.status];
  const wait = job.wait;
  write("state", word);
  find("state").className = `state ${job.status}`;
  write("wait", wait ? wait.text : "");
  write("eta", wait && wait.eta_low !== null ? `Starts in about ${wait.eta_low} to ${wait.eta_high} s.` : "");
  find("progress").hidden = job.status !== "running";
  showProgress(job);
  since = Date.parse(job.started_at || job.submitted_at);
  began = job.started_at ? "started" : "asked";
  document.title = `${word}: ${card.dataset.name}`;
}

// The bar never goes back within an attempt: an older answer may come late, and saving has no count of its own.
function showProgress(job) {
  const bar = find("progress");
  if (job.attempt !== attempt) {
    attempt = job.attempt;
    reached = 0;
    bar.removeAttribute("value");
    write("count", "");
  }
  const { phase, done = 0, total = 0 } = job.progress || {};
  const part = phase === "saving" ? 1 : total ? done / total : 0;
  if (part < reached || !part) return;
  reached = part;
  bar.max = 1;
  bar.value = part;
  write("count", phase === "saving" ? "" : `${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${card.dataset.unit}${total === 1 ? "" : "s"}`);
}

function tick() {
  const seconds = Math.max(0, (Date.now() - since) / 1000);
  const text = seconds < 10 ? seconds.toFixed(1) : seconds < 120 ? seconds.toFixed(0) : "";
  const span = text ? `${text} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  find("elapsed").textContent = `${began} ${span} ago`;
}

function follow() {
  if (!window.EventSource) return poll();
  source = new EventSource(card.dataset.events);
  for (const name of ["state", "progress", "final"]) {
    source.addEventListener(name, (event) => show(JSON.parse(event.data)));
  }
  // a stream that merely ended comes back by itself; one that was refused (503) is closed for good
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) poll();
  };
}

async function poll() {
  if (polling) return;
  polling = true;
  while (polling) {
    try {
      const answer = await fetch(card.dataset.job, { headers: { Accept: "application/json" } });
      if (answer.ok) show(await answer.json());
    } catch {
      // the service restarts or the network is away: the next turn asks again
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

function stop() {
  polling = false;
  if (source) source.close();
}

setInterval(tick, 200);
follow();
