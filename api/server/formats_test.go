package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

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
