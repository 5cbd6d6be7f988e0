package robots

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestRobotsRules(t *testing.T) {
	for _, tt := range []struct {
		name, robots string
		allowed      string // paths
		forbidden    string
	}{
		{"nothing", "", "/ /a", ""},
		{
			"§2.2.2 longest match", "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c", "/ /a/b /a/bx /b",
			"/a /ax /a/c /a/b/c",
		},
		{
			"§2.2.2 allow wins a tie, whatever the order",
			"User-agent: *\nDisallow: /a\nAllow: /a\nAllow: /b\nDisallow: /b",
			"/a /b", "",
		},
		{
			"§2.2.2 from the first octet", "User-agent: *\nDisallow: /fish", "/catfish /Fish /x/fish",
			"/fish /fish.html /fish/ /fishheads?x",
		},
		{
			"§2.2.3 asterisk", "User-agent: *\nDisallow: /*.php", "/ /php /x.PHP /windows.phtm",
			"/index.php /folder/x.php?a /x.php5",
		},
		{
			"§2.2.3 asterisk is anchored", "User-agent: *\nDisallow: /fish*.php", "/x/fish.php /Fish.php",
			"/fish.php /fishheads/x.php?y",
		},
		{"§2.2.3 end", "User-agent: *\nDisallow: /*.php$", "/x.php? /x.php5 /x.php/", "/x.php /a/b.php"},
		{"§2.2.3 end of a plain pattern", "User-agent: *\nDisallow: /\nAllow: /$", "/", "/a /?x"},
		{
			"§2.2.3 escaped asterisk and dollar are themselves", "User-agent: *\nDisallow: /a%2Ab\nDisallow: /c%24",
			"/ab /axb /c", "/a*b /a%2Ab /c$ /c%24x",
		},
		{"a dollar within is itself", "User-agent: *\nDisallow: /a$b", "/a /ab", "/a$b"},
		{
			"a longer pattern with an asterisk beats a shorter one", "User-agent: *\nAllow: /page\nDisallow: /*.htm",
			"/page",
			"/page.htm",
		},
		{"an escape counts once as an octet pattern", "User-agent: *\nAllow: /a.b\nDisallow: /a.", "/a.b", "/a.c"},
		{
			"§2.2.2 escapes are uniform",
			"User-agent: *\nDisallow: /foo/bar/ツ\nDisallow: /%7ejoe\nDisallow: /%e3%83%84x",
			"/foo/bar/", "/foo/bar/%E3%83%84 /~joe/ /%7Ejoe /%E3%83%84x",
		},
		{"empty disallow", "User-agent: *\nDisallow:\n", "/ /a", ""},
		{
			"§2.2.1 our group, and not that for all",
			"User-agent: *\nDisallow: /\n\nUser-agent: readthru\nDisallow: /x", "/ /a",
			"/x",
		},
		{
			"§2.2.1 case and version do not matter",
			"User-agent: *\nDisallow: /\nUser-Agent: ReadThru/2.0 (x)\nDisallow: /x",
			"/a", "/x",
		},
		{
			"§2.2.1 a name that begins like ours is another",
			"User-agent: read\nDisallow: /a\nUser-agent: readthrubot\nDisallow: /b\nUser-agent: *\nDisallow: /c",
			"/a /b", "/c",
		},
		{
			"§2.2.1 groups are merged",
			"User-agent: readthru\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: readthru\nDisallow: /b",
			"/ /c",
			"/a /b",
		},
		{
			"§2.2.1 several agents, one group",
			"User-agent: x\nUser-agent: readthru\nDisallow: /a\nUser-agent: y\nDisallow: /b",
			"/b", "/a",
		},
		{
			"§2.2.4 other lines end no group",
			"User-agent: readthru\nSitemap: http://a.test/s\nCrawl-delay: 1\n\n# x\nUser-agent: y\nDisallow: /a", "/",
			"/a",
		},
		{"an empty group of ours allows", "User-agent: *\nDisallow: /\nUser-agent: readthru\n", "/ /a", ""},
		{
			"§2.2 comments, BOM, CR, spaces, case",
			"\xef\xbb\xbfuser-AGENT : * # all\r\tDISALLOW:/a # not this\r\n\r\ndisallow\t:\t/b c", "/ /b",
			"/a /a/b /a%20 /b%20c",
		},
		{"a rule before any group is passed over", "Disallow: /a\nUser-agent: *\nDisallow: /b", "/a", "/b"},
		{
			"what cannot be read costs its line only",
			"User-agent: *\nCrawl-delay: often\nnonsense\n: :\n<html>\nDisallow /b\nDisallow: /c", "/a", "/b /c",
		},
		{"a pattern without slash", "User-agent: *\nDisallow: a", "/b", "/a /ab"},
		{"queries", "User-agent: *\nDisallow: /*?\nAllow: /ok?", "/a /ok?x=1", "/a?x=1 /b?"},
		{"nothing but asterisks", "User-agent: *\nDisallow: ***", "", "/ /a"},
		{"two ends are one and a dollar", "User-agent: *\nDisallow: /a$$", "/a", "/a$"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := Parse([]byte(tt.robots), "readthru")
			for want, paths := range map[bool]string{true: tt.allowed, false: tt.forbidden} {
				for path := range strings.FieldsSeq(paths) {
					u, err := url.Parse("http://a.test" + path)
					if err != nil {
						t.Fatal(err)
					}
					if got := rules.Allows(PathOf(u)); got != want {
						t.Errorf("%s is allowed: %v, want %v", path, got, want)
					}
				}
			}
		})
	}
}

