// Package bucket keeps the larger contents of a fleet (of pages, responses and renditions) in an S3-compatible object
// store: compressed, each under the SHA-256 of what was compressed, so that none is kept twice and one that was changed
// is noticed.
package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // S3 asks for it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/readthru/readthru/internal/lazy"
)

const (
	// Tasks is how many requests a caller may make at once.
	Tasks = 16

	// connectTime bounds a connection to the object store.
	connectTime = 5 * time.Second

	// requestTime bounds a request to the object store.
	requestTime = 10 * time.Second

	// answersTime bounds the question whether a request failed because of the object store or of the object.
	answersTime = 2 * time.Second
)

// A Bucket is where an S3-compatible object store keeps content. An object has the hash of the content as its name, and
// the content compressed.
type Bucket struct {
	Name   string // for people
	base   string // URL of what the names of all objects follow
	region string
	keys   *aws.CredentialsCache
	signer *v4.Signer
	client *http.Client
}

// bucketForm is what a bucket may be called, and prefixForm what may be before the names of objects.
var (
	bucketForm = lazy.Pattern(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixForm = lazy.Pattern(`^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*$`)
)

// New returns the bucket at a URL like s3://bucket/prefix?endpoint=https://host:9000&region=eu-west-1. It
// connects to nothing. The access key is in the URL, or where the variables say that other clients of S3 read. An
// endpoint whose host begins with the bucket's name, such as https://bucket.host, is that of the bucket itself
// ("virtual hosted style"); of others the bucket is the first part of the path.
func New(raw string) (*Bucket, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "s3" {
		return nil, errors.New("it is no URL like s3://bucket/prefix?endpoint=https://host") // err may have the key
	}
	prefix := strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/")
	if prefix != "" {
		prefix += "/"
	}
	b := &Bucket{Name: u.Host + "/" + prefix, signer: v4.NewSigner(func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = true // as S3 does
	})}
	if !bucketForm().MatchString(u.Host) {
		return nil, fmt.Errorf("%q is no name of a bucket: it has 3 to 63 of a to z, 0 to 9, dot and hyphen", u.Host)
	}
	if !prefixForm().MatchString(prefix) {
		return nil, fmt.Errorf("%q is no prefix: its parts have letters, digits, dots, hyphens and underscores", prefix)
	}
	q := u.Query()
	for name := range q {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("it has %q: only endpoint and region may follow the question mark", name)
		}
	}
	b.region = cmp.Or(q.Get("region"), os.Getenv("AWS_REGION"), "us-east-1")
	if endpoint := q.Get("endpoint"); endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || e.RawQuery != "" || e.User != nil {
			return nil, errors.New("its endpoint is no URL like https://host:9000")
		}
		b.base = strings.TrimSuffix(endpoint, "/") + "/"
		if !strings.HasPrefix(e.Host, u.Host+".") {
			b.base += u.Host + "/"
		}
		b.base += prefix
	} else {
		b.base = amazon(u.Host, b.region) + prefix
	}
	b.client = &http.Client{
		Transport: &http.Transport{ // without a proxy: the environment may name this node
			DialContext:           (&net.Dialer{Timeout: connectTime}).DialContext,
			TLSHandshakeTimeout:   connectTime,
			ResponseHeaderTimeout: requestTime,
			MaxIdleConnsPerHost:   Tasks,
			IdleConnTimeout:       time.Minute,
			DisableCompression:    true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if b.keys, err = keysOf(u.User, b.client); err != nil {
		return nil, err
	}
	return b, nil
}

// amazon returns the URL of a bucket of Amazon's, which ends with a slash. Its certificates are for one label before
// "s3", so a bucket with a dot is in the path.
func amazon(bucket, region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain += ".cn"
	}
	if strings.Contains(bucket, ".") {
		return "https://s3." + region + "." + domain + "/" + bucket + "/"
	}
	return "https://" + bucket + ".s3." + region + "." + domain + "/"
}

// Close closes connections that no request uses.
func (b *Bucket) Close() { b.client.CloseIdleConnections() }

// ErrLost is the error for an object that is missing, or not what its name says.
var ErrLost = errors.New("the object store has lost it")

// ErrObject is the error for an object that cannot be had though others can.
var ErrObject = errors.New("the object store does not give its content, though it gives others")

// A refusal is an answer of the object store with another status than 200.
type refusal struct {
	status int
	code   string // S3's, if it is known
}

// Error names the status with which the object store refused a request.
func (r *refusal) Error() string {
	return fmt.Sprintf("the object store says: %d %s", r.status, cmp.Or(r.code, http.StatusText(r.status)))
}

// RefusedWith reports whether an error is a refusal with a status.
func RefusedWith(err error, status int) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.status == status
}

// IsBusy reports whether an error is a refusal because of too many requests. Other trouble may be one object's.
func IsBusy(err error) bool {
	return RefusedWith(err, http.StatusServiceUnavailable) || RefusedWith(err, http.StatusTooManyRequests)
}

// do makes a request as once does. While the object store is busy, it does so four times, with pauses between them.
func (b *Bucket) do(ctx context.Context, method string, hash [32]byte, content []byte, fields ...string) (
	*http.Response, error,
) {
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		resp, err := b.once(ctx, method, hash, content, fields...)
		if !IsBusy(err) || pause > 400*time.Millisecond {
			return resp, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // requests are to be apart, no more
		}
	}
}

