package setup

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// examineUpstream checks whether the environment names a proxy that is not configured, or exceptions from the one that
// is. d is nil if no daemon runs.
func examineUpstream(s *settings.Settings, d *daemon.Info) []finding {
	own := ""
	if d != nil {
		own = d.Proxy
	}
	if s.Proxy.Upstream == "" {
		if s.EnvironmentProxy(own) == "" {
			return nil
		}
		return []finding{{
			"upstream proxy", warning,
			"the environment names a proxy that proxy.upstream does not: origins are asked directly", settings.ProxyAdvice,
		}}
	}
	missing := slices.DeleteFunc(settings.EnvironmentDirect(), func(name string) bool {
		return slices.Contains(s.Proxy.Direct, name)
	})
	if len(missing) == 0 {
		return nil
	}
	return []finding{{
		"upstream proxy", warning,
		"NO_PROXY names hosts that proxy.direct does not: they are asked through proxy.upstream: " +
			strings.Join(missing, ", "),
		"add them to proxy.direct if they are to be asked directly",
	}}
}

// rootVariables name a file of root certificates to clients, by which a network that intercepts connections has them
// trust its own authority.
var rootVariables = []string{
	"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE",
}

// examineRoots checks whether the environment names authorities that readthru does not trust, and that clients will not
// trust once their variables name our bundle instead.
func examineRoots(o certs.Options) []finding {
	ours, err := os.ReadFile(o.BundleFile())
	if err != nil {
		return nil // other checks say so
	}
	known := map[string]bool{}
	for _, cert := range certificates(ours) {
		known[string(cert.Raw)] = true
	}
	for _, name := range rootVariables {
		file := os.Getenv(name)
		if file == "" || filepath.Dir(file) == o.Dir {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the client's own error
		}
		var unknown []string
		for _, cert := range certificates(text) {
			if cert.IsCA && !known[string(cert.Raw)] {
				unknown = append(unknown, cmp.Or(cert.Subject.CommonName, cert.Subject.String()))
			}
		}
		if len(unknown) > 0 {
			return []finding{{
				"authorities", warning,
				fmt.Sprintf("%s names %s of authorities that this system does not have: %s", name,
					terminal.Count(len(unknown), "certificate"), strings.Join(unknown[:min(len(unknown), 3)], ", ")),
				"if the network intercepts connections by them, set upstream.ca_file to " + file,
			}}
		}
	}
	return nil
}

// certificates returns the certificates of a PEM file. What cannot be parsed is left out.
func certificates(text []byte) (list []*x509.Certificate) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return list
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			list = append(list, cert)
		}
		text = rest
	}
}
