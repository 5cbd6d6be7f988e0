package mcp

import (
	"context"
	"fmt"

	"github.com/readthru/readthru/page"
)

// detectTool is the tool detect_urls. It is for clients that hand a user's message to it before they decide what to
// fetch.
func detectTool() tool {
	return tool{
		name: "detect_urls", title: "Find URLs",
		about:  "Lists the URLs in a text with their kinds.",
		params: []param{{name: "text", kind: text, required: true, aliases: "content message input"}, cursorParam},
		shape:  "urls array, next_cursor string",
		run: func(ctx context.Context, c *call) (*result, error) {
			found, err := c.client.Detect(ctx, c.args.text("text"))
			if err != nil {
				return nil, err
			}
			return take(c, found.URLs, "urls", "No URLs in the text.", func(_ int, d page.Detected) (string, any) {
				return fmt.Sprintf("- %s (%s, %s)\n", d.URL, d.Type, d.Display), d
			})
		},
	}
}