// once makes a signed request for the object of a hash (AWS Signature Version 4). If it returns no error, the status is
// 200 and the caller closes the answer's body; every other status is a refusal.
func (b *Bucket) once(ctx context.Context, method string, hash [32]byte, content []byte, fields ...string) (
	*http.Response, error,
) {
	name := hex.EncodeToString(hash[:])
	req, err := http.NewRequestWithContext(ctx, method, b.base+name[:2]+"/"+name, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return b.send(ctx, req, content, fields...)
}

// send is once for a request with some content.
func (b *Bucket) send(ctx context.Context, req *http.Request, content []byte, fields ...string) (
	*http.Response, error,
) {
	if req.Method == http.MethodPut {
		// A bucket with object lock insists on this, or on fields that not all servers know.
		sum := md5.Sum(content) //nolint:gosec // it is no secret
		req.Header.Set("Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	for i := 0; i+1 < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	sum := sha256.Sum256(content)
	payload := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", payload) // the server checks it
	keys, err := b.keys.Retrieve(ctx)
	if err != nil {
		return nil, &keysError{err}
	}
	if err := b.signer.SignHTTP(ctx, keys, req, payload, "s3", b.region, time.Now()); err != nil {
		return nil, err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	_, after, _ := strings.Cut(string(text), "<Code>")
	code, _, closed := strings.Cut(after, "</Code>")
	if !closed || len(code) > 64 {
		code = ""
	}
	switch code {
	case "ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "TokenRefreshRequired":
		b.keys.Invalidate() // it may be another one by now
	}
	return nil, &refusal{resp.StatusCode, code}
}

// Put keeps a content, which is compressed already, under its hash. Unless it is to replace what is there, one that is
// there stays.
func (b *Bucket) Put(ctx context.Context, hash [32]byte, packed []byte, replace bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	fields := []string{"Content-Type", "application/zstd"}
	if !replace {
		fields = append(fields, "If-None-Match", "*")
	}
	resp, err := b.do(ctx, http.MethodPut, hash, packed, fields...)
	if RefusedWith(err, http.StatusPreconditionFailed) || RefusedWith(err, http.StatusConflict) {
		return nil // it is there, or another node is just putting it
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Get returns a content of a length by its hash. The error is ErrLost for one that is missing or something else.
func (b *Bucket) Get(ctx context.Context, hash [32]byte, length int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	resp, err := b.do(ctx, http.MethodGet, hash, nil)
	if r, ok := errors.AsType[*refusal](err); ok && r.code == "NoSuchKey" {
		return nil, ErrLost
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	most := int64(length + length/64 + 4096) // what has more is something else
	packed, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return nil, err
	}
	content, err := Unpack(packed, length, hash[:])
	if err != nil {
		return nil, ErrLost
	}
	return content, nil
}

// probe is a content that each node puts and gets again, to see whether it may.
const probe = "readthru keeps the content of pages here, compressed, by its SHA-256.\n"

// Try reports whether the object store can be used, by putting a small object and getting it again.
func (b *Bucket) Try(ctx context.Context) error {
	hash := sha256.Sum256([]byte(probe))
	if err := b.Put(ctx, hash, Pack([]byte(probe)), false); err != nil {
		return err
	}
	_, err := b.Get(ctx, hash, len(probe))
	if errors.Is(err, ErrLost) { // somebody has removed or changed it
		if err = b.Put(ctx, hash, Pack([]byte(probe)), true); err == nil {
			_, err = b.Get(ctx, hash, len(probe))
		}
	}
	return err
}

// Answers reports whether the object store can be used just now, though a request has failed.
func (b *Bucket) Answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answersTime)
	defer cancel()
	return b.Try(ctx) == nil
}

// Explain returns an error of the object store in a sentence without secrets, and what to do about it.
func (b *Bucket) Explain(err error) (reason, remedy string) {
	if r, ok := errors.AsType[*refusal](err); ok {
		reason = r.Error()
		switch {
		case r.code == "NoSuchBucket":
			return reason, "create the bucket of " + b.Name + ", or correct its name in fleet.bodies"
		case r.code == "InvalidAccessKeyId", r.code == "XAdminUserNotFound", r.code == "SignatureDoesNotMatch",
			r.code == "ExpiredToken", r.code == "InvalidToken", r.status == http.StatusUnauthorized:
			return reason, "correct the access key and its secret, in fleet.bodies or the environment"
		case r.code == "SecondLevelDomainForbidden", r.code == "PathStyleDomainForbidden":
			bucket, _, _ := strings.Cut(b.Name, "/")
			return reason, "write the bucket before the endpoint's host in fleet.bodies: endpoint=https://" + bucket + ".…"
		case r.code == "RequestTimeTooSkewed":
			return reason, "set this machine's clock by NTP"
		case r.status == http.StatusForbidden:
			return reason, "allow the access key s3:GetObject and s3:PutObject on " + b.Name + "*"
		case r.code == "AuthorizationHeaderMalformed", r.status/100 == 3:
			return reason, "correct the region or the endpoint in fleet.bodies"
		case r.status == http.StatusNotImplemented:
			return reason, "upgrade the object store: it must know If-None-Match of PUT"
		case r.status == http.StatusNotFound:
			return reason, "correct the endpoint in fleet.bodies"
		}
		return reason, "nothing: this node tries again"
	}
	if e, ok := errors.AsType[*keysError](err); ok {
		return e.Error(), "look at the variables of fleet.bodies: AWS_SHARED_CREDENTIALS_FILE, AWS_CONTAINER_…"
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return "the object store's host " + e.Name + " has no address", "correct fleet.bodies"
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return "the object store cannot be reached: " + e.Err.Error(), "start it, or correct the endpoint in fleet.bodies"
	}
	switch {
	case errors.Is(err, ErrLost):
		return "the object store does not give back what it was given", "look at what else writes to " + b.Name
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "the object store did not answer in time", "look at its load and the network"
	}
	return "the connection to the object store ended", "nothing: this node tries again"
}
