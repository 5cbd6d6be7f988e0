package server_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/users"
)

// send sends a form as a page of ours does.
func send(t *testing.T, s http.Handler, path string, form url.Values, fields ...string) reply {
	t.Helper()
	return visit(t, s, http.MethodPost, path, form.Encode(), append([]string{
		"Content-Type: application/x-www-form-urlencoded", "Origin: http://localhost:7888", "Sec-Fetch-Site: same-origin",
	}, fields...)...)
}

// text returns the content of an answer.
func (r reply) text(t *testing.T) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// signedIn returns the field with the cookie that an answer sets.
func (r reply) signedIn(t *testing.T) string {
	t.Helper()
	cookies := r.Cookies()
	if r.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("not signed in: status %d, cookies %v: %s", r.StatusCode, cookies, r.text(t))
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.MaxAge != 12*60*60 {
		t.Errorf("cookie %v", c)
	}
	return "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
}

// linkOf returns the code of a new link by which a user signs in.
func (m *team) linkOf(t *testing.T, user string) string {
	t.Helper()
	link, err := m.client.UserLink(t.Context(), user)
	if err != nil || link.ExpiresS != 24*60*60 {
		t.Fatal(link, err)
	}
	_, code, _ := strings.Cut(link.Path, "code=")
	return code
}

// enter signs a user in by a link.
func (m *team) enter(t *testing.T, user string) string {
	t.Helper()
	return send(t, m.server, "/signin", url.Values{"code": {m.linkOf(t, user)}}).signedIn(t)
}

