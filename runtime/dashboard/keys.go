package dashboard

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-kratos/aegis/topk"
)

const (
	// keptKeys are the keys that a sketch tells, shownKeys those on the page.
	keptKeys  = 32
	shownKeys = 10
	// longestKey is how much of a key is kept, in bytes. Parts that callers choose are no longer than 128.
	longestKey = 512

	// The sketch counts in sketchDepth rows of sketchWidth buckets of 8 bytes: 64 KiB, whatever the number of keys. A bucket
	// that two keys meet in loses its smaller one with a chance that sketchDecay gives, as the paper has it.
	sketchWidth = 2048
	sketchDepth = 4
	sketchDecay = 0.925

	// keyMinutes are the sketches of a minute each that are added up: as long as the charts go back.
	keyMinutes = historySeconds / 60
)

// refusedKeys are the keys that were refused most in the last five to six minutes, in memory that their number does not
// change: HeavyKeeper, https://www.usenix.org/system/files/conference/atc18/atc18-gong.pdf. Its counts are hardly ever above
// the true ones, and close to them for the keys that matter.
type refusedKeys struct {
	secret []byte // nil if keys are shown as they are

	mu     sync.Mutex
	sketch topk.Topk
	past   [keyMinutes][]topk.Item // of the minutes before, oldest first
}

func newRefusedKeys(clear bool) *refusedKeys {
	k := &refusedKeys{sketch: newSketch()}
	if !clear {
		k.secret = make([]byte, sha256.Size)
		_, _ = rand.Read(k.secret) // it never fails
	}
	return k
}

// clear reports whether keys are shown as they are.
func (k *refusedKeys) clear() bool { return k.secret == nil }

func newSketch() topk.Topk {
	return topk.NewHeavyKeeper(keptKeys, sketchWidth, sketchDepth, sketchDecay, 0)
}

// separator is a byte that neither the id of a limit nor a key contains.
const separator = "\x00"

// add counts a refusal of a key by a limit.
func (k *refusedKeys) add(limit string, key []byte) {
	item := limit + separator + string(key[:min(len(key), longestKey)])
	k.mu.Lock()
	k.sketch.Add(item, 1)
	k.mu.Unlock()
}

// turn begins another minute.
func (k *refusedKeys) turn() {
	fresh := newSketch()
	k.mu.Lock()
	defer k.mu.Unlock()
	copy(k.past[:], k.past[1:])
	k.past[keyMinutes-1] = k.sketch.List()
	k.sketch = fresh
}

// refusedKey is one key of those that were refused most.
type refusedKey struct {
	Limit   string `json:"limit"`
	Key     string `json:"key"`
	Refused uint64 `json:"refused"`
}

// top returns the keys that were refused most, the most refused first.
func (k *refusedKeys) top() []refusedKey {
	k.mu.Lock()
	lists := append([][]topk.Item{k.sketch.List()}, k.past[:]...)
	k.mu.Unlock()

	counts := make(map[string]uint64, keptKeys)
	for _, list := range lists {
		for _, item := range list {
			counts[item.Key] += uint64(item.Count)
		}
	}
	top := make([]refusedKey, 0, len(counts))
	for item, n := range counts {
		limit, key, _ := strings.Cut(item, separator)
		top = append(top, refusedKey{limit, key, n})
	}
	slices.SortFunc(top, func(a, b refusedKey) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Key, b.Key))
	})
	top = top[:min(len(top), shownKeys)]
	for i := range top {
		if k.clear() {
			top[i].Key = visible(top[i].Key)
		} else {
			top[i].Key = k.hidden(top[i].Key)
		}
	}
	return top
}

// visible returns a text with escapes for what cannot be seen, such as marks that turn the direction of what follows: a key may
// hold what a caller has chosen.
func visible(text string) string {
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !unicode.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden returns a text by which a key can be followed on this page, but that nobody can find the key from: without the
// secret, an address would soon be found by trying all.
func (k *refusedKeys) hidden(key string) string {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte(key))
	return "#" + hex.EncodeToString(mac.Sum(nil)[:6])
}
