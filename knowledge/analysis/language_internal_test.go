package analysis

import (
	"strings"
	"testing"
)

// A query is in the language whose function words it has; in none if it has none, or if two languages have as many.
func TestLanguageOf(t *testing.T) {
	for text, want := range map[string]Language{
		"wie schließe ich eine Verbindung":  German,
		"comment fermer une connexion":      French,
		"cómo cerrar la conexión con el":    Spanish,
		"como fechar uma ligação":           Portuguese,
		"come chiudere gli errori della":    Italian,
		"how to close a connection":         English,
		"größe der Tabelle":                 German,
		"MIT license":                       0, // a word alone says nothing
		"import numpy as np":                0,
		"de la":                             0, // several have them
		"no such file":                      0,
		"functools.lru_cache":               0,
		"":                                  0,
		"соединение":                        0,
		"the die is cast and der is no die": English,
	} {
		if got := LanguageOf(text); got != want {
			t.Errorf("LanguageOf(%q) = %d, want %d", text, got, want)
		}
	}
}

// Forms of a word have one stem in its language.
func TestLanguagesHaveStems(t *testing.T) {
	for l, groups := range map[Language][]string{
		German: {
			"verbindung verbindungen", "tabelle tabellen", "buch bücher büchern buches", "neuer neuen neues neue",
			"datei dateien",
			"speicher speichern", "straße strasse straßen",
		},
		French:     {"fichier fichiers", "journal journaux", "nouvelle nouvelles", "réglage réglages"},
		Spanish:    {"conexión conexiones", "fichero ficheros fichera", "capaz capaces", "tabla tablas"},
		Portuguese: {"ligação ligações", "animal animais", "ordem ordens", "servidor servidores", "papel papeis"},
		Italian:    {"errore errori", "cartella cartelle", "registro registri", "biblioteca biblioteche"},
	} {
		for _, group := range groups {
			forms := strings.Fields(group)
			for _, form := range forms {
				got, want := l.Stem(form), l.Stem(forms[len(forms)-1])
				if got != want || got == "" {
					t.Errorf("%d.Stem(%q) = %q, want %q", l, form, got, want)
				}
			}
		}
	}
	for _, word := range []string{"sha256", "it", "соединение", "der", "foo_bar", ""} {
		if got := German.Stem(word); got != "" {
			t.Errorf("German.Stem(%q) = %q, want none", word, got)
		}
	}
	if English.Stem("tables") != "" || Language(0).Stem("tables") != "" || Language(99).Stem("tables") != "" {
		t.Error("other languages have stems")
	}
}

func FuzzLanguageStem(f *testing.F) {
	f.Add("verbindungen")
	f.Add("ligações")
	f.Fuzz(func(t *testing.T, word string) {
		for _, l := range Others {
			if stem := l.Stem(word); stem != "" && len(stem) < 4 {
				t.Errorf("%d.Stem(%q) = %q is hardly a stem", l, word, stem)
			}
		}
	})
}
