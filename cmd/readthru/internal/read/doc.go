// Package read has the commands that read the web: run, fetch, convert and mcp.
package read
