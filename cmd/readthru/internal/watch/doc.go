// Package watch has the commands that show what happened, how sites are treated, and figures.
package watch
