// What the search shows first: pages of the language of the words, and pages about one thing before
// lists of many. The rest is what Sphinx does by itself.
const typed = new URLSearchParams(window.location.search).get("q") || "";
const chinese = /[\u3400-\u9fff]/.test(typed);
const lists = /^(zh\/)?(rules(\/\dxx|\/all)?|options(\/index)?|codes)$/;
const aside = /^(changes|architecture|benchmarks|corpus|facts|networks|releasing|reference\/commands)$/;

var Scorer = {
    score([page, title, anchor, description, score]) {
        if (page.startsWith("zh/") !== chinese) score /= 3;
        if (lists.test(page) && !anchor) score /= 2;
        if (aside.test(page)) score /= 4;
        return score;
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
};
