package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/guess"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// team is a world with users.
type team struct {
	*world
	addr   string
	users  *users.Directory
	tokens map[string]string // by the names of users
}

// newTeam makes a user for each role, who is called like it, with a token for all places.
func newTeam(t *testing.T, change func(*server.Options)) *team {
	t.Helper()
	d := users.NewDirectory(nil)
	var w *world
	w = newWorld(t, func(o *server.Options) {
		o.Users = d
		o.Token = "of the operator"
		o.Changed = func() error {
			all := w.store.Users()
			return d.Set(nil, all.List, all.Closed)
		}
		if change != nil {
			change(o)
		}
	})
	m := &team{world: w, addr: w.listen(t), users: d, tokens: map[string]string{}}
	for _, role := range []users.Role{users.Read, users.Write, users.Admin} {
		made, err := w.client.AddUser(t.Context(), api.NewUser{
			Name: string(role), UserFields: api.UserFields{Role: new(string(role))},
		})
		if err != nil {
			t.Fatal(err)
		}
		m.tokens[string(role)] = made.Token
	}
	return m
}

// as asks as a user, and returns status and content.
func (m *team) as(t *testing.T, user, method, path, body string) (int, string) {
	t.Helper()
	resp := ask(t, m.addr, method, path, body, "Content-Type: application/json", "Authorization: Bearer "+m.tokens[user])
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestRolesDoWhatIsForThem looks at what some operations do. TestEveryOperationIsForWhoMay asks for all.
func TestRolesDoWhatIsForThem(t *testing.T) {
	m := newTeam(t, nil)
	for _, tt := range []struct {
		user, method, path, body string
		want                     int
	}{
		{"read", "GET", "/api/v1/pages", "", 200},
		{"read", "POST", "/api/v1/fetch", `{"url":"` + pageURL + `"}`, 200},
		{"read", "POST", "/api/v1/notes", `{"text":"A note about quinces."}`, 403},
		{"write", "POST", "/api/v1/notes", `{"text":"A note about quinces."}`, 200},
		{"write", "GET", "/api/v1/users", "", 403},
		{"admin", "GET", "/api/v1/users", "", 200},
		{"read", "POST", "/rpc", `{"jsonrpc":"2.0","id":1,"method":"LLM.detect_urls","params":{"text":"x"}}`, 200},
	} {
		if status, body := m.as(t, tt.user, tt.method, tt.path, tt.body); status != tt.want {
			t.Errorf("%s %s as %s: status %d, want %d: %s", tt.method, tt.path, tt.user, status, tt.want, body)
		}
	}
	for _, tt := range []struct{ user, method, want string }{
		{"read", "LLM.invalidate_url_cache", "for the role write"}, {"write", "LLM.clear_url_cache", "for the role admin"},
	} {
		call := `{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `","params":{"url":"` + pageURL + `"}}`
		if tt.method == "LLM.clear_url_cache" {
			call = `{"jsonrpc":"2.0","id":1,"method":"` + tt.method + `"}`
		}
		if _, body := m.as(t, tt.user, "POST", "/rpc", call); !strings.Contains(body, tt.want) {
			t.Errorf("%s as %s: %s", tt.method, tt.user, body)
		}
	}
}

// TestATokenShownIsTheUser shows that a program of the daemon's own user, who needs no token, is no more than the user
// whose token it shows.
func TestATokenShownIsTheUser(t *testing.T) {
	m := newTeam(t, func(o *server.Options) { o.Token, o.TrustUser = "", true })
	if status, body := m.as(t, "read", "POST", "/api/v1/cache/clear", "{}"); status != http.StatusForbidden {
		t.Errorf("as a reader: status %d: %s", status, body)
	}
	if _, err := m.client.RemoveUser(t.Context(), "read"); err != nil {
		t.Fatal(err)
	}
	if status, body := m.as(t, "read", "GET", "/api/v1/pages", ""); status != http.StatusUnauthorized {
		t.Errorf("as somebody who is gone: status %d: %s", status, body)
	}
	if status, _ := m.as(t, "read", "GET", "/healthz", ""); status != http.StatusOK {
		t.Errorf("an open path: status %d", status)
	}
	if status, _ := m.as(t, "read", "GET", "/openapi.json", ""); status != http.StatusUnauthorized {
		t.Errorf("the description: status %d", status)
	}
}

func TestAStreamEndsWithTheRightsOfItsUser(t *testing.T) {
	m := newTeam(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.addr+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+m.tokens["admin"])
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "retry: ") {
		t.Fatalf("status %d, first line %q, want the beginning of events", resp.StatusCode, lines.Text())
	}
	if _, err := m.client.RemoveUser(t.Context(), "admin"); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until it ends
	}
	if ctx.Err() != nil {
		t.Error("the stream goes on, though its user is gone")
	}
}

