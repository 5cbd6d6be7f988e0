package convert_test

import (
	"net/url"
	"testing"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/page"
)

// Of the addresses of honest pages, and of what they link to, next to none is taken for a secret: such a page would not
// be kept. Some of a large corpus are: sessions, tokens and signatures.
func TestAddressesOfACorpusRarelyHaveASecret(t *testing.T) {
	addresses := map[string]bool{}
	for _, p := range readCorpus(t) {
		u, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		addresses[p.URL] = true
		links, _ := convert.Links(p.content, "text/html", u)
		for _, link := range links {
			addresses[link] = true
		}
	}
	secret := 0
	for address := range addresses {
		if page.HasSecretString(address) {
			secret++
			t.Logf("taken for a secret: %s", page.MaskString(address))
		}
	}
	t.Logf("%d of %d addresses", secret, len(addresses))
	if secret*1000 > 5*len(addresses) || len(addresses) < 20 {
		t.Errorf("%d of %d addresses are taken for secrets, want .5 %% at most", secret, len(addresses))
	}
}
