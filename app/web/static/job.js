// Follows one job: server-sent events where they work, polling with ETag where they do not.
// When the job ends the page is loaded again, and the server renders the result.
"use strict";

const card = document.querySelector("[data-job]");
const states = JSON.parse(card.dataset.states);
const phases = JSON.parse(card.dataset.phases);
const texts = JSON.parse(card.dataset.texts);
const icons = JSON.parse(card.dataset.icons);
const icon = document.querySelector("link[rel=icon]");
const POLL_MS = 2000;
const FINAL = new Set(["completed", "failed", "cancelled"]);
const fill = (text, facts) => text.replace(/%\((\w+)\)s/g, (_, name) => facts[name]);
const whole = (number) => number.toLocaleString("en");
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
  write("wait", wait ? waiting(job, wait) : "");
  write("eta", wait && wait.eta_low !== null ? fill(texts.eta, wait) : "");
  find("progress").hidden = job.status !== "running";
  showProgress(job);
  since = Date.parse(job.started_at || job.submitted_at);
  began = job.started_at ? "started" : "asked";
  icon.href = icons[job.status] || icon.href;
  document.title = fill(texts.title, { state: word, name: card.dataset.name });
}

// As job_words.py does for the page: the words of the API are English.
function waiting(job, wait) {
  const { reason, position } = wait;
  let key = reason;
  if (reason === "backoff" && !job.next_attempt_at) key = "soon";
  if (reason === "user_at_limit" && wait.limit === null) key = "elsewhere";
  if (reason === "workers_busy") key = position === 1 ? "next" : position > texts.most ? "far" : "place";
  const own = whole(wait.yours_ahead || 0) + (position > texts.most ? "+" : "");
  return fill(texts.waits[key], {
    running: wait.running,
    limit: wait.limit,
    tier: job.tier,
    position: whole(position || 0),
    ahead: reason === "user_at_limit" ? own : whole(wait.ahead_of_you || 0),
    at: (job.next_attempt_at || "").slice(11, 19),
  });
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
  const of = fill(total === 1 ? texts.one : texts.many, { num: whole(total) });
  write("count", phase === "saving" ? "" : fill(texts.progress, { done: whole(done), total: of }));
}

function tick() {
  const seconds = Math.max(0, (Date.now() - since) / 1000);
  const text = seconds < 10 ? seconds.toFixed(1) : seconds < 120 ? seconds.toFixed(0) : "";
  const duration = text
    ? fill(texts.seconds, { seconds: text })
    : fill(texts.minutes, { minutes: Math.floor(seconds / 60), seconds: Math.floor(seconds % 60) });
  find("elapsed").textContent = fill(texts[began], { duration });
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
