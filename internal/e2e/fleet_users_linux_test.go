package e2e_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/internal/users"
)

// as returns a client whose requests go through the proxy as a user.
func (d *daemon) as(name, token string) *http.Client {
	d.t.Helper()
	c := d.client()
	c.Transport.(*http.Transport).Proxy = http.ProxyURL(&url.URL{
		Scheme: "http", Host: d.proxy, User: url.UserPassword(name, token),
	})
	return c
}

// status gets a URL and returns the status of the answer; that of the CONNECT if it was refused.
func status(t *testing.T, c *http.Client, target string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "curl/8")
	resp, err := c.Do(req)
	if err != nil {
		if err.(*url.Error).Err.Error() == "Proxy Authentication Required" { //nolint:errorlint // net/http has no type for it
			return http.StatusProxyAuthRequired
		}
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

// TestARevokedTokenIsRefusedByEveryNode makes a user on one of three daemons, who reads pages through all of them, and
// revokes the token on another one. What the user used on all adds up to what was asked, and so do the visits.
func TestARevokedTokenIsRefusedByEveryNode(t *testing.T) {
	server := fleettest.Start(t)
	w := newWeb(t, manual(12))
	var nodes []*daemon
	for _, name := range []string{"a", "b", "c"} {
		nodes = append(nodes, nodeIn(t, server, w, t.TempDir(), name))
	}
	for _, d := range nodes {
		d.awaitFleet()
	}
	var made struct{ ID, Token string }
	if err := json.Unmarshal([]byte(nodes[0].readthru("users", "add", "ann", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	page := func(n int) string { return fmt.Sprintf("https://manual.test/manual/%d", n) }
	var clients []*http.Client
	asked := int64(0)
	for _, d := range nodes {
		eventually.True(t, "a node knows the user, and refuses others", func() bool {
			return status(t, d.client(), page(0)) == http.StatusProxyAuthRequired
		})
		c := d.as("ann", made.Token)
		for n := range 12 {
			for range 2 { // the second answer may be the first given again
				if got := status(t, c, page(n)); got != http.StatusOK {
					t.Fatalf("page %d: status %d", n, got)
				}
				asked++
			}
		}
		clients = append(clients, c)
	}
	for _, d := range nodes { // each node writes its counts every ten seconds, and at once when it is asked
		d.readthru("usage")
	}
	var usage struct {
		Users []struct {
			User string
			users.Use
		}
		Missing string
	}
	eventually.True(t, "usage of all nodes adds up", func() bool {
		if err := json.Unmarshal([]byte(nodes[2].readthru("usage", "--json")), &usage); err != nil {
			t.Fatal(err)
		}
		return len(usage.Users) == 1 && usage.Users[0].Requests == asked && usage.Users[0].Pages == asked
	})
	if usage.Missing != "" || usage.Users[0].Tokens == 0 {
		t.Errorf("%+v", usage)
	}

	var visits struct {
		Visits []struct {
			Node, User string
			Count      int64
		}
		Next string
	}
	eventually.True(t, "visits of all nodes add up", func() bool {
		text := nodes[1].readthru("visits", "--fleet", "--user", "ann", "--limit", "500", "--json")
		if err := json.Unmarshal([]byte(text), &visits); err != nil {
			t.Fatal(err)
		}
		of, sum := map[string]bool{}, int64(0)
		for _, v := range visits.Visits {
			of[v.Node+" "+v.User] = true
			sum += max(v.Count, 1)
		}
		return sum == asked && visits.Next == "" && len(of) == 3 && of["a ann"]
	})

	nodes[1].readthru("users", "rm", "ann", "--token", made.ID)
	began := time.Now()
	for i, d := range nodes {
		eventually.True(t, "a node refuses the token on an open connection", func() bool {
			return status(t, clients[i], page(1)) == http.StatusForbidden
		})
		fresh := d.as("ann", made.Token)
		fresh.Transport.(*http.Transport).TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		if got := status(t, fresh, page(1)); got != http.StatusProxyAuthRequired {
			t.Errorf("a new connection: status %d", got)
		}
	}
	t.Logf("refused by all nodes after %s", time.Since(began).Round(time.Millisecond))
}
