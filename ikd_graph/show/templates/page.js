(function () {
  "use strict";
  const all = (what, root) => Array.from((root || document).querySelectorAll(what));
  const read = (element) => JSON.parse(element.textContent);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Plotly takes a few tags in text.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
  const short = (text) => (text.length > 80 ? text.slice(0, 79) + "…" : text);
  const KINDS = {f4: Float32Array, i2: Int16Array, i4: Int32Array};
  const numbers = (packed) => {
    const text = atob(packed.bdata), bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) { bytes[k] = text.charCodeAt(k); }
    return new KINDS[packed.dtype](bytes.buffer);
  };
  const touch = matchMedia("(pointer: coarse)").matches;

  // The page's colours, as defaults of every figure.
  function look() {
    const ink = css("--ink"), soft = css("--soft"), line = css("--line");
    const axis = {gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true,
      tickfont: {color: soft}, title: {font: {color: ink, size: 12}, standoff: 8}};
    const solid = {...axis, backgroundcolor: "rgba(0,0,0,0)", showbackground: false};
    return {layout: {
      font: {family: getComputedStyle(document.body).fontFamily, size: 12, color: ink},
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", xaxis: axis, yaxis: axis,
      scene: {xaxis: solid, yaxis: solid, zaxis: solid},
      hoverlabel: {bgcolor: ink, bordercolor: ink, font: {color: css("--paper"), size: 13}},
      modebar: {bgcolor: "rgba(0,0,0,0)", color: soft, activecolor: css("--accent")},
      selections: [], newselection: {line: {color: ink, width: 1}}
    }};
  }
  const chosenIn = (scope) => all(".legend button[aria-pressed=true]", scope)
    .filter((button) => !button.closest("[hidden]")).map((button) => button.dataset.key);

  // A chart of numbers is described whole; the legend of the page dims what is not chosen.
  function chart(element, spec) {
    const scope = element.closest("[data-linked]");
    let shade = 0;
    async function draw() {
      const layout = {...spec.layout, template: look(), showlegend: false, hovermode: "closest",
        margin: {l: 44, r: 12, t: 26, b: 42}, dragmode: touch ? false : "zoom"};
      await Plotly.react(element, spec.data, layout, {responsive: true, displayModeBar: false});
      follow();
      if (element.cursor !== undefined) { element.moveTo(element.cursor); }
    }
    function follow() {
      const keys = scope ? chosenIn(scope) : [];
      const lit = (key) => !keys.length || keys.includes(String(key));
      const codes = spec.shades && spec.shades[shade].codes;
      spec.data.forEach((trace, k) => {
        if (trace.meta === "discs") {
          const opacity = codes && codes.map((code) => (lit(code) ? 0.9 : 0.1));
          const marker = {...trace.marker, ...spec.shades[shade].marker};
          Plotly.restyle(element, {marker: [{...marker, opacity: opacity || 0.9}]}, [k]);
        } else if (trace.meta) {
          Plotly.restyle(element, {opacity: lit(trace.meta) ? 1 : 0.1}, [k]);
        }
      });
    }
    element.moveTo = (place) => {
      element.cursor = place;
      if (!element.data) { return; }
      const at = spec.layout.shapes.length - 1;
      Plotly.relayout(element, {[`shapes[${at}].x0`]: place, [`shapes[${at}].x1`]: place});
    };
    element.recolour = (to) => { shade = to; follow(); };
    element.follow = follow;
    return draw;
  }

  // Points know their row: hovering, lasso, dimensions, colours, order in time, uncertainty.
  const holder = document.getElementById("points");
  const table = holder && read(holder);
  if (table) {
    table.columns.forEach((column) => { column.data = numbers(column.data); });
    table.errors = table.errors && numbers(table.errors);
    table.index = table.index && numbers(table.index);
  }
  const rowOf = (i) => (table.index ? table.index[i] : i);
  const idOf = (i) => (table.names ? table.names[i] : String(rowOf(i)));
  const nameOf = (i) => (table.names ? idOf(i) : `row ${idOf(i)}`);
  const labelOf = (column, i) => {
    const value = column.data[i];
    if (column.classes) { return value < 0 ? "no label" : column.classes[value]; }
    return Number.isFinite(value) ? String(+value.toPrecision(4)) : "no value";
  };
  const told = (i) => short(nameOf(i)) + table.columns.map((column) =>
    `\n${column.title ? short(column.title) + ": " : ""}${short(labelOf(column, i))}`).join("") +
    (table.errors ? `\nuncertainty ± ${+table.errors[i].toPrecision(2)}` : "");
  const texts = [];
  const text = (i) => (texts[i] = texts[i] || plain(told(i)).replace(/\n/g, "<br>"));
  // In mixed order, so that the last class does not cover the rest.
  const order = table ? Array.from({length: table.n}, (_, i) => i) : [];
  const mix = (i) => Math.imul(i + 1, 2654435761) >>> 0;
  order.sort((a, b) => mix(a) - mix(b));

  function scatter(element, spec) {
    const scope = element.closest("[data-linked]"), figure = element.closest("figure");
    const part = (role) => figure.querySelector(`[data-role=${role}]`);
    const dims = spec.dims.map((dim) => ({...dim, data: numbers(dim.data)}));
    const width = Math.min(1, Math.max(0.45, element.clientWidth / 600));
    const base = 2 * width * Math.min(6, Math.max(1.3, 90 / Math.sqrt(order.length)));
    const places = spec.places && {start: numbers(spec.places.start),
      clique: numbers(spec.places.clique), at: numbers(spec.places.at)};
    let at = [0, 1 % dims.length, 2], column = spec.column, kept = [], picked = null, asked = null;
    const on = (role) => part(role) && part(role).checked;
    const coordinate = (k, rows) => Float32Array.from(rows, (i) => dims[at[k]].data[i]);
    // Row -1 is a gap.
    const along = (rows) => ({
      x: dims.length === 1 ? rows.map(rowOf) : coordinate(0, rows), y: coordinate(1, rows),
      ...(on("solid") ? {z: coordinate(2, rows)} : {})
    });
    const shades = (col) => {
      if (!col) { return {color: css("--accent")}; }
      if (!col.classes) {
        return {color: Float32Array.from(kept, (i) => col.data[i]), colorscale: col.scale, ...col.ends};
      }
      const k = col.colors.length;
      return {
        color: Float32Array.from(kept, (i) => (col.data[i] < 0 ? k - 1 : col.data[i])),
        cmin: -0.5, cmax: k - 0.5,
        colorscale: col.colors.flatMap((color, c) => [[c / k, color], [(c + 1) / k, color]]),
        symbol: col.symbols ? kept.map((i) => col.symbols[col.data[i] < 0 ? 0 : col.data[i]])
          : "circle"
      };
    };
    const kind = () => (on("solid") ? "scatter3d" : table.many ? "scattergl" : "scatter");
    function traces() {
      const col = table.columns[column], keys = scope ? chosenIn(scope).map(Number) : [];
      const lit = (i) => !col || (col.classes ? !keys.length || keys.includes(col.data[i])
        : Number.isFinite(col.data[i]));
      kept = order.filter(lit);
      const rest = order.filter((i) => !lit(i));
      const largest = on("sized") ? table.errors.reduce((a, b) => Math.max(a, b || 0), 0) || 1 : 1;
      const small = on("solid") ? 0.6 * base : base;
      const size = on("sized")
        ? kept.map((i) => base * (0.5 + 2.5 * table.errors[i] / largest)) : small;
      const over = (rows, more) => ({type: kind(), mode: "lines", hoverinfo: "skip",
        ...along(rows), ...more});
      const found = [
        over(rest, {mode: "markers", marker: {size: small, color: css("--rest"), opacity: 0.35}}),
        over(kept, {mode: "markers", text: kept.map(text), hoverinfo: "text",
          hovertemplate: "%{text}<extra></extra>",
          marker: {size: size, opacity: 0.82, line: {width: 0}, ...shades(col)}})
      ];
      if (on("path")) {
        found.unshift(over(order.map((_, i) => i),
          {opacity: 0.45, line: {color: css("--soft"), width: 1}}));
      }
      if (on("links")) {
        found.push(over(spec.links.flatMap(([a, b]) => [a, b, -1]),
          {line: {color: css("--mark"), width: 1.5}}));
      }
      if (asked !== null && dims.length > 1) {
        const value = (k) => range(asked).map((r) => places.at[r * dims.length + at[k]]);
        found.push(over([], {mode: "markers", x: value(0), y: value(1),
          ...(on("solid") ? {z: value(2)} : {}), marker: {symbol: "x", size: 6,
            color: css("--ink"), line: {width: 1, color: css("--paper")}}}));
      }
      return found;
    }
    const range = (i) => {
      const from = places.start[i];
      return Array.from({length: places.start[i + 1] - from}, (_, k) => from + k);
    };
    function layout() {
      const bare = {showgrid: false, zeroline: false, showticklabels: false, ticks: ""};
      const title = (k) => (dims.length > 1 ? dims[at[k]].title + (dims[at[k]].note || "")
        : k ? dims[0].title : "row");
      const one = (k) => ({...bare, title: {text: spec.main ? title(k) : ""}});
      const side = (k) => ({showticklabels: false, title: {text: dims[at[k]].title}});
      const tight = {l: 6, r: 6, t: 6, b: 6}, room = {l: 26, r: 8, t: 34, b: 34};
      return {
        template: look(), showlegend: false, hovermode: "closest", uirevision: at.join(),
        margin: spec.main ? room : tight, dragmode: on("solid") ? "orbit" : touch ? false : "zoom",
        xaxis: one(0), yaxis: {...one(1), ...(dims.length > 1 ? {scaleanchor: "x"} : {})},
        ...(on("solid") ? {scene: {aspectmode: "data", xaxis: side(0), yaxis: side(1),
          zaxis: side(2), camera: {eye: {x: 1.4, y: 1.4, z: 0.9}}}} : {})
      };
    }
    const main = () => element.data.findIndex((trace) => trace.text);
    let bound = false;
    async function draw() {
      picked = null;
      const buttons = on("solid")
        ? ["orbitRotation", "pan3d", "zoom3d", "resetCameraDefault3d", "toImage"]
        : ["zoom2d", "pan2d", "select2d", "lasso2d", "resetScale2d", "toImage"];
      await Plotly.react(element, traces(), layout(), {responsive: true, displaylogo: false,
        displayModeBar: spec.main, modeBarButtons: [buttons]});
      if (!bound) { bound = true; bind(); }
      label();
    }
    function label() {
      if (part("save")) {
        const count = picked ? picked.length : kept.length;
        const what = picked ? "chosen" : kept.length < table.n ? "shown" : "";
        part("save").textContent = `Save ${count.toLocaleString("en")} ${what} rows as CSV`
          .replace("  ", " ");
      }
    }
    const rowAt = (event) => {
      const point = event.points.find((one) => one.curveNumber === main());
      return point ? kept[point.pointNumber] : null;
    };
    function bind() {
      const pick = (points) => {
        const mine = points.filter((one) => one.curveNumber === main());
        picked = mine.length ? mine.map((one) => kept[one.pointNumber]) : null;
        label();
      };
      element.on("plotly_selected", (event) => { if (event && event.points) { pick(event.points); } });
      element.on("plotly_deselect", () => pick([]));
      element.on("plotly_click", (event) => {
        if (places && rowAt(event) !== null) { ask(rowAt(event)); }
      });
      // The same row lights up in the pictures beside.
      const beside = (event, act) => event.event && all("[data-kind=points]", scope)
        .filter((one) => one !== element && one.data).forEach(act);
      element.on("plotly_hover", (event) => beside(event, (one) => one.point(rowAt(event))));
      element.on("plotly_unhover", (event) => beside(event, (one) => Plotly.Fx.unhover(one)));
    }
    element.point = (i) => {
      const k = kept.indexOf(i);
      // Not among so many points that it would lag.
      if (k >= 0 && kind() === "scatter") {
        Plotly.Fx.hover(element, [{curveNumber: main(), pointNumber: k}]);
      }
    };
    element.follow = draw;
    element.recolour = (to) => { column = to; return draw(); };
    function ask(i) {
      asked = i >= 0 ? i : null;
      const list = part("places");
      list.replaceChildren();
      const say = (words) => {
        const item = document.createElement("li");
        item.textContent = words;
        list.append(item);
      };
      if (asked === null) { say("no such row is drawn"); return; }
      part("point").value = idOf(i);
      const rows = range(i), m = dims.length, here = dims.map((dim) => dim.data[i]);
      const spot = (values) => `(${Array.from(values, (v) => +v.toPrecision(3)).join(", ")})`;
      list.dataset.row = idOf(i);
      say(`${told(i).replace(/\n/g, ", ")}: placed at ${spot(here)}, cliques with it: ` +
        rows.length);
      rows.forEach((r) => {
        const place = places.at.slice(r * m, (r + 1) * m);
        const off = Math.hypot(...here.map((v, k) => v - place[k]));
        say(`clique ${places.clique[r]} puts it at ${spot(place)}, ${+off.toPrecision(2)} away`);
      });
      draw();
    }
    function save() {
      const cell = (value) => {
        const words = String(value);
        return /[",\r\n]/.test(words) ? `"${words.replace(/"/g, '""')}"` : words;
      };
      const lines = [[table.title, ...spec.dims.map((dim) => dim.title),
        ...table.columns.map((col) => col.title || "label")]];
      [...(picked || kept)].sort((a, b) => a - b).forEach((i) => lines.push([idOf(i),
        ...dims.map((dim) => +dim.data[i].toPrecision(7)),
        ...table.columns.map((col) => labelOf(col, i))]));
      const csv = lines.map((row) => row.map(cell).join(",")).join("\n") + "\n";
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv], {type: "text/csv"}));
      link.download = "chosen_rows.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }
    const when = (role, event, act) => part(role) && part(role).addEventListener(event, act);
    ["across", "upwards", "deep"].forEach((role, k) =>
      when(role, "change", () => { at[k] = +part(role).value; draw(); }));
    when("solid", "change", () => { part("deep").closest("span").hidden = !on("solid"); });
    ["solid", "path", "sized", "links"].forEach((role) => when(role, "change", draw));
    when("save", "click", save);
    when("point", "change", () =>
      ask(order.findIndex((_, i) => idOf(i) === part("point").value.trim())));
    return draw;
  }

  // Figures are drawn when they come near; a page of many opens as fast as one of few.
  const waiting = new Map(), drawn = [];
  function begin(element) {
    const draw = waiting.get(element);
    if (!draw) { return; }
    waiting.delete(element);
    near.unobserve(element);
    drawn.push(draw);
    draw();
  }
  const near = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (entry.isIntersecting) { begin(entry.target); }
  }), {rootMargin: "300px"});
  all("[data-kind]").forEach((element) => {
    const spec = read(element.querySelector("script"));
    element.replaceChildren();
    waiting.set(element, element.dataset.kind === "points" ? scatter(element, spec)
      : chart(element, spec));
    near.observe(element);
  });
  addEventListener("beforeprint", () => all("[data-kind]").forEach(begin));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
    () => drawn.forEach((draw) => draw()));

  // A click on a legend entry keeps what was chosen; another adds to it, or takes it back.
  const follow = (scope) => all("[data-kind]", scope).forEach((element) => {
    if (!waiting.has(element)) { element.follow(); }
  });
  all(".legend button").forEach((button) => {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      follow(button.closest("[data-linked]"));
    });
  });
  all("[data-role=column]").forEach((select) => {
    select.addEventListener("change", () => {
      const scope = select.closest("[data-linked]");
      all("[data-legend]", scope).forEach((legend) => {
        legend.hidden = legend.dataset.legend !== select.value;
      });
      all("[data-kind]", scope).forEach((element) => {
        begin(element);
        element.recolour(+select.value);
      });
    });
  });

  // A click on a column head sorts; a second click turns the order round.
  all("table.sortable th button").forEach((button) => {
    button.addEventListener("click", () => {
      const head = button.closest("th"), body = head.closest("table").tBodies[0];
      const first = !head.hasAttribute("aria-sort");
      const up = first ? !head.classList.contains("n")
        : head.getAttribute("aria-sort") !== "ascending";
      const value = (row) => {
        const cell = row.cells[head.cellIndex], raw = cell.dataset.v;
        return raw === undefined ? cell.textContent.trim() : raw === "" ? null : parseFloat(raw);
      };
      const rows = Array.from(body.rows).sort((a, b) => {
        const x = value(a), y = value(b);
        if (x === null || y === null) { return (x === null) - (y === null); }
        const sign = typeof x === "string" ? x.localeCompare(y) : x - y;
        return up ? sign : -sign;
      });
      body.append(...rows);
      all("th", head.parentElement).forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  });

  // The slider shows one of the levels worked out beforehand.
  all(".slider input").forEach((input) => {
    const box = input.closest("[data-linked-levels]");
    const levels = read(box.querySelector("script"));
    const show = () => {
      const level = levels[+input.value];
      all("[data-value]", box).forEach((place) => { place.textContent = level[place.dataset.value]; });
      all("[data-kind]", box).forEach((element) => element.moveTo(+level.threshold));
    };
    input.addEventListener("input", show);
    show();
  });
})();
