package journal

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"time"
)

// WriteJSONL writes requests as lines of JSON.
func WriteJSONL(w io.Writer, list []Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range list {
		if err := enc.Encode(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// The parts of an HTTP archive (HAR 1.2).
type (
	harLog struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Entries []harEntry `json:"entries"`
	}
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
func WriteHAR(w io.Writer, version string, list []Entry) error {
	log := harLog{Version: "1.2", Creator: harCreator{"readthru", version}, Entries: make([]harEntry, len(list))}
	for i := range list {
		e := &list[i]
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
		log.Entries[i] = h
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"log": log}); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}

func pairs(f Fields) []harPair {
	list := []harPair{}
	for _, field := range f.List() {
		list = append(list, harPair(field))
	}
	return list
}
