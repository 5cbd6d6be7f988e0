package setup

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/transport"
)

// examineSigner tells as whom own requests are signed. With probe, it looks whether that origin publishes the key.
func examineSigner(ctx context.Context, s *settings.Settings, probe bool) finding {
	f := finding{Name: "signature", State: good}
	signer, err := s.Signer(s.DataDir)
	if err != nil {
		f.State, f.Detail, f.Remedy = failed, err.Error(), terminal.HintOf(err)
		return f
	}
	f.Detail = fmt.Sprintf("own requests are signed as %s, key %s", signer.Agent(), signer.KeyID())
	if !probe {
		return f
	}
	if err := findKey(ctx, s, signer); err != nil {
		f.State = warning
		f.Detail += ", which origins cannot verify: " + err.Error()
		f.Remedy = "have " + signer.KeySet() + " answer as " + botauth.DirectoryPath + " of the admin port does"
	}
	return f
}

// findKey returns an error unless the directory of a signer publishes its key.
func findKey(ctx context.Context, s *settings.Settings, signer *botauth.Signer) error {
	t, err := transport.New(transport.Options{
		Resolve: s.Upstream.Resolve, CAFile: s.Upstream.CAFile, Upstream: s.Proxy.Upstream, Direct: s.Proxy.Direct,
		AllowPrivateOwn: s.Fetch.AllowPrivate, UserAgent: s.Fetch.UserAgent,
	})
	if err != nil {
		return err
	}
	defer t.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(transport.OwnPolicy(ctx), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, signer.KeySet(), nil)
	if err != nil {
		return err
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return fetch.Explain(req.URL, err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", req.URL, err)
	case resp.StatusCode != http.StatusOK: // origins follow no redirects there
		return fmt.Errorf("%s answers with status %d", req.URL, resp.StatusCode)
	}
	if err := signer.PublishedBy(content); err != nil {
		return fmt.Errorf("%s %w", req.URL, err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if req.URL.Path == botauth.DirectoryPath && kind != botauth.DirectoryType {
		return fmt.Errorf("%s has the type %q instead of %s", req.URL, resp.Header.Get("Content-Type"),
			botauth.DirectoryType)
	}
	return nil
}
