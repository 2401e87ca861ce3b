"""Proves that regular expressions cannot backtrack super-linearly.

A pattern is turned into an automaton without counters and without look-around (whatever a
look-around refuses is taken to be possible, so that a proof holds all the more).  Matching takes
more than linear time only if there are two states p and q and a text w such that w leads from p
to p, from p to q, and from q to q: then n copies of w can be shared out between the two loops in n
ways, and when the rest does not match all of them are tried (Weber and Seidl, 1991).  For
searching, a loop over any text is put in front: the pattern is tried at every place.
"""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import sre_constants as c
    import sre_parse

SAMPLE = [chr(code) for code in range(128)] + ["\x85", "\xe9", "中", "\u2028", "\U0001f600"]
MOST_REPEATS = 6
ALL = (1 << len(SAMPLE)) - 1


def _category(name):
    text = str(name).lower()
    tests = {"digit": str.isdigit, "space": str.isspace, "word": lambda x: x.isalnum() or x == "_"}
    kind = next(word for word in tests if word in text)
    return _mask(lambda char: tests[kind](char) != ("not" in text))


def _mask(test):
    return sum(1 << index for index, char in enumerate(SAMPLE) if test(char))


def _set(items, fold):
    mask, negated = 0, False
    for op, value in items:
        if op is c.NEGATE:
            negated = True
        elif op is c.LITERAL:
            mask |= _literal(value, fold)
        elif op is c.RANGE:
            low, high = value
            mask |= _mask(lambda char: _between(char, low, high, fold))  # noqa: B023
        elif op is c.CATEGORY:
            mask |= _category(value)
    return ALL & ~mask if negated else mask


def _between(char, low, high, fold):
    forms = (char, char.lower(), char.upper()) if fold else (char,)
    return any(len(form) == 1 and low <= ord(form) <= high for form in forms)


def _literal(code, fold):
    char = chr(code)
    return _mask(lambda other: other == char or (fold and other.lower() == char.lower()))


class Automaton:
    """States are numbers.

    ``edges[state]`` holds (mask, next), ``free[state]`` next without text, ``asked[state]`` next
    without text where a look-around or an anchor agrees.
    """

    def __init__(self):
        self.edges, self.free, self.asked = [], [], []

    def state(self):
        """A new state."""
        self.edges.append([])
        self.free.append([])
        self.asked.append([])
        return len(self.edges) - 1

    def add(self, parsed, start, fold):
        """The state after ``parsed`` from ``start``."""
        for op, value in parsed:
            start = self._item(op, value, start, fold)
        return start

    def _step(self, start, mask):
        end = self.state()
        self.edges[start].append((mask, end))
        return end

    def _item(self, op, value, start, fold):
        if op is c.LITERAL:
            return self._step(start, _literal(value, fold))
        if op is c.NOT_LITERAL:
            return self._step(start, ALL & ~_literal(value, fold))
        if op is c.ANY:
            return self._step(start, ALL)
        if op is c.IN:
            return self._step(start, _set(value, fold))
        if op is c.BRANCH:
            end = self.state()
            for branch in value[1]:
                self.free[self.add(branch, self._fork(start), fold)].append(end)
            return end
        if op is c.SUBPATTERN:
            return self.add(value[-1], start, fold)
        if op in (c.MAX_REPEAT, c.MIN_REPEAT):
            return self._repeat(value, start, fold)
        if op in (c.AT, c.ASSERT, c.ASSERT_NOT):
            end = self.state()
            self.asked[start].append(end)
            return end
        if op is c.GROUPREF:
            return self._step(start, ALL)
        raise NotImplementedError(str(op))

    def _fork(self, start):
        state = self.state()
        self.free[start].append(state)
        return state

    def _repeat(self, value, start, fold):
        low, high, body = value
        for _ in range(min(low, MOST_REPEATS)):
            start = self.add(body, start, fold)
        if high is c.MAXREPEAT:
            loop = self._fork(start)
            self.free[self.add(body, loop, fold)].append(loop)
            return self._fork(loop)
        end = self.state()
        self.free[start].append(end)
        for _ in range(min(high - low, MOST_REPEATS)):
            start = self.add(body, start, fold)
            self.free[start].append(end)
        return end


