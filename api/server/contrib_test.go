package server_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/api/server/figures"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/needs"
)

// What contrib has for Prometheus and Grafana asks for metrics that exist, and Prometheus' own tool finds no fault with
// it or with /metrics.
func TestPrometheusAndGrafanaAreGivenWhatExists(t *testing.T) {
	told := journal.New(journal.Options{})
	told.Add(&journal.Entry{Method: "CONNECT", Outcome: journal.Tunnelled, Tunnel: "preset"})
	w := newWorld(t, func(o *server.Options) { o.Journal, o.WorkTimes = told, figures.NewWorkTimes() })
	addr := w.listen(t)
	ask(t, addr, "POST", "/api/v1/fetch", `{"url":"`+pageURL+`"}`, "Content-Type: application/json")
	metrics, err := io.ReadAll(ask(t, addr, "GET", "/metrics", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		"../../contrib/alerts.yaml", "../../contrib/alerts.test.yaml",
		"../../contrib/grafana.json",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(?:readthru|go|process)_[a-z_]+`).FindAll(text, -1) {
			if !bytes.Contains(metrics, append([]byte("\n"), name...)) {
				t.Errorf("%s: there is no metric %s", file, name)
			}
		}
	}
	promtool := needs.Program(t, "promtool")
	for _, args := range [][]string{
		{"check", "metrics"}, {"check", "rules", "../../contrib/alerts.yaml"}, {
			"test", "rules",
			"../../contrib/alerts.test.yaml",
		},
	} {
		tool := exec.CommandContext(t.Context(), promtool, args...)
		tool.Stdin = bytes.NewReader(metrics)
		if out, err := tool.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}
