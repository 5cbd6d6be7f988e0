package hidden

import (
	"strings"
	"sync"

	"github.com/readthru/readthru/internal/lazy"
)

// orders are words by which a text speaks to a model instead of a reader. The pattern is slow, so that mayCommand comes
// first. Changing it, keep orderWords in step.
var orders = lazy.Pattern(`(?i)\b(?:ignore|disregard|forget|override)\b.{0,40}` +
	`\b(?:previous|prior|above|earlier|preceding|told|instructions?|rules)\b` +
	`|\b(?:system|developer) (?:prompt|message|instruction)|\bnew instructions?\b` +
	`|\byou are (?:now )?an? (?:ai|assistant|agent|helpful)\b` +
	`|\b(?:ai|llm|language model|chatbot|assistant|agent)s?\b.{0,40}` +
	`\b(?:must|should|shall|please|are (?:asked|required))\b` +
	`|\b(?:as|if you are|dear|attention|note (?:to|for)) (?:an? |any |all )?` +
	`(?:ai|llm|language model|chatbot|assistant|agent)s?\b` +
	`|\b(?:send|post|forward|upload|reveal|leak|exfiltrate|print|output)\b.{0,40}` +
	`\b(?:keys?|passwords?|secrets?|tokens?|credentials?|conversation)\b` +
	`|\bdo not (?:tell|inform|mention|reveal)\b|<\|?im_start|\[inst\]|\bprompt injection\b|\bjailbreak`)

// orderWords are the beginnings of words of which each order has one, by their first letter. A text without any of them
// matches no order.
var orderWords = sync.OnceValue(func() (byLetter [26][]string) {
	for word := range strings.FieldsSeq(`previous prior above earlier preceding told instruction rules prompt message
		ai llm language chatbot assistant agent helpful key password secret token credential conversation tell inform
		mention reveal im_start inst injection jailbreak`) {
		byLetter[word[0]-'a'] = append(byLetter[word[0]-'a'], word)
	}
	return byLetter
})

// mayCommand reports whether text has a word that an order has. Without one the slow expression need not be tried.
func mayCommand(text string) bool {
	if strings.Contains(text, "\u017f") || strings.Contains(text, "\u212a") { // an s and a k, to an expression
		return true
	}
	words := orderWords()
	inWord := false
	for i := range len(text) {
		c := text[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		if letter && !inWord {
			for _, word := range words[c-'a'] {
				if len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word) {
					return true
				}
			}
		}
		inWord = letter || '0' <= text[i] && text[i] <= '9' || text[i] == '_'
	}
	return false
}

// commands reports whether text gives orders to a model. It reads 64 KiB of it. Words alone prove nothing: a page about
// such texts has them, too, but shows them to its readers.
func commands(text string) bool {
	text = text[:min(len(text), 64<<10)]
	return mayCommand(text) && orders().MatchString(text)
}

// noteMarks are how sites tell agents where their markdown is. They are honest, mostly: documentation sites write them
// in alternative texts and hidden paragraphs.
var noteMarks = lazy.Pattern(`(?i)\bllms(?:-full)?\.txt\b|\b(?:ai|llm|coding) (?:agents?|assistants?|crawlers?)\b.{0,120}\b(?:markdown|\.md|/md)\b|` +
	`\b(?:append|add|adding|appending)\b.{0,12}\.md\b|\.md\b.{0,40}\bto (?:the|this|any) url\b|\bagents?:.{0,60}\.md\b|\baccept: text/markdown\b`)

// agentNote reports whether text tells agents how to read the site. Such a note stands in the
// report. It is no part of the page, and it is not followed.
func agentNote(text string) bool {
	if len(text) < 10 || len(text) > 4<<10 || !strings.Contains(text, "md") && !strings.Contains(text, "llms") &&
		!strings.Contains(text, "arkdown") {
		return false
	}
	return noteMarks().MatchString(text)
}
