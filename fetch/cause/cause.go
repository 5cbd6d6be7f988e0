// Package cause says why an origin could not be read: in one of a few kinds, in plain words, and in the error types of
// Proxy-Status (RFC 9209 §2.3).
//
// [Of] is the door: it gives an error to the explain functions, from the address guard down to net/http, and the first
// that knows the error fills the [Cause]. No text has a URL in it, for a URL may have a secret.
package cause

import (
	"context"
	"crypto/tls"
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

	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/transport"
)

// Kinds of causes, as the page object has them in its error.
const (
	Blocked     = "blocked"
	Timeout     = "timeout"
	HTTP        = "http"
	Connect     = "connect"
	TLS         = "tls"
	TooLarge    = "too_large"
	Unsupported = "unsupported"
	Offline     = "offline"
)

// ErrTimeout is the cause of a context that ended because a page took too long.
// The fetch gives it to the context of a page, so that the page's own limit can be told from a client that left.
var ErrTimeout = errors.New("the page took too long")

// Cause is why a round trip to an origin, or the reading of its body, failed: for the page object, the log, and the
// Proxy-Status field of the proxy's answer.
type Cause struct {
	Kind   string // one of the constants
	Type   string // of Proxy-Status
	Text   string // in plain words; empty if those of the error are plain
	Advice string // what to do about it; empty if nothing is known
}

// Of returns the cause of an error of a round trip, or of reading a body. The more special explanations come first: a
// timeout while a name is resolved is a timeout. What nothing explains is a connection that ended.
func Of(err error) *Cause {
	c := &Cause{Kind: Connect, Type: "connection_terminated"}
	switch {
	case explainGuard(c, err), explainTime(c, err), explainTLS(c, err), explainDNS(c, err), explainConnection(c, err),
		explainHTTP(c, err):
	default:
		// Nothing knows this error: its own text is the best there is.
		c.Text = withoutURL(err).Error()
	}
	// Advice is about reaching an origin; what the guard refused must not be reached.
	if a, ok := errors.AsType[*transport.AdviceError](err); ok && c.Kind != Blocked {
		c.Advice = a.Advice
	}
	return c
}

// explainGuard explains that the guard of addresses refused a connection: the address is private, or our own.
func explainGuard(c *Cause, err error) bool {
	g, ok := errors.AsType[*transport.ProhibitedError](err)
	if !ok {
		return false
	}
	c.Text = g.Error()
	c.Kind, c.Type = Blocked, "destination_ip_prohibited"
	if g.Loop {
		c.Kind, c.Type = Connect, "proxy_loop_detected"
	}
	return true
}

// explainTime explains an error of time: of the page's own limit, or of a system call. By what the error was doing it
// tells which of the types of Proxy-Status it is.
func explainTime(c *Cause, err error) bool {
	var t interface{ Timeout() bool }
	timeout := errors.Is(err, ErrTimeout) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, os.ErrDeadlineExceeded)
	if !timeout && (!errors.As(err, &t) || !t.Timeout()) {
		return false
	}
	c.Kind, c.Type = Timeout, "http_response_timeout"
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		c.Type = "dns_timeout"
	} else if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		c.Type = "connection_timeout"
	}
	return true
}

