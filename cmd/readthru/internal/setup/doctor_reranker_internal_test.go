package setup

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
)

func TestDoctorTriesTheReranker(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		state        string
		detail       string
	}{
		{
			"good", `{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}]}`, good,
			"ranks two sentences in",
		},
		{
			"it prefers nonsense", `{"results":[{"index":1,"relevance_score":0.1},{"index":0,"relevance_score":0.9}]}`, warning,
			"it prefers a sentence about a harbour",
		},
		{"it is none", `<html>`, warning, "not JSON of the expected form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, tt.answer)
			}))
			defer srv.Close()
			s := &settings.Settings{Config: settings.Defaults()}
			s.Rerank.BaseURL, s.Rerank.Model = srv.URL+"/v1", "m"
			if f := examineReranker(t.Context(), s); f.State != tt.state || !strings.Contains(f.Detail, tt.detail) {
				t.Errorf("finding %+v, want %s with %q", f, tt.state, tt.detail)
			}
		})
	}
}
