package fetch

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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// Kinds of an [Error], as in the page object.
const (
	KindBlocked     = "blocked"
	KindTimeout     = "timeout"
	KindHTTP        = "http"
	KindConnect     = "connect"
	KindTLS         = "tls"
	KindTooLarge    = "too_large"
	KindUnsupported = "unsupported"
	KindOffline     = "offline"
)

// Error describes why a fetch failed. Its text is one plain sentence.
type Error struct {
	Kind   string // one of the Kind constants
	URL    string // secrets masked
	Status int    // KindHTTP: the origin's status
	Type   string // error type for Proxy-Status (RFC 9209 §2.3): dns_error, connection_refused …; empty for KindHTTP
	Cause  error  // with a readable text; nil if Kind is sufficient
	advice string // what to do about it; empty if nothing is known

	outcome cache.Outcome // KindHTTP: the cache's
	again   bool          // it is that of an earlier request, and the origin was not asked

	Payment    []page.Payment // KindHTTP: how the origin offers to be paid for the page
	RetryAfter time.Duration  // KindHTTP: the delay that the origin asks for, at most a week; 0: none
}

func (e *Error) Error() string {
	message, _ := e.say()
	return message
}

// say returns the text of the error, and why it is without the URL.
func (e *Error) say() (message, reason string) {
	switch e.Kind {
	case KindTimeout:
		message, reason = "Timeout fetching "+e.URL, "Timeout"
	case KindHTTP:
		reason = "HTTP " + strconv.Itoa(e.Status)
		message = reason + " fetching " + e.URL
		if len(e.Payment) > 0 {
			asks := ": its origin asks for payment: " + e.Payment[0].String() + "; nothing was paid"
			message, reason = message+asks, reason+asks
		}
	case KindBlocked:
		message, reason = "Blocked: "+e.URL+": "+e.cause(), "Blocked: "+e.cause()
	case KindTooLarge:
		message, reason = "Too large: "+e.URL+": "+e.cause(), "Too large: "+e.cause()
	case KindOffline:
		const state = " is not stored, and readthru asks no origin while it is offline"
		message, reason = "Offline: "+e.URL+state, "Offline: it"+state
	case KindUnsupported:
		message, reason = "Cannot fetch "+e.URL+": "+e.cause(), e.cause()
	default:
		message, reason = "Connection error fetching "+e.URL+": "+e.cause(), e.cause()
	}
	if e.advice != "" {
		message, reason = message+" ("+e.advice+")", reason+" ("+e.advice+")"
	}
	return message, reason
}

func (e *Error) cause() string {
	if e.Cause == nil {
		return "no cause given"
	}
	return e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// HTTPStatus returns the status for the response that reports the error: 403 for KindBlocked, 504 for KindTimeout and
// KindOffline, the origin's status for KindHTTP, and otherwise 502.
func (e *Error) HTTPStatus() int {
	switch e.Kind {
	case KindBlocked:
		return http.StatusForbidden
	case KindTimeout, KindOffline:
		return http.StatusGatewayTimeout
	case KindHTTP:
		if e.Status >= 400 && e.Status <= 599 {
			return e.Status
		}
	}
	return http.StatusBadGateway
}

// Page returns the error in the form that a page has it in.
func (e *Error) Page() *page.Error {
	message, reason := e.say()
	return &page.Error{Kind: e.Kind, Message: message, Reason: reason, Status: e.Status, Payment: e.Payment}
}

// plainError is a cause with a readable text. It wraps the original error for errors.Is and errors.As.
type plainError struct {
	text string
	err  error
}

func (p *plainError) Error() string { return p.text }
func (p *plainError) Unwrap() error { return p.err }

// errTimeout is the cancellation cause of a page that took too long.
var errTimeout = errors.New("the page took too long")

// errIncomplete is returned for a truncated body.
var errIncomplete = errors.New("the response is incomplete")

// Explain converts an error of a round trip, or of reading a body, to an [*Error]. u may be nil.
func Explain(u *url.URL, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Kind: KindConnect, Type: "connection_terminated"}
	if u != nil {
		e.URL = page.Mask(u)
	}
	text := ""
	switch {
	case explainGuard(e, &text, err), explainTime(e, err), explainTLS(e, &text, err), explainDNS(e, &text, err),
		explainConnection(e, &text, err), explainHTTP(e, &text, err):
	default:
		text = withoutURL(err).Error()
	}
	if a, ok := errors.AsType[*transport.AdviceError](err); ok && e.Kind != KindBlocked {
		e.advice = a.Advice
	}
	e.Cause = err
	if text != "" {
		e.Cause = &plainError{text, err}
	}
	return e
}

