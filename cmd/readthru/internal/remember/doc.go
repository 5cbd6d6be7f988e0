// Package remember has the commands about what is kept: search, pages, knowledge bases and notes.
package remember
