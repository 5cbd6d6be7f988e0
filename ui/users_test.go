package ui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// fillUsers makes users of a store, and one for each text in the configuration.
func (w *world) fillUsers(t *testing.T, texts []string) {
	t.Helper()
	w.configured.Store(&texts)
	for i, name := range []string{"ann", "bob.b_b-1", strings.Repeat("long", 10)} {
		role := []string{"admin", "write", "read"}[i]
		_, err := w.server.Client("test").AddUser(t.Context(), api.NewUser{Name: name, UserFields: api.UserFields{
			Role: &role, RequestsPerMinute: new(int64(i * 600)), TokensPerDay: new(int64(i * 2_000_000)),
			Disabled: new(i == 2),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// fillActs records acts whose parts are texts.
func (w *world) fillActs(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		a := store.Act{Time: time.Now(), User: text, From: text, Door: text, Act: text, Object: text, Error: text}
		if err := w.store.AddAct(a); err != nil {
			t.Fatal(err)
		}
	}
}

// userOf returns what is known of a user.
func (w *world) userOf(t *testing.T, name string) *api.UserInfo {
	t.Helper()
	list, err := w.server.Client("test").Users(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Users {
		if list.Users[i].Name == name {
			return &list.Users[i]
		}
	}
	return nil
}

// between returns what stands in a text between two others.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return found
}

func TestUsersAreManagedByOurFormsAlone(t *testing.T) {
	w := newWorld(t)
	if body := w.do(t, http.MethodGet, "/users", nil).body; !strings.Contains(body, "No user yet") {
		t.Errorf("without users: %.300s", body)
	}
	add := url.Values{
		"name": {"ann"}, "role": {"write"}, "requests": {"600"}, "tokens": {""}, "scope": {"proxy", "api"},
	}
	if got := w.send(t, "/users", add, nil); got.status != http.StatusForbidden || w.userOf(t, "ann") != nil {
		t.Errorf("without the form's token: status %d", got.status)
	}
	token := w.tokenOf(t, "/users")
	add.Set("token", token)
	made := w.send(t, "/users", add, nil)
	secret := between(made.body, `id="secret" tabindex="0">`, "<")
	if made.status != http.StatusOK || !strings.HasPrefix(secret, "rt_") ||
		made.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("status %d, secret %q, %v", made.status, secret, made.header)
	}
	ann := w.userOf(t, "ann")
	if ann == nil || ann.Role != "write" || ann.Limits.RequestsPerMinute != 600 || len(ann.Tokens) != 1 {
		t.Fatalf("made: %+v", ann)
	}
	for path, want := range map[string][]string{
		"/users":         {"/user?name=ann", "600", "is no user is refused"},
		"/user?name=ann": {ann.Tokens[0].ID, `value="600"`, "<option selected>write</option>", "Used, by days"},
	} {
		body := w.do(t, http.MethodGet, path, nil).body
		if strings.Contains(body, secret) {
			t.Errorf("%s shows the token again", path)
		}
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
	for _, tt := range []struct {
		what, path string
		form       url.Values
		want       int
		says       string
	}{
		{"the name again", "/users", add, 409, "there is a user ann already"},
		{"a bad name", "/users", url.Values{"name": {"A B"}, "role": {"read"}, "scope": {"api"}}, 400, "a name has up to 40"},
		{"a bad limit", "/user/change", url.Values{"role": {"read"}, "requests": {"many"}}, 400, "a limit is a number"},
		{"a bad role", "/user/change", url.Values{"role": {"root"}}, 400, "is not read, write or admin"},
		{"a bad subject", "/user/change", url.Values{"do": {"subject"}, "subject": {"<b>"}}, 400, "the subject is not"},
		{"no scope", "/user/token", url.Values{}, 400, "a token needs a scope"},
		{"a scope", "/user/token", url.Values{"scope": {"root"}}, 400, "is not proxy, api or mcp"},
		{"no such token", "/user/revoke", url.Values{"id": {"<b>"}}, 404, "has no token"},
		{"nobody", "/user/link", url.Values{"name": {"<b>eve"}}, 404, "there is no user"},
		{"nobody", "/user/remove", url.Values{"name": {"eve"}}, 404, "there is no user"},
	} {
		tt.form.Set("token", token)
		if !tt.form.Has("name") {
			tt.form.Set("name", "ann")
		}
		if got := w.send(t, tt.path, tt.form, nil); got.status != tt.want || !strings.Contains(got.body, tt.says) ||
			strings.Contains(got.body, "<b>") {
			t.Errorf("%s: status %d, %s", tt.what, got.status, between(got.body, `<p class="note bad">`, "</p>"))
		}
	}
	if got := w.do(t, http.MethodGet, "/user?name=<b>", nil); got.status != 404 || strings.Contains(got.body, "<b>") {
		t.Errorf("no such user: status %d", got.status)
	}
	send := func(path string, form url.Values) reply {
		form.Set("token", token)
		form.Set("name", "ann")
		return w.send(t, path, form, nil)
	}
	for _, tt := range []struct {
		path string
		form url.Values
		is   func(*api.UserInfo) bool
	}{
		{"/user/change", url.Values{"role": {"admin"}, "mode": {"never"}, "tokens": {"9"}}, func(u *api.UserInfo) bool {
			return u.Role == "admin" && u.Mode == "never" && u.Limits.RequestsPerMinute == 0 && u.Limits.TokensPerDay == 9
		}},
		{"/user/change", url.Values{"do": {"subject"}, "subject": {"https://i.test 7"}}, func(u *api.UserInfo) bool {
			return u.Subject == "https://i.test 7" && u.Role == "admin"
		}},
		{"/user/change", url.Values{"do": {"disable"}}, func(u *api.UserInfo) bool { return u.Disabled }},
		{"/user/change", url.Values{"do": {"enable"}}, func(u *api.UserInfo) bool { return !u.Disabled }},
		{"/user/revoke", url.Values{"id": {ann.Tokens[0].ID}}, func(u *api.UserInfo) bool { return len(u.Tokens) == 0 }},
		{"/user/remove", url.Values{}, func(u *api.UserInfo) bool { return u == nil }},
	} {
		if got := send(tt.path, tt.form); got.status != http.StatusSeeOther || !tt.is(w.userOf(t, "ann")) {
			t.Errorf("%s %v: status %d, %+v", tt.path, tt.form, got.status, w.userOf(t, "ann"))
		}
	}
}

// enter signs a user in by a link, and returns what sets the cookie.
func (w *world) enter(t *testing.T, user string) func(*http.Request) {
	t.Helper()
	link, err := w.server.Client("test").UserLink(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	got := w.send(t, "/signin", url.Values{"code": {strings.TrimPrefix(link.Path, "/signin?code=")}},
		func(r *http.Request) { r.Header.Del("Authorization") })
	cookies := (&http.Response{Header: got.header}).Cookies()
	if got.status != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("not signed in: status %d", got.status)
	}
	return func(r *http.Request) {
		r.Header.Del("Authorization")
		r.AddCookie(cookies[0])
	}
}

// TestUsersSeeWhatIsTheirs has an administrator, and two users who look at the same rooms, also as scripts do at once.
func TestUsersSeeWhatIsTheirs(t *testing.T) {
	w := newWorld(t)
	w.fillUsers(t, nil)
	for _, name := range []string{"eve", "dan"} {
		if _, err := w.server.Client("test").AddUser(t.Context(), api.NewUser{Name: name}); err != nil {
			t.Fatal(err)
		}
		w.told.Add(&journal.Entry{
			Time: time.Now(), Method: "GET", URL: "https://" + name + ".test/x", User: name, Session: name + "+s",
			Outcome: "hit", Status: 200, Agent: "agent of " + name,
		})
	}
	w.sessions.Store(&[]api.SessionStats{{Session: "eve+s"}, {Session: "dan+s"}})
	list, err := w.server.Client("test").Requests(t.Context(), api.RequestQuery{Filter: "user:eve"})
	if err != nil || len(list.Requests) != 1 {
		t.Fatal(list, err)
	}
	eves := "/requests/" + list.Requests[0].ID
	signed := map[string]func(*http.Request){"ann": w.enter(t, "ann"), "eve": w.enter(t, "eve"), "dan": w.enter(t, "dan")}
	get := func(user, path string, script bool) reply {
		return w.do(t, http.MethodGet, path, func(r *http.Request) {
			signed[user](r)
			if script {
				r.Header.Set("Sec-Fetch-Dest", "empty")
				r.Header.Set("Sec-Fetch-Site", "same-origin")
			}
		})
	}
	for _, tt := range []struct {
		path          string
		ann, eve, dan int
		others        bool // an administrator sees what is of others
		has, hasNot   string
	}{
		{"/", 200, 200, 200, true, "/account", "Left this machine"},
		{"/requests", 200, 200, 200, true, ".test/x", "/users"},
		{eves, 200, 200, 404, true, "/account", "/users"},
		{"/sessions", 200, 200, 200, false, "/account", "/system"},
		{"/session?name=eve%2Bs", 404, 200, 404, false, "/account", "/users"},
		{"/account", 200, 200, 200, false, "Sign out", "/users"},
		{"/pages", 200, 200, 200, false, "/account", "/users"},
		{"/search?q=x", 200, 200, 200, false, "/account", "/users"},
		{"/bases", 200, 200, 200, false, "/account", "/users"},
		{"/notes", 200, 200, 200, false, "/account", "/users"},
		{"/sites", 200, 200, 200, false, "/account", "/users"},
		{"/api", 200, 200, 200, false, "/account", ""},
		{"/users", 200, 403, 403, false, "/account", ""},
		{"/acts", 200, 403, 403, true, "/account", ""},
		{"/user?name=eve", 200, 403, 403, true, "/account", ""},
		{"/system", 200, 403, 403, false, "/account", ""},
		{"/left", 200, 403, 403, false, "/account", ""},
	} {
		for user, want := range map[string]int{"ann": tt.ann, "eve": tt.eve, "dan": tt.dan} {
			got := get(user, tt.path, false)
			if got.status != want || !strings.Contains(got.body, tt.has) {
				t.Errorf("%s as %s: status %d, want %d", tt.path, user, got.status, want)
			}
			for _, other := range []string{"eve", "dan"} {
				if other == user || user == "ann" && (tt.others || tt.path == "/users") {
					continue
				}
				for _, text := range []string{other + ".test/x", other + "+s", "agent of " + other} {
					if strings.Contains(got.body, text) && !strings.Contains(tt.path, other) {
						t.Errorf("%s as %s shows %s", tt.path, user, text)
					}
				}
			}
			if user != "ann" && tt.hasNot != "" && strings.Contains(got.body, tt.hasNot) {
				t.Errorf("%s as %s shows %s", tt.path, user, tt.hasNot)
			}
		}
	}
	var asking sync.WaitGroup
	for range 3 {
		for _, user := range []string{"eve", "dan"} {
			asking.Go(func() {
				got := get(user, "/requests", true)
				if got.status != 200 || !strings.Contains(got.body, "https://"+user+".test/x") ||
					strings.Count(got.body, ".test/x</") > 1 || strings.Contains(got.body, map[string]string{
					"eve": "dan.test", "dan": "eve.test",
				}[user]) {
					t.Errorf("a script of %s: status %d", user, got.status)
				}
			})
		}
	}
	asking.Wait()
	form := url.Values{
		"token": {between(get("ann", "/users", false).body, token, `"`)}, "name": {"eve"}, "id": {"0123456789ab"},
	}
	for _, path := range []string{"/users", "/user/change", "/user/token", "/user/revoke", "/user/link", "/user/remove"} {
		if got := w.send(t, path, form, signed["dan"]); got.status != http.StatusForbidden ||
			!strings.Contains(got.body, "for the role admin") {
			t.Errorf("%s as dan: status %d", path, got.status)
		}
	}
	if w.userOf(t, "eve") == nil || len(w.userOf(t, "eve").Tokens) != 1 {
		t.Error("a user changed another")
	}
	for _, want := range []string{"signIn", "127.0.0.1"} {
		if got := get("ann", "/acts", false); !strings.Contains(got.body, want) {
			t.Errorf("the acts lack %s: %s", want, got.body)
		}
	}
	link := w.send(t, "/user/link", form, signed["ann"])
	if at := between(link.body, `id="secret" tabindex="0">`, "<"); !strings.HasPrefix(at, w.base+"/signin?code=") {
		t.Errorf("the link is %q", at)
	}
	own := url.Values{"token": form["token"], "password": {"correct horse"}, "again": {"another horse"}}
	if got := w.send(t, "/account/password", own, signed["dan"]); got.status != 400 ||
		!strings.Contains(got.body, "not the same") {
		t.Errorf("two passwords: status %d", got.status)
	}
	own.Set("again", "correct horse")
	if got := w.send(t, "/account/password", own, signed["dan"]); got.status != http.StatusSeeOther {
		t.Errorf("a password: status %d: %s", got.status, got.body)
	}
	if got := get("dan", "/", false); got.status != http.StatusUnauthorized ||
		!strings.Contains(got.body, `name="password"`) {
		t.Errorf("with a new password the browser is still signed in: status %d", got.status)
	}
	disable := url.Values{"token": form["token"], "name": {"ann"}, "do": {"disable"}}
	if got := w.send(t, "/user/change", disable, signed["ann"]); got.status != http.StatusSeeOther {
		t.Errorf("an administrator who disables herself: status %d: %s", got.status, got.body)
	}
	if got := get("ann", "/", false); got.status != http.StatusUnauthorized {
		t.Errorf("who is disabled is still signed in: status %d", got.status)
	}
}

// TestPagesHaveNoFormThatTheirReaderMayNotSend has users of each role look at the rooms, and sends each form of these.
func TestPagesHaveNoFormThatTheirReaderMayNotSend(t *testing.T) {
	w := newWorld(t)
	w.fillSites(t, nil)
	doc := w.put(t, "kept", "Kept", "# Kept\n\nA text.\n")
	c := w.server.Client("test")
	if _, err := c.AddNote(t.Context(), api.NewNote{Text: "Quinces keep."}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateBase(t.Context(), api.NewBase{Name: "larder"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.store.Learn("calm.test", store.Negotiates, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`(?s)<form method="post"(?: action="([^"]*)")?.*?</form>`)
	button := regexp.MustCompile(`formaction="([^"]*)"`)
	roles, offered := []string{"read", "write", "admin"}, map[string][]string{}
	signed, ids := map[string]func(*http.Request){}, map[string]string{}
	for _, role := range roles {
		if _, err := c.AddUser(t.Context(), api.NewUser{Name: role, UserFields: api.UserFields{Role: &role}}); err != nil {
			t.Fatal(err)
		}
		signed[role] = w.enter(t, role)
		ids[role] = w.told.Add(&journal.Entry{
			Time: time.Now(), Method: "GET", URL: "https://a.test/x", User: role, Outcome: "hit", Status: 200,
		})
		for _, path := range []string{
			"/", "/requests?q=status:200", "/requests/" + ids[role], "/pages/" + doc, "/bases", "/bases/larder", "/notes",
			"/sites", "/sites/calm.test", "/account",
		} {
			got := w.do(t, http.MethodGet, path, signed[role])
			if got.status != http.StatusOK {
				t.Errorf("%s as %s: status %d", path, role, got.status)
			}
			for _, f := range form.FindAllStringSubmatch(got.body, -1) {
				for _, b := range append(button.FindAllStringSubmatch(f[0], -1), f) {
					offered[role] = append(offered[role], strings.Replace(b[1], ids[role], "ID", 1))
				}
			}
		}
	}
	for _, role := range roles {
		account := w.do(t, http.MethodGet, "/account", signed[role]).body
		values := url.Values{"token": {between(account, token, `"`)}}
		for _, action := range offered[role] {
			if action == "" || action == "/signout" {
				continue
			}
			got := w.send(t, strings.Replace(action, "ID", ids[role], 1), values, signed[role])
			if got.status == http.StatusForbidden {
				t.Errorf("%s has the form %s: %s", role, action, between(got.body, `<p class="note bad">`, "</p>"))
			}
		}
	}
	kept := "/pages/" + doc
	for role, want := range map[string][]string{
		"read": {kept + "/fetch", kept + "/render", kept + "/removed", kept + "/screenshot", "/account/password"},
		"write": {
			"/requests/views", "/requests/ID/replay", kept + "/add", kept + "/delete", "/bases", "/bases/import",
			"/bases/larder/delete", "/notes", "/notes/delete", "/sites/calm.test/forget",
		},
		"admin": {
			"/switches", "/requests/clear", "/requests/ID/hide", "/sites/rules", "/sites/unrule",
			"/sites/calm.test/rule", "/sites/calm.test/remove",
		},
	} {
		for _, action := range want {
			for _, other := range roles {
				may := users.Role(other).Allows(users.Role(role))
				if has := slices.Contains(offered[other], action); has != may {
					t.Errorf("%s has the form %s: %v, want %v", other, action, has, may)
				}
			}
		}
	}
}

// useUsers adds a user by a form, signs in by the user's link, chooses a password, signs in with it, looks at the rooms
// and signs out. It ends signed out.
func useUsers(t *testing.T, b *browser, axe string) {
	t.Helper()
	fill := func(name, value string) {
		t.Helper()
		b.find(fmt.Sprintf(`//main//input[@name=%q]`, name), fmt.Sprintf("(e.value = %q, true)", value))
	}
	look := func(path string) {
		t.Helper()
		if axe != "" {
			b.accessible(path, axe)
		}
		if b.run(chromedp.EmulateViewport(360, 740)); value[bool](b, tooWide) {
			t.Errorf("%s: wider than a phone: %s", path, value[string](b, widest))
		}
		b.run(chromedp.EmulateViewport(1280, 900))
	}
	b.open("/users")
	fill("name", "person")
	b.press(`//button[.="Add user"]`)
	b.see(`//h1[.="person is a user now"]`)
	look("a token")
	b.press(`//a[.="Back"]`)
	b.press(`//button[.="Make a sign-in link"]`)
	b.see(`//h1[.="A link for person to sign in"]`)
	link := value[string](b, `document.getElementById('secret').textContent`)
	b.press(`//a[.="account"]`)
	b.press(`//button[.="Sign out"]`)
	b.see(`//button[.="Sign in"]`)
	b.check("signed out")
	look("/signin")
	b.run(chromedp.Navigate(link))
	b.see(`//button[.="Sign in as person"]`)
	look("/signin with a link")
	b.press(`//button[.="Sign in as person"]`)
	b.see(`//a[.="Requests"]`)
	b.press(`//footer//a[.="person"]`)
	fill("password", "correct horse")
	fill("again", "correct horse")
	b.press(`//button[.="Set the password"]`)
	b.see(`//input[@name="password" and @autocomplete="current-password"]`)
	b.mu.Lock()
	b.faults = nil // the browser logs that it was signed out: 401
	b.mu.Unlock()
	fill("name", "person")
	fill("password", "correct horse")
	b.press(`//form[.//input[@name="password"]]//button`)
	b.see(`//h2[.="Another password"]`)
	look("/account")
	for _, path := range []string{"/", "/requests", "/pages", "/search", "/bases", "/notes", "/sites", "/sessions"} {
		b.open(path)
		look(path)
		pictures(t, b, []string{path})
	}
	pictures(t, b, []string{"/account"})
	b.open("/account")
	b.press(`//button[.="Sign out"]`)
	b.see(`//button[.="Sign in"]`)
	b.check("signed out again")
}
