package page_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
)

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"

func TestSecretsInURLs(t *testing.T) {
	for _, tt := range []struct{ url, masked string }{
		{"https://me:pw@a.test/x", "https://***@a.test/x"},
		{"https://me@a.test/x", "https://***@a.test/x"},
		{"https://a.test/?token=abc&q=1", "https://a.test/?token=***&q=1"},
		{"https://a.test/?q=1&api_key=abc", "https://a.test/?q=1&api_key=***"},
		{"https://a.test/?apiKey=abc", "https://a.test/?apiKey=***"},
		{"https://a.test/?X-Amz-Signature=abc&X-Amz-Date=1", "https://a.test/?X-Amz-Signature=***&X-Amz-Date=***"},
		{"https://a.test/?access_token=abc", "https://a.test/?access_token=***"},
		{"https://a.test/?a%63cess_token=abc", "https://a.test/?a%63cess_token=***"},
		{"https://a.test/?x=" + jwt, "https://a.test/?x=***"},
		{"https://a.test/?x=ghp_abcdefghijklmnop", "https://a.test/?x=***"},
		{"https://a.test/?" + jwt, "https://a.test/?***"},
		{"https://a.test/#access_token=abc&state=1", "https://a.test/#***"},
		{"https://a.test/#/reset?token=abc", "https://a.test/#***"},
		{"https://a.test/x#!/reset/8f3a9b2c7d1e4f60", "https://a.test/x#***"},
		{"https://a.test/?q=1;token=abc;r=2", "https://a.test/?q=1;token=***;r=2"},
		{"https://a.test/?q=1;r=2&token=abc", "https://a.test/?q=1;r=2&token=***"},
		{"https://a.test/?user[password]=abc", "https://a.test/?user[password]=***"},
		{"https://a.test/?code=abc", "https://a.test/?code=***"},
		{"https://a.test/x;jsessionid=0A1B2C?q=1", "https://a.test/x;jsessionid=***?q=1"},
		{"https://a.test/x;v=1;JSESSIONID=0A1B2C/y", "https://a.test/x;v=1;JSESSIONID=***/y"},
		{"https://a.test/(S(lit3py55t21z5v55vlm25s55))/y", "https://a.test/***/y"},
		{"https://a.test/v/" + jwt + "/y%20z", "https://a.test/v/***/y%20z"},
		{"https://a.test/x/ghp_abcdefghijklmnop", "https://a.test/x/***"},
		{"https://api.test/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe", "https://api.test/***/getMe"},
		{"https://a.test/reset/8f3a9b2c7d1e4f60", "https://a.test/reset/***"},
		{"https://a.test/password-reset/aZ3kP9qLm2Xw", "https://a.test/password-reset/***"},
		{"https://a.test/reset-password/confirm/MQ-c1x9k2p7w4q8z3", "https://a.test/reset-password/confirm/***"},
		{
			"https://a.test/share/3f2504e0-4f89-41d3-9a0c-0305e82c3301?x=1",
			"https://a.test/share/***?x=1",
		},
		{"https://a.test/invite/5f4dcc3b5aa765d61d8327deb882cf99", "https://a.test/invite/***"},
		{"https://hooks.test/services/T0001/B0002/Xq7Lw2Zp9Rk4Vt6Ym1Nc8Bd3", "https://hooks.test/services/T0001/B0002/***"},
		{
			"https://docs.test/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms/edit",
			"https://docs.test/document/d/***/edit",
		},
		{"https://a.test/u%2Fx/aB3%64E5fG7hI9jK1lM3nO", "https://a.test/u%2Fx/***"},
	} {
		u := mustParse(t, tt.url)
		if !page.HasSecret(u) {
			t.Errorf("HasSecret(%s) = false", tt.url)
		}
		if got := page.Mask(u); got != tt.masked {
			t.Errorf("Mask(%s) = %s, want %s", tt.url, got, tt.masked)
		}
		if got := page.MaskString(tt.url); got != tt.masked {
			t.Errorf("MaskString(%s) = %s, want %s", tt.url, got, tt.masked)
		}
	}
}