func TestATokenIsRefusedOutsideItsScopes(t *testing.T) {
	m := newTeam(t, func(o *server.Options) {
		o.MCP = func(*server.Server) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "mcp") })
		}
	})
	for _, tt := range []struct {
		scope    string
		api, mcp int
	}{{"proxy", 403, 403}, {"api", 200, 403}, {"mcp", 403, 200}} {
		made, err := m.client.AddToken(t.Context(), api.TokenRequest{Name: "write", Scopes: []string{tt.scope}})
		if err != nil {
			t.Fatal(err)
		}
		m.tokens["it"] = made.Token
		if status, body := m.as(t, "it", "GET", "/api/v1/pages", ""); status != tt.api {
			t.Errorf("scope %s, the API: status %d, want %d: %s", tt.scope, status, tt.api, body)
		}
		if status, body := m.as(t, "it", "POST", "/mcp", "{}"); status != tt.mcp {
			t.Errorf("scope %s, MCP: status %d, want %d: %s", tt.scope, status, tt.mcp, body)
		}
		if status, body := m.as(t, "it", "GET", "/mcp/server-card", ""); status != tt.mcp {
			t.Errorf("scope %s, MCP's card: status %d, want %d: %s", tt.scope, status, tt.mcp, body)
		}
		if _, err := m.client.RevokeToken(t.Context(), "write", made.ID); err != nil {
			t.Fatal(err)
		}
		if status, _ := m.as(t, "it", "GET", "/api/v1/pages", ""); status != http.StatusUnauthorized {
			t.Errorf("scope %s, revoked: status %d", tt.scope, status)
		}
	}
}

// TestSessionsVisitsAndRequestsAreTheUsers has two users whose sessions have the same name.
func TestSessionsVisitsAndRequestsAreTheUsers(t *testing.T) {
	told := journal.New(journal.Options{})
	m := newTeam(t, func(o *server.Options) {
		o.Journal = told
		o.Session = func(name string) api.SessionStats { return api.SessionStats{Requests: int64(len(name))} }
		o.Sessions = func() []api.SessionStats {
			return []api.SessionStats{{Session: "read+s"}, {Session: "write+s"}, {Session: "s"}}
		}
	})
	for _, name := range []string{"read", "write"} {
		told.Add(&journal.Entry{Method: "GET", URL: "https://" + name + ".test/", User: name, Time: time.Now()})
		if status, body := m.as(t, name, "POST", "/api/v1/fetch", `{"url":"`+pageURL+`","session":"s"}`); status != 200 {
			t.Fatalf("status %d: %s", status, body)
		}
	}
	for _, path := range []string{
		"/api/v1/sessions", "/api/v1/visits", "/api/v1/requests", "/api/v1/requests/export?format=jsonl",
		"/api/v1/context?session=s", "/api/v1/context/text?session=s", "/api/v1/sessions/s",
	} {
		for _, name := range []string{"read", "write"} {
			other := map[string]string{"read": "write", "write": "read"}[name]
			status, body := m.as(t, name, "GET", path, "")
			if status != 200 || strings.Contains(body, other+"+s") || strings.Contains(body, `"user":"`+other) ||
				strings.Contains(body, "https://"+other+".test/") {
				t.Errorf("GET %s as %s: status %d: %s", path, name, status, body)
			}
			if !strings.Contains(body, name) {
				t.Errorf("GET %s as %s lacks what is theirs: %s", path, name, body)
			}
		}
	}
	for _, tt := range []struct {
		user, method, path string
		want               int
	}{
		{"read", "GET", "/api/v1/context?session=write%2Bs", 400},
		{"read", "DELETE", "/api/v1/context?session=write%2Bs", 400},
		{"read", "GET", "/api/v1/sessions/write+s", 400},
		{"read", "POST", "/api/v1/sessions/write+s/recording", 400},
		{"read", "DELETE", "/api/v1/sessions/write+s/recording", 409}, // there is no proxy
		{"read", "GET", "/api/v1/visits?user=write", 403},
		{"admin", "GET", "/api/v1/visits?user=write", 200},
		{"read", "GET", "/api/v1/usage?user=write", 403},
		{"admin", "GET", "/api/v1/usage?user=write", 200},
		{"admin", "GET", "/api/v1/context?session=write%2Bs", 400},
	} {
		if status, body := m.as(t, tt.user, tt.method, tt.path, ""); status != tt.want {
			t.Errorf("%s %s as %s: status %d, want %d: %s", tt.method, tt.path, tt.user, status, tt.want, body)
		}
	}
	list, err := m.client.Requests(t.Context(), api.RequestQuery{Filter: "user:write"})
	if err != nil || len(list.Requests) != 1 {
		t.Fatalf("%v, %+v", err, list)
	}
	if status, _ := m.as(t, "read", "GET", "/api/v1/requests/"+list.Requests[0].ID, ""); status != http.StatusNotFound {
		t.Errorf("another user's request: status %d", status)
	}
	if status, _ := m.as(t, "write", "GET", "/api/v1/requests/"+list.Requests[0].ID, ""); status != http.StatusOK {
		t.Errorf("one's own request: status %d", status)
	}
	if set := m.store.Fetched("read+s"); len(set.Pages) != 1 {
		t.Errorf("the reader's session has %d pages", len(set.Pages))
	}
	if set := m.store.Fetched("s"); len(set.Pages) != 0 {
		t.Errorf("nobody's session has %d pages", len(set.Pages))
	}
}

