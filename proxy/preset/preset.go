// Package preset lists the hosts that are tunnelled unless a rule matches them.
package preset

import (
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
)

// banks is the only category whose www hosts are tunnelled too, because people sign in there.
const banks = "banks and payment"

// tunnelPreset lists, by category, the hosts that are tunnelled unless a rule matches them: their traffic has no pages
// to read, and much of it is secret (AD2). An entry includes its subdomains.
var tunnelPreset = []struct {
	category string
	hosts    []string
}{
	{"model APIs and agents' own services", []string{
		"api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai", "mcp-proxy.anthropic.com",
		"api.openai.com", "chatgpt.com", "ab.chatgpt.com",
		"generativelanguage.googleapis.com", "aiplatform.googleapis.com", "cloudcode-pa.googleapis.com",
		"api.mistral.ai", "api.groq.com", "api.x.ai", "api.deepseek.com", "api.cohere.com", "api.cohere.ai",
		"api.perplexity.ai", "api.together.xyz", "api.fireworks.ai", "openrouter.ai", "api.voyageai.com",
		"dashscope.aliyuncs.com", "api.moonshot.ai", "openai.azure.com", "services.ai.azure.com",
		"models.inference.ai.azure.com", "models.github.ai", "githubcopilot.com", "copilot-proxy.githubusercontent.com",
		"cursor.sh", "cursor.com", "codeium.com", "windsurf.com",
	}},
	{"telemetry and updates of agents and editors", []string{
		"statsig.com", "statsigapi.net", "featuregates.org", "sentry.io", "datadoghq.com",
		"telemetry.individual.githubcopilot.com", "vscode.dev",
		"update.code.visualstudio.com", "marketplace.visualstudio.com", "vo.msecnd.net",
		"events.data.microsoft.com", "dc.services.visualstudio.com",
	}},
	{"sign-in", []string{
		"accounts.google.com", "oauth2.googleapis.com", "login.microsoftonline.com", "login.live.com", "login.windows.net",
		"appleid.apple.com", "idmsa.apple.com", "auth.openai.com", "auth0.com", "okta.com", "oktapreview.com", "onelogin.com",
		"duosecurity.com", "signin.aws.amazon.com", "sts.amazonaws.com", "login.yahoo.com", "id.atlassian.com",
	}},
	{banks, []string{
		"paypal.com", "stripe.com", "stripe.network", "adyen.com", "braintreegateway.com", "squareup.com", "wise.com",
		"revolut.com",
		"chase.com", "bankofamerica.com", "wellsfargo.com", "citi.com", "capitalone.com", "americanexpress.com", "schwab.com",
		"fidelity.com", "vanguard.com", "hsbc.com", "barclays.co.uk", "lloydsbank.com", "natwest.com", "santander.com",
		"deutsche-bank.de", "commerzbank.de", "ing.com", "ing.de", "bnpparibas.com", "ubs.com", "plaid.com", "coinbase.com",
	}},
	{"package registries", []string{
		"registry.npmjs.org", "registry.yarnpkg.com", "npm.pkg.github.com", "jsr.io",
		"pypi.org", "files.pythonhosted.org", "conda.anaconda.org", "repo.anaconda.com",
		"proxy.golang.org", "sum.golang.org", "index.crates.io", "static.crates.io", "rubygems.org", "repo.packagist.org",
		"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "api.nuget.org", "hex.pm",
		"registry-1.docker.io", "auth.docker.io", "production.cloudflare.docker.com", "ghcr.io", "quay.io", "gcr.io",
		"pkg.dev", "registry.k8s.io",
		"deb.debian.org", "security.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "dl-cdn.alpinelinux.org",
		"cache.nixos.org", "formulae.brew.sh", "static.rust-lang.org",
	}},
}

// readableLabels are first labels of hosts that serve pages to read, even below a host of tunnelPreset: docs.stripe.com
// is read, api.stripe.com is tunnelled.
var readableLabels = []string{
	"docs", "doc", "developer", "developers", "dev", "help", "support", "blog", "learn", "status", "investor", "investors",
	"about", "news",
}

// Category returns the category of a host that is tunnelled by default, or "". Hosts with pages to read, such as the
// documentation of a payment service, are not tunnelled, nor is www of a host, but for banks. The proxy asks it for a
// host about which no rule decides.
func Category(host string) string {
	first, _, _ := strings.Cut(host, ".")
	if slices.Contains(readableLabels, first) {
		return ""
	}
	for _, p := range tunnelPreset {
		if page.Blocked(host, p.hosts) && (first != "www" || p.category == banks) {
			return p.category
		}
	}
	return ""
}
