// What the search shows first: pages of the language of the words, or of the page where Latin ones
// were typed, and pages about one thing before lists of many. Search words that stand in what is typed count by their share of it. The rest is what
// Sphinx does by itself.
const asked = new URLSearchParams(window.location.search);
const typed = asked.get("q") || "";
const chinese = asked.get("lang") === "zh" || /[\u3400-\u9fff]/.test(typed);
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

const holds = (query, word) =>
    /[\u3400-\u9fff]/.test(word) ? query.includes(word) : ` ${query} `.includes(` ${word} `);

function named(query) {
    const { docnames, filenames, titles, indexentries } = Search._index, found = [];
    for (const [word, places] of Object.entries(indexentries)) {
        if (word === query || !holds(query, word)) continue;
        const score = (100 * word.length) / query.length;
        for (const [page, id] of places) {
            const anchor = id ? "#" + id : "";
            const kind = SearchResultKind.index;
            found.push([docnames[page], titles[page], anchor, null, score, filenames[page], kind]);
        }
    }
    return found;
}

const byTerms = Search.performTermsSearch;
Search.performTermsSearch = (...terms) => [
    ...byTerms(...terms), ...named(typed.toLowerCase().trim())];
