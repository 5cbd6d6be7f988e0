package users_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/users"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the users of these tests were made.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// newUser returns a user with a token for some places, and the token.
func newUser(tb testing.TB, name string, role users.Role, scopes ...string) (users.User, string) {
	tb.Helper()
	token, text, err := users.NewToken(scopes, noon)
	if err != nil {
		tb.Fatal(err)
	}
	u := users.User{Name: name, ID: "id of " + name, Made: noon, Changed: noon, Role: role, Tokens: []users.Token{token}}
	if err := u.Check(); err != nil {
		tb.Fatal(err)
	}
	return u, text
}

func TestRolesAllowWhatThoseBeforeThemDo(t *testing.T) {
	for _, tt := range []struct {
		have, need users.Role
		want       bool
	}{
		{users.Read, users.Read, true},
		{users.Read, users.Write, false},
		{users.Read, users.Admin, false},
		{users.Write, users.Read, true},
		{users.Write, users.Write, true},
		{users.Write, users.Admin, false},
		{users.Admin, users.Read, true},
		{users.Admin, users.Write, true},
		{users.Admin, users.Admin, true},
		{"", users.Read, false},
		{"root", users.Read, false},
		{users.Admin, "", false},
		{"", "", false},
	} {
		if got := tt.have.Allows(tt.need); got != tt.want {
			t.Errorf("%q allows what %q does: %v", tt.have, tt.need, got)
		}
	}
}

func TestATokenIsForItsUserAndItsPlaces(t *testing.T) {
	ann, anns := newUser(t, "ann", users.Write, users.ScopeProxy, users.ScopeMCP)
	bob, bobs := newUser(t, "bob", users.Read, users.ScopeAPI)
	other := "A"
	if strings.HasSuffix(anns, other) {
		other = "B"
	}
	d := users.NewDirectory(nil)
	if !d.Open() {
		t.Error("without users not everybody is let in")
	}
	if err := d.Set(nil, []users.User{ann, bob}, true); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, secret, scope string
		want                error
	}{
		{"ann", anns, users.ScopeProxy, nil},
		{"ann", anns, users.ScopeMCP, nil},
		{"ann", anns, users.ScopeAPI, users.ErrScope},
		{"bob", anns, users.ScopeProxy, users.ErrWrong},
		{"ann", bobs, users.ScopeAPI, users.ErrWrong},
		{"bob", bobs, users.ScopeAPI, nil},
		{"bob", bobs, users.ScopeProxy, users.ErrScope},
		{"ann", anns[:len(anns)-1] + other, users.ScopeProxy, users.ErrWrong},
		{"ann", "", users.ScopeProxy, users.ErrWrong},
		{"", anns, users.ScopeProxy, users.ErrWrong},
	} {
		l, err := d.SignIn(t.Context(), fmt.Sprintf("192.0.2.%d:1", rand.N(200)), tt.name, tt.secret, tt.scope)
		if !errors.Is(err, tt.want) || tt.want == nil && (err != nil || l.Name() != tt.name || l.Meter == nil) {
			t.Errorf("%s with %.20s at %s: %q, %v, want %v", tt.name, tt.secret, tt.scope, l.Name(), err, tt.want)
		}
	}
	if l, err := d.Bearer(t.Context(), "192.0.2.1:1", bobs, users.ScopeAPI); err != nil || l.Name() != "bob" {
		t.Errorf("a token without a name: %q, %v", l.Name(), err)
	}
	unknown := "rt_0123456789ab_" + strings.Repeat("A", 26)
	if _, err := d.Bearer(t.Context(), "192.0.2.1:1", unknown, users.ScopeAPI); !errors.Is(err, users.ErrWrong) {
		t.Errorf("an unknown token: %v", err)
	}
	if strings.Contains(fmt.Sprintf("%+v", ann), anns) {
		t.Error("the record has the token")
	}
}

