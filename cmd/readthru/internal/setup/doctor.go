package setup

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/render"
)

// finding is a result of doctor.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, warning or failed
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// States of a finding. With a warning the main functions work.
const (
	good    = "ok"
	warning = "warning"
	failed  = "failed"
)

// doctorCommand is the command doctor: what works on this machine, and what does not, with a remedy where one is known.
// The exit status is 1 if something fails.
func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "check what works on this machine, and print remedies",
		Description: "Doctor tries every client that is installed: it fetches a page over TLS from doctor's own origin, " +
			"through a proxy that signs with your authority.",
		Flags: []cli.Flag{command.JSONFlag(), &cli.BoolFlag{Name: "no-probes", Usage: "do not try the clients"}},
		Action: func(c *cli.Context) error {
			s, err := p.LoadAlone(c)
			if err != nil {
				return err
			}
			found := p.examine(c.Context, s, !c.Bool("no-probes"))
			if err := p.printFindings(found, c.Bool("json")); err != nil {
				return err
			}
			for _, f := range found {
				if f.State == failed {
					return terminal.ExitError(1)
				}
			}
			return nil
		},
	}
}

// printFindings prints what doctor found, each with its remedy, if there is one, on the next line.
func (p *program) printFindings(found []finding, asJSON bool) error {
	if asJSON {
		return p.PrintJSON(found)
	}
	var text strings.Builder
	for _, f := range found {
		fmt.Fprintf(&text, "%-8s %-18s %s\n", f.State, f.Name, terminal.Printable(f.Detail))
		if f.Remedy != "" {
			fmt.Fprintf(&text, "%-8s %-18s remedy: %s\n", "", "", terminal.Printable(f.Remedy))
		}
	}
	_, err := io.WriteString(p.Out, text.String())
	return err
}

// examine makes the checks in turn. It stops early if later checks cannot work: without a data directory or an
// authority it tries no clients.
func (p *program) examine(ctx context.Context, s *settings.Settings, probes bool) []finding {
	config := finding{Name: "configuration", State: good, Detail: "no file, defaults"}
	if s.ConfigFile != "" {
		config.Detail = s.ConfigFile
	}
	found := []finding{config}
	dir := examineDataDir(s.DataDir)
	found = append(found, dir)
	if dir.State == failed {
		return found
	}
	d := daemon.Find(ctx, s.DataDir)
	found = append(found, examinePorts(ctx, s, d)...)
	found = append(found, examineUpstream(s, d)...)
	found = append(found, p.examineStore(ctx)...)
	authority, err := certs.Open(settings.AuthorityOptions(s))
	if err != nil {
		return append(found, finding{
			"authority", failed, err.Error(),
			cmp.Or(terminal.HintOf(err), "move "+settings.AuthorityDir(s)+" away: readthru creates a new one"),
		})
	}
	found = append(found, examineAuthority(ctx, authority, time.Now())...)
	found = append(found, examineRoots(settings.AuthorityOptions(s))...)
	found = append(found, examineBrowser(ctx, s, probes))
	if s.Fetch.Sign.Directory != "" {
		found = append(found, examineSigner(ctx, s, probes))
	}
	if !probes {
		return found
	}
	if s.Rerank.BaseURL != "" {
		found = append(found, examineReranker(ctx, s))
	}
	tried, err := probeClients(ctx, s, authority)
	if err != nil {
		return append(found, finding{"clients", failed, err.Error(), ""})
	}
	return append(found, tried...)
}

// examineDataDir tells doctor whether the data directory can be made and written to, by writing a file into it.
func examineDataDir(dir string) finding {
	f := finding{Name: "data directory", State: good, Detail: dir}
	if err := settings.MakeDataDir(dir); err != nil {
		f.State, f.Detail, f.Remedy = failed, err.Error(), terminal.HintOf(err)
		return f
	}
	probe, err := os.CreateTemp(dir, "doctor.*")
	if err != nil {
		f.State, f.Detail, f.Remedy = failed, err.Error(),
			"make the directory writable, or choose another with --data-dir"
		return f
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		f.State, f.Detail = warning, err.Error()
	}
	return f
}

