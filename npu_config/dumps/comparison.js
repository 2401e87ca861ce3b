"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var words = data.words, strings = data.strings, parts = data.parts, metrics = data.metrics;
  var HEIGHT = 24, AHEAD = 20;
  var INDEX = 1, TENSOR = 2, REFERENCE = 5, VERDICT = 8, REASON = 9, WORST = 10, NUMBERS = 11;
  var columns = [
    ["#", INDEX, 4], [words.verdict, VERDICT, 7], [words.where, 0, data.parts[0].length > 12 ? 18 : 9],
    [words.tensor, TENSOR, 24]
  ];
  function measure(name) {
    columns.push([name, NUMBERS + metrics.indexOf(name), Math.max(8, name.length * 0.58 + 2)]);
  }
  data.leading.forEach(measure);
  columns.push([words.reason, REASON, 34], [words.type, 3, 12], [words.data, 4, 9],
    [words.shape, 7, 9], [words.reference, REFERENCE, 22]);
  metrics.filter(function (name) { return data.leading.indexOf(name) < 0; }).forEach(measure);
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
    close();
    box.scrollTop = 0;
    count.textContent = words.count.replace("{0}", shown.length.toLocaleString("en"))
      .replace("{1}", rows.length.toLocaleString("en"));
    drawn = "";
    draw();
    chart();
  }
  function rank(value) {
    return typeof value === "string" ? value === "-inf" ? -Infinity : Infinity : value;
  }
  function sort() {
    shown = shown.slice().sort(function (a, b) {
      var x = cell(a, sorted), y = cell(b, sorted);
      if (!textual[sorted]) {
        x = rank(a[sorted]); y = rank(b[sorted]);
        if (x === null || y === null) { return (x === null) - (y === null); }
        return x === y ? 0 : way * (x < y ? -1 : 1);
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
        if (column[1] === TENSOR || column[1] === REFERENCE) {
          html += "<td class='name' title='" + text + "'><bdi dir='ltr'>" + text + "</bdi></td>";
        } else {
          html += "<td title='" + text + "'" + (textual[column[1]] ? "" : " class='n'") + ">" +
            text + "</td>";
        }
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
    var row = shown[number], html = "<button title='Esc'>" + escaped(words.close) +
      "</button><h2>" + escaped(cell(row, TENSOR)) + "</h2><p>" +
      escaped(cell(row, VERDICT) + (cell(row, REASON) ? ": " + cell(row, REASON) : "")) +
      "</p><dl>";
    columns.forEach(function (column) {
      var text = cell(row, column[1]);
      if (text !== "" && column[1] !== VERDICT && column[1] !== REASON && column[1] !== TENSOR) {
        html += "<div><dt>" + escaped(column[0]) + "</dt><dd>" + escaped(text) + "</dd></div>";
      }
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
    detail.querySelector("button").onclick = close;
    var top = number * HEIGHT, room = box.clientHeight - 2 * HEIGHT;
    if (top < box.scrollTop) { box.scrollTop = top; }
    if (top > box.scrollTop + room) { box.scrollTop = top - room; }
    draw();
    var line = body.querySelector(".selected");
    var hidden = line.getBoundingClientRect().bottom - detail.getBoundingClientRect().top;
    if (hidden > 0) { window.scrollBy(0, hidden + HEIGHT); }
  }
  function close() {
    selected = -1;
    detail.innerHTML = "";
    draw();
  }
  function next(step) {
    var number = selected;
    do { number += step; } while (shown[number] && !bad(shown[number]));
    show(number);
  }
  function chart() {
    var place = NUMBERS + Number(metric.value), points = [], low = Infinity, high = -Infinity;
    var least = Infinity, picture = get("chart"), wide = picture.clientWidth || 1000, tall = 110;
    shown.forEach(function (row, number) {
      var value = row[place];
      if (value === null) { return; }
      points.push([number, value, bad(row)]);
      if (typeof value === "number") {
        low = Math.min(low, value);
        high = Math.max(high, value);
        if (value > 0) { least = Math.min(least, value); }
      }
    });
    picture.setAttribute("viewBox", "0 0 " + wide + " " + tall);
    if (!points.length) { picture.innerHTML = ""; return; }
    var log = low >= 0 && high > 1000 * least;
    function scaled(value) { return log ? Math.log(Math.max(value, least / 2)) : value; }
    var bottom = scaled(low), span = scaled(high) - bottom, last = Math.max(shown.length - 1, 1);
    function x(point) { return (64 + (wide - 72) * point[0] / last).toFixed(1); }
    function y(value) {
      if (typeof value === "string") { return 8; }
      return (span ? 12 + (tall - 22) * (1 - (scaled(value) - bottom) / span) : tall / 2).toFixed(1);
    }
    var every = Math.ceil(points.length / 4000), line = points.filter(function (point, number) {
      return typeof point[1] === "number" && (number % every === 0 || point[2]);
    });
    var each = Math.ceil(points.filter(function (point) { return point[2]; }).length / 1000);
    var marks = points.filter(function (point) { return point[2]; })
      .filter(function (point, number) { return number % each === 0; });
    var ends = low === Infinity ? [] : low === high ? [low] : [low, high];
    picture.innerHTML = ends.map(function (value) {
      return "<text x='58' y='" + (Number(y(value)) + 4) + "' text-anchor='end'>" +
        Number(value.toPrecision(3)) + "</text>";
    }).join("") + "<polyline fill='none' stroke='#0969da' points='" + line.map(function (point) {
      return x(point) + "," + y(point[1]);
    }).join(" ") + "'></polyline>" + marks.map(function (point) {
      return "<circle r='3' fill='#cf222e' cx='" + x(point) + "' cy='" + y(point[1]) +
        "' data-row='" + point[0] + "'><title>" + escaped(cell(shown[point[0]], TENSOR) + " " +
        point[1]) + "</title></circle>";
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
    Array.prototype.forEach.call(head.children, function (each) {
      each.setAttribute("data-way", each === event.target ? way > 0 ? "\u2191" : "\u2193" : "");
    });
    filter();
  }
  function pick(event) {
    var row = event.target.closest("[data-row]");
    if (row) { show(Number(row.getAttribute("data-row"))); }
  }
  box.onscroll = draw;
  window.onresize = function () { drawn = ""; draw(); chart(); };
  head.onclick = order;
  body.onclick = get("chart").onclick = pick;
  only.onchange = part.onchange = search.oninput = filter;
  metric.onchange = chart;
  Array.prototype.forEach.call(document.querySelectorAll("[data-part]"), function (button) {
    button.onclick = function () { part.value = button.getAttribute("data-part"); filter(); };
  });
  document.onkeydown = function (event) {
    var typing = event.target === search || event.target.tagName === "SELECT";
    if (event.key === "Escape") {
      if (selected >= 0) { close(); } else { search.value = ""; search.blur(); filter(); }
    }
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
