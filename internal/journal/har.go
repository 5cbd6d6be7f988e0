package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
	"time"
)

// WriteJSONL writes requests as lines of JSON.
func WriteJSONL(w io.Writer, list iter.Seq[Entry]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for e := range list {
		if err := enc.Encode(&e); err != nil {
			return err
		}
	}
	return nil
}

// The parts of an HTTP archive (HAR 1.2).
type (
	harCreator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harEntry struct {
		Started  string      `json:"startedDateTime"`
		Time     float64     `json:"time"`
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Entry    *Entry      `json:"_readthru"`
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []harPair `json:"cookies"`
		Headers     []harPair `json:"headers"`
		Query       []harPair `json:"queryString"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		HTTPVersion string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		RedirectURL string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int64      `json:"bodySize"`
	}
	harContent struct {
		Size     int64  `json:"size"`
		MimeType string `json:"mimeType"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// WriteHAR writes requests as an HTTP archive, which browsers and other tools read. It has no content, and the whole
// entry as _readthru.
func WriteHAR(w io.Writer, version string, list iter.Seq[Entry]) error {
	creator, err := json.Marshal(harCreator{"readthru", version})
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	text := `{"log":{"version":"1.2","creator":` + string(creator) + `,"entries":[`
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for e := range list {
		b.Reset()
		if err := enc.Encode(harOf(&e)); err != nil {
			return fmt.Errorf("write the archive: %w", err)
		}
		if _, err := io.WriteString(w, text+b.String()); err != nil {
			return fmt.Errorf("write the archive: %w", err)
		}
		text = ","
	}
	if text == "," {
		text = ""
	}
	if _, err := io.WriteString(w, text+"]}}\n"); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}

// harOf returns a request as an entry of an HTTP archive (HAR 1.2). What is not known is -1, as that says.
func harOf(e *Entry) harEntry {
	took := float64(e.Micros) / 1000
	h := harEntry{
		Started: e.Time.Format(time.RFC3339Nano), Time: took, Timings: harTimings{Wait: took}, Entry: e,
		Request: harRequest{
			Method: e.Method, URL: e.URL, HTTPVersion: "HTTP/1.1", Cookies: []harPair{},
			Headers: pairs(e.Asked), Query: []harPair{}, HeadersSize: -1, BodySize: -1,
		},
		Response: harResponse{
			Status: e.Status, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: pairs(e.Answered),
			Content: harContent{e.BytesOut, e.Type}, HeadersSize: -1, BodySize: e.BytesOut,
		},
	}
	if u, err := url.Parse(e.URL); err == nil {
		for name, values := range u.Query() {
			for _, v := range values {
				h.Request.Query = append(h.Request.Query, harPair{name, v})
			}
		}
	}
	for _, p := range h.Response.Headers {
		if p.Name == "Location" {
			h.Response.RedirectURL = p.Value
		}
	}
	return h
}

// pairs returns fields in the form of an HTTP archive; never nil.
func pairs(f Fields) []harPair {
	list := []harPair{}
	for _, field := range f.List() {
		list = append(list, harPair(field))
	}
	return list
}
