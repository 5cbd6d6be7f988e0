package fleet

import (
	"net/url"
	"testing"
)

// Several hosts of an URL are read as libpq reads them (PostgreSQL 17, §34.1.1.3).
func TestHostsOfAURL(t *testing.T) {
	for _, tt := range []struct{ url, host, hosts, ports, target string }{
		{"postgres://u@a:5433/x", "a:5433", "", "", ""},
		{"postgres://u@a,b/x", "", "a,b", "5432,5432", "read-write"},
		{"postgres://u:p@a:1,c:2/x?target_session_attrs=any", "", "a,c", "1,2", "any"},
		{"postgres:///x?host=/run/a,/run/b", "", "/run/a,/run/b", "", "read-write"},
		{"postgres:///x?host=/run/a", "", "/run/a", "", ""},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		spreadHosts(u, q)
		if u.Host != tt.host || q.Get("host") != tt.hosts || q.Get("port") != tt.ports ||
			q.Get("target_session_attrs") != tt.target {
			t.Errorf("%s: host %q, query %v", tt.url, u.Host, q)
		}
	}
}
