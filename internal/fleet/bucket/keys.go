package bucket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// fileTime is for how long an access key that was read from a file is used before that is read again.
const fileTime = 10 * time.Second

var errNoKey = errors.New("there is no access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
	"AWS_SHARED_CREDENTIALS_FILE or AWS_CONTAINER_CREDENTIALS_FULL_URI, or write s3://KEY:SECRET@bucket")

// keysOf returns where the access key of a bucket is: in its URL or in the environment, or where that says: in a file
// (which a program renews) or at a service of the machine (Amazon's ECS and EKS have one), whose keys are temporary.
func keysOf(user *url.Userinfo, client *http.Client) (*aws.CredentialsCache, error) {
	fixed := aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
	if user != nil {
		secret, _ := user.Password()
		fixed = aws.Credentials{AccessKeyID: user.Username(), SecretAccessKey: secret}
	}
	file, service := os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); service == "" && path != "" {
		service = "http://169.254.170.2" + path
	}
	var from aws.CredentialsProviderFunc
	switch {
	case fixed.HasKeys():
		from = func(context.Context) (aws.Credentials, error) { return fixed, nil }
	case user != nil:
		return nil, errNoKey
	case file != "":
		profile := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
		from = func(context.Context) (aws.Credentials, error) { return keysInFile(file, profile) }
	case service != "":
		from = func(ctx context.Context) (aws.Credentials, error) { return keysOfService(ctx, client, service) }
	default:
		return nil, errNoKey
	}
	return aws.NewCredentialsCache(from), nil
}

// keysError is the error when the access key cannot be had from where it is.
type keysError struct{ err error }

// Error says why there is no access key.
func (e *keysError) Error() string { return "the access key cannot be had: " + e.err.Error() }

// keysInFile reads the access key of a profile from a file in the form of ~/.aws/credentials.
func keysInFile(name, profile string) (keys aws.Credentials, err error) {
	text, err := os.ReadFile(name) //nolint:gosec // the environment names it
	if err != nil {
		return keys, err
	}
	in := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in = strings.TrimSpace(strings.Trim(line, "[]"))
			continue
		}
		field, value, _ := strings.Cut(line, "=")
		if in != profile {
			continue
		}
		switch value = strings.TrimSpace(value); strings.TrimSpace(field) {
		case "aws_access_key_id":
			keys.AccessKeyID = value
		case "aws_secret_access_key":
			keys.SecretAccessKey = value
		case "aws_session_token":
			keys.SessionToken = value
		}
	}
	if !keys.HasKeys() {
		return keys, fmt.Errorf("%s has none for the profile %s", name, profile)
	}
	keys.CanExpire, keys.Expires = true, time.Now().Add(fileTime)
	return keys, nil
}

// keysOfService asks the service of a machine or container for its temporary access key.
func keysOfService(ctx context.Context, client *http.Client, service string) (keys aws.Credentials, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, service, nil)
	if err != nil {
		return keys, err
	}
	token := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		text, err := os.ReadFile(file) //nolint:gosec // the environment names it
		if err != nil {
			return keys, err
		}
		token = strings.TrimSpace(string(text))
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return keys, err
	}
	defer resp.Body.Close()
	var is struct {
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		Token           string
		Expiration      time.Time
	}
	if resp.StatusCode != http.StatusOK {
		return keys, fmt.Errorf("its service says: %s", resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&is); err != nil {
		return keys, errors.New("its service does not answer with one")
	}
	keys = aws.Credentials{
		AccessKeyID: is.AccessKeyID, SecretAccessKey: is.SecretAccessKey, SessionToken: is.Token,
		CanExpire: !is.Expiration.IsZero(), Expires: is.Expiration.Add(-time.Minute), // a request may take a while
	}
	if !keys.HasKeys() {
		return keys, errors.New("its service has none")
	}
	return keys, nil
}
