package render

import "context"

// A page that is quiet may still have to draw its text: a timer is due in some seconds, frames of an animation are, or
// all it shows is that it loads. Such a page gets more of its own time, which costs only what it computes, and more
// frames. The caller learns on which hosts that changed nothing, so that their other pages do not pay for it.
const (
	loadingTime   = 20_000.0 // milliseconds of virtual time for a page that shows that it loads
	loadingFrames = 120      // frames for it
)

// mayChange is the value of the script stillDue: what a quiet page is about to do.
type mayChange struct {
	Due     bool `json:"due"`     // a timer fires within virtualTime
	Loading bool `json:"loading"` // all the page shows is that it loads
}

// stillDue tells what a quiet page is about to do: whether a timer of a second or more is due within five seconds
// (prepare keeps those), and whether its main part shows nothing but that it loads, in words or as a spinner.
const stillDue = `(() => {
	const main = document.querySelector('main, [role="main"], #root, #app') || document.body;
	const text = (main?.innerText || document.body?.innerText || '').trim();
	const busy = '[aria-busy="true"], [role="progressbar"], progress, [class*="spinner" i], [class*="skeleton" i], ' +
		'[class*="loader" i]';
	const loads = new RegExp('^\\W*(?:loading|please wait|wait|hang on|one moment|initiali[sz]ing|fetching|lädt|laden|' +
		'wird geladen|bitte warten|chargement|veuillez patienter|cargando|caricamento|carregando|ładowanie|загрузка|' +
		'加载中|正在加载|載入中|読み込み中|로딩)', 'iu');
	const due = window[Symbol.for('readthru.timers')], until = performance.now() + 5000;
	return {
		due: !!due && [...due.values()].some((at) => at <= until),
		loading: text ? text.length <= 80 && loads.test(text) : !!document.querySelector(busy),
	};
})()`

// linger has patience with a quiet page and gives it more of its own time if it is about to change: virtualTime if a
// timer is due, then loadingTime and up to loadingFrames frames if all that it shows is that it loads. Where it still
// shows that, t.loadsInVain tells the caller.
func (t *tab) linger(ctx context.Context) (unsettled string, err error) {
	is, err := evaluate[mayChange](ctx, t, stillDue)
	if err != nil || !is.Due && !is.Loading {
		return "", err
	}
	if is.Due {
		if unsettled, err = t.pass(ctx, virtualTime); unsettled != "" || err != nil {
			return unsettled, err
		}
	}
	if is, err = evaluate[mayChange](ctx, t, stillDue); err != nil || !is.Loading || t.r.Vain.Loading {
		return "", err
	}
	if unsettled, err = t.pass(ctx, loadingTime); unsettled != "" || err != nil {
		return unsettled, err
	}
	for i := 0; ; i++ {
		var waits bool
		if is, err = evaluate[mayChange](ctx, t, stillDue); err != nil || !is.Loading {
			return "", err
		}
		if waits, err = evaluate[bool](ctx, t, waitsForFrame); err != nil || !waits || i == loadingFrames {
			break
		}
		if err = t.paint(ctx); err == nil {
			unsettled, err = t.advance(ctx, frameTime)
		}
		if unsettled != "" || err != nil {
			return unsettled, err
		}
	}
	if err == nil {
		t.loadsInVain = true
	}
	return "", err
}
