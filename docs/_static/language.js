// On a Chinese page the sidebar shows the Chinese guides, opened, instead of the English ones.
addEventListener("DOMContentLoaded", () => {
  if (!/\/zh\//.test(location.pathname)) return;
  document.documentElement.lang = "zh-CN";
  for (const caption of document.querySelectorAll(".sidebar-tree .caption")) {
    const list = caption.nextElementSibling;
    if (/^(Guides|Recipes)$/.test(caption.textContent.trim())) caption.style.display = list.style.display = "none";
    if (/[\u3400-\u9fff]/.test(caption.textContent))
      for (const box of list.querySelectorAll(":scope > li > input")) box.checked = true;
  }
  for (const box of document.querySelectorAll("input.sidebar-search")) box.placeholder = "搜索";
  const words = { "Previous": "上一页", "Next": "下一页", "On this page": "本页内容" };
  for (const each of document.querySelectorAll(".related-pages .context span, .toc-title"))
    each.textContent = words[each.textContent.trim()] || each.textContent;
});
