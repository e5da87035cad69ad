// The cell that the pointer or the arrow keys are at is named below its map; titles name it without any script, too.
document.querySelectorAll("section:has(.heat)").forEach(section => {
  const rows = [...section.querySelectorAll(".heat tbody tr")].map(row => [...row.querySelectorAll("td")]);
  const label = section.querySelector("output");
  let current = null, y = 0, x = 0;
  const show = (row, column) => {
    if (current) current.classList.remove("at");
    y = row; x = column; current = rows[y][x];
    current.classList.add("at");
    label.textContent = current.title;
  };
  const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  section.querySelector(".scroll").addEventListener("keydown", event => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const row = current ? y + move[0] : 0, column = current ? x + move[1] : 0;
    show(Math.min(Math.max(row, 0), rows.length - 1), Math.min(Math.max(column, 0), rows[0].length - 1));
    current.scrollIntoView({block: "nearest", inline: "nearest"});
  });
  section.addEventListener("pointerover", event => {
    const cell = event.target.closest("tbody td");
    const row = rows.findIndex(cells => cells.includes(cell));
    if (row >= 0) show(row, rows[row].indexOf(cell));
  });
});
