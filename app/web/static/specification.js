// Filters what is on the page while somebody types; the form asks the server about the whole document.
"use strict";

const field = document.querySelector("[data-filter]");
const told = document.querySelector("[data-told]");
const sentences = told ? JSON.parse(told.dataset.texts) : {};
const features = [...document.querySelectorAll("details.feature")];
const wasOpen = new Map(features.map((feature) => [feature, feature.open]));
const lines = features.flatMap((feature) => [...feature.querySelectorAll("li")]);
const texts = new Map(lines.map((line) => [line, line.textContent.toLowerCase()]));
const before = told ? told.textContent : "";
const asked = field ? field.value.trim() : "";

function filter() {
  const part = field.value.trim().toLowerCase();
  // what the server found is shown as it is: it also looks into headings
  const isAsked = part === asked.toLowerCase();
  let matching = 0;
  for (const feature of features) {
    const heading = [feature, feature.closest("[data-domain]")].map((one) => one.querySelector("h2, h3").textContent);
    const whole = isAsked || heading.some((words) => words.toLowerCase().includes(part));
    let here = 0;
    for (const line of feature.querySelectorAll("li")) {
      line.hidden = !whole && !texts.get(line).includes(part);
      here += line.hidden ? 0 : 1;
    }
    feature.hidden = here === 0;
    feature.open = isAsked ? wasOpen.get(feature) : here > 0;
    matching += here;
  }
  for (const domain of document.querySelectorAll("[data-domain]")) {
    domain.hidden = !domain.querySelector("details:not([hidden])");
  }
  const more = told.dataset.elsewhere ? ` ${sentences.elsewhere}` : "";
  const here = sentences.here.replace("%(num)s", matching.toLocaleString("en"));
  const text = isAsked ? before : here + more;
  if (told.textContent !== text) told.textContent = text;
}

// a link to a feature opens it, also one that leads here from another page
function open() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.localName === "details") target.open = true;
}

// long contents begin where this page is
const contents = document.querySelector("nav.contents");
const here = contents && contents.querySelector("[data-here]");
if (here) {
  const below = here.getBoundingClientRect().top - contents.getBoundingClientRect().top;
  contents.scrollTop = below - contents.clientHeight / 4;
}

if (field) field.addEventListener("input", filter);
window.addEventListener("hashchange", open);
open();

// paper has no way to open anything
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = features.filter((feature) => !feature.open);
  for (const feature of closed) feature.open = true;
});
window.addEventListener("afterprint", () => {
  for (const feature of closed) feature.open = false;
});

const copy = document.querySelector("[data-copy]");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById("link").value);
    copy.textContent = copy.dataset.copied;
  });
}