// setPassword sets the password of a user as an administrator.
func (m *team) setPassword(t *testing.T, user, password string) {
	t.Helper()
	_, err := m.client.ChangeUser(t.Context(), api.UserChange{Name: user, UserFields: api.UserFields{Password: &password}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryOperationIsForWhoMay asks for every operation as nobody, and as users of each role by token and by browser.
func TestEveryOperationIsForWhoMay(t *testing.T) {
	m := newTeam(t,
		func(o *server.Options) { o.MCP = func(*server.Server) http.Handler { return http.NotFoundHandler() } })
	roles := []users.Role{users.Read, users.Write, users.Admin}
	askers := map[string]users.Role{"": ""}
	for _, role := range roles {
		askers[m.enter(t, string(role))] = role
		askers["Authorization: Bearer "+m.tokens[string(role)]] = role
	}
	refused, answered := 0, 0
	for _, rt := range m.server.Routes() {
		needed, open := m.server.Role(rt), m.server.OpenToAll(rt)
		path := strings.NewReplacer("{", "", "}", "").Replace(rt[1])
		for field, role := range askers {
			browser := strings.HasPrefix(field, "Cookie")
			mcp := strings.HasPrefix(path, "/mcp")
			want, words := 0, ""
			switch {
			case open:
			case role == "":
				want = http.StatusUnauthorized
			case browser && mcp:
				want, words = http.StatusForbidden, "for tokens"
			case !role.Allows(needed):
				want, words = http.StatusForbidden, "for the role "+string(needed)
			case rt[0] != http.MethodGet || staysOpen(path) || strings.HasSuffix(path, "/listener"):
				continue // it would be done
			}
			fields := []string{"Content-Type: application/json"}
			if field != "" {
				fields = append(fields, field)
			}
			got := visit(t, m.server, rt[0], path, "{}", fields...)
			body := got.text(t)
			if want == 0 {
				answered++
				if !open && (got.StatusCode == http.StatusUnauthorized || got.StatusCode == http.StatusForbidden) {
					t.Errorf("%s %s as %q (%.10s): refused with %d: %s", rt[0], path, role, field, got.StatusCode, body)
				}
				continue
			}
			refused++
			if got.StatusCode != want || !strings.Contains(body, words) {
				t.Errorf("%s %s as %q (%.10s): status %d, want %d: %s", rt[0], path, role, field, got.StatusCode, want, body)
			}
		}
	}
	if refused < 300 || answered < 400 {
		t.Errorf("%d refused, %d answered", refused, answered)
	}
}

func TestAUserSignsInByALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := users.NewDirectory(nil)
		hash, err := users.HashPassword("correct horse")
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		ann := users.User{Name: "ann", ID: "id of ann", Role: users.Read, Made: now, Changed: now, PasswordHash: hash}
		set := func(u users.User) {
			t.Helper()
			if err := d.Set([]users.User{{Name: "zoe", PasswordHash: hash}}, []users.User{u}, true); err != nil {
				t.Fatal(err)
			}
		}
		set(ann)
		s := server.New(server.Options{Token: "token", Proxy: func() string { return "" }, Users: d})
		link := func(user string) reply {
			return visit(t, s, "POST", "/api/v1/signin", `{"user":"`+user+`","page":"/pages"}`,
				"Authorization: Bearer token", "Content-Type: application/json")
		}
		code := func() string {
			found := regexp.MustCompile(`code=([A-Z0-9]+)`).FindStringSubmatch(link("ann").text(t))
			if found == nil {
				t.Fatal("no link")
			}
			return found[1]
		}
		for _, user := range []string{"zoe", "nobody"} {
			if got := link(user); got.StatusCode != http.StatusNotFound {
				t.Errorf("a link for %s: status %d", user, got.StatusCode)
			}
		}
		first := code()
		for range 3 { // a chat looks at it, and a person by way of another site
			got := visit(t, s, "GET", "/signin?code="+first, "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
				"Sec-Fetch-Dest: document", "Accept: text/html")
			if body := got.text(t); got.StatusCode != http.StatusOK || len(got.Cookies()) > 0 ||
				!strings.Contains(body, "as <b>ann</b>") {
				t.Fatalf("status %d: %s", got.StatusCode, body)
			}
		}
		for what, fields := range map[string][]string{
			"a frame":      {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"},
			"a script":     {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"},
			"another site": {"Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Origin: https://evil.test"},
		} {
			if got := visit(t, s, "GET", "/signin?code="+first, "", fields...); got.StatusCode != http.StatusForbidden {
				t.Errorf("%s: status %d", what, got.StatusCode)
			}
		}
		form := url.Values{"code": {first}}
		for what, field := range map[string]string{
			"another origin": "Origin: https://evil.test", "cross-site": "Sec-Fetch-Site: cross-site",
		} {
			if got := send(t, s, "/signin", form, field); got.StatusCode < 400 || len(got.Cookies()) > 0 {
				t.Errorf("%s: status %d", what, got.StatusCode)
			}
		}
		got := send(t, s, "/signin", form)
		if at := got.Header.Get("Location"); at != "/pages" {
			t.Errorf("it leads to %q", at)
		}
		signed := got.signedIn(t)
		if got := send(t, s, "/signin", form); got.StatusCode != http.StatusForbidden || len(got.Cookies()) > 0 {
			t.Errorf("for the second time: status %d", got.StatusCode)
		}
		is := func(want int, cookie, what string) {
			t.Helper()
			if got := visit(t, s, "GET", "/openapi.json", "", cookie); got.StatusCode != want {
				t.Errorf("%s: status %d, want %d", what, got.StatusCode, want)
			}
		}
		is(200, signed, "signed in")
		other := send(t, s, "/signin", url.Values{"name": {"ann"}, "password": {"correct horse"}}).signedIn(t)
		if got := send(t, s, "/signout", nil, signed); got.StatusCode != http.StatusSeeOther || len(got.Cookies()) != 1 ||
			got.Cookies()[0].MaxAge >= 0 {
			t.Errorf("sign out: status %d, %v", got.StatusCode, got.Cookies())
		}
		is(401, signed, "signed out")
		is(200, other, "another browser of the user")
		fixed := send(t, s, "/signin", url.Values{"name": {"ann"}, "password": {"correct horse"}}, other).signedIn(t)
		is(401, other, "the cookie of before another sign-in")
		is(200, fixed, "the new one")

		late, old := code(), code()
		if got := send(t, s, "/signin", url.Values{"code": {late}}); got.StatusCode != http.StatusForbidden {
			t.Errorf("a link with a newer one: status %d", got.StatusCode)
		}
		time.Sleep(24 * time.Hour)
		if got := send(t, s, "/signin", url.Values{"code": {old}}); got.StatusCode != http.StatusForbidden {
			t.Errorf("a link of yesterday: status %d", got.StatusCode)
		}
		is(401, fixed, "after twelve hours")
		unused := code()
		signed = send(t, s, "/signin", url.Values{"code": {code()}}).signedIn(t)
		ann.Switched = 1
		set(ann)
		is(401, signed, "a user who is disabled")
		if got := send(t, s, "/signin", url.Values{"code": {unused}}); got.StatusCode != http.StatusForbidden {
			t.Errorf("a link of who is disabled: status %d", got.StatusCode)
		}
		got = send(t, s, "/signin", url.Values{"name": {"ann"}, "password": {"correct horse"}})
		if got.StatusCode != http.StatusForbidden {
			t.Errorf("the password of who is disabled: status %d", got.StatusCode)
		}
	})
}

func TestAUserSignsInByAPassword(t *testing.T) {
	needs.Long(t, "it hashes a dozen passwords")
	told := journal.New(journal.Options{})
	m := newTeam(t, func(o *server.Options) { o.Journal = told })
	m.setPassword(t, "write", "correct horse")
	wrong := ""
	for _, tt := range []struct {
		name, password string
		want           int
	}{
		{"write", "correct horse", 303},
		{" write ", "correct horse", 303},
		{"read", m.tokens["read"], 303}, // a token for the API
		{"write", "wrong horse", 403},
		{"nobody", "correct horse", 403},
		{"read", "correct horse", 403}, // has no password
		{"write", "", 403},
		{"", "correct horse", 403},
		{"<b>", "<b>", 403},
	} {
		form := url.Values{"name": {tt.name}, "password": {tt.password}, "page": {"//evil.test/"}}
		got := send(t, m.server, "/signin", form)
		body := got.text(t)
		if got.StatusCode != tt.want || (len(got.Cookies()) == 1) != (tt.want == 303) || strings.Contains(body, "<b>") ||
			tt.want == 303 && got.Header.Get("Location") != "/" {
			t.Errorf("%q, %q: status %d, to %q: %s", tt.name, tt.password, got.StatusCode, got.Header.Get("Location"), body)
		}
		if tt.want == 403 && tt.name != "" {
			if wrong == "" {
				wrong = body
			}
			if body != wrong {
				t.Errorf("%q, %q is refused by other words:\n%s\n%s", tt.name, tt.password, body, wrong)
			}
		}
	}
	proxy, err := m.client.AddToken(t.Context(), api.TokenRequest{Name: "read", Scopes: []string{"proxy"}})
	if err != nil {
		t.Fatal(err)
	}
	got := send(t, m.server, "/signin", url.Values{"name": {"read"}, "password": {proxy.Token}})
	if body := got.text(t); got.StatusCode != http.StatusForbidden || !strings.Contains(body, "is not for the dashboard") {
		t.Errorf("a token for the proxy: status %d: %s", got.StatusCode, body)
	}
	last := 0
	for i := range 8 {
		form := url.Values{"name": {"admin"}, "password": {strings.Repeat("guess", i+1)}}
		last = send(t, m.server, "/signin", form).StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after many guesses: status %d", last)
	}
}

func TestAUserChoosesAPassword(t *testing.T) {
	needs.Long(t, "it hashes a dozen passwords")
	m := newTeam(t, nil)
	choose := func(current, password string, fields ...string) (int, string) {
		t.Helper()
		got := visit(t, m.server, "POST", "/api/v1/account/password",
			`{"current":"`+current+`","password":"`+password+`"}`, append(fields, "Content-Type: application/json")...)
		return got.StatusCode, got.text(t)
	}
	operator := "Authorization: Bearer of the operator"
	byToken := send(t, m.server, "/signin", url.Values{"name": {"read"}, "password": {m.tokens["read"]}}).signedIn(t)
	for what, field := range map[string]string{
		"the operator": operator, "a token": "Authorization: Bearer " + m.tokens["read"], "a browser by a token": byToken,
	} {
		if status, body := choose("", "correct horse", field); status < 400 {
			t.Errorf("%s: status %d: %s", what, status, body)
		}
	}
	signed := m.enter(t, "read")
	for _, bad := range []string{"", "123456789"} {
		if status, _ := choose("", bad, signed); status != http.StatusBadRequest {
			t.Errorf("the password %q: status %d", bad, status)
		}
	}
	if status, body := choose("", "correct horse", signed); status != 200 || strings.Contains(body, "pbkdf2") {
		t.Fatalf("the first password: status %d: %s", status, body)
	}
	if status, _ := choose("", "correct horse", signed); status != http.StatusUnauthorized {
		t.Errorf("the browser is not signed out: status %d", status)
	}
	signed = send(t, m.server, "/signin", url.Values{"name": {"read"}, "password": {"correct horse"}}).signedIn(t)
	for _, current := range []string{"", "wrong horse", m.tokens["read"]} {
		if status, body := choose(current, "another horse", signed); status != http.StatusForbidden {
			t.Errorf("with the present one %q: status %d: %s", current, status, body)
		}
	}
	if status, body := choose("correct horse", "another horse", signed); status != 200 {
		t.Errorf("with the present one: status %d: %s", status, body)
	}
	for password, want := range map[string]int{"correct horse": 403, "another horse": 303} {
		if got := send(t, m.server, "/signin", url.Values{"name": {"read"}, "password": {password}}); got.StatusCode != want {
			t.Errorf("%s: status %d, want %d", password, got.StatusCode, want)
		}
	}
	for what, tt := range map[string]struct{ field, want string }{
		"a user":       {"Authorization: Bearer " + m.tokens["write"], `"name":"write"`},
		"the operator": {operator, `"operator":true`},
	} {
		got := visit(t, m.server, "GET", "/api/v1/account", "", tt.field)
		if body := got.text(t); got.StatusCode != http.StatusOK || !strings.Contains(body, tt.want) ||
			strings.Contains(body, "pbkdf2") {
			t.Errorf("the account of %s: %d, %s", what, got.StatusCode, body)
		}
	}
}

// TestNoBrowserBecomesTheOperator shows that a link of an administrator signs in as a user: sessions of others stay
// theirs.
func TestNoBrowserBecomesTheOperator(t *testing.T) {
	m := newTeam(t, nil)
	got := visit(t, m.server, "POST", "/api/v1/signin", `{}`, "Content-Type: application/json",
		"Authorization: Bearer "+m.tokens["admin"])
	_, rest, _ := strings.Cut(got.text(t), "code=")
	code, _, _ := strings.Cut(rest, `"`)
	if got := visit(t, m.server, "GET", "/signin?code="+code, ""); len(got.Cookies()) > 0 {
		t.Fatal("an administrator's link signs in at once, as the operator's does")
	}
	signed := send(t, m.server, "/signin", url.Values{"code": {code}}).signedIn(t)
	body := visit(t, m.server, "GET", "/api/v1/account", "", signed).text(t)
	if !strings.Contains(body, `"name":"admin"`) {
		t.Errorf("who follows it is %s", body)
	}
	before := m.enter(t, "write")
	if _, err := m.client.RemoveUser(t.Context(), "write"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.client.AddUser(t.Context(), api.NewUser{Name: "write"}); err != nil {
		t.Fatal(err)
	}
	if got := visit(t, m.server, "GET", "/api/v1/account", "", before); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the browser of a user of the same name before: status %d", got.StatusCode)
	}
}

// TestWhoSignedOutStaysOut starts the server again.
func TestWhoSignedOutStaysOut(t *testing.T) {
	m := newTeam(t, nil)
	out, in := m.enter(t, "read"), m.enter(t, "read")
	if got := send(t, m.server, "/signout", nil, out); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("sign out: status %d", got.StatusCode)
	}
	if got := send(t, m.server, "/signout", nil, in, "Origin: https://evil.test"); got.StatusCode == http.StatusSeeOther {
		t.Error("another site signs a browser out")
	}
	again := server.New(server.Options{
		Store: m.store, Token: "of the operator", Users: m.users, Proxy: func() string { return "" },
	})
	defer again.Stop()
	for _, tt := range []struct {
		cookie string
		want   int
	}{{out, 401}, {in, 200}} {
		if got := visit(t, again, "GET", "/openapi.json", "", tt.cookie); got.StatusCode != tt.want {
			t.Errorf("after a restart: status %d, want %d", got.StatusCode, tt.want)
		}
	}
}
