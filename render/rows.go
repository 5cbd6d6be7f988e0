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

// takeLists scrolls the page's virtual lists and has the page keep their rows (findLists, takeRows), for the document
// that serialise takes. It sets t.more if rows are left out. It returns why the page may be incomplete, as settle does.
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

// takeRows scrolls one virtual list step by step and takes its rows. It reports whether these are all. steps counts the
// scrolls of all lists of the page.
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
		const top = box.getBoundingClientRect().top; // rows that are kept for later use stand above it, or are hidden
		for (const e of box.children)
			if (e.offsetHeight > 0 && text(e) && e.getBoundingClientRect().bottom > top &&
				getComputedStyle(e).visibility !== 'hidden') (kinds[e.localName] ??= []).push(e);
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
		const own = [...box.children].reduce((n, e) => n + (e.localName === rows[0].localName ? text(e) : 0), 0);
		const scroller = scrollerOf(box);
		let around = box;
		while (around !== scroller && around.parentElement && around.parentElement !== document.body &&
			text(around.parentElement) <= own * 1.05 + 20) around = around.parentElement;
		if (!scroller || text(around) > own * 1.05 + 20) continue;
		const ends = rows.map((e) => e.getBoundingClientRect());
		const span = Math.max(...ends.map((r) => r.bottom)) - Math.min(...ends.map((r) => r.top));
		const room = Math.max(around.offsetHeight, around.scrollHeight);
		if (room - span <= 200 || scroller.scrollHeight - scroller.clientHeight < 100) continue;
		lists.push({box, rowsOf, scroller, path: rows[0].localName, rows: new Map(), last: [], moved: 0, back: 0, chars: 0});
	}
	return lists.length;
})()`

// takeRows takes the rows that are in a list and scrolls on. It returns "more" if there may be others, "full" if the
// rows are too long together or some were passed over, and "" at the end. A row is told from others by its number, else
// by its place. But a list that learns from its rows how high they are moves those that follow: how far, the rows tell
// that were there before it was scrolled. Without such rows it is scrolled back.
const takeRows = `(() => {
	// join returns by how many places rows stand before those that were taken last, or undefined if none are the same
	const join = ({last, moved}, taken, numbered) => {
		if (!last.length || !taken.length) return 0;
		const same = (a, b) => numbered ? a.y === b.y : a.text === b.text && a.x === b.x;
		let best, nearest = Infinity;
		for (let shift = 1 - taken.length; shift < last.length; shift++) {
			const from = Math.max(0, -shift), to = Math.min(taken.length, last.length - shift);
			let n = 0;
			for (let i = from; i < to; i++) if (same(taken[i], last[i + shift])) n++;
			const off = Math.abs(last[from + shift].y - taken[from].y - moved);
			if (n >= (to - from) * 0.7 && off < nearest) [best, nearest] = [shift, off];
		}
		return best ?? (numbered && taken[0].y === last.at(-1).y + 1 ? last.length : undefined);
	};
	const list = window[Symbol.for('readthru.lists')]?.[%d];
	if (!list) return '';
	const {box, scroller, rows} = list, page = scroller === document.scrollingElement;
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
	const taken = now.map((e, i) => {
		const at = e.getBoundingClientRect(), [y, x] = numbered ? [all[i], 0] : [at.top - top, Math.round(at.left - left)];
		return {node: e.cloneNode(true), size: e.outerHTML.length, text: e.textContent, y, x};
	}).sort((a, b) => a.y - b.y || a.x - b.x);
	const before = scroller.scrollTop, shift = join(list, taken, numbered);
	if (shift === undefined && !list.gap) { // it moved its rows while it was scrolled, and some were passed over
		if (list.back++ < 3) {
			scroller.scrollTo({top: before - scroller.clientHeight * 0.6, behavior: 'instant'});
			return 'more';
		}
		list.gap = true;
	}
	list.back = 0;
	const first = Math.max(0, -shift), begun = list.last[first + shift];
	if (begun && !numbered) list.moved = begun.y - taken[first].y;
	taken.forEach((row, i) => {
		const same = list.last[i + shift];
		if (same && !numbered) list.moved = same.y - row.y;
		row.y = Math.round(row.y + list.moved);
		if (i < first) return; // it was taken before
		const key = row.y + ' ' + row.x;
		list.chars += row.size - (rows.get(key)?.size ?? 0);
		rows.set(key, row);
	});
	if (taken.length) list.last = taken;
	if (list.chars > %d) return 'full';
	scroller.scrollTo({top: before + Math.max(50, scroller.clientHeight * 0.8), behavior: 'instant'});
	return scroller.scrollTop > before ? 'more' : list.gap ? 'full' : '';
})()`

// heldRows puts the rows of virtual lists in their places, one after the other. Where they stood in the list is of no
// use any more, and far down it looks like something that is kept out of sight. It runs when the page's clock stands
// still.
const heldRows = `const unplace = (e) => {
		for (const name of ['position', 'inset', 'transform', 'translate', 'margin-top']) e.style?.removeProperty(name);
	};
	for (const {box, rows, rowsOf, path, scroller} of window[Symbol.for('readthru.lists')] ?? []) {
		const now = rowsOf(box).filter((e) => e.localName === path);
		if (!box.isConnected || rows.size <= now.length) continue;
		for (const e of [...box.children])
			if (e.localName === path || !e.textContent.trim() && !e.querySelector('img')) e.remove();
		const order = [...rows.values()].sort((a, b) => a.y - b.y || a.x - b.x).map((r) => r.node);
		for (let e = box; e && e !== scroller; e = e.parentElement) unplace(e);
		order.forEach(unplace);
		box.append(...order);
		rows.clear();
	}`
