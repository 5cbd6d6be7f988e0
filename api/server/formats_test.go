package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

func TestWhatHasNoTextSaysWhatItIsAndIsNotKept(t *testing.T) {
	addr := newWorld(t, nil).listen(t)
	resp := ask(t, addr, "POST", "/api/v1/fetch", `{"url":"https://example.com/image"}`, "Content-Type: application/json")
	var p page.Page
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || !strings.Contains(p.Content, "PNG image, 4 bytes") ||
		!slices.Contains(p.Warnings, "binary") || p.Stored {
		t.Errorf("status %d, %+v", resp.StatusCode, p)
	}
}

func TestADamagedFileOfWhichNothingCanBeReadIsAnError(t *testing.T) {
	w := newWorldOver(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/bad.pdf" {
			return false
		}
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF-1.4\n")
		return true
	}, nil, nil)
	p, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: "https://example.com/bad.pdf"})
	if err != nil || p.Error == nil || p.Error.Why() != "it is damaged, and nothing of it can be read" {
		t.Errorf("%v, %+v", err, p.Error)
	}
}