// explainTLS explains an error of a certificate or of the TLS protocol, whose types are not the same in Proxy-Status.
// The causes of x509 come before the error that wraps them all; errors of crypto/tls that have no type are known by
// their text.
// It sets Type first, for most of its cases, and takes that back when none fits.
func explainTLS(c *Cause, err error) bool {
	c.Type = "tls_certificate_error"
	if errors.Is(err, transport.ErrWeakKey) {
		c.Text = transport.ErrWeakKey.Error()
	} else if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		c.Text = "the certificate is not valid: " + strings.TrimPrefix(invalid.Error(), "x509: ")
		if invalid.Reason == x509.Expired {
			c.Text = "the certificate has expired or is not yet valid"
		}
	} else if h, ok := errors.AsType[x509.HostnameError](err); ok {
		c.Text = "the certificate is for another name than " + h.Host
	} else if a, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		c.Text = "the certificate is signed by an unknown authority"
		// A certificate whose own key signed it: the advice for an unknown authority would mislead.
		if own := a.Cert; own != nil &&
			own.CheckSignature(own.SignatureAlgorithm, own.RawTBSCertificate, own.Signature) == nil {
			c.Text = "the certificate is self-signed"
		}
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		c.Text = "the certificate is not valid: " + strings.TrimPrefix(withoutURL(err).Error(),
			"tls: failed to verify certificate: ")
	} else if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		c.Text, c.Type = "the origin does not speak TLS on this port", "tls_protocol_error"
	} else if a, ok := errors.AsType[tls.AlertError](err); ok {
		c.Text, c.Type = "the origin refused the TLS connection: "+strings.TrimPrefix(a.Error(), "tls: "),
			"tls_alert_received"
	} else if s := err.Error(); strings.Contains(s, "tls: ") || strings.Contains(s, "remote error: tls") {
		_, s, _ = strings.Cut(s, "tls: ")
		c.Text, c.Type = "the TLS protocol failed: "+s, "tls_protocol_error"
	} else {
		c.Type = "connection_terminated"
		return false
	}
	c.Kind = TLS
	return true
}

// explainDNS explains that a host's name cannot be resolved, and tells a name that does not exist from a resolver that
// fails.
func explainDNS(c *Cause, err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	if !ok {
		return false
	}
	c.Type = "dns_error"
	c.Text = fmt.Sprintf("the name %s cannot be resolved: %s", d.Name, d.Err)
	if d.IsNotFound {
		c.Text = fmt.Sprintf("there is no host %s", d.Name)
	}
	return true
}

// explainConnection explains errors of the connection by the codes of the system, and a body that ended or could not be
// decoded.
func explainConnection(c *Cause, err error) bool {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		c.Type, c.Text = "connection_refused", "the connection was refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH),
		errors.Is(err, syscall.EADDRNOTAVAIL):
		c.Type, c.Text = "destination_ip_unroutable", "the network cannot reach the address"
	case errors.Is(err, media.ErrCoding):
		c.Type, c.Text = "http_response_content_coding", media.ErrCoding.Error()
	case errors.Is(err, media.ErrIncomplete), errors.Is(err, io.ErrUnexpectedEOF):
		c.Type, c.Text = "http_response_incomplete", media.ErrIncomplete.Error()
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF):
		c.Text = "the origin closed the connection"
	case errors.Is(err, context.Canceled):
		c.Text = "the request was cancelled"
	default:
		return false
	}
	return true
}

// explainHTTP recognises errors of net/http and of HTTP/2 by their text, because they have no type.
// The texts are those of the standard library, so a new version of Go may turn one into the default of [Of]; that is a
// vaguer text, not a wrong one.
func explainHTTP(c *Cause, err error) bool {
	s := err.Error()
	switch {
	case strings.Contains(s, "server response headers exceeded"), strings.Contains(s, "RESPONSE_HEADERS_TOO_LARGE"):
		c.Type, c.Text = "http_response_header_section_size", "the fields of the response are larger than 256 KiB"
	case strings.Contains(s, "unsupported protocol scheme"), strings.Contains(s, "no Host in request URL"),
		strings.Contains(s, "invalid URL"):
		c.Kind, c.Type, c.Text = Unsupported, "http_request_error", "it is not an http or https URL with a host"
	case strings.Contains(s, "malformed"), strings.Contains(s, "unsupported transfer encoding"),
		strings.Contains(s, "PROTOCOL_ERROR"), strings.Contains(s, "invalid header"),
		strings.Contains(s, "bad Content-Length"):
		c.Type, c.Text = "http_protocol_error", "the response is not well-formed HTTP: "+withoutURL(err).Error()
	default:
		return false
	}
	return true
}

// withoutURL unwraps an error from *url.Error, whose text contains the method and the URL, which may contain secrets.
// The cause is shown and logged.
func withoutURL(err error) error {
	for {
		ue, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = ue.Err
	}
}