func TestWhoLosesATokenIsOutAtOnce(t *testing.T) {
	ann, text := newUser(t, "ann", users.Read, users.ScopeProxy)
	other, second, err := users.NewToken([]string{users.ScopeProxy}, noon)
	if err != nil {
		t.Fatal(err)
	}
	ann.Tokens = append(ann.Tokens, other)
	d := users.NewDirectory(nil)
	set := func(list ...users.User) {
		t.Helper()
		if err := d.Set(nil, list, true); err != nil {
			t.Fatal(err)
		}
	}
	set(ann)
	signIn := func(text string) (users.Login, error) {
		return d.SignIn(t.Context(), "192.0.2.1:1", "ann", text, users.ScopeProxy)
	}
	login, err := signIn(text)
	if err != nil {
		t.Fatal(err)
	}
	if now, ok := d.Present(login, users.ScopeProxy); !ok || now.Name() != "ann" {
		t.Error("a login does not last")
	}
	without := ann
	without.Tokens, without.Revoked = []users.Token{other}, []string{ann.Tokens[0].ID}
	set(without)
	if _, ok := d.Present(login, users.ScopeProxy); ok {
		t.Error("a login outlives its token")
	}
	if _, err := signIn(text); !errors.Is(err, users.ErrWrong) {
		t.Errorf("the revoked token: %v", err)
	}
	if login, err = signIn(second); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	defer d.WhenGone(login, users.ScopeProxy, func() { close(gone) })()
	d.WhenGone(login, users.ScopeProxy, func() { t.Error("what was forgotten is ended") })()
	set(users.User{Name: "ann", ID: ann.ID, Changed: noon.Add(time.Minute), Gone: true})
	<-gone
	if _, ok := d.Present(login, users.ScopeProxy); ok {
		t.Error("a login outlives its user")
	}
	if _, err := signIn(second); !errors.Is(err, users.ErrWrong) {
		t.Errorf("a token of a user who is gone: %v", err)
	}
	ended := make(chan struct{})
	defer d.WhenGone(login, users.ScopeProxy, func() { close(ended) })()
	<-ended // also what begins with a login that has gone
	if d.Open() {
		t.Error("with the last user gone, everybody is let in")
	}
	if _, ok := d.Present(users.Login{}, users.ScopeProxy); ok {
		t.Error("who never signed in is let in")
	}
}

func TestRecordsThatCannotBeAreRefused(t *testing.T) {
	good, _ := newUser(t, "ann", users.Read, users.ScopeProxy)
	for name, spoil := range map[string]func(*users.User){
		"name":          func(u *users.User) { u.Name = "a b" },
		"long name":     func(u *users.User) { u.Name = strings.Repeat("a", 41) },
		"plus":          func(u *users.User) { u.Name = "ann+x" },
		"no id":         func(u *users.User) { u.ID = "" },
		"no time":       func(u *users.User) { u.Changed = time.Time{} },
		"role":          func(u *users.User) { u.Role = "root" },
		"no role":       func(u *users.User) { u.Role = "" },
		"mode":          func(u *users.User) { u.Mode = "sometimes" },
		"limit":         func(u *users.User) { u.Limits.TokensPerDay = -1 },
		"hash":          func(u *users.User) { u.Tokens[0].Hash = "plain" },
		"dear hash":     func(u *users.User) { u.Tokens[0].Hash = strings.Replace(u.Tokens[0].Hash, "$1$", "$9000000$", 1) },
		"token id":      func(u *users.User) { u.Tokens[0].ID = "x" },
		"scope":         func(u *users.User) { u.Tokens[0].Scopes = []string{"root"} },
		"no scope":      func(u *users.User) { u.Tokens[0].Scopes = nil },
		"scope twice":   func(u *users.User) { u.Tokens[0].Scopes = []string{"api", "api"} },
		"many tokens":   func(u *users.User) { u.Tokens = slices.Repeat(u.Tokens, 101) },
		"many revoked":  func(u *users.User) { u.Revoked = make([]string, 1001) },
		"control in it": func(u *users.User) { u.Name = "ann\n" },
	} {
		bad := good
		bad.Tokens = slices.Clone(good.Tokens)
		spoil(&bad)
		if bad.Check() == nil {
			t.Errorf("%s: it is accepted", name)
		}
		d := users.NewDirectory(nil)
		if err := d.Set(nil, []users.User{bad}, true); err != nil || d.Known(bad.Name) {
			t.Errorf("%s: %v, or it is a user", name, err)
		}
	}
}

