// Looks at a page as it is laid out now: lists what is wider than its place, and what is broken over lines.
() => {
  const found = new Set();
  const wide = document.documentElement.clientWidth;
  const name = (element) => {
    const label = element.className && element.className.baseVal === undefined ? `.${element.className}` : "";
    return `${element.localName}${label} "${element.textContent.trim().replace(/\s+/g, " ").slice(0, 60)}"`;
  };
  const clipped = new Map([[document.body, false]]);
  const isClipped = (element) => {
    if (!clipped.has(element)) {
      clipped.set(element, isClipped(element.parentElement) || getComputedStyle(element).clipPath === "inset(50%)");
    }
    return clipped.get(element);
  };
  const isMeant = (element) => element.closest(".skip, svg") !== null || isClipped(element); // for readers, or drawn
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

  if (document.documentElement.scrollWidth > wide) found.add(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const element of document.body.querySelectorAll("*")) {
    if (isMeant(element) || !isShown(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.right > wide + 0.5 || box.left < -0.5) found.add(`outside: ${name(element)}`);
    const style = getComputedStyle(element);
    const holdsText = ["input", "select", "textarea"].includes(element.localName);
    const isScrolled = style.overflowX !== "visible" && style.display !== "inline";
    if (isScrolled && !holdsText && element.scrollWidth > element.clientWidth + 1) found.add(`cut: ${name(element)}`);
  }

  // whole numbers everywhere, and whole words where a label names something
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || isMeant(parent) || !isShown(parent)) continue;
    const isCode = parent.closest("code, pre") !== null;
    const isLabel = parent.closest(".bars th, .rows td, .state, .tag, button, thead th, caption, dt") !== null;
    const words = isLabel ? /(?<!\S)\S{1,20}(?!\S)/g : /(?<!\S)[+-]?\d[\d,.:]*(?!\S)/g;
    for (const word of isCode ? [] : node.data.matchAll(words)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
      if (lines.size > 1) found.add(`broken: ${word[0]} in ${name(parent)}`);
      const cell = parent.closest("td, th");
      const text = range.getBoundingClientRect();
      if (cell && (text.right > cell.getBoundingClientRect().right + 0.5)) found.add(`over its cell: ${word[0]} in ${name(cell)}`);
    }
  }
  return [...found];
}
