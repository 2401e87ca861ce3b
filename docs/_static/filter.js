// A box above the tables of a page that shows the rows with all of the words typed into it.
addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".filter-rows");
  if (!place) return;
  const box = Object.assign(document.createElement("input"), { type: "search", placeholder: place.dataset.label });
  box.setAttribute("aria-label", place.dataset.label);
  place.append(box);
  const rows = [...document.querySelectorAll("article tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const [row, text] of rows) row.hidden = !words.every((word) => text.includes(word));
    for (const part of document.querySelectorAll("article section section"))
      part.hidden = !part.querySelector("tbody tr:not([hidden])");
  });
});