func TestLimitsOfUsersHoldAtTheAdminPort(t *testing.T) {
	for tries := 0; ; tries++ {
		began := time.Now().Unix() / 60
		m := newTeam(t, nil)
		if _, err := m.client.ChangeUser(t.Context(), api.UserChange{
			Name: "read", UserFields: api.UserFields{RequestsPerMinute: new(int64(3))},
		}); err != nil {
			t.Fatal(err)
		}
		var got []int
		for range 5 {
			status, _ := m.as(t, "read", "GET", "/api/v1/pages", "")
			got = append(got, status)
		}
		resp := ask(t, m.addr, "GET", "/api/v1/pages", "", "Authorization: Bearer "+m.tokens["read"])
		var problem api.Error
		if err := json.NewDecoder(resp.Body).Decode(&problem); err != nil {
			t.Fatal(err)
		}
		if time.Now().Unix()/60 != began && tries < 3 {
			continue // a new minute has begun meanwhile
		}
		if want := []int{200, 200, 200, 429, 429}; !slices.Equal(got, want) {
			t.Errorf("status %v, want %v", got, want)
		}
		if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" ||
			problem.Code != api.CodeLimit || !strings.Contains(problem.Detail, "3 requests a minute") {
			t.Errorf("%d, Retry-After %q, %+v", resp.StatusCode, resp.Header.Get("Retry-After"), problem)
		}
		return
	}
}