func TestConfiguredUsersAreChecked(t *testing.T) {
	hash, err := users.HashPassword("x")
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]users.User{
		"hash":  {{Name: "a", PasswordHash: "plain"}},
		"huge":  {{Name: "a", PasswordHash: strings.Replace(hash, "600000", "60000000000", 1)}},
		"twice": {{Name: "a", PasswordHash: hash}, {Name: "a", PasswordHash: hash}},
		"colon": {{Name: "a:b", PasswordHash: hash}},
		"empty": {{PasswordHash: hash}},
		"mode":  {{Name: "a", PasswordHash: hash, Mode: "x"}},
	} {
		d := users.NewDirectory(nil)
		if users.Check(list) == nil || d.Set(list, nil, false) == nil || !d.Open() {
			t.Errorf("%s: it is accepted", name)
		}
	}
	if _, err := users.HashPassword(""); err == nil {
		t.Error("an empty password was hashed")
	}
	ann, _ := newUser(t, "ann", users.Admin, users.ScopeAPI)
	d := users.NewDirectory(nil)
	if err := d.Set([]users.User{{Name: "ann", PasswordHash: hash}}, []users.User{ann}, true); err != nil {
		t.Fatal(err)
	}
	if l, err := d.SignIn(t.Context(), "192.0.2.1:1", "ann", "x", users.ScopeProxy); err != nil || l.User.Role != "" {
		t.Errorf("a configured user: %v, role %q", err, l.User.Role)
	}
	if _, err := d.SignIn(t.Context(), "192.0.2.1:1", "ann", "x", users.ScopeAPI); !errors.Is(err, users.ErrScope) {
		t.Errorf("a password at the admin port: %v", err)
	}
}

// TestMergeIsTheSameInEveryOrder merges records of one user, as nodes change and exchange them, in random orders.
func TestMergeIsTheSameInEveryOrder(t *testing.T) {
	base, _ := newUser(t, "ann", users.Read, users.ScopeProxy)
	second := base.Tokens[0]
	second.ID = "0123456789ab"
	changed := func(after time.Duration, change func(*users.User)) users.User {
		u := base
		u.Tokens = slices.Clone(base.Tokens)
		u.Changed = noon.Add(after)
		change(&u)
		return u
	}
	records := []users.User{
		base,
		changed(1, func(u *users.User) { u.Role = users.Admin }),
		changed(2, func(u *users.User) { u.Revoked, u.Tokens = []string{u.Tokens[0].ID}, nil }),
		changed(3, func(u *users.User) { u.Tokens = append(u.Tokens, second) }),
		changed(3, func(u *users.User) { u.Limits.TokensPerDay = 7 }),
		changed(1, func(u *users.User) { u.Switched = 1 }),
		changed(3, func(u *users.User) { u.PasswordHash = "pbkdf2-sha256$1$AAAA$AAAA" }),
	}
	merge := func(list []users.User) users.User {
		m := list[0]
		for _, u := range list[1:] {
			m = users.Merge(m, u)
		}
		return users.Merge(m, m)
	}
	want := merge(records)
	if len(want.Tokens) != 1 || want.Tokens[0].ID != second.ID ||
		!slices.Equal(want.Revoked, []string{base.Tokens[0].ID}) {
		t.Errorf("tokens %+v, revoked %v", want.Tokens, want.Revoked)
	}
	if !want.Disabled() {
		t.Error("who was disabled is enabled by who changed something else later")
	}
	for range 200 {
		rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		if diff := cmp.Diff(want, merge(records)); diff != "" {
			t.Fatalf("another order gives another record (-want +got):\n%s", diff)
		}
	}
	gone := changed(1, func(u *users.User) { u.Gone, u.Tokens = true, nil })
	if m := merge(append(slices.Clone(records), gone)); !m.Gone || m.Tokens != nil {
		t.Errorf("who was removed is back: %+v", m)
	}
	again, _ := newUser(t, "ann", users.Write, users.ScopeProxy)
	again.ID, again.Changed = "another person", noon.Add(time.Hour)
	if m := users.Merge(users.Merge(want, gone), again); m.Gone || m.Role != users.Write || len(m.Tokens) != 1 {
		t.Errorf("a user of the same name who was made later: %+v", m)
	}
}

