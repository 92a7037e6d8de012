(function () {
  "use strict";
  const all = (what, root) => Array.from((root || document).querySelectorAll(what));
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const touch = matchMedia("(pointer: coarse)").matches;
  const is3d = (figure) => figure.data[0]?.type === "scatter3d";

  // The page's colors and the width of a figure, as defaults of it.
  function look(element) {
    const ink = css("--ink"), soft = css("--soft"), line = css("--line"), none = "rgba(0,0,0,0)";
    const axis = {gridcolor: line, linecolor: line, zeroline: false, automargin: true,
      hoverformat: ".4~g", tickfont: {color: soft}, title: {font: {color: ink, size: 12}, standoff: 8}};
    const solid = (k) => ({...axis, showticklabels: false, title: {text: `dimension ${k}`}});
    const narrow = element.clientWidth < 560 || element.closest(".key");
    const below = {orientation: "h", yanchor: "top"};
    const legend = {...below, x: 0, y: -56 / Math.max(element.clientHeight - 90, 90)};
    const bar = {thickness: 12, outlinewidth: 0}, bars = {thickness: 1, width: 0};
    const marker = {colorbar: {...bar, ...(narrow ? {...below, y: -0.1} : {len: 0.6})}};
    return {
      layout: {
        font: {family: getComputedStyle(document.body).fontFamily, size: 12, color: ink},
        paper_bgcolor: none, plot_bgcolor: none, xaxis: axis, yaxis: axis,
        scene: {aspectmode: "data", xaxis: solid(1), yaxis: solid(2), zaxis: solid(3)},
        legend: narrow ? legend : {},
        hoverlabel: {bgcolor: ink, bordercolor: ink, font: {color: css("--paper"), size: 13}},
        modebar: {bgcolor: none, color: soft, activecolor: css("--accent")},
        updatemenudefaults: {bgcolor: css("--wash"), bordercolor: line, pad: {b: 6}},
        newselection: {line: {color: ink, width: 1}}
      },
      data: {
        scatter: [{marker, error_y: bars}], scattergl: [{marker}], scatter3d: [{marker}],
        bar: [{cliponaxis: false, textposition: "outside", error_x: bars, error_y: bars}]
      }
    };
  }

  // Room around a figure. A small one has no words and no tools, of a key the legend is seen.
  function fit({data, layout}, size) {
    const {legend, updatemenus, xaxis, yaxis} = layout;
    // The tools stand above the picture and its legend, also where both are narrow.
    layout.margin = {l: 50, r: 12, t: updatemenus ? 76 : legend ? 40 : 8, b: 46};
    // Bars have their numbers at their ends.
    if (data.some((trace) => trace.type === "bar" && trace.text.length)) { layout.margin.r = 90; }
    layout.showlegend = size !== "small";
    if (size === "small") {
      delete layout.updatemenus;
      layout.margin = {l: 6, r: 6, t: 6, b: 6};
      xaxis.title = yaxis.title = undefined;
      data.forEach((trace) => { trace.marker = {...trace.marker, showscale: false}; });
    } else if (size === "key") {
      xaxis.visible = yaxis.visible = false;
      Object.assign(legend, {orientation: "h", y: 1, x: 0});
    }
    return Boolean(legend) && !size.match("small|key");
  }

  // What is said of each point is on the page once.
  const holder = document.getElementById("points");
  const described = holder && JSON.parse(holder.textContent);
  const numbers = (packed) => Array.from(new Float32Array(Uint8Array.from(atob(packed.bdata),
    (letter) => letter.charCodeAt(0)).buffer));

  // Arrows from a point of the first picture: columns that change most there, and where they rise.
  function point(element, at) {
    const board = element.querySelector(".arrows"), label = element.querySelector(".hoverlayer");
    const arrows = (board && described.arrows[at?.customdata]) ?? [];
    board?.replaceChildren();
    label.style.translate = "";
    if (!arrows.length) { return; }
    const {clientWidth: wide, clientHeight: high} = element, reach = 80, lowest = {};
    const [x, y] = [[at.xaxis, at.x], [at.yaxis, at.y]].map(([axis, to]) => axis._offset + axis.d2p(to));
    const longest = Math.max(...arrows.map(([, across, up]) => Math.hypot(across, up)));
    const heads = arrows.map(([column, across, up, error]) => ({
      x: x + reach * across / longest, y: y - reach * up / longest, turn: Math.atan2(-up, across),
      words: [described.columns[column],
        `${Math.hypot(across, up).toPrecision(2)} ± ${error.toPrecision(2)} sd`]}));
    board.innerHTML = heads.sort((a, b) => a.y - b.y).map((head) => {
      // Names stand outside of the arrows where there is room, below one another.
      const room = 7 * Math.max(...head.words.map((word) => word.length)) + 8;
      const left = head.x > room && (head.x < x || head.x + room > wide);
      const outside = head.y + 14 * Math.sin(head.turn) - 3;
      head.down = lowest[left] = Math.max(outside, (lowest[left] ?? -reach) + 32);
      const barbs = [0.4, -0.4].map((side) => `M${head.x},${head.y}l` +
        `${-9 * Math.cos(head.turn + side)},${-9 * Math.sin(head.turn + side)}`);
      return `<path d="M${x},${y}L${head.x},${head.y}${barbs.join("")}"/>` + head.words.map((word, line) =>
        `<text text-anchor="${left ? "end" : "start"}" x="${head.x + (left ? -7 : 7)}"` +
        ` y="${head.down + 14 * line}">${word}</text>`).join("");
    }).join("");
    // What is said of the point stands below arrows and names, or above where there is more room.
    const half = label.getBBox().height / 2, rows = [y, ...heads.map((head) => head.down)];
    const above = Math.min(...rows) - 20 - half, below = Math.max(...rows) + 24 + half;
    const to = below + half < high ? below : Math.max(above, half);
    label.style.translate = `0 ${to - y}px`;
  }

  // Figures are drawn when they come near; a page of many opens as fast as one of few.
  async function draw(element) {
    const holder = element.querySelector("script");
    if (!holder) { return; }
    near.unobserve(element);
    const spec = JSON.parse(holder.textContent);
    element.replaceChildren();
    const tools = fit(spec, element.closest("figure").className);
    spec.layout.template = look(element);
    spec.data.filter((trace) => described && trace.customdata).forEach((trace) => {
      trace.text = numbers(trace.customdata).map((row) => described.hover[row]);
    });
    spec.layout.dragmode = is3d(spec) ? "orbit" : touch ? false : "zoom";
    // What was hidden in those drawn before is hidden in this.
    const group = element.closest("[data-linked]");
    const sibling = group && group.querySelector(".js-plotly-plot");
    spec.data.forEach((trace, k) => { trace.visible = (sibling?.data[k] ?? trace).visible; });
    // No button sends data anywhere.
    await Plotly.newPlot(element, spec.data, spec.layout, {responsive: true,
      displaylogo: false, showSendToCloud: false, displayModeBar: tools});
    if (described?.arrows && tools && !is3d(spec)) {
      element.insertAdjacentHTML("beforeend", '<svg class="arrows"></svg>');
    }
    link(element);
  }
  const near = new IntersectionObserver((entries) => entries.filter((entry) =>
    entry.isIntersecting).forEach((entry) => draw(entry.target)), {rootMargin: "300px"});
  all("[data-figure]").forEach((element) => near.observe(element));
  addEventListener("beforeprint", () => all("[data-figure]").forEach(draw));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    all(".js-plotly-plot").forEach((element) =>
      Plotly.relayout(element, {template: look(element)})));

  // Traces of linked figures are of the same points: what one hides or lights up, all do.
  let busy = false;
  function link(element) {
    const group = element.closest("[data-linked]");
    const beside = (act) => all(".js-plotly-plot", group).filter((other) =>
      group && other !== element).map(act);
    element.on("plotly_restyle", async ([change, traces]) => {
      if (busy || !("visible" in change)) { return; }
      busy = true;
      await Promise.all(beside((other) => Plotly.restyle(other, change, traces)));
      busy = false;
    });
    const pick = ({curveNumber, pointNumber}) => ({curveNumber, pointNumber});
    element.on("plotly_hover", (event) => event.event && beside((other) =>
      is3d(other) || Plotly.Fx.hover(other, event.points.map(pick))));
    element.on("plotly_unhover", (event) => event.event &&
      beside((other) => Plotly.Fx.unhover(other)));
    element.on("plotly_hover", (event) => point(element, event.points[0]));
    element.on("plotly_unhover", () => point(element));
    element.on("plotly_selected", (event) => save(element, event ? event.points : []));
    element.on("plotly_deselect", () => save(element, []));
  }

  // Rows that were chosen, as a file.
  function save(element, points) {
    const cell = (row) => `"${described.names[row].replace(/"/g, '""')}"`;
    all(".save", element.parentElement).forEach((link) => link.remove());
    if (!points.length || points[0].customdata === undefined) { return; }
    const rows = points.map((point) => [cell(point.customdata), point.x, point.y].join(","));
    const anchor = document.createElement("a");
    anchor.className = "save";
    anchor.textContent = `Save ${rows.length.toLocaleString("en")} chosen rows as CSV`;
    anchor.download = "chosen_rows.csv";
    anchor.href = "data:text/csv;charset=utf-8," +
      encodeURIComponent(["row,across,upwards", ...rows].join("\n") + "\n");
    element.before(anchor);
  }

  // A click on a column head sorts; a second click turns the order round.
  all("th button").forEach((button) => button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
    const cell = (row) => row.cells[head.cellIndex], text = (row) => cell(row).dataset.v ??
      cell(row).innerText;
    const order = (a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b);
    body.append(...Array.from(body.rows).sort((a, b) => (text(a) === "") - (text(b) === "") ||
      sign * order(text(a), text(b))));
    all("th", head.parentElement).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  }));
})();