func explainGuard(e *Error, text *string, err error) bool {
	g, ok := errors.AsType[*transport.ProhibitedError](err)
	if !ok {
		return false
	}
	*text = g.Error()
	e.Kind, e.Type = KindBlocked, "destination_ip_prohibited"
	if g.Loop {
		e.Kind, e.Type = KindConnect, "proxy_loop_detected"
	}
	return true
}

func explainTime(e *Error, err error) bool {
	var t interface{ Timeout() bool }
	timeout := errors.Is(err, errTimeout) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, os.ErrDeadlineExceeded)
	if !timeout && (!errors.As(err, &t) || !t.Timeout()) {
		return false
	}
	e.Kind, e.Type = KindTimeout, "http_response_timeout"
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		e.Type = "dns_timeout"
	} else if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		e.Type = "connection_timeout"
	}
	return true
}

// Untrusted reports whether an error of a round trip means that TLS with the origin failed, so that nobody knows who
// answered.
func Untrusted(err error) bool { return Explain(nil, err).Kind == KindTLS }

func explainTLS(e *Error, text *string, err error) bool {
	e.Type = "tls_certificate_error"
	if errors.Is(err, transport.ErrWeakKey) {
		*text = transport.ErrWeakKey.Error()
	} else if c, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		*text = "the certificate is not valid: " + strings.TrimPrefix(c.Error(), "x509: ")
		if c.Reason == x509.Expired {
			*text = "the certificate has expired or is not yet valid"
		}
	} else if h, ok := errors.AsType[x509.HostnameError](err); ok {
		*text = "the certificate is for another name than " + h.Host
	} else if a, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		*text = "the certificate is signed by an unknown authority"
		if c := a.Cert; c != nil && c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil {
			*text = "the certificate is self-signed"
		}
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		*text = "the certificate is not valid: " + strings.TrimPrefix(withoutURL(err).Error(),
			"tls: failed to verify certificate: ")
	} else if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		*text, e.Type = "the origin does not speak TLS on this port", "tls_protocol_error"
	} else if a, ok := errors.AsType[tls.AlertError](err); ok {
		*text, e.Type = "the origin refused the TLS connection: "+strings.TrimPrefix(a.Error(), "tls: "),
			"tls_alert_received"
	} else if s := err.Error(); strings.Contains(s, "tls: ") || strings.Contains(s, "remote error: tls") {
		_, s, _ = strings.Cut(s, "tls: ")
		*text, e.Type = "the TLS protocol failed: "+s, "tls_protocol_error"
	} else {
		e.Type = "connection_terminated"
		return false
	}
	e.Kind = KindTLS
	return true
}

func explainDNS(e *Error, text *string, err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	if !ok {
		return false
	}
	e.Type = "dns_error"
	*text = fmt.Sprintf("the name %s cannot be resolved: %s", d.Name, d.Err)
	if d.IsNotFound {
		*text = fmt.Sprintf("there is no host %s", d.Name)
	}
	return true
}

func explainConnection(e *Error, text *string, err error) bool {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Type, *text = "connection_refused", "the connection was refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH),
		errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Type, *text = "destination_ip_unroutable", "the network cannot reach the address"
	case errors.Is(err, media.ErrCoding):
		e.Type, *text = "http_response_content_coding", media.ErrCoding.Error()
	case errors.Is(err, errIncomplete), errors.Is(err, io.ErrUnexpectedEOF):
		e.Type, *text = "http_response_incomplete", errIncomplete.Error()
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF):
		*text = "the origin closed the connection"
	case errors.Is(err, context.Canceled):
		*text = "the request was cancelled"
	default:
		return false
	}
	return true
}

// explainHTTP recognises net/http's errors by their text, because they have no type.
func explainHTTP(e *Error, text *string, err error) bool {
	s := err.Error()
	switch {
	case strings.Contains(s, "server response headers exceeded"), strings.Contains(s, "RESPONSE_HEADERS_TOO_LARGE"):
		e.Type, *text = "http_response_header_section_size", "the fields of the response are larger than 256 KiB"
	case strings.Contains(s, "unsupported protocol scheme"), strings.Contains(s, "no Host in request URL"),
		strings.Contains(s, "invalid URL"):
		e.Kind, e.Type, *text = KindUnsupported, "http_request_error", "it is not an http or https URL with a host"
	case strings.Contains(s, "malformed"), strings.Contains(s, "unsupported transfer encoding"),
		strings.Contains(s, "PROTOCOL_ERROR"), strings.Contains(s, "invalid header"),
		strings.Contains(s, "bad Content-Length"):
		e.Type, *text = "http_protocol_error", "the response is not well-formed HTTP: "+withoutURL(err).Error()
	default:
		return false
	}
	return true
}

// withoutURL unwraps an error from *url.Error, whose text contains the method and the URL, which may contain secrets.
func withoutURL(err error) error {
	for {
		ue, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = ue.Err
	}
}
