package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// again asks for a page as its script does.
func again(ctx context.Context, h http.Handler, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	r.Header.Set("Sec-Fetch-Dest", "empty")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// counting is a page that says how often it was made, and takes a while.
func counting(made *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := made.Add(1)
		time.Sleep(10 * time.Millisecond)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, "%s %d", r.URL.RequestURI(), n)
	}
}

func TestOpenPagesShareWhatIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		h := new(dashboard).live(counting(&made))
		var open sync.WaitGroup
		for range 50 {
			open.Go(func() {
				if got := again(t.Context(), h, "/requests?q=a"); got.Body.String() != "/requests?q=a 1" ||
					got.Code != http.StatusBadRequest || got.Header().Get("Content-Type") != "text/html" {
					t.Errorf("%d %v %s", got.Code, got.Header(), got.Body)
				}
			})
		}
		open.Wait()
		begin := time.Now()
		if got := again(t.Context(), h, "/requests?q=b"); got.Body.String() != "/requests?q=b 2" {
			t.Errorf("another page: %s", got.Body)
		}
		if got := again(t.Context(), h, "/requests?q=a"); got.Body.String() != "/requests?q=a 3" {
			t.Errorf("asked for after it was made: %s", got.Body)
		}
		if took := time.Since(begin); took > refreshEvery+time.Second/10 || took < refreshEvery-time.Second/10 {
			t.Errorf("made again after %v, want about %v", took, refreshEvery)
		}
	})
}

func TestAPageThatIsOpenedDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		h := new(dashboard).live(counting(&made))
		again(t.Context(), h, "/")
		begin, w := time.Now(), httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
		if w.Body.String() != "/ 2" || time.Since(begin) > 10*time.Millisecond {
			t.Errorf("%q after %v", w.Body, time.Since(begin))
		}
	})
}

func TestOpenPagesOutliveTheOneThatAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		h := new(dashboard).live(counting(&made))
		ctx, leave := context.WithCancel(t.Context())
		go again(ctx, h, "/")
		synctest.Wait()
		leave()
		if got := again(t.Context(), h, "/"); got.Body.String() != "/ 1" {
			t.Errorf("%q, want the page that the first one began", got.Body)
		}
	})
}

func TestAPageThatPanicsIsAnErrorForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(dashboard).live(func(http.ResponseWriter, *http.Request) { panic("page") })
		go func() {
			defer func() { _ = recover() }() // as net/http does
			again(t.Context(), h, "/")
		}()
		synctest.Wait()
		if got := again(t.Context(), h, "/"); got.Code != http.StatusInternalServerError {
			t.Errorf("status %d", got.Code)
		}
	})
}
