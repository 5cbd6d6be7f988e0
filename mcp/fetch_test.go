package mcp_test

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/mcp"
)

// What stands in the place of a page, and what its origin denies, is told before the content.
func TestFetchTellsOfWallsAndPreferences(t *testing.T) {
	s := newWorld(t, nil).connect(t, nil)
	for path, want := range map[string]string{
		"/wall":   "This is a bot wall and not the page",
		"/denied": "The site asks that models do not use this page: Content-Signal: ai-input=no",
	} {
		got, _, failed := try(t, s, "fetch", map[string]any{"url": "https://example.com" + path})
		if failed || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestFetchSaysWhatTheReferenceServerSays compares with the texts of mcp-server-fetch.
func TestFetchSaysWhatTheReferenceServerSays(t *testing.T) {
	s := newWorld(t, nil).connect(t, nil)
	for _, tt := range []struct {
		name   string
		args   map[string]any
		want   string
		failed bool
	}{
		{
			"a page that goes on",
			map[string]any{"url": "https://example.com/guide", "max_length": 7},
			"Contents of https://example.com/guide:\n# Guide\n\n<error>Content truncated. Call the fetch tool with a start_index of 7 to get more content.</error>", false,
		},
		{
			"past the end",
			map[string]any{"url": "https://example.com/guide", "start_index": 100_000},
			"Contents of https://example.com/guide:\n<error>No more content available.</error>", false,
		},
		{
			"nothing in it",
			map[string]any{"url": "https://example.com/empty"},
			"Contents of https://example.com/empty:\n<error>Page failed to be simplified from HTML</error>", false,
		},
		{
			"raw",
			map[string]any{"url": "https://example.com/guide", "raw": true, "max_length": 15},
			"Content type text/html; charset=utf-8 cannot be simplified to markdown, but here is the raw content:\nContents of https://example.com/guide:\n<!doctype html>" +
				"\n\n<error>Content truncated. Call the fetch tool with a start_index of 15 to get more content.</error>", false,
		},
		{
			"data",
			map[string]any{"url": "https://example.com/data"},
			"Content type application/json cannot be simplified to markdown, but here is the raw content:\nContents of https://example.com/data:\n{\"größe\":1}", false,
		},
		{
			"text, from its middle on",
			map[string]any{"url": "https://example.com/text", "start_index": 5, "max_length": 4},
			"Content type text/plain cannot be simplified to markdown, but here is the raw content:\nContents of https://example.com/text:\nsome" +
				"\n\n<error>Content truncated. Call the fetch tool with a start_index of 9 to get more content.</error>", false,
		},
		{
			"front matter of the origin is not counted",
			map[string]any{"url": "https://example.com/long", "max_length": 7},
			"Contents of https://example.com/long:\n# Lines\n\n<error>Content truncated. Call the fetch tool with a start_index of 7 to get more content.</error>", false,
		},
		{
			"a status",
			map[string]any{"url": "https://example.com/none"},
			"Failed to fetch https://example.com/none - status code 404", true,
		},
		{
			"a price",
			map[string]any{"url": "https://example.com/paid"},
			"Failed to fetch https://example.com/paid - status code 402: its origin asks for payment: USD 0.01, by pay per crawl; nothing was paid", true,
		},
		{
			"a section",
			map[string]any{"url": "https://example.com/guide", "section": "Install"},
			"Contents of https://example.com/guide:\n## Install\n\nPut the program where your shell finds it, then run it once to see that it starts as it should.", false,
		},
	} {
		got, _, failed := try(t, s, "fetch", tt.args)
		if strings.TrimRight(got, "\n") != tt.want || failed != tt.failed {
			t.Errorf("%s: failed %v, %q, want %q", tt.name, failed, got, tt.want)
		}
	}
}

func TestWhatMayNotBeReachedIsRefusedWithItsReason(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	for url, reason := range map[string]string{
		"http://169.254.169.254/latest/meta-data/": "Blocked",
		"http://" + w.addr + "/api/v1/pages":       "Blocked",
		"http://[::1]:7888/":                       "Blocked",
		"http://localhost:7888/stats":              "Blocked",
		"file:///etc/passwd":                       "http",
		"https://medium.com/story":                 "Blocked",
		"gopher://example.com/":                    "http",
		"not a url":                                "URL",
	} {
		for tool, args := range map[string]map[string]any{
			"fetch": {"url": url}, "page_changes": {"url": url},
			"ingest": {"url": url},
		} {
			got, _, failed := try(t, s, tool, args)
			if !failed || !strings.HasPrefix(got, "Failed to fetch "+url+": ") && strings.Contains(url, ":") ||
				!strings.Contains(got, reason) || reason == "Blocked" && strings.Count(got, url) > 1 {
				t.Errorf("%s %s: failed %v, %q, want it refused because of %s, and named once", tool, url, failed, got, reason)
			}
		}
	}
	if w.asked.Load() != 0 {
		t.Errorf("the origin was asked %d times", w.asked.Load())
	}
}

func TestRobotsBindsTheToolAndNotThePrompt(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	forbidden := "The sites robots.txt (https://strict.example.com/robots.txt), specifies that autonomous fetching of this page is not allowed, <useragent>" + userAgent + "</useragent>\n" +
		"<url>https://strict.example.com/private</url>\n<robots>\nUser-agent: *\nDisallow: /private\n</robots>\n" +
		"The assistant must let the user know that it failed to view the page. The assistant may provide further guidance based on the above information.\n" +
		"The assistant can tell the user that they can try manually fetching the page by using the fetch prompt within their UI."
	for url, want := range map[string]string{
		"https://strict.example.com/private": forbidden,
		"https://refusing.example.com/guide": "When fetching robots.txt (https://refusing.example.com/robots.txt), received status 403 so assuming that autonomous fetching is not allowed, the user can try manually fetching by using the fetch prompt",
	} {
		if got, _, failed := try(t, s, "fetch", map[string]any{"url": url}); !failed || got != want {
			t.Errorf("%s: failed %v, %q, want %q", url, failed, got, want)
		}
	}
	if w.asked.Load() != 0 {
		t.Errorf("pages were asked for %d times although robots.txt forbids it", w.asked.Load())
	}
	prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{
		Name:      "fetch",
		Arguments: map[string]string{"url": "https://refusing.example.com/none"},
	})
	if err != nil || prompt.Description != "Failed to fetch https://refusing.example.com/none" ||
		prompt.Messages[0].Content.(*sdk.TextContent).Text != "Failed to fetch https://refusing.example.com/none - status code 404" {
		t.Errorf("prompt: %v, %+v", err, prompt)
	}
	if w.asked.Load() != 1 {
		t.Errorf("a prompt asked %d times for the page, want once", w.asked.Load())
	}
	free := newWorld(t, func(o *mcp.Options) { o.Robots = false }).connect(t, nil)
	if got, _, _ := try(t, free, "fetch",
		map[string]any{"url": "https://refusing.example.com/none"}); got != "Failed to fetch https://refusing.example.com/none - status code 404" {
		t.Errorf("with robots off: %q", got)
	}
}

func TestFactsOfAPageComeBesideItsText(t *testing.T) {
	s := newWorld(t, nil).connect(t, nil)
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{
		Name:      "fetch",
		Arguments: map[string]any{"url": "https://example.com/guide", "max_length": 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	about, _ := res.Meta["readthru/page"].(map[string]any)
	if about["title"] != "Guide" || about["next_start_index"] != 10.0 || about["markdown_source"] != "local" ||
		about["content_format"] != "markdown" {
		t.Errorf("facts %v", about)
	}
	if res.StructuredContent != nil {
		t.Errorf("a page's text has structured content, too: %v", res.StructuredContent)
	}
	if names := []string{"doc", "content_hash", "fetched_at", "visit_id"}; slices.ContainsFunc(names,
		func(n string) bool { return about[n] == nil || about[n] == "" }) {
		t.Errorf("facts %v lack one of %v", about, names)
	}
}
