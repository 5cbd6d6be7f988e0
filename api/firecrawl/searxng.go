package firecrawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// SearXNG asks a SearXNG server, which asks search engines. It asks the configured address and no other: the operator
// chose it, so it may be private; what it finds is a stranger's word, and fetched like any page.
type SearXNG struct {
	Address  *url.URL          // scheme, host and path
	Client   http.RoundTripper // reaches Address
	Disclose func(service, about string, bytes int64, why string) error
}

// NewSearXNG returns a SearXNG, or an error if the address cannot be one.
func NewSearXNG(address string, client http.RoundTripper,
	disclose func(service, about string, bytes int64, why string) error,
) (*SearXNG, error) {
	u, err := page.Parse(address)
	if err == nil && (u.RawQuery != "" || u.Fragment != "") {
		err = errors.New("it must be scheme, host and path only")
	}
	if err != nil {
		return nil, err
	}
	return &SearXNG{u, client, disclose}, nil
}

const (
	searxngTimeout = 15 * time.Second
	maxSearXNG     = 4 << 20 // bytes of an answer
	maxSearXNGText = 1000    // characters of a title or a description
)

// shown returns a text of a stranger as a plain line without what no reader sees.
func shown(text string) string {
	return clip.Line(string(fetch.CleanMarkdown([]byte(withoutTags(text)), nil)), maxSearXNGText)
}

// withoutTags takes out of a text the tags of elements that engines leave in it, and resolves its entities. Other words
// in angle brackets are words.
func withoutTags(text string) string {
	var b strings.Builder
	silent := atom.Atom(0) // the element whose text is not shown
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if silent == 0 {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			name, _ := z.TagName()
			switch tag := atom.Lookup(name); tag {
			case atom.Script, atom.Style:
				if silent = 0; kind == html.StartTagToken {
					silent = tag
				}
			case atom.P, atom.Br, atom.Div, atom.Li, atom.Ul, atom.Ol, atom.Tr, atom.Td, atom.H1, atom.H2, atom.H3:
				b.WriteByte(' ')
			case atom.A, atom.B, atom.Code, atom.Em, atom.Font, atom.I, atom.Img, atom.Mark, atom.Small, atom.Span,
				atom.Strong, atom.Sub, atom.Sup, atom.U:
			default:
				b.WriteString(raw)
			}
		}
	}
}

// search asks the server. Its results are not checked yet.
func (x *SearXNG) search(ctx context.Context, b *searchBody) ([]found, error) {
	list, err := x.ask(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("SearXNG at %s: %w", x.Address.Host, err)
	}
	return list, nil
}

// Service is the server's name in the ledger of disclosures.
func (x *SearXNG) Service() string { return "searxng " + x.Address.Host }

// ask sends a query to SearXNG and returns its results. The request is disclosed before it is sent.
func (x *SearXNG) ask(ctx context.Context, b *searchBody) ([]found, error) {
	ctx, cancel := context.WithTimeout(ctx, searxngTimeout)
	defer cancel()
	q := url.Values{"q": {b.Query}, "format": {"json"}}
	if period := periods[b.Period].name; period != "" {
		q.Set("time_range", period)
	}
	u := *x.Address
	u.Path = strings.TrimRight(u.Path, "/") + "/search"
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if err := x.Disclose(x.Service(), u.String(), int64(len(b.Query)), "a search"); err != nil {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	resp, err := x.Client.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusForbidden:
		return nil, errors.New("HTTP 403: add json to search.formats in its settings.yml")
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	var answer struct {
		Results []struct {
			URL     string `json:"url"`
			Title   string `json:"title"`
			Content string `json:"content"`
		} `json:"results"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxSearXNG)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("its answer is not JSON: %w", err)
	}
	list := make([]found, 0, len(answer.Results))
	for _, r := range answer.Results[:min(len(answer.Results), maxResultsWeb)] {
		list = append(list, found{URL: r.URL, Title: shown(r.Title), Description: shown(r.Content)})
	}
	return list, nil
}
