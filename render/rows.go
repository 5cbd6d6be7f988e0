package render

import (
	"context"
	"fmt"
)

// A virtual list has only the rows in its document that are in view. Such lists are scrolled step by step, and their
// rows are kept as they come: see heldRows, which serialise puts in their place.
const (
	maxLists    = 3         // of a page
	maxRowSteps = 120       // of all of them together
	maxRowChars = 4_000_000 // of the rows of a list, in HTML
)

// takeLists takes the rows of the page's virtual lists.
func (t *tab) takeLists(ctx context.Context) (unsettled string, err error) {
	n, err := evaluate[int](ctx, t, fmt.Sprintf(findLists, maxLists))
	if err != nil || n == 0 {
		return "", err
	}
	t.more = MoreRows // until all were taken
	steps, whole := 0, true
	for i := range n {
		took, unsettled, err := t.takeRows(ctx, i, &steps)
		if unsettled != "" || err != nil {
			return unsettled, err
		}
		whole = whole && took
	}
	if whole {
		t.more = ""
	}
	return "", nil
}

// takeRows scrolls a list and takes its rows. It reports whether these are all.
func (t *tab) takeRows(ctx context.Context, list int, steps *int) (whole bool, unsettled string, err error) {
	for {
		left, err := evaluate[string](ctx, t, fmt.Sprintf(takeRows, list, maxRowChars))
		if err != nil || left != "more" {
			return left == "", "", err
		}
		if *steps++; *steps > maxRowSteps {
			return false, "", nil
		}
		if err = t.paint(ctx); err == nil {
			unsettled, err = t.pass(ctx, scrollTime)
		}
		if unsettled != "" || err != nil {
			return false, unsettled, err
		}
	}
}

// findLists finds the virtual lists of the page and returns their number, which is at most a given one. A list is an
// element with three rows or more, alone in a box that is higher than its rows by more than 200 pixels.
const findLists = `(() => {
	const lists = window[Symbol.for('readthru.lists')] = [];
	const text = (e) => e.textContent.trim().length;
	const rowsOf = (box) => {
		const kinds = {};
		for (const e of box.children) if (e.offsetHeight > 0 && text(e)) (kinds[e.localName] ??= []).push(e);
		return Object.values(kinds).sort((a, b) => b.length - a.length)[0] ?? [];
	};
	const scrollerOf = (e) => {
		for (; e && e !== document.body && e !== document.documentElement; e = e.parentElement)
			if (/auto|scroll|overlay/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 1) return e;
		return document.scrollingElement;
	};
	let looked = 0;
	for (const box of document.body?.querySelectorAll('*') ?? []) {
		if (lists.length === %d || ++looked > 5000) break;
		if (box.childElementCount < 3 || lists.some((l) => l.box.contains(box))) continue;
		const rows = rowsOf(box);
		if (rows.length < 3) continue;
		const own = rows.reduce((n, e) => n + text(e), 0), scroller = scrollerOf(box);
		let around = box;
		while (around !== scroller && around.parentElement && around.parentElement !== document.body &&
			text(around.parentElement) <= own * 1.05 + 20) around = around.parentElement;
		if (!scroller || text(around) > own * 1.05 + 20) continue;
		const ends = rows.map((e) => e.getBoundingClientRect());
		const span = Math.max(...ends.map((r) => r.bottom)) - Math.min(...ends.map((r) => r.top));
		const room = Math.max(around.offsetHeight, around.scrollHeight);
		if (room - span <= 200 || scroller.scrollHeight - scroller.clientHeight < 100) continue;
		lists.push({box, rowsOf, scroller, path: rows[0].localName, seen: new WeakMap(), rows: new Map(), chars: 0});
	}
	return lists.length;
})()`

// takeRows takes the rows that are in a list and scrolls on. It returns "more" if there may be others, "full" if the
// rows are too long together, and "" at the end. A row is told from others by its number, else by its place.
const takeRows = `(() => {
	const list = window[Symbol.for('readthru.lists')]?.[%d];
	if (!list) return '';
	const {box, scroller, rows, seen} = list, page = scroller === document.scrollingElement;
	if (!box.isConnected) return 'full';
	const numbers = ['data-index', 'data-item-index', 'data-row-index', 'aria-rowindex', 'aria-posinset'];
	const numberOf = (e) => {
		const name = numbers.find((name) => /^\d+$/.test(e.getAttribute(name) ?? ''));
		return name ? +e.getAttribute(name) : NaN;
	};
	const now = list.rowsOf(box).filter((e) => e.localName === list.path), all = now.map(numberOf);
	const numbered = all.every((n) => n >= 0) && new Set(all).size === all.length;
	const top = page ? -scrollY : scroller.getBoundingClientRect().top - scroller.scrollTop;
	const left = box.getBoundingClientRect().left;
	now.forEach((e, i) => {
		const at = e.getBoundingClientRect(), html = e.outerHTML, text = e.textContent;
		const [y, x] = numbered ? [all[i], 0] : [Math.round(at.top - top), Math.round(at.left - left)];
		const row = {size: html.length, node: e.cloneNode(true), y, x};
		const key = row.y + ' ' + row.x, was = seen.get(e);
		if (was && was.key !== key && was.text === text) rows.delete(was.key); // the same row, at another place now
		list.chars += html.length - (rows.get(key)?.size ?? 0);
		rows.set(key, row);
		seen.set(e, {key, text});
	});
	if (list.chars > %d) return 'full';
	const before = scroller.scrollTop;
	scroller.scrollTo({top: before + Math.max(50, scroller.clientHeight * 0.8), behavior: 'instant'});
	return scroller.scrollTop > before ? 'more' : '';
})()`

// heldRows puts the rows of virtual lists in their places. It runs when the page's clock stands still.
const heldRows = `for (const {box, rows, rowsOf, path} of window[Symbol.for('readthru.lists')] ?? []) {
		const now = rowsOf(box).filter((e) => e.localName === path);
		if (!box.isConnected || rows.size <= now.length) continue;
		for (const e of [...box.children]) if (now.includes(e) || !e.textContent.trim() && !e.querySelector('img')) e.remove();
		const order = [...rows.values()].sort((a, b) => a.y - b.y || a.x - b.x).map((r) => r.node);
		box.append(...order);
		rows.clear();
	}`
