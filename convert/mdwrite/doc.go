// Package mdwrite writes markdown: a normalised tree, in time linear in the output, and the pieces that formats without
// a tree are put together from.
//
// [New] makes a [Renderer] for one page, whose [Renderer.Render] writes the chosen elements. [Escaped] and
// [WriteEscaped] make plain text show unchanged, [Fence] makes a block of code of it, and [Rows] a table.
package mdwrite