def ambiguous(pattern, flags, searched):
    """A pair of loops that can share a text, or None: a proof of linear time."""
    automaton = Automaton()
    first = automaton.state()
    parsed = sre_parse.parse(pattern, flags & ~64 if isinstance(pattern, str) else flags)
    items = list(parsed)
    if searched and not _anchored(items):
        guard = _looks_behind(items)
        inner = automaton.state()
        automaton.edges[first].append((ALL, first))
        automaton.edges[first].append((ALL & ~guard, inner))
        first_inner = inner
    else:
        first_inner = first
    flags = getattr(parsed, "state", None) or parsed.pattern  # the second before Python 3.8
    flags = flags.flags
    last = automaton.add(parsed, first_inner, bool(flags & 2))
    sure = {state for state in range(len(automaton.edges)) if last in _free(automaton, state)}
    return _shared(_direct(automaton), sure)


def _free(automaton, state, asked=False):
    seen, pending = {state}, [state]
    while pending:
        here = pending.pop()
        for after in automaton.free[here] + (automaton.asked[here] if asked else []):
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return seen


def _anchored(items):
    return bool(items) and items[0] in ((c.AT, c.AT_BEGINNING), (c.AT, c.AT_BEGINNING_STRING))


def _looks_behind(items):
    """The characters that cannot stand before a match."""
    if items and items[0][0] is c.ASSERT_NOT and items[0][1][0] < 0:
        inner = list(items[0][1][1])
        if len(inner) == 1 and inner[0][0] is c.IN:
            return _set(inner[0][1], False)
        if len(inner) == 1 and inner[0][0] is c.LITERAL:
            return _literal(inner[0][1], False)
    if items and items[0] == (c.AT, c.AT_BOUNDARY):
        return _category("category_word")
    return 0


def _direct(automaton):
    """Edges over text only."""
    count = len(automaton.edges)
    reach = [_free(automaton, state, asked=True) for state in range(count)]
    return [
        [edge for middle in reach[state] for edge in automaton.edges[middle] if edge[0]]
        for state in range(count)
    ]


def _closure(edges, start):
    seen, pending = set(), [start]
    while pending:
        for _, after in edges[pending.pop()]:
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return seen


def _shared(edges, sure):
    """Two such loops; a loop that can end the match at once never fails, so it is left out."""
    after = [_closure(edges, state) for state in range(len(edges))]
    reachable = after[0] | {0}
    loops = [state for state in reachable if state in after[state]]
    for p in loops:
        for q in loops:
            if p != q and q not in sure and q in after[p] and _pumps(edges, after, p, q):
                return p, q
        if p not in sure and _twice(edges, after, p):
            return p, p
    return None


def _pumps(edges, after, p, q):
    """Whether one text leads p to p, p to q and q to q."""
    seen, pending = set(), [(p, p, q)]
    while pending:
        a, b, d = pending.pop()
        for mask_a, to_a in edges[a]:
            if p not in after[to_a] and to_a != p:
                continue
            for mask_b, to_b in edges[b]:
                both = mask_a & mask_b
                if not both or (q not in after[to_b] and to_b != q):
                    continue
                for mask_d, to_d in edges[d]:
                    if both & mask_d and (q in after[to_d] or to_d == q):
                        found = (to_a, to_b, to_d)
                        if found == (p, q, q):
                            return True
                        if found not in seen:
                            seen.add(found)
                            pending.append(found)
    return False


def _twice(edges, after, p):
    """Whether one text leads p to p in two ways (exponential)."""
    seen, pending = set(), [(p, p, False)]
    while pending:
        a, b, apart = pending.pop()
        for i, (mask_a, to_a) in enumerate(edges[a]):
            if p not in after[to_a] and to_a != p:
                continue
            for j, (mask_b, to_b) in enumerate(edges[b]):
                if not mask_a & mask_b or (p not in after[to_b] and to_b != p):
                    continue
                now = apart or to_a != to_b or (a == b and i != j and to_a != to_b)
                if now and to_a == p and to_b == p:
                    return True
                found = (to_a, to_b, now)
                if found not in seen:
                    seen.add(found)
                    pending.append(found)
    return False
