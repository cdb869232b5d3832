package ratelimit

import (
	"container/list"
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// lines are those of the calls of a Limiter that wait for buckets, first come, first served. Calls for which a bucket has
// different limits, as one is overridden, stand in lines of their own: there may be room by the one and not by the other.
type lines struct {
	mu sync.Mutex
	of map[string][]*line // by the name of the bucket; none is empty
}

// line is that of the calls which wait for a bucket by one limit. It is not empty.
type line struct {
	limit  Limit
	places list.List // of *place
}

// place is that of one call in a line. It may be nil: the call is in no line.
type place struct {
	lines  *lines
	bucket string
	line   *line
	at     *list.Element
	first  chan struct{} // closed when it is the first of its line
	news   chan struct{} // tells the first that its bucket may have room
}

// joinBehind returns a place behind the calls that wait for the bucket of a charge by its limit, or nil if there are none.
func (ls *lines) joinBehind(c *Charge) *place {
	var array [128]byte
	bucket := appendBucket(array[:0], c)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if line := ls.find(bucket, &c.Limit); line != nil {
		return line.add(ls, string(bucket))
	}
	return nil
}

// join returns a place in the line for the bucket of a charge.
func (ls *lines) join(c *Charge) *place {
	bucket := appendBucket(nil, c)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	name, l := string(bucket), ls.find(bucket, &c.Limit)
	if l == nil {
		l = &line{limit: c.Limit}
		if ls.of == nil {
			ls.of = map[string][]*line{}
		}
		ls.of[name] = append(ls.of[name], l)
	}
	return l.add(ls, name)
}

// find returns the line for a bucket by a limit, or nil. The lock is held.
func (ls *lines) find(bucket []byte, limit *Limit) *line {
	for _, l := range ls.of[string(bucket)] {
		if l.limit == *limit {
			return l
		}
	}
	return nil
}

func (l *line) add(ls *lines, bucket string) *place {
	p := &place{lines: ls, bucket: bucket, line: l, first: make(chan struct{}), news: make(chan struct{}, 1)}
	p.at = l.places.PushBack(p)
	if l.places.Len() == 1 {
		close(p.first)
	}
	return p
}

// leave gives the place up. The next call of the line may try at once.
func (p *place) leave() {
	if p == nil {
		return
	}
	p.lines.mu.Lock()
	defer p.lines.mu.Unlock()
	wasFirst := p.line.places.Front() == p.at
	p.line.places.Remove(p.at)
	switch next := p.line.places.Front(); {
	case next == nil:
		p.lines.remove(p.bucket, p.line)
	case wasFirst:
		close(next.Value.(*place).first)
	}
}

// remove removes a line that is empty.
func (ls *lines) remove(bucket string, l *line) {
	if len(ls.of[bucket]) == 1 {
		delete(ls.of, bucket)
		return
	}
	ls.of[bucket] = slices.DeleteFunc(ls.of[bucket], func(other *line) bool { return other == l })
}

// released tells who is first in each line for the buckets of the charges that something came back to them.
func (ls *lines) released(charges []Charge) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if len(ls.of) == 0 {
		return
	}
	for i := range charges {
		for _, l := range ls.of[string(appendBucket(nil, &charges[i]))] {
			select {
			case l.places.Front().Value.(*place).news <- struct{}{}:
			default: // it was told already
			}
		}
	}
}

// untilFirst waits until the place is the first of its line, or for that long. It returns the error of ctx if that ends
// first.
func (p *place) untilFirst(ctx context.Context, wait time.Duration) error {
	if p == nil {
		return nil
	}
	select {
	case <-p.first:
		return nil
	default:
		return sleep(ctx, wait, p.first)
	}
}

// untilNews waits for that long, or until the bucket may have room, if the place is the first of its line. It returns the
// error of ctx if that ends first.
func (p *place) untilNews(ctx context.Context, pause time.Duration) error {
	select {
	case <-p.first:
		return sleep(ctx, pause, p.news)
	default:
		return nil
	}
}

// appendBucket appends what names the bucket of a charge.
func appendBucket(dst []byte, c *Charge) []byte {
	dst = append(dst, byte(c.Limit.Algorithm))
	dst = binary.AppendUvarint(dst, uint64(len(c.Name)))
	dst = append(dst, c.Name...)
	return append(dst, c.Key...)
}
