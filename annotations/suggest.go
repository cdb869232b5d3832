package annotations

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ratelimitgen/ratelimitgen/internal/spelling"
)

// verbs are the words that may follow the colon alone.
var verbs = []string{"limit", "skip"}

// The aliases of a word are what people write who mean it, in lower case without - and _.
var (
	verbAliases = map[string]string{
		"limit": "limited ratelimit throttle",
		"skip":  "exempt ignore none off nolimit unlimited disable disabled",
	}

	wordAliases = map[string]string{
		"token-bucket":   "token tokens bucket tb",
		"fixed-window":   "fixed window counter fw",
		"sliding-log":    "log slidingwindowlog sl",
		"sliding-window": "sliding slidingcounter slidingwindowcounter rollingwindow sw",
		"leaky-bucket":   "leaky gcra lb",
		"concurrency":    "concurrent semaphore inflight parallel cc",

		"greedy":   "continuous smooth",
		"interval": "intervally periodic",

		"local":  "memory inmemory",
		"open":   "allow pass",
		"closed": "deny refuse reject block",

		"enforce": "on true enabled live",
		"shadow":  "dryrun report monitor observe",
		"off":     "false none disabled disable",

		"deny":  "refuse reject block closed",
		"share": "shared together",
		"allow": "open pass skip",
	}
)

// didYouMean is the end of a message about an unknown word: the hint when there is one, and otherwise what is wanted.
func didYouMean(hint, want string) string {
	if hint == "" {
		return want
	}
	return fmt.Sprintf("did you mean %q?", hint)
}

// list joins words as in "a, b or c".
func list[T ~string](words []T) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}

func attributeNames() []string {
	names := make([]string, len(definitions))
	for i := range definitions {
		names[i] = definitions[i].name
	}
	return names
}

// nearestAttribute returns the attribute that is meant by name, or "".
func nearestAttribute(name string) string {
	return spelling.Nearest(name, attributeNames(), func(known string) string { return lookup(known).aliases })
}

// nearestVerb returns the verb or attribute that is meant by a word straight after the colon, or "".
func nearestVerb(word string) string {
	if verb := spelling.Nearest(word, verbs, func(known string) string { return verbAliases[known] }); verb != "" {
		return verb
	}
	return nearestAttribute(word)
}

// loosens reports whether a word lets more calls pass than the default of its attribute, and stands for one that is not it by
// another spelling: whether that was meant is not for an edit to decide.
func loosens(seen, known string) bool {
	isLoose := slices.Contains([]string{"open", "shadow", "off", "allow"}, known)
	return isLoose && spelling.Nearest(seen, []string{known}, func(string) string { return "" }) == ""
}

// nearestWord returns the word of an attribute's few that is meant, or "".
func nearestWord(word string, words []string) string {
	return spelling.Nearest(word, words, func(known string) string { return wordAliases[known] })
}