func TestTokensOfPagesAreLimitedAtTheAdminPort(t *testing.T) {
	m := newTeam(t, nil)
	if _, err := m.client.ChangeUser(t.Context(), api.UserChange{
		Name: "read", UserFields: api.UserFields{TokensPerDay: new(int64(5))},
	}); err != nil {
		t.Fatal(err)
	}
	fetch := `{"url":"` + pageURL + `"}`
	if status, body := m.as(t, "read", "POST", "/api/v1/fetch", fetch); status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	status, body := m.as(t, "read", "POST", "/api/v1/fetch", fetch)
	if status != 429 || !strings.Contains(body, "tokens") {
		t.Errorf("status %d: %s", status, body)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"LLM.fetch_url","params":{"url":"` + pageURL + `"}}`
	if _, body := m.as(t, "read", "POST", "/rpc", call); !strings.Contains(body, "tokens of pages a day") {
		t.Errorf("%s", body)
	}
	if status, _ := m.as(t, "write", "POST", "/api/v1/fetch", fetch); status != 200 {
		t.Errorf("another user: status %d", status)
	}
	told, err := m.client.Requests(t.Context(),
		api.RequestQuery{Filter: "outcome:refused status:429 user:read why:tokens"})
	if err != nil || len(told.Requests) != 2 {
		t.Errorf("%d requests are told as refused, %v; want 2", len(told.Requests), err)
	}
}

// TestUsageAddsUpExactly holds what users used against their visits.
func TestUsageAddsUpExactly(t *testing.T) {
	m := newTeam(t, nil)
	asked, bytes := map[string]int64{}, map[string]int64{}
	for i := range 12 {
		user := []string{"read", "write"}[i%2]
		path, body := "/api/v1/fetch", fmt.Sprintf(`{"url":"https://example.com/site/%s"}`, []string{"one", "two"}[i%3%2])
		if i%4 == 3 {
			path, body = "/api/v1/detect", `{"text":"https://a.test/"}`
		}
		status, answer := m.as(t, user, "POST", path, body)
		if status != 200 {
			t.Fatalf("status %d: %s", status, answer)
		}
		asked[user]++
		bytes[user] += int64(len(answer))
	}
	want := map[string]users.Use{}
	visits, _, err := m.store.Visits(store.VisitQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range visits {
		use := want[v.User]
		for range max(v.Count, 1) {
			use.Add(users.PageUse(int64(v.Tokens), int64(v.HTMLTokens)))
		}
		want[v.User] = use
	}
	var sum users.Use
	list, err := m.client.Usage(t.Context(), api.UsesQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list.Users {
		use := want[u.User]
		use.Requests, use.Bytes = asked[u.User], bytes[u.User]
		if u.Use != use {
			t.Errorf("%s used %+v, want %+v", u.User, u.Use, use)
		}
		sum.Add(u.Use)
	}
	if len(list.Users) != 2 || list.Sum != sum || sum.Pages != 9 {
		t.Errorf("%+v, want the sum %+v", list, sum)
	}
	status, body := m.as(t, "read", "GET", "/api/v1/usage?days=1", "")
	if status != 200 || !strings.Contains(body, `"user":"read"`) || strings.Contains(body, `"user":"write"`) {
		t.Errorf("as a reader: status %d: %s", status, body)
	}
	few, err := m.client.Visits(t.Context(), api.VisitQuery{User: "write"})
	others := func(v fleet.Visit) bool { return v.User != "write" }
	if err != nil || len(few.Visits) == 0 || slices.ContainsFunc(few.Visits, others) {
		t.Errorf("visits of one user: %v, %+v", err, few)
	}
}

func TestUsersAreMadeOnceAndOutliveTheStore(t *testing.T) {
	m := newTeam(t, func(o *server.Options) { o.ConfiguredUsers = func() []string { return []string{"zoe"} } })
	for name, in := range map[string]api.NewUser{
		"twice":      {Name: "read"},
		"configured": {Name: "zoe"},
		"name":       {Name: "no name"},
		"role":       {Name: "x", UserFields: api.UserFields{Role: new("root")}},
		"scope":      {Name: "x", Scopes: []string{"root"}},
		"limit":      {Name: "x", UserFields: api.UserFields{TokensPerDay: new(int64(-1))}},
	} {
		if made, err := m.client.AddUser(t.Context(), in); err == nil {
			t.Errorf("%s: made %+v", name, made)
		}
	}
	if _, err := m.client.RemoveUser(t.Context(), "read"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.client.RemoveUser(t.Context(), "read"); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("remove twice: %v", err)
	}
	if _, err := m.client.RemoveUser(t.Context(), "zoe"); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("remove a configured user: %v", err)
	}
	again, err := m.client.AddUser(t.Context(), api.NewUser{Name: "read"})
	if err != nil || again.Token == m.tokens["read"] {
		t.Fatalf("a user of the same name: %v", err)
	}
	if status, _ := m.as(t, "read", "GET", "/api/v1/pages", ""); status != http.StatusUnauthorized {
		t.Errorf("the token of the one before: status %d", status)
	}
	list, err := m.client.Users(t.Context())
	if err != nil || len(list.Users) != 4 || !list.Closed || list.Users[0].Source != "file" {
		t.Errorf("%v, %+v", err, list)
	}
	if err := m.client.OpenProxy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err = m.client.Users(t.Context()); err != nil || len(list.Users) != 1 || m.store.Users().Closed {
		t.Errorf("%v, %+v", err, list)
	}
}

// TestGuessingTokensLocksAtBothPorts guesses at the admin port, and finds the proxy's sign-in locked.
func TestGuessingTokensLocksAtBothPorts(t *testing.T) {
	d := users.NewDirectory(nil)
	w := newWorld(t, func(o *server.Options) { o.Users, o.Token = d, "of the operator" })
	made, err := w.client.AddUser(t.Context(), api.NewUser{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Set(nil, w.store.Users().List, true); err != nil {
		t.Fatal(err)
	}
	const here, elsewhere = "192.0.2.1:1", "192.0.2.2:1"
	if status, _ := present(t, w, elsewhere, made.Token); status != http.StatusOK {
		t.Fatalf("the token: status %d", status)
	}
	begin := made.Token[:len("rt_0123456789ab_")]
	for n := range guess.FreeHere + 1 {
		wrong := begin + strings.Repeat("ABCDEFGH"[n:n+1], 26)
		if status, _ := present(t, w, here, wrong); status != http.StatusUnauthorized {
			t.Fatalf("guess %d: status %d, want 401", n, status)
		}
	}
	status, wait := present(t, w, here, begin+strings.Repeat("Z", 26))
	if status != http.StatusTooManyRequests || wait < 1 {
		t.Errorf("one more: status %d, Retry-After %d, want 429 and at least 1", status, wait)
	}
	_, err = d.SignIn(t.Context(), here, "ann", begin+strings.Repeat("Y", 26), users.ScopeProxy)
	if _, locked := errors.AsType[*users.LockedError](err); !locked {
		t.Errorf("at the proxy: %v, want a lock", err)
	}
	if status, _ := present(t, w, elsewhere, begin+strings.Repeat("X", 26)); status != http.StatusUnauthorized {
		t.Errorf("from elsewhere: status %d, want 401", status)
	}
	if status, _ := present(t, w, here, made.Token); status != http.StatusOK {
		t.Errorf("who is known to be right: status %d, want 200", status)
	}
}
