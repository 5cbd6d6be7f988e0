package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/webtest"
)

// A real Prometheus reads the metrics, and its alerts fire for faults that are made.
func TestAlertsOfPrometheusFire(t *testing.T) {
	program := needs.Program(t, "prometheus")
	d := serve(t, newWeb(t, http.NotFoundHandler()))
	rules, err := os.ReadFile("../../contrib/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	atOnce := regexp.MustCompile(`for: \w+`).ReplaceAll(rules, []byte("for: 0s"))
	config := fmt.Sprintf(`global: {scrape_interval: 200ms, evaluation_interval: 200ms}
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: readthru
    authorization: {credentials: %s}
    static_configs: [{targets: [%q]}]
`, strings.TrimSpace(d.readthru("token")), d.admin)
	for name, text := range map[string]string{"alerts.yaml": string(atOnce), "prometheus.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// No client of another test gets a port of an address that is not 127.0.0.1.
	at := fmt.Sprintf("127.%d.%d.%d:17790", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	log := &lockedBuffer{}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "--web.listen-address", at,
		"--config.file", filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path", filepath.Join(dir, "series"))
	cmd.Stdout, cmd.Stderr = log, log
	webtest.EndWithTests(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	fires := func(alert string, meanwhile func()) {
		t.Helper()
		if err := eventually.Holds(t.Context(), func() bool {
			if meanwhile != nil {
				meanwhile()
			}
			return strings.Contains(" "+firing(t, at)+" ", " "+alert+" ")
		}); err != nil {
			t.Errorf("%s does not fire: %v; these do: %s\n%s", alert, err, firing(t, at), log)
		}
	}
	d.readthru("pause", "on")
	fires("ReadthruPaused", nil)
	d.readthru("pause", "off")
	fires("ReadthruOriginsFail", func() { d.get("http://nobody.test:9/", "Cache-Control: no-cache") })
	d.stop()
	fires("ReadthruDown", nil)
}

// firing returns the names of the alerts that fire at a Prometheus, which may not answer yet.
func firing(t *testing.T, at string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/api/v1/alerts", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var got struct {
		Data struct {
			Alerts []struct {
				Labels map[string]string
				State  string
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return ""
	}
	var names []string
	for _, a := range got.Data.Alerts {
		if a.State == "firing" {
			names = append(names, a.Labels["alertname"])
		}
	}
	return strings.Join(names, " ")
}
