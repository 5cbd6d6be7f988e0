package preset

import (
	"testing"
)

func TestPresetTunnelsServicesButNotTheirDocumentation(t *testing.T) {
	for host, want := range map[string]bool{
		"api.anthropic.com": true, "claude.ai": true, "api2.cursor.sh": true, "accounts.google.com": true, "pypi.org": true,
		"checkout.stripe.com": true,
		"www.chase.com":       true, "paypal.com": true, "www.paypal.com": true,
		"docs.stripe.com": false, "docs.sentry.io": false, "developer.paypal.com": false, "investor.vanguard.com": false,
		"blog.cursor.com": false,
		"www.cursor.com":  false, "status.openai.com": false, "go.dev": false, "notpypi.org": false,
		"pypi.org.evil.test": false,
	} {
		if got := Category(host) != ""; got != want {
			t.Errorf("%s tunnelled %v, want %v", host, got, want)
		}
	}
}