func TestRobotsOtherRecords(t *testing.T) {
	rules := Parse([]byte("Sitemap: http://a.test/1\nUser-agent: x\nCrawl-delay: 9\nUser-agent: "+
		"readthru\nDisallow:\nCrawl-delay: 2.5\nsitemap:/2\n\nUser-agent: readthru\nCrawl-delay: "+
		"1e300\nCrawl-delay: NaN\nCrawl-delay: -1"), "readthru")
	if rules.Delay != 1e6*time.Second {
		t.Errorf("delay %v, want the last one that is a number, bounded", rules.Delay)
	}
	if got := strings.Join(rules.Sitemaps, " "); got != "http://a.test/1 /2" {
		t.Errorf("sitemaps %q, want those of the whole file", got)
	}
}

func TestRobotsOfAnySizeIsJudgedQuickly(t *testing.T) {
	line := "Disallow: /" + strings.Repeat("*a", 30) + "b$\n"
	rules := Parse([]byte("User-agent: *\n"+strings.Repeat(line, MaxSize/len(line))), "readthru")
	u := &url.URL{Scheme: "http", Host: "a.test", Path: "/" + strings.Repeat("a", 2000)}
	begin := time.Now()
	if !rules.Allows(PathOf(u)) {
		t.Error("it is forbidden, and no rule matches")
	}
	t.Logf("%d rules in %v", len(rules.rules), time.Since(begin))
}

func FuzzRobots(f *testing.F) {
	for _, s := range []string{
		"User-agent: *\nDisallow: /a*b$", "", "\xef\xbb\xbf\r\r", "user-agent:readthru\nallow:%",
		"user-agent:*\ndisallow:%zz%2a*$*$", "sitemap:\nsitemap",
	} {
		f.Add(s, "/a%b?c")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		rules := Parse([]byte(text), "readthru")
		u := &url.URL{Scheme: "http", Host: "a.test", Path: "/" + path}
		subject := PathOf(u)
		rules.Allows(subject)
		for _, r := range rules.rules {
			if r.length < 1 || len(r.parts) == 0 {
				t.Errorf("rule %+v", r)
			}
			// A rule made of the subject itself must match it, from its beginning.
			if own := newRule(true,
				strings.NewReplacer("*", "%2A", "$", "%24").Replace(subject)); !own.matches(subject) {
				t.Errorf("%q does not match itself: %+v", subject, own)
			}
		}
	})
}