// metered returns the meter of a user with limits.
func metered(t *testing.T, limits users.Limits, used func(string, time.Time) int64) (*users.Directory, *users.Meter) {
	t.Helper()
	ann, text := newUser(t, "ann", users.Read, users.ScopeProxy)
	ann.Limits = limits
	d := users.NewDirectory(used)
	if err := d.Set(nil, []users.User{ann}, true); err != nil {
		t.Fatal(err)
	}
	l, err := d.SignIn(t.Context(), "192.0.2.1:1", "ann", text, users.ScopeProxy)
	if err != nil {
		t.Fatal(err)
	}
	return d, l.Meter
}

func TestLimitsEndWithTheMinuteAndTheDay(t *testing.T) {
	_, m := metered(t, users.Limits{RequestsPerMinute: 3, TokensPerDay: 100}, nil)
	at := noon.Add(40 * time.Second)
	for range 3 {
		if err := m.Ask(at); err != nil {
			t.Fatal(err)
		}
	}
	err := m.Ask(at)
	over, ok := errors.AsType[*users.OverError](err)
	if !ok || over.Wait != 20*time.Second || !strings.Contains(err.Error(), "3 requests a minute") ||
		!strings.Contains(err.Error(), "2026-03-02T12:01:00Z") {
		t.Errorf("the fourth request: %v", err)
	}
	if err := m.Ask(at.Add(20 * time.Second)); err != nil {
		t.Errorf("in the next minute: %v", err)
	}
	if err := m.AskPage(at); err != nil {
		t.Errorf("the first page: %v", err)
	}
	m.Count(at, users.PageUse(99, 300))
	if err := m.AskPage(at); err != nil {
		t.Errorf("with one token left: %v", err)
	}
	m.Count(at, users.PageUse(50, 0))
	err = m.AskPage(at)
	if over, ok = errors.AsType[*users.OverError](err); !ok || over.Wait != 12*time.Hour-40*time.Second ||
		!strings.Contains(err.Error(), "2026-03-03T00:00:00Z") {
		t.Errorf("with no token left: %v", err)
	}
	if err := m.AskPage(noon.Add(12 * time.Hour)); err != nil {
		t.Errorf("on the next day: %v", err)
	}
	var none *users.Meter
	none.Count(at, users.PageUse(1, 1))
	if none.Ask(at) != nil || none.AskPage(at) != nil {
		t.Error("no meter has limits")
	}
}

func TestTokensOfBeforeAndOfOtherNodesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		d, m := metered(t, users.Limits{TokensPerDay: 100}, func(string, time.Time) int64 { return 60 })
		if err := m.AskPage(now); err != nil {
			t.Errorf("60 of 100 used: %v", err)
		}
		d.Elsewhere(now, map[string]int64{"ann": 40})
		if m.AskPage(now) == nil {
			t.Error("100 of 100 used: there is more")
		}
		d.Elsewhere(now, map[string]int64{"ann": 39})
		if err := m.AskPage(now); err != nil {
			t.Errorf("99 of 100 used: %v", err)
		}
	})
}

func TestWhatIsUsedIsTakenOnceAndWholly(t *testing.T) {
	d, m := metered(t, users.Limits{}, nil)
	var sum users.Use
	keep := func(used map[string]users.Use) error {
		sum.Add(used["ann"])
		return nil
	}
	var counting sync.WaitGroup
	for range 4 {
		counting.Go(func() {
			for range 1000 {
				m.Count(noon, users.Use{Requests: 1, Bytes: 10, Pages: 1, Tokens: 2, HTMLTokens: 5, Saved: 3})
			}
		})
	}
	failed := errors.New("no disk")
	for range 100 {
		if err := d.Take(func(map[string]users.Use) error { return failed }); err != nil && !errors.Is(err, failed) {
			t.Error(err)
		}
		if err := d.Take(keep); err != nil {
			t.Error(err)
		}
	}
	counting.Wait()
	if err := d.Take(keep); err != nil {
		t.Error(err)
	}
	want := users.Use{Requests: 4000, Bytes: 40_000, Pages: 4000, Tokens: 8000, HTMLTokens: 20_000, Saved: 12_000}
	if sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
}

