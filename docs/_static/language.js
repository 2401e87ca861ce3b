// On a Chinese page, and on what a search from one finds, the sidebar shows the Chinese guides, opened, instead
// of the English ones, and says in Chinese what the other pages are about.
addEventListener("DOMContentLoaded", () => {
  const asked = new URLSearchParams(location.search).get("lang");
  if (!/\/zh\//.test(location.pathname) && asked !== "zh") return;
  document.documentElement.lang = "zh-CN";
  const words = {
    "Previous": "上一页", "Next": "下一页", "On this page": "本页内容", "Reference": "参考（英文页面）", "Project": "项目（英文页面）",
    "Options": "选项", "Rules": "规则", "Error codes": "错误码", "Python API": "Python API", "Commands": "命令",
    "Environment variables": "环境变量", "File formats": "文件格式", "JSON output": "JSON 输出",
    "Which product am I on?": "当前设备是哪种产品？", "Glossary": "术语表", "What is stable": "稳定性承诺", "Changes": "变更记录",
    "Architecture": "架构", "From facts to rules": "从文档约束到规则", "Scripts checked": "检查过的公开脚本",
    "Public networks run": "运行过的公开网络", "Benchmarks": "性能测试", "Releasing": "发布流程",
  };
  for (const caption of document.querySelectorAll(".sidebar-tree .caption")) {
    const list = caption.nextElementSibling;
    if (/^(Guides|Recipes)$/.test(caption.textContent.trim())) caption.style.display = list.style.display = "none";
    if (/[\u3400-\u9fff]/.test(caption.textContent))
      for (const box of list.querySelectorAll(":scope > li > input")) box.checked = true;
  }
  for (const box of document.querySelectorAll("input.sidebar-search")) box.placeholder = "搜索";
  for (const form of document.querySelectorAll("form.sidebar-search-container")) {
    const input = document.createElement("input");
    [input.type, input.name, input.value] = ["hidden", "lang", "zh"];
    form.append(input);
  }
  const said = ".related-pages .context span, .toc-title, .sidebar-tree .caption-text, .sidebar-tree .toctree-l1 > a";
  for (const each of document.querySelectorAll(said))
    each.textContent = words[each.textContent.trim()] || each.textContent;
});