func TestOrdinaryURLsHaveNoSecret(t *testing.T) {
	for _, raw := range []string{
		"https://a.test/", "https://a.test/?q=token", "https://a.test/?keyword=go&monkey=1", "https://a.test/?token=",
		"https://a.test/?zip_code=1",
		"https://a.test/?country-code=de", "https://a.test/?page=2&sort=key", "https://a.test/token/x",
		"https://a.test/#section-key", "https://a.test/#/guide/reset?page=2", "https://a.test/?q=a;b;c",
		"https://a.test/?design=1&author=x&passage=3",
		"https://github.test/o/r/commit/c283f40e5b1d2a3f4c5b6a7988796a5b4c3d2e1f", "https://a.test/blob/c283f40/x.go",
		"https://a.test/docs/3f2504e0-4f89-41d3-9a0c-0305e82c3301/intro", "https://a.test/f/5f4dcc3b5aa765d61d8327deb882cf99",
		"https://a.test/static/js/main.8f3a9b2c7d1e4f60a1b2.js", "https://a.test/_next/static/aB3dE5fG7hI9jK1lM3nO5/x",
		"https://a.test/a/Xq7Lw2Zp9Rk4Vt6Ym1Nc8Bd3.css", "https://www.youtube.test/channel/UC_x5XG1OV2P6uZZ5FSM9Ttw",
		"https://medium.test/@me/how-to-reset-a-password-in-2024-3f2a1b9c8d7e", "https://youtu.test/dQw4w9WgXcQ",
		"https://a.test/ThinkPad-T14-Gen-7-Linux-Xe", "https://pkg.test/x@v0.0.0-20260908200009-22c9c6c9d4da",
		"https://a.test/javadoc/AbstractSingletonProxyFactoryBean2/NSURLSessionConfiguration",
		"https://a.test/password/tips-for-2024",
		"https://a.test/token/access-tokens", "https://a.test/auth/oauth2-with-pkce", "https://a.test/login/windows-11-23h2",
		"https://notion.test/Release-notes-8f3a9b2c7d1e4f60a1b2c3d4e5f60718", "https://arxiv.test/abs/2401.01234v2",
		"https://a.test/article.pl?sid=23191137", "https://a.test/?tokenizer=bert-base-uncased&tokens=100",
		"https://a.test/?next=/docs/intro&lang=en", "https://a.test/go?url=https%3A%2F%2Fb.test%2Fx%3Fpage%3D2%26q%3Dtoken",
		"https://a.test/?data=%7B%22page%22%3A2%2C%22sort%22%3A%22key%22%7D", "https://a.test/?state=CA&city=x",
		"https://a.test/s?keywords=UN43NU6900FXZA", "https://a.test/play?code=fn+main()+%7B%7D&edition=2021",
		"https://a.test/x?v=3f2504e0-4f89-41d3-9a0c-0305e82c3301", "https://a.test/x?1700000000",
		"https://a.test/privacy#3f2504e0-4f89-41d3-9a0c-0305e82c3301", "https://a.test/login/?next=/reset",
		"https://a.test/classEigen.html#a5df3d99d47747b72d61f235c9fb925e3", "https://a.test/?time=12:30&ratio=16/9",
		"https://a.test/link?value=Nzd0Xy9TaG93Rm9ydW0tZzI5NDIzMi1KYXBhbi5odG1sXzJtYg==",
		"https://a.test/share/2023-annual-report.pdf", "https://a.test/x;v=1.2/y", "https://a.test/reset/",
		"https://a.test/list?page_token=CAUQAA&nextToken=x", "https://a.test/members/?key=moderators",
		"https://a.test/requests/new?ticket_form_id=19623931614484", "https://a.test/article.pl?sid=03/01/24/1440207",
		"https://a.test/tag/sk-gubernur-jabar/", "https://docs.test/x#h.bq336p8a2aw8", "https://a.test/x#fndbsg8o0p25q",
		"https://a.test/-wA85GhIM_t0/AAAAAAAAYz0/VGL1Kx5nLRgy4K0CdwgtbMeeo_urTp95QCLcBGAs/s1600/vc.jpg",
		"https://a.test/feeds/932306423056216142/comments/default", "https://a.test/products/UN43NU6900FXZA-Xq7Lw2Zp9Rk4",
		"https://a.test/x#elementor-action%3Aaction%3Dpopup%3Aopen%26settings%3DeyJpZCI6Ijk4IiwidG9nZ2xlIjpmYWxzZX0%3D",
		"https://a.test/uenc/aHR0cDovL3d3dy5hLnRlc3QvdC9tZXNoLW9mZmljZS1jaGFpcg==/",
		"https://a.test/?u=aHR0cDovL2EudGVzdC94P3E9MQ", "https://a.test/std/struct.Ready.html#impl-From%3CT%3E",
		"https://wiki.test/index.php?title=Special:CreateAccount&returnto=Sudo",
		"https://a.test/?tweet=Lockdown%3A%20Gottesdienste%20bleiben", "https://a.test/ical/java-one-u98zvjm6",
		"https://a.test/calendar/2024-03-12/", "https://a.test/public/api/v2/schema-2024.json", "https://teamup.com/pricing/",
		"https://twitter.test/ann/status/1?s=20&t=Xq7Lw2Zp9Rk4Vt6Ym1Nc8B", "https://youtu.test/x?si=Xq7Lw2Zp9Rk4Vt6Y&t=120s",
		"https://git.test/o/r/pull/12/files#diff-8a6d2b1f3c4e5d6a7b8c9d0e1f2a3b4c5d6e7f808a6d2b1f3c4e5d6a7b8c9d0eR12",
		"https://a.test/users/OhGodOhNo/profile", "https://a.test/?cid=eref:nbcnews:text&primaryColor=0f0&sortBy=a",
	} {
		u := mustParse(t, raw)
		if page.HasSecret(u) {
			t.Errorf("HasSecret(%s) = true", raw)
		}
		if got := page.Mask(u); got != raw {
			t.Errorf("Mask(%s) = %s", raw, got)
		}
	}
}