func TestAPasswordIsForTheDashboardAlone(t *testing.T) {
	needs.Long(t, "it hashes a dozen passwords")
	ann, anns := newUser(t, "ann", users.Write, users.ScopeAPI)
	bob, bobs := newUser(t, "bob", users.Read, users.ScopeProxy)
	hash, err := users.HashPassword("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	ann.PasswordHash = hash
	d := users.NewDirectory(nil)
	set := func(configured []users.User, list ...users.User) {
		t.Helper()
		if err := d.Set(configured, list, true); err != nil {
			t.Fatal(err)
		}
	}
	eve := users.User{Name: "eve", PasswordHash: hash}
	set([]users.User{eve}, ann, bob)
	signIn := func(name, secret, scope string) (users.Login, error) {
		return d.SignIn(t.Context(), fmt.Sprintf("192.0.2.%d:1", rand.N(200)), name, secret, scope)
	}
	for _, tt := range []struct {
		name, secret, scope string
		want                error
	}{
		{"ann", "correct horse", users.ScopeDashboard, nil},
		{"ann", "correct horse", users.ScopeProxy, users.ErrScope},
		{"ann", "correct horse", users.ScopeAPI, users.ErrScope},
		{"ann", "wrong horses", users.ScopeDashboard, users.ErrWrong},
		{"ann", anns, users.ScopeDashboard, nil},
		{"ann", hash, users.ScopeDashboard, users.ErrWrong},
		{"bob", bobs, users.ScopeDashboard, users.ErrScope},
		{"bob", "", users.ScopeDashboard, users.ErrWrong},
		{"bob", "id of bob ", users.ScopeDashboard, users.ErrWrong},
		{"eve", "correct horse", users.ScopeDashboard, users.ErrScope},
		{"eve", "correct horse", users.ScopeProxy, nil},
		{"nobody", "correct horse", users.ScopeDashboard, users.ErrWrong},
	} {
		if l, err := signIn(tt.name, tt.secret, tt.scope); !errors.Is(err, tt.want) || tt.want == nil && l.Name() != tt.name {
			t.Errorf("%s with %.12s at %s: %q, %v, want %v", tt.name, tt.secret, tt.scope, l.Name(), err, tt.want)
		}
	}
	for _, name := range []string{"eve", "nobody", ""} {
		if _, err := d.Vouch(name); err == nil {
			t.Errorf("somebody may vouch for %q", name)
		}
	}

	byPassword, err1 := signIn("ann", "correct horse", users.ScopeDashboard)
	byToken, err2 := signIn("ann", anns, users.ScopeDashboard)
	byLink, err3 := d.Vouch("ann")
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	other := ann
	if other.PasswordHash, err = users.HashPassword("another horse"); err != nil {
		t.Fatal(err)
	}
	disabled, again, gone := ann, ann, ann
	disabled.Switched, again.Switched, gone.Gone = 1, 2, true
	namesake := ann
	namesake.ID, namesake.PasswordHash, namesake.Tokens = "another person", "", nil
	for _, tt := range []struct {
		what                  string
		now                   users.User
		password, token, link bool
	}{
		{"as before", ann, true, true, true},
		{"a new password", other, false, true, false},
		{"disabled", disabled, false, false, false},
		{"enabled again", again, true, true, true},
		{"removed", gone, false, false, false},
		{"another of the name", namesake, false, false, false},
	} {
		set(nil, tt.now)
		for i, l := range []users.Login{byPassword, byToken, byLink} {
			want := []bool{tt.password, tt.token, tt.link}[i]
			if _, ok := d.Present(l, users.ScopeDashboard); ok != want {
				t.Errorf("%s, login %d: present %v, want %v", tt.what, i, ok, want)
			}
			if now, err := d.Resume("ann", l.Mark()); (err == nil) != want || want && now.Name() != "ann" {
				t.Errorf("%s, login %d: resumed: %v, want %v", tt.what, i, err, want)
			}
		}
	}
	set(nil, ann, bob)
	if _, err := d.Resume("bob", byPassword.Mark()); err == nil {
		t.Error("a mark of one user is good for another")
	}
	for _, password := range []string{"", "123456789", strings.Repeat("x", 1025)} {
		if users.CheckPassword(password) == nil {
			t.Errorf("a password of %d characters is taken", len(password))
		}
	}
}
