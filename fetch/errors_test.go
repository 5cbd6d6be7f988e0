package fetch_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
)

func TestErrorsAreExplained(t *testing.T) {
	u, _ := url.Parse("https://alice:pw@site.test/x?token=abc&q=1")
	const masked = "https://***@site.test/x?token=***&q=1"
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tt := range []struct {
		name   string
		err    error
		kind   string
		typ    string
		status int
		want   string
	}{
		{"deadline", context.DeadlineExceeded, "timeout", "http_response_timeout", 504, "Timeout fetching " + masked},
		{"read deadline", os.ErrDeadlineExceeded, "timeout", "http_response_timeout", 504, "Timeout fetching " + masked},
		{"connect timeout", dial(os.ErrDeadlineExceeded), "timeout", "connection_timeout", 504, "Timeout fetching " + masked},
		{
			"DNS timeout", dial(&net.DNSError{Name: "site.test", IsTimeout: true}), "timeout", "dns_timeout", 504,
			"Timeout fetching " + masked,
		},
		{
			"no such host", dial(&net.DNSError{Name: "site.test", IsNotFound: true}), "connect", "dns_error", 502,
			"Connection error fetching " + masked + ": there is no host site.test",
		},
		{
			"refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connect", "connection_refused", 502,
			"Connection error fetching " + masked + ": the connection was refused",
		},
		{
			"no route", dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "connect", "destination_ip_unroutable", 502,
			"the network cannot reach",
		},
		{
			"reset", os.NewSyscallError("read", syscall.ECONNRESET), "connect", "connection_terminated", 502,
			"closed the connection",
		},
		{
			"short body", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "connect", "http_response_incomplete", 502,
			"the response is incomplete",
		},
		{
			"large head", errors.New("net/http: server response headers exceeded 262144 bytes; aborted"), "connect",
			"http_response_header_section_size", 502, "larger than 256 KiB",
		},
		{
			"malformed", errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP status code "abc"`),
			"connect", "http_protocol_error", 502, "not well-formed HTTP",
		},
		{"no TLS", http.ErrSchemeMismatch, "tls", "tls_protocol_error", 502, "does not speak TLS"},
		{
			"not yet valid or expired",
			x509.CertificateInvalidError{Reason: x509.Expired},
			"tls", "tls_certificate_error", 502,
			"expired",
		},
		{
			"URL within the error", &url.Error{Op: "Get", URL: u.String(), Err: errors.New("odd")}, "connect",
			"connection_terminated", 502, "Connection error fetching " + masked + ": odd",
		},
		{"status", &fetch.Error{Kind: "http", URL: masked, Status: 503}, "http", "", 503, "HTTP 503 fetching " + masked},
		{"odd status", &fetch.Error{Kind: "http", URL: masked, Status: 304}, "http", "", 502, "HTTP 304 fetching " + masked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := fetch.Explain(u, tt.err)
			if e.Kind != tt.kind || e.Type != tt.typ || e.HTTPStatus() != tt.status || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("%s/%s/%d %q, want %s/%s/%d %q", e.Kind, e.Type, e.HTTPStatus(), e, tt.kind, tt.typ, tt.status, tt.want)
			}
			if why := e.Page().Why(); e.Page().Message != e.Error() || why == "" || strings.Contains(why, masked) {
				t.Errorf("the page has %q because of %q, want %q and why without the URL", e.Page().Message, why, e)
			}
			if s := e.Error(); strings.Contains(s, "abc&") || strings.Contains(s, "pw") {
				t.Errorf("%q tells a secret", s)
			}
			if tt.kind != "http" && !errors.Is(e, tt.err) {
				t.Error("the cause is out of reach")
			}
		})
	}
}

func TestSlowOriginsAreATimeout(t *testing.T) {
	for _, tt := range []struct{ name, what string }{{"head", "head"}, {"body", "body"}} {
		t.Run(tt.name, func(t *testing.T) {
			end := make(chan struct{})
			t.Cleanup(func() { close(end) })
			c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.what == "body" {
					w.Header().Set("Content-Type", "text/html")
					io.WriteString(w, "<p>")
					_ = http.NewResponseController(w).Flush()
				}
				select {
				case <-r.Context().Done():
				case <-end:
				}
			}), func(o *fetch.Options) { o.Timeout, o.Client = 100*time.Millisecond, o.Direct })
			_, err := c.own(t, "https://site.test/")
			if e, ok := errors.AsType[*fetch.Error](err); !ok || e.Kind != "timeout" || e.HTTPStatus() != 504 ||
				e.Error() != "Timeout fetching https://site.test/" {
				t.Errorf("%v, want a timeout", err)
			}
		})
	}
}

func TestStreamsOutliveTheTimeForPages(t *testing.T) {
	const timeout = 2 * time.Second // within which a busy machine has the beginning
	next := make(chan string)
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for event := range next {
			io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
		}
	}), func(o *fetch.Options) { o.Timeout, o.Client = timeout, o.Direct })
	go func() { next <- "data: 1\n\n" }()
	ans := c.read(t, "https://site.test/events")
	buf := make([]byte, 100)
	for _, want := range []string{"data: 1\n\n", "data: 2\n\n"} {
		n, err := ans.Response.Body.Read(buf)
		if err != nil || string(buf[:n]) != want {
			t.Fatalf("%q, %v, want %q at once", buf[:n], err, want)
		}
		if want == "data: 1\n\n" {
			late, cancel := context.WithTimeout(t.Context(), timeout+100*time.Millisecond)
			<-late.Done()
			cancel()
			next <- "data: 2\n\n"
		}
	}
	close(next)
}
