package signs

// softError returns the words by which a page with status 200 says that it does not exist, "" when it does not say so.
// Long pages, and pages with an article or code, are about errors and are not errors themselves. The title goes before
// the first heading.
func (f facts) softError() string {
	if f.words >= ShellWords || f.content {
		return ""
	}
	if phrase := FirstIn(ErrorPhrases, f.title); phrase != "" {
		return phrase
	}
	return FirstIn(ErrorPhrases, f.h1)
}

// failureNames are words in the titles of pages that report a failure of the server. They are in lower case.
var failureNames = []string{
	"internal server error", "bad gateway", "service unavailable", "service temporarily unavailable", "gateway timeout",
	"gateway time-out", "502 bad", "503 service", "504 gateway", "500 internal",
	"web server is down", "error establishing a database connection", "database error", "application error",
	"server error in", "an error has occurred", "an error occurred", "something went wrong",
	"site under maintenance", "under maintenance", "scheduled maintenance", "temporarily unavailable", "temporarily down",
	"connection timed out", "origin is unreachable", "account suspended", "this account has been suspended",
	"bandwidth limit exceeded", "too many requests", "rate limit exceeded", "403 forbidden", "401 unauthorized",
	"request blocked",
}

// errorPage returns the name of the server's failure that a page with few words reports, "" when it reports none. Pages
// about such failures have more words. Of a page of next to no words the text is looked at, too.
func (f facts) errorPage() string {
	if f.words >= failureWords {
		return ""
	}
	for _, name := range []string{f.title, f.h1} {
		if phrase := FirstIn(failureNames, name); phrase != "" {
			return phrase
		}
	}
	if f.words < ThinWords/2 {
		return FirstIn(failureNames, f.text)
	}
	return ""
}

// failureWords is the number of visible words from which a page is more than an error message. A message of a server or
// a proxy has some sentences.
const failureWords = 120
