// Tables sorted by clicking column headers.

const sorted = (rows, column, sign) =>
  rows
    .map((row) => {
      const cell = row.cells[column];
      const text = cell.dataset.sort ?? cell.textContent.trim();
      return { row, text, value: text === "" ? NaN : Number(text) };
    })
    .sort((a, b) => {
      if (a.text === "" || b.text === "") return (a.text === "") - (b.text === ""); // missing values last
      const both = !Number.isNaN(a.value) && !Number.isNaN(b.value);
      return sign * (both ? a.value - b.value : a.text.localeCompare(b.text, data.language));
    })
    .map((one) => one.row);
const sortable = (table) => {
  const buttons = [...table.querySelectorAll("thead button.sort")];
  buttons.forEach((button, column) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of buttons) other.closest("th").removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      body.append(...sorted([...body.rows], column, down ? -1 : 1));
    });
  });
};
document.querySelectorAll("table.sortable").forEach(sortable);
