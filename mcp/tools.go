package mcp

import (
	"net/url"
	"time"

	"github.com/readthru/readthru/page"
)

// tools lists the tools in the order in which clients show them to models: those that agents need most come first.
func tools() []tool {
	return []tool{
		fetchTool(),
		searchTool(),
		basesTool(),
		pageTool(),
		outlineTool(),
		recentTool(),
		changesTool(),
		quoteTool(),
		detectTool(),
		subjectsTool(),
		relationsTool(),
		ingestTool(),
		addNoteTool(),
		relateTool(),
	}
}

// docParam and urlParam name a stored page in the tools that read one; a call has either. cursorParam continues a list.
var (
	docParam = param{
		name: "doc", kind: text, about: "Id of a stored page, or",
		aliases: "id doc_id document page_id",
	}
	urlParam    = param{name: "url", kind: text, about: "its URL", aliases: "uri link href address page page_url"}
	cursorParam = param{name: "cursor", kind: text, about: "next_cursor", aliases: "next_cursor next"}
)

// ref returns the id or URL of the stored page that a call of a tool names. The error says that both are missing.
func (c *call) ref() (string, error) {
	if doc := c.args.text("doc"); doc != "" {
		return doc, nil
	}
	if address := c.args.text("url"); address != "" {
		return address, nil
	}
	return "", errNothingNamed
}

// section returns the section of a page that a call of any of the tools wants: the argument, or else the fragment of
// the URL; empty if it is the whole page.
func (c *call) section() string {
	if name := c.args.text("section"); name != "" {
		return name
	}
	u, err := url.Parse(c.args.text("url"))
	if err != nil {
		return ""
	}
	return page.Place(u)
}

// day formats a time in the result of a tool, in UTC and to the minute. Models do not know the zone of the machine.
func day(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