// What is encoded more often than anybody needs is not looked into for ever, and is taken for a secret.
func TestWhatIsEncodedTooOftenIsASecret(t *testing.T) {
	raw := "token=abc"
	for range 20 {
		raw = url.QueryEscape(raw)
	}
	if u := mustParse(t, "https://a.test/?x="+raw); !page.HasSecret(u) {
		t.Errorf("HasSecret(%s) = false", u)
	}
}

// What cannot be guessed may be public, and is kept; no third party is told of it.
func TestUnlistedURLs(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://a.test/docs/3f2504e0-4f89-41d3-9a0c-0305e82c3301/intro": true,
		"https://a.test/f/5f4dcc3b5aa765d61d8327deb882cf99":              true,
		"https://a.test/x?doc=5f4dcc3b5aa765d61d8327deb882cf99":          true,
		"https://a.test/x?id=Xq7Lw2Zp9Rk4Vt6Ym1Nc8Bd3":                   true,
		"https://a.test/reset/8f3a9b2c7d1e4f60":                          true,
		"https://a.test/?token=x":                                        true,
		"https://a.test/?gclid=Xq7Lw2Zp9Rk4Vt6Ym1Nc8Bd3":                 false,
		"https://a.test/?mkt_tok=Xq7Lw2Zp9Rk4Vt6Ym1Nc8Bd3":               true,
		"https://a.test/?_hsenc=p2ANqtz-8Xq7Lw2Zp9Rk4Vt6Ym1Nc8Bd3":       true,
		"https://a.test/how-to-reset-a-password-in-2024-3f2a1b9c8d7e":    false,
		"https://a.test/2024/05/the-longest-title-that-anybody-has-made": false,
		"https://a.test/javadoc/AbstractSingletonProxyFactoryBean2":      false,
		"https://a.test/#/f/5f4dcc3b5aa765d61d8327deb882cf99":            true,
		"https://a.test/#!x?doc=5f4dcc3b5aa765d61d8327deb882cf99":        true,
		"https://a.test/#/guide/start?page=2":                            false,
		"https://a.test/?q=internationalization+2024":                    false,
	} {
		if got := page.Unlisted(mustParse(t, raw)); got != want {
			t.Errorf("Unlisted(%s) = %t", raw, got)
		}
	}
}

func TestMaskStringHidesSecretsOfWhatDoesNotParse(t *testing.T) {
	for _, raw := range []string{
		"https://me:s3cret@a.test:port/x", "https://a.test/%zz?token=s3cret",
		"https://a.test/%zz;jsessionid=s3cret/x", "://me:s3cret@x?y=s3cret", "https://a.test/%zz#token=s3cret",
	} {
		if got := page.MaskString(raw); strings.Contains(got, "s3cret") {
			t.Errorf("MaskString(%s) = %s", raw, got)
		}
	}
}

func TestMaskingLeavesItsURLAlone(t *testing.T) {
	u := mustParse(t, "https://me:pw@a.test/?token=abc#token=x")
	before := u.String()
	page.Mask(u)
	if u.String() != before {
		t.Errorf("Mask changed its URL to %s", u)
	}
}

func FuzzMaskedURLsHaveNoSecretLeft(f *testing.F) {
	for _, s := range []string{"token", "a&b", "x;y", "%2", "=", "a=b#c", jwt} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		u := &url.URL{
			Scheme: "https", Host: "a.test", Path: "/",
			RawQuery: "token=s3cretvalue;" + name + "&" + value + "&api_key=s3cretvalue",
			User:     url.UserPassword("me", "s3cretvalue"),
		}
		if got := page.Mask(u); strings.Contains(got, "s3cretvalue") {
			t.Errorf("Mask = %s", got)
		}
	})
}

// However a URL is nested, its judgement costs little.
func BenchmarkHasSecretOfANestedURL(b *testing.B) {
	raw := "https://a.test/?x="
	for range 12 {
		raw += url.QueryEscape(raw + "&u=/a?b=1&c=" + strings.Repeat("{[", 10))
		if len(raw) > 8<<10 {
			break
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		page.HasSecret(u)
	}
}
