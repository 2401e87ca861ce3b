"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var words = data.words, strings = data.strings, parts = data.parts, metrics = data.metrics;
  var HEIGHT = 24, AHEAD = 20;
  var INDEX = 1, TENSOR = 2, VERDICT = 8, REASON = 9, WORST = 10, NUMBERS = 11;
  var columns = [
    ["#", INDEX, 4], [words.where, 0, 12], [words.tensor, TENSOR, 26], [words.type, 3, 10],
    [words.data, 4, 10], [words.reference, 5, 20], [words.shape, 7, 10],
    [words.verdict, VERDICT, 8]
  ];
  metrics.forEach(function (name, number) { columns.push([name, NUMBERS + number, 9]); });
  columns.push([words.reason, REASON, 40]);
  var textual = {0: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1};
  var rows = data.rows, shown = rows, selected = -1, sorted = null, way = 1, drawn = "";
  function get(id) { return document.getElementById(id); }
  var box = get("box"), body = get("rows"), only = get("only"), search = get("search");
  var part = get("part"), metric = get("metric"), count = get("count"), detail = get("detail");
  function escaped(text) {
    return String(text).replace(/[&<>"']/g, function (c) { return "&#" + c.charCodeAt(0) + ";"; });
  }
  function cell(row, place) {
    var value = row[place];
    if (place === 0) { return parts[value]; }
    if (place === VERDICT) { return words.verdicts[value]; }
    if (textual[place]) { return strings[value]; }
    return value === null ? "" : String(value);
  }
  function bad(row) { return row[VERDICT] === 1; }
  function filter() {
    var wanted = search.value.toLowerCase(), where = part.value;
    shown = rows.filter(function (row) {
      if (only.checked && !bad(row)) { return false; }
      if (where !== "" && row[0] !== Number(where)) { return false; }
      if (!wanted) { return true; }
      return [TENSOR, 3, 5, REASON].some(function (place) {
        return strings[row[place]].toLowerCase().indexOf(wanted) >= 0;
      });
    });
    if (sorted !== null) { sort(); }
    selected = -1;
    box.scrollTop = 0;
    count.textContent = words.count.replace("{0}", shown.length.toLocaleString("en"))
      .replace("{1}", rows.length.toLocaleString("en"));
    drawn = "";
    draw();
    chart();
  }
  function sort() {
    shown = shown.slice().sort(function (a, b) {
      var x = cell(a, sorted), y = cell(b, sorted);
      if (!textual[sorted]) {
        x = a[sorted]; y = b[sorted];
        if (x === null || y === null) { return (x === null) - (y === null); }
        return way * (x - y);
      }
      return way * (x < y ? -1 : x > y ? 1 : 0);
    });
  }
  function draw() {
    var first = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - AHEAD);
    var last = Math.min(shown.length, first + Math.ceil(box.clientHeight / HEIGHT) + 2 * AHEAD);
    var key = first + ":" + last + ":" + selected;
    if (key === drawn) { return; }
    drawn = key;
    var html = blank(first);
    for (var number = first; number < last; number++) {
      var row = shown[number], kind = bad(row) ? "diverges" : row[VERDICT] === 2 ? "none" : "";
      html += "<tr data-row='" + number + "' class='" + kind +
        (number === selected ? " selected" : "") + "'>";
      columns.forEach(function (column) {
        var text = escaped(cell(row, column[1]));
        html += "<td title='" + text + "'" + (textual[column[1]] ? "" : " class='n'") + ">" +
          text + "</td>";
      });
      html += "</tr>";
    }
    body.innerHTML = html + blank(shown.length - last);
  }
  function blank(count) {
    return count > 0 ? "<tr class='blank' style='height:" + count * HEIGHT + "px'></tr>" : "";
  }
  function show(number) {
    if (number < 0 || number >= shown.length) { return; }
    selected = number;
    var row = shown[number], html = "<h2>" + escaped(cell(row, TENSOR)) + "</h2><dl>";
    columns.forEach(function (column) {
      html += "<dt>" + escaped(column[0]) + "</dt><dd>" + escaped(cell(row, column[1])) + "</dd>";
    });
    html += "</dl>";
    if (row[WORST].length) {
      html += "<h3>" + escaped(words.worst) + "</h3><table><tr><th>" + escaped(words.place) +
        "</th><th>" + escaped(words.device) + "</th><th>" + escaped(words.reference) + "</th></tr>";
      row[WORST].forEach(function (each) {
        html += "<tr>" + each.map(function (value) {
          return "<td class='n'>" + escaped(value) + "</td>";
        }).join("") + "</tr>";
      });
      html += "</table>";
    }
    detail.innerHTML = html;
    var top = number * HEIGHT, room = box.clientHeight - 2 * HEIGHT;
    if (top < box.scrollTop) { box.scrollTop = top; }
    if (top > box.scrollTop + room) { box.scrollTop = top - room; }
    draw();
  }
  function next(step) {
    var number = selected;
    do { number += step; } while (shown[number] && !bad(shown[number]));
    show(number);
  }
  function chart() {
    var place = NUMBERS + Number(metric.value), points = [], low = Infinity, high = -Infinity;
    shown.forEach(function (row, number) {
      if (row[place] !== null) {
        points.push([number, row[place], bad(row)]);
        low = Math.min(low, row[place]);
        high = Math.max(high, row[place]);
      }
    });
    var chart = get("chart"), last = Math.max(shown.length - 1, 1), span = high - low || 1;
    function x(point) { return (50 + 930 * point[0] / last).toFixed(1); }
    function y(value) { return (10 + 180 * (high - value) / span).toFixed(1); }
    if (!points.length) { chart.innerHTML = ""; return; }
    var every = Math.ceil(points.length / 4000), line = points.filter(function (point, number) {
      return number % every === 0 || point[2];
    });
    var marks = line.filter(function (point) { return point[2]; }).slice(0, 1000);
    chart.innerHTML = [low, high].map(function (value) {
      return "<text x='44' y='" + y(value) + "' text-anchor='end'>" +
        Number(value.toPrecision(3)) + "</text>";
    }).join("") + "<polyline fill='none' stroke='#0969da' points='" + line.map(function (point) {
      return x(point) + "," + y(point[1]);
    }).join(" ") + "'></polyline>" + marks.map(function (point) {
      return "<circle r='3' fill='#cf222e' cx='" + x(point) + "' cy='" + y(point[1]) +
        "' data-row='" + point[0] + "'></circle>";
    }).join("");
  }
  var widths = get("widths"), head = get("head");
  columns.forEach(function (column) {
    widths.innerHTML += "<col style='width:" + column[2] + "em'/>";
    head.innerHTML += "<th tabindex='0' data-column='" + column[1] + "'>" + escaped(column[0]) +
      "</th>";
  });
  get("table").style.width = columns.reduce(function (sum, c) { return sum + c[2]; }, 0) + "em";
  function order(event) {
    var column = event.target.getAttribute("data-column");
    if (column === null) { return; }
    way = sorted === Number(column) ? -way : 1;
    sorted = Number(column);
    filter();
  }
  function pick(event) {
    var row = event.target.closest("[data-row]");
    if (row) { show(Number(row.getAttribute("data-row"))); }
  }
  box.onscroll = draw;
  window.onresize = function () { drawn = ""; draw(); };
  head.onclick = order;
  body.onclick = get("chart").onclick = pick;
  only.onchange = part.onchange = search.oninput = filter;
  metric.onchange = chart;
  Array.prototype.forEach.call(document.querySelectorAll("[data-part]"), function (button) {
    button.onclick = function () { part.value = button.getAttribute("data-part"); filter(); };
  });
  document.onkeydown = function (event) {
    var typing = event.target === search || event.target.tagName === "SELECT";
    if (event.key === "Escape") { search.value = ""; search.blur(); filter(); }
    if (event.key === "Enter" && event.target.hasAttribute &&
        event.target.hasAttribute("data-column")) { order(event); }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) { return; }
    var act = {
      ArrowDown: function () { show(selected + 1); }, ArrowUp: function () { show(selected - 1); },
      n: function () { next(1); }, p: function () { next(-1); },
      d: function () { only.checked = !only.checked; filter(); },
      "/": function () { search.focus(); }
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  };
  filter();
})();
