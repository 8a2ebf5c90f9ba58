// What axe finds on a page.  Its look at contrast takes a millisecond for each text, so of texts that are painted alike,
// on grounds that are painted alike, it is shown some: the first, the last, and others between.  This takes a second run,
// which is not worth it on a page of few texts.
async ({ options, most, few }) => {
  const OWN = [
    "color", "backgroundColor", "backgroundImage", "opacity", "fontSize", "fontWeight", "textShadow", "position", "zIndex",
    "filter", "mixBlendMode", "clip", "clipPath", "overflowX", "overflowY", "display",
  ];
  const AROUND = ["content", "position", "backgroundColor", "backgroundImage"];
  const numbers = new Map(); // what is painted alike has one number
  const number = (key) => numbers.get(key) ?? numbers.set(key, numbers.size).get(key);
  const known = new Map([[null, ""]]);
  const painted = (element) => {
    if (!known.has(element)) {
      const style = getComputedStyle(element);
      const pseudo = ["::before", "::after"].map((name) => getComputedStyle(element, name));
      known.set(element, number(JSON.stringify([
        painted(element.parentElement),
        OWN.map((name) => style[name]),
        pseudo.map((found) => AROUND.map((name) => found[name])),
        element.matches(":disabled, [aria-disabled=true], [inert]"),
      ])));
    }
    return known.get(element);
  };
  const FIELD = "input, select, textarea";
  const own = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join("").trim();

  const alike = new Map();
  let texts = 0;
  for (const element of document.body.querySelectorAll("*")) {
    const text = own(element);
    const isField = element.matches(FIELD);
    if (!text && !isField) continue;
    texts += 1;
    const isShown = element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
    const words = isField ? element.localName : [text.length > 1, /[\p{L}\p{N}]/u.test(text)].join();
    const key = [painted(element), words, isShown && element.offsetWidth > 1].join();
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(element);
  }
  const some = (elements) => {
    const step = Math.max(1, (elements.length - 1) / (most - 1));
    return [...new Set(Array.from({ length: most }, (_, turn) => elements[Math.min(elements.length - 1, Math.round(turn * step))]))];
  };

  const include = [...alike.values()].flatMap(some);
  if (texts < few || include.length > texts / 2) return (await axe.run(options)).violations;
  const contrast = "color-contrast";
  const { violations } = await axe.run({ ...options, rules: { ...options.rules, [contrast]: { enabled: false } } });
  const seen = await axe.run({ include }, { resultTypes: options.resultTypes, runOnly: { type: "rule", values: [contrast] } });
  return [...violations, ...seen.violations];
}
