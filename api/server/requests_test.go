package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/api/server/requests"
	"github.com/readthru/readthru/internal/journal"
)

func TestRequestsAreListedFoundExportedAndWatched(t *testing.T) {
	told := journal.New(journal.Options{})
	tell := func(url string, status int) {
		told.Add(&journal.Entry{
			Time: time.Now(), Method: "GET", URL: url, Status: status, Outcome: "miss", Agent: "curl/8", Asked: "Accept: */*\n",
		})
	}
	tell("https://a.test/one", 200)
	tell("https://b.test/two", 404)
	w := newWorld(t, func(o *server.Options) { o.Journal = told })
	list, err := w.client.Requests(t.Context(), api.RequestQuery{Filter: "status:4xx"})
	if err != nil || len(list.Requests) != 1 || list.Requests[0].URL != "https://b.test/two" {
		t.Fatalf("requests: %v, %+v", err, list)
	}
	for filter, want := range map[string]string{
		"client:curl status:4xx": "agent:curl status:4xx", "curl": "agent:curl", "client:wget": "",
		"client:curl status:5xx": "",
	} {
		none, err := w.client.Requests(t.Context(), api.RequestQuery{Filter: filter})
		if err != nil || len(none.Requests) != 0 || none.Instead != want {
			t.Errorf("%q: %v, %+v, want %q instead", filter, err, none, want)
		}
	}
	e, err := w.client.Request(t.Context(), list.Requests[0].ID)
	if err != nil || e.URL != "https://b.test/two" || e.Asked != "Accept: */*\n" {
		t.Errorf("request: %v, %+v", err, e)
	}
	if _, err := w.client.Request(t.Context(), "nothing"); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("an unknown request: %v", err)
	}
	_, err = w.client.Requests(t.Context(), api.RequestQuery{Filter: "colour:red"})
	if api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("an unknown filter: %v", err)
	}
	var lines, har bytes.Buffer
	if err := w.client.ExportRequests(t.Context(), api.RequestExport{Format: "jsonl"}, &lines); err != nil ||
		strings.Count(lines.String(), "\n") != 2 ||
		strings.Index(lines.String(), "one") > strings.Index(lines.String(), "two") {
		t.Errorf("lines: %v, %s", err, &lines)
	}
	if err := w.client.ExportRequests(t.Context(), api.RequestExport{Filter: "host:a.test"}, &har); err != nil ||
		!strings.Contains(har.String(), `"version":"1.2"`) || strings.Contains(har.String(), "b.test") {
		t.Errorf("archive: %v, %s", err, &har)
	}
	watchRequests(t, w, tell)
}

func watchRequests(t *testing.T, w *world, tell func(string, int)) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+w.listen(t)+"/api/v1/events?q=host:a.test", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := bufio.NewScanner(resp.Body)
	for events.Scan() {
		if strings.HasPrefix(events.Text(), "data:") { // hello: now it watches
			break
		}
	}
	tell("https://b.test/three", 200)
	tell("https://a.test/four", 200)
	for events.Scan() {
		text, ok := strings.CutPrefix(events.Text(), "data: ")
		if !ok {
			continue
		}
		var event requests.RequestEvent
		if err := json.Unmarshal([]byte(text), &event); err != nil || len(event.Requests) != 1 ||
			event.Requests[0].URL != "https://a.test/four" {
			t.Errorf("event: %v, %s", err, text)
		}
		w.server.Stop() // which ends the stream
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
		return
	}
	t.Errorf("the stream ended: %v", events.Err())
}
