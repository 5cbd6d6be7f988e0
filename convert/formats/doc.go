// Package formats writes what is not HTML as markdown: [CSV], [JSON] and [Notebook], and the blocks of a [PDF]. It
// tells the language of source code by names ([Language], [LanguageOfType]), and of which [Kind] other bodies are.
//
// It writes what a text says and cleans nothing: package convert takes hidden text out before or afterwards.
package formats
