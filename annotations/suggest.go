package annotations

import (
	"fmt"
	"slices"
	"strings"
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
	return nearest(name, attributeNames(), func(known string) string { return lookup(known).aliases })
}

// nearestVerb returns the verb or attribute that is meant by a word straight after the colon, or "".
func nearestVerb(word string) string {
	if verb := nearest(word, verbs, func(known string) string { return verbAliases[known] }); verb != "" {
		return verb
	}
	return nearestAttribute(word)
}

// nearestWord returns the word of an attribute's few that is meant, or "".
func nearestWord(word string, words []string) string {
	return nearest(word, words, func(known string) string { return wordAliases[known] })
}

// nearest returns the known word that word is another spelling of, or is an alias of, or is at most a third of its
// letters away from; the first of the closest, or "".
func nearest(word string, known []string, aliases func(string) string) string {
	plain := plainWord(word)
	for _, k := range known {
		if plainWord(k) == plain || slices.Contains(strings.Fields(aliases(k)), plain) {
			return k
		}
	}
	best, closest := len(plain)/3, ""
	for _, k := range known {
		if d := distance(plain, plainWord(k)); d < best || d == best && closest == "" {
			best, closest = d, k
		}
	}
	return closest
}

var separators = strings.NewReplacer("-", "", "_", "")

// plainWord drops what spellings differ in: ipLimit, ip_limit and IP-Limit are one word.
func plainWord(s string) string {
	return separators.Replace(strings.ToLower(s))
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to get from a to b: the optimal
// string alignment distance.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
