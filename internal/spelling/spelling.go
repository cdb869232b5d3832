// Package spelling finds the known word that a misspelled one means.
package spelling

import (
	"slices"
	"strings"
)

// Nearest returns the known word that word is another spelling of, or is an alias of, or is at most a third of its
// letters away from; the first of the closest, or "". The aliases of a word stand apart by blanks, and are plain.
func Nearest(word string, known []string, aliases func(string) string) string {
	plain := Plain(word)
	for _, k := range known {
		if Plain(k) == plain || slices.Contains(strings.Fields(aliases(k)), plain) {
			return k
		}
	}
	best, closest := len(plain)/3, ""
	for _, k := range known {
		if d := Distance(plain, Plain(k)); d < best || d == best && closest == "" {
			best, closest = d, k
		}
	}
	return closest
}

var separators = strings.NewReplacer("-", "", "_", "")

// Plain drops what spellings differ in: ipLimit, ip_limit and IP-Limit are one word.
func Plain(s string) string {
	return separators.Replace(strings.ToLower(s))
}

// Distance counts the letters to insert, delete, replace or swap with their neighbour to get from a to b: the optimal
// string alignment distance.
func Distance(a, b string) int {
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
