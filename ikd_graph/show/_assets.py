"""Style and script of the pages: held here as text, so that a page needs no other file."""

CSS = """
:root{--paper:#fff;--ink:#20262d;--soft:#5d6874;--line:#e3e6ea;--wash:#f5f7f9;--accent:#2e70b2;
--rest:#cfd6dd;--mark:#c9720f}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6e9ed;--soft:#9aa5b1;
--line:#2b323a;--wash:#1b2027;--accent:#5b9bd8;--rest:#404a55;--mark:#eda14e;color-scheme:dark}
svg.points,svg.network,svg.chart .curve,.legend i{filter:brightness(1.3)}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.55;
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:66rem;margin:0 auto;padding:3.2rem 1.5rem 4rem}
header{margin-bottom:2.4rem}
h1{font-size:2.1rem;line-height:1.15;margin:0 0 .7rem;letter-spacing:-.02em;font-weight:680}
h2{font-size:1.22rem;margin:3.2rem 0 .9rem;letter-spacing:-.01em;font-weight:650}
h3{font-size:.95rem;margin:0 0 .35rem;font-weight:620}
section>h3,section>figure{margin-top:2rem}
p{margin:.6rem 0;max-width:44rem}
.lead{font-size:1.14rem;color:var(--ink);max-width:46rem}
.soft,figcaption,.kind{color:var(--soft)}
.kind{text-transform:uppercase;letter-spacing:.09em;font-size:.74rem;margin:0 0 .5rem}
figure{margin:0;break-inside:avoid}
figcaption{font-size:.88rem;margin-top:.5rem;max-width:44rem}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:var(--soft)}
svg text.name{font-size:11.5px;fill:var(--ink)}
svg text.said{fill:var(--mark);font-weight:600}
svg .grid{stroke:var(--line);stroke-width:1}
svg .mark{stroke:var(--mark);stroke-width:1.5;stroke-dasharray:4 3}
svg .cursor{stroke:var(--ink);stroke-width:1.2;opacity:.55}
svg .bar{fill:var(--accent)}
svg .rest{fill:var(--rest)}
svg .curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
svg .band{opacity:.17}
svg .links line{stroke:var(--soft)}
svg.network circle{stroke:var(--paper);stroke-width:1}
svg.points circle{r:var(--r);fill-opacity:.82}
svg.points{touch-action:pan-y}
svg.points circle.lit{r:7px;stroke:var(--ink);stroke-width:2;fill-opacity:1}
.only [data-k]{opacity:.07}
.only [data-k].chosen{opacity:1}
.wide{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:1.6rem;align-items:start}
.grid2{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(24rem,100%),1fr));
gap:2.2rem 2.6rem}
.multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(15rem,100%),1fr));
gap:1.6rem}
.multiples figure,.panel{border:1px solid var(--line);border-radius:10px;padding:.9rem}
.legend{list-style:none;margin:0;padding:0;font-size:.9rem}
.legend.row{display:flex;flex-wrap:wrap;gap:.15rem .9rem;margin:.2rem 0 .8rem}
.legend.many{columns:2;column-gap:1.2rem}
.legend button{all:unset;cursor:pointer;display:flex;gap:.5rem;align-items:center;
padding:.14rem .35rem;border-radius:6px}
.legend button:hover{background:var(--wash)}
.legend button:focus-visible{outline:2px solid var(--accent)}
.legend button[aria-pressed=true]{background:var(--wash);font-weight:650}
.legend i{width:.72rem;height:.72rem;border-radius:50%;flex:none}
.ramp{width:9rem;height:.7rem;border-radius:5px;margin:.2rem 0}
.ends{display:flex;justify-content:space-between;width:9rem;font-size:.82rem;color:var(--soft)}
dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));
gap:1.3rem 1.6rem;margin:1.2rem 0}
dl.facts div{display:flex;flex-direction:column-reverse;justify-content:flex-end}
dl.facts dd{margin:0;font-size:1.24rem;font-weight:620;letter-spacing:-.01em;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere;line-height:1.3}
dl.facts dt{color:var(--soft);font-size:.84rem}
dl.why{margin:1rem 0}
dl.why div{display:grid;grid-template-columns:9.5rem 1fr;gap:1.6rem;padding:.5rem 0;
border-top:1px solid var(--line)}
dl.why dt{color:var(--soft)}
dl.why dd{margin:0}
.times{display:grid;grid-template-columns:max-content 1fr;gap:.4rem .9rem;align-items:center;
font-size:.92rem;margin:.4rem 0}
.times .track{display:flex;align-items:center;gap:.6rem;min-width:0}
.times .track b{display:block;height:1rem;min-width:2px;background:var(--accent);
border-radius:0 4px 4px 0}
.times .track span{color:var(--soft);white-space:nowrap;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
table{border-collapse:collapse;min-width:100%;font-size:.93rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.5rem 1.3rem .5rem 0;max-width:24rem;
border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:620;color:var(--soft);vertical-align:bottom;line-height:1.25;max-width:9.5rem}
td:first-child{white-space:nowrap}
td.n,th.n{text-align:right}
tr.best td{font-weight:680}
table.sortable th button{all:unset;cursor:pointer;padding:.1rem 0}
table.sortable th button:focus-visible{outline:2px solid var(--accent)}
table.sortable th button::after{content:"";display:inline-block;width:1em;text-align:center}
table.sortable th[aria-sort=ascending] button::after{content:"\\2191"}
table.sortable th[aria-sort=descending] button::after{content:"\\2193"}
pre{background:var(--wash);padding:.8rem 1rem;border-radius:8px;overflow-x:auto;margin:.6rem 0;
font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;
overflow-wrap:anywhere}
ul.advice{padding-left:1.1rem;max-width:46rem}
ul.advice li{margin:.4rem 0}
.slider{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1rem;margin:.4rem 0 1rem}
.slider input{flex:1 1 14rem;accent-color:var(--accent)}
.slider output{font-weight:650;font-variant-numeric:tabular-nums;min-width:3.2rem}
#tip{position:fixed;z-index:9;pointer-events:none;background:var(--ink);color:var(--paper);
font-size:.84rem;line-height:1.35;padding:.3rem .6rem;border-radius:6px;max-width:16rem}
footer{margin-top:3.6rem;color:var(--soft);font-size:.85rem;border-top:1px solid var(--line);
padding-top:1rem}
@media (max-width:46rem){.multiples{gap:.6rem;
grid-template-columns:repeat(auto-fill,minmax(min(9.5rem,100%),1fr))}
.multiples figure{padding:.55rem}.scroll table{width:max-content}td{max-width:15rem}
main{padding:1.7rem 1.05rem 3rem}h1{font-size:1.6rem}
.lead{font-size:1.04rem}.wide{grid-template-columns:minmax(0,1fr)}
.wide .legend{display:flex;flex-wrap:wrap;gap:.15rem .5rem}.legend.many{columns:auto}
dl.facts{grid-template-columns:repeat(auto-fill,minmax(8rem,1fr));gap:1rem}
dl.why div{grid-template-columns:1fr;gap:.1rem}h2{margin-top:2.3rem}}
@media print{main{max-width:none;padding:0}body{font-size:11pt}h2{break-after:avoid}
.slider,#tip{display:none}pre{border:1px solid var(--line)}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""

SCRIPT = """
(function () {
  "use strict";
  var names = JSON.parse(document.getElementById("names").textContent);
  var tip = document.getElementById("tip");
  var each = function (what, todo, root) {
    Array.prototype.forEach.call((root || document).querySelectorAll(what), todo);
  };

  // Hovering a point lights the same row in every picture and says what it is.
  var lit = [];
  function unlight() {
    lit.forEach(function (c) { c.classList.remove("lit"); });
    lit = [];
    tip.hidden = true;
  }
  var dotsOf = new Map(), rowsOf = {};
  each("svg.points", function (svg) {
    var dots = [];
    each("circle[data-i]", function (c) {
      var row = c.getAttribute("data-i");
      dots.push({c: c, row: row, x: +c.getAttribute("cx"), y: +c.getAttribute("cy")});
      (rowsOf[row] = rowsOf[row] || []).push(c);
    }, svg);
    dotsOf.set(svg, dots);
    svg.addEventListener("pointermove", function (event) {
      var matrix = svg.getScreenCTM();
      if (!matrix) { return; }
      var at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
      var reach = 14 / matrix.a, best = reach * reach, found = null;
      dotsOf.get(svg).forEach(function (d) {
        var gap = (d.x - at.x) * (d.x - at.x) + (d.y - at.y) * (d.y - at.y);
        if (gap < best) { best = gap; found = d; }
      });
      unlight();
      if (!found) { return; }
      lit = rowsOf[found.row];
      lit.forEach(function (c) { c.classList.add("lit"); });
      var code = names.codes ? names.codes[found.row] : null;
      var label = code === null || code === undefined ? ""
        : names.classes ? (code < 0 ? "no label" : names.classes[code]) : code;
      tip.textContent = (names.rows ? names.rows[found.row] : "row " + found.row) +
        (label === "" ? "" : ": " + label);
      tip.hidden = false;
      tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = Math.max(event.clientY - 38, 4) + "px";
    });
    svg.addEventListener("pointerleave", unlight);
  });

  // A click on a legend entry keeps that class alone, everywhere; a second click brings all back.
  each(".legend button", function (button) {
    button.addEventListener("click", function () {
      var on = button.getAttribute("aria-pressed") !== "true", key = button.dataset.key;
      var scope = button.closest("[data-linked]") || document.body;
      each(".legend button", function (other) {
        other.setAttribute("aria-pressed", String(on && other.dataset.key === key));
      }, scope);
      scope.classList.toggle("only", on);
      each("[data-k]", function (mark) {
        mark.classList.toggle("chosen", mark.dataset.k === key);
      }, scope);
    });
  });

  // A click on a column head sorts; a second click turns the order round.
  each("table.sortable th button", function (button) {
    button.addEventListener("click", function () {
      var head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
      var up = head.getAttribute("aria-sort") !== "ascending";
      if (!head.hasAttribute("aria-sort") && head.classList.contains("n")) { up = false; }
      var column = head.cellIndex;
      var value = function (row) {
        var cell = row.cells[column], raw = cell.getAttribute("data-v");
        return raw === null ? cell.textContent.trim() : raw === "" ? null : parseFloat(raw);
      };
      var rows = Array.prototype.slice.call(body.rows);
      rows.sort(function (a, b) {
        var x = value(a), y = value(b);
        if (x === null || y === null) { return (x === null) - (y === null); }
        var order = typeof x === "string" ? x.localeCompare(y) : x - y;
        return up ? order : -order;
      });
      rows.forEach(function (row) { body.appendChild(row); });
      each("th", function (other) { other.removeAttribute("aria-sort"); }, table);
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  });

  // The slider shows one of the levels worked out beforehand.
  each(".slider input", function (input) {
    var box = input.closest("[data-levels]"), levels = JSON.parse(box.dataset.levels);
    var lines = box.querySelectorAll("[data-cursor]");
    function show() {
      var level = levels[+input.value];
      Object.keys(level).forEach(function (key) {
        each('[data-value="' + key + '"]', function (place) {
          place.textContent = level[key];
        }, box);
      });
      Array.prototype.forEach.call(lines, function (line) {
        var places = JSON.parse(line.dataset.cursor), x = places[+input.value];
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
      });
    }
    input.addEventListener("input", show);
    show();
  });
})();
"""
