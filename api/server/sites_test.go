package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// TestSitesThatAreTreatedDifferentlyComeFirst has more ordinary hosts than a list has, and a few of each kind that an
// operator looks for.
func TestSitesThatAreTreatedDifferentlyComeFirst(t *testing.T) {
	told := journal.New(journal.Options{})
	w := newWorldOver(t, nil, nil, func(o *server.Options) {
		o.Journal = told
		o.FileRules = func() hostrule.Rules {
			return hostrule.Rules{{Mode: "auto"}, {Host: "*", Bypass: true}, {Host: "*.Corp.test", TTL: time.Hour}}
		}
		o.Treatment = func(host string) (treatment, why string) {
			switch host {
			case "ads.test":
				return "block", "rule"
			case "listed.test":
				return "block", "blocked domain"
			case "bank.test", "models.test":
				return "tunnel", `preset; category="banks"`
			}
			return "intercept", "default"
		}
	})
	now := time.Now()
	visit := func(u string) {
		w.store.AddVisit(page.KeyOf(u), store.Visit{URL: u, Time: now})
	}
	for i := range 300 {
		visit(fmt.Sprintf("https://h%03d.test/", i))
	}
	for _, u := range []string{"https://wiki.corp.test/", "https://listed.test/", "https://bank.test/"} {
		visit(u)
	}
	says := store.RuleFields{Host: "Ads.test", Action: "block"}
	if _, err := w.store.PutRule(store.Rule{RuleFields: says}, now); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.store.Learn("md.test", store.Negotiates, "", "", now); err != nil {
		t.Fatal(err)
	}
	for _, e := range []journal.Entry{
		{Method: "CONNECT", URL: "pinned.test:443", Outcome: journal.Tunnelled, Tunnel: "client-rejected-ca"},
		{Method: "GET", URL: "https://down.test/a", Outcome: journal.Failed},
		{Method: "GET", URL: "https://h007.test/a", Outcome: journal.Failed},
		{Method: "GET", URL: "https://h007.test/a", Outcome: "miss"}, // it is back
		{Method: "GET", URL: "https://refused.test/", Outcome: journal.Refused},
		{Method: "CONNECT", URL: "models.test:443", Outcome: journal.Failed, Tunnel: "preset"},
		{Method: "GET", URL: "https://ads.test/", Outcome: journal.Refused, Rule: "Ads.test"},
	} {
		e.Time = now
		told.Add(&e)
	}

	list, err := w.client.Sites(t.Context(), api.SiteQuery{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list.Sites {
		got = append(got, strings.TrimSpace(s.Host+" "+s.Exception))
	}
	want := []string{ // of two of a kind, the one with more visits is first
		"listed.test blocked", "ads.test blocked", "bank.test tunnelled", "models.test tunnelled",
		"pinned.test tunnelled",
		"wiki.corp.test ruled",
		"md.test learnt", "down.test failing",
		"h000.test", "h001.test", "h002.test", "h003.test", "h004.test", "h005.test", "h006.test", "h007.test",
		"h008.test",
		"h009.test",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || !list.More {
		t.Errorf("sites, more %v:\n%q, want\n%q", list.More, got, want)
	}
	back := list.Sites[15]
	if back.Host != "h007.test" || back.Failed != 1 || back.Visits != 1 || back.Facts == nil || len(back.Rules) != 2 {
		t.Errorf("%s: %+v", back.Host, back)
	}
	one, err := w.client.Site(t.Context(), "pinned.test")
	if err != nil || one.Exception != api.SiteTunnelled || one.Tunnels != 1 {
		t.Errorf("pinned.test: %+v, %v", one, err)
	}
	rules, err := w.client.Rules(t.Context(), api.RuleQuery{})
	if err != nil || len(rules.Rules) != 4 || !rules.Rules[0].Used.Equal(now) || !rules.Rules[1].Used.IsZero() {
		t.Errorf("rules: %+v, %v; want the first one used now", rules, err)
	}
}

func TestAHostIsForgottenWhole(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		for _, raw := range []string{pageURL, "https://example.com/site/one", "https://www.example.com/page"} {
			if _, err := ops.Fetch(ctx, api.FetchRequest{URL: raw}); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := w.store.Learn("example.com", store.Negotiates, "", "", time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := ops.AddRule(ctx, api.RuleFields{Host: "example.com", TTL: "1h"}); err != nil {
			t.Fatal(err)
		}
		want := api.RemovedSite{Host: "example.com", Pages: 2, Facts: 1, Visits: 2, Requests: 2, Rules: 1}
		for _, dry := range []bool{true, false} {
			got, err := ops.RemoveSite(ctx, "Example.com", dry)
			if err != nil {
				t.Fatal(err)
			}
			got.Responses = 0 // those of pages went with them
			if *got != want {
				t.Errorf("dry run %v: %+v, want %+v", dry, *got, want)
			}
		}
		site, err := ops.Site(ctx, "example.com")
		if err != nil || site.Visits != 0 || len(site.Facts) != 0 || len(site.Rules) != 1 {
			t.Errorf("the site is %+v, %v", site, err)
		}
		for _, host := range w.store.HostsNamed("example.com") {
			t.Errorf("%s is still counted", host)
		}
		pages, err := ops.Pages(ctx, api.PageQuery{})
		if err != nil || len(pages.Pages) != 1 || pages.Pages[0].URL != "https://www.example.com/page" {
			t.Errorf("pages: %+v, %v", pages, err)
		}
		visits, err := ops.Visits(ctx, api.VisitQuery{})
		if err != nil || len(visits.Visits) != 1 {
			t.Errorf("visits: %+v, %v", visits, err)
		}
		log, err := ops.Requests(ctx, api.RequestQuery{})
		if err != nil || len(log.Requests) != 1 || log.Requests[0].URL != "https://www.example.com/page" {
			t.Errorf("the log: %+v, %v", log, err)
		}
		cached, err := ops.Cached(ctx, pageURL, false)
		if err != nil || len(cached.Entries) != 0 {
			t.Errorf("stored responses: %+v, %v", cached, err)
		}
	})
}

// What failed or was tunnelled before the daemon started anew is known as long as the log has it.
func TestSitesKnowTheTroubleBeforeTheStart(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Days: 3}
	before := journal.New(o)
	now := time.Now()
	for _, e := range []journal.Entry{
		{Method: "CONNECT", URL: "pinned.test:443", Outcome: journal.Tunnelled, Tunnel: "client-rejected-ca"},
		{Method: "GET", URL: "https://down.test/a", Outcome: journal.Failed},
		{Method: "GET", URL: "https://back.test/a", Outcome: journal.Failed},
		{Method: "GET", URL: "https://ruled.test/", Outcome: "miss", Rule: "ruled.test"},
	} {
		e.Time = now
		before.Add(&e)
	}
	before.Close()
	told := journal.New(o)
	w := newWorldOver(t, nil, nil, func(o *server.Options) { o.Journal = told })
	told.Add(&journal.Entry{Time: now, Method: "GET", URL: "https://back.test/a", Outcome: "miss"})
	ruled := store.RuleFields{Host: "ruled.test", TTL: time.Hour}
	if _, err := w.store.PutRule(store.Rule{RuleFields: ruled}, now); err != nil {
		t.Fatal(err)
	}

	list, err := w.client.Sites(t.Context(), api.SiteQuery{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range list.Sites {
		got[s.Host] = fmt.Sprintf("%s %d failed, %d tunnelled", s.Exception, s.Failed, s.Tunnels)
	}
	want := map[string]string{
		"pinned.test": "tunnelled 0 failed, 1 tunnelled", "down.test": "failing 1 failed, 0 tunnelled",
		"back.test": " 1 failed, 0 tunnelled", "ruled.test": "ruled 0 failed, 0 tunnelled",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	rules, err := w.client.Rules(t.Context(), api.RuleQuery{})
	if err != nil || len(rules.Rules) != 1 || !rules.Rules[0].Used.Equal(now.UTC().Round(0)) {
		t.Errorf("%v, %+v, want a rule used %v", err, rules, now)
	}
}
