// Shows each instant in the reader's own time; the UTC that the server wrote stays as what a pointer shows.
"use strict";

// Once for each element; refresh.js calls it for what it has read again.
function showOwnTimes(root) {
  const two = (number) => String(number).padStart(2, "0");
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    element.title = element.textContent;
    element.textContent = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
  }
}

showOwnTimes(document);