// examineBrowser tells whether pages made by scripts can be rendered, and tries it.
func examineBrowser(ctx context.Context, s *settings.Settings, probe bool) finding {
	f := finding{Name: "browser", State: good}
	if s.Render.Mode == "never" {
		f.Detail = "switched off by render.mode"
		return f
	}
	dir, err := os.MkdirTemp("", "readthru-doctor-") // a daemon may use the one of the data directory
	if err != nil {
		f.State, f.Detail = warning, err.Error()
		return f
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	b := render.New(render.Options{
		Browser: s.Render.Browser, Attach: s.Render.Attach, Sandbox: s.Render.Sandbox == "require", Dir: dir,
		Client: http.NewFileTransport(http.Dir(dir)),
	})
	defer b.Close() //nolint:errcheck // the browser was asked before
	st := b.State()
	if st.Mode != "browser" {
		f.State, f.Detail = warning, st.Reason+
			": pages that scripts create stay as the origin sends them, with the warning js-shell"
		f.Remedy = api.BrowserRemedy
		return f
	}
	if probe {
		if err := tryBrowser(ctx, b); err != nil {
			f.State, f.Detail, f.Remedy = warning, st.Path+" cannot render a page: "+err.Error(),
				"check whether it starts by hand, or set render.browser to another"
			return f
		}
	}
	if f.Detail = st.Path; !st.Sandboxed {
		f.State, f.Remedy = warning, api.SandboxRemedy
		f.Detail += ", without its sandbox, which it cannot use as root"
	}
	return f
}

// tryBrowser renders a page in memory that a script creates.
func tryBrowser(ctx context.Context, b *render.Browser) error {
	page, err := b.Render(ctx, render.Request{
		URL: &url.URL{Scheme: "http", Host: "doctor.invalid", Path: "/"}, Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html"}},
		Body:   []byte("<!doctype html><p id=p></p><script>document.getElementById('p').textContent = 40 + 2</script>"),
	})
	if err == nil && !strings.Contains(string(page.HTML), ">42<") {
		err = errors.New("its scripts do not run")
	}
	return err
}

// examinePorts checks whether a daemon runs, or else whether one could listen.
func examinePorts(ctx context.Context, s *settings.Settings, d *daemon.Info) []finding {
	if d != nil {
		detail := fmt.Sprintf("process %d, proxy %s, admin %s", d.PID, d.Proxy, d.Admin)
		if d.Made != "" {
			detail += ", started by a command, ends when it is not used, log in " + daemon.LogFile(s.DataDir)
		}
		if other, remedy := d.OtherVersion(s); other != "" {
			return []finding{{"daemon", warning, detail + "; " + other, remedy}}
		}
		return []finding{{"daemon", good, detail, ""}}
	}
	found := []finding{{"daemon", good, "no daemon runs: \"readthru run\" starts one", ""}}
	for _, port := range []struct{ name, addr string }{{"proxy port", s.Proxy.Listen}, {"admin port", s.Admin.Listen}} {
		l, err := daemon.Listen(ctx, port.addr, false)
		switch {
		case err == nil:
			_ = l.Close() // it was only a test
			found = append(found, finding{port.name, good, port.addr + " is free", ""})
		case errors.Is(err, syscall.EADDRINUSE):
			found = append(found, finding{
				port.name, warning, port.addr + " is in use by another program",
				"\"readthru run\" uses a free port; for \"readthru serve\" choose another with --listen or --admin",
			})
		default:
			found = append(found, finding{port.name, failed, err.Error(), terminal.HintOf(err)})
		}
	}
	return found
}

// examineStore checks the store and the fleet, and lists hosts where a client rejected the authority.
func (p *program) examineStore(ctx context.Context) []finding {
	f := finding{Name: "store", State: good}
	var rejected []api.HostFact
	var shared []finding
	err := p.WithClient(ctx, func(b *api.Client) error {
		rd, err := b.Readiness(ctx)
		if err != nil {
			return err
		}
		st, err := b.Stats(ctx)
		if err != nil {
			return err
		}
		rejected = st.RejectedCA
		f.Detail = fmt.Sprintf("%s, %s of %s", terminal.Count(st.Pages.Total, "page"),
			terminal.Count(st.Cache.Entries, "stored response"),
			terminal.Bytes(st.Cache.Bytes))
		if part := rd.Parts["store"]; part.State != "ok" || part.Reason != "" {
			f.State, f.Detail, f.Remedy = warning, part.State+": "+part.Reason, part.Remedy
		}
		if part, told := rd.Parts["fleet"]; told {
			shared = append(shared, examineFleet(part))
		}
		if part, told := rd.Parts["fleet bodies"]; told {
			shared = append(shared, examineBodies(part))
		}
		if part, said := rd.Parts["index"]; said { // it is not open, or not yet, or lacks documents
			f.Detail += "; the index is " + part.State + ": " + part.Reason
			if part.State != "opening" {
				f.State, f.Remedy = warning, part.Remedy
			}
		}
		for _, name := range []string{"faults", "last run"} {
			if part, said := rd.Parts[name]; said {
				shared = append(shared, finding{name, warning, part.State + ": " + part.Reason, part.Remedy})
			}
		}
		return nil
	})
	if err != nil {
		f.State, f.Detail, f.Remedy = failed, err.Error(), terminal.HintOf(err)
	}
	found := append([]finding{f}, shared...)
	if len(rejected) > 0 {
		found = append(found, distrust(rejected))
	}
	return found
}

// examineFleet tells how the node stands in its fleet.
func examineFleet(part api.Part) finding {
	f := finding{"fleet", good, "this node shares what it reads", part.Remedy}
	if part.State != fleet.Connected {
		f.State, f.Detail = warning, "this node works alone"
	}
	if part.Reason != "" {
		f.State, f.Detail = warning, f.Detail+": "+part.Reason
	}
	return f
}

// examineBodies tells how the object store of the fleet is.
func examineBodies(part api.Part) finding {
	f := finding{"fleet bodies", good, "the object store takes content", part.Remedy}
	if part.State != fleet.Connected {
		f.State, f.Detail = warning, "content waits on this node: "+part.Reason
	}
	return f
}

// examineAuthority checks the certificate and the bundle for clients.
func examineAuthority(ctx context.Context, a *certs.Authority, now time.Time) []finding {
	cert := a.Certificate()
	ca := finding{"authority", good, fmt.Sprintf("%s, until %s", a.CertFile(), cert.NotAfter.Format("2006-01-02")), ""}
	if now.After(cert.NotAfter) {
		ca.State, ca.Detail, ca.Remedy = failed, "expired on "+cert.NotAfter.Format("2006-01-02"), `run "readthru ca renew"`
	}
	trust := finding{"system trust", good, "this system trusts the authority", ""}
	switch system := a.Trust(ctx)[0]; {
	case system.Err != nil:
		trust.State, trust.Detail = warning, "it is unknown whether this system trusts the authority: "+system.Err.Error()
	case !system.Has:
		trust.State, trust.Detail = warning, "this system does not trust the authority: browsers refuse intercepted pages"
		trust.Remedy = "run \"readthru ca install\"; commands under \"readthru run\" work without it"
	}
	bundle := finding{"bundle", good, "", ""}
	n, ours, err := readBundle(a.BundleFile(), cert)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		bundle.State, bundle.Detail, bundle.Remedy = failed, a.BundleFile()+" is missing",
			"run this command again: it creates the file"
	case err != nil:
		bundle.State, bundle.Detail = failed, err.Error()
	case !ours:
		bundle.State, bundle.Detail, bundle.Remedy = failed, a.BundleFile()+" lacks our certificate",
			"delete the file: readthru creates it again"
	case n < 2:
		bundle.State, bundle.Detail, bundle.Remedy = warning,
			"the system has no root certificates: tunnelled hosts are not trusted",
			"install the system's roots (package ca-certificates)"
	default:
		bundle.Detail = fmt.Sprintf("%s, %d certificates", a.BundleFile(), n)
	}
	return []finding{ca, trust, bundle}
}

// readBundle counts the certificates in a PEM file and reports whether it has want.
func readBundle(name string, want *x509.Certificate) (n int, found bool, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, false, err
	}
	list := certificates(text)
	return len(list), slices.ContainsFunc(list, want.Equal), nil
}

// distrust is doctor's finding about clients that rejected our certificate.
func distrust(facts []api.HostFact) finding {
	list := make([]string, len(facts))
	for i, f := range facts {
		list[i] = fmt.Sprintf("%s (%s, until %s)", f.Host, f.Client, f.Until.Local().Format(time.TimeOnly))
	}
	text := "tunnelled because a client rejected the authority: " + strings.Join(list, "; ")
	return finding{
		"trust of clients", warning, text,
		`use the environment of "readthru env", or run "readthru ca install"; "readthru site forget HOST" ends it now`,
	}
}
