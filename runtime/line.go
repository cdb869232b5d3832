package ratelimit

import (
	"container/list"
	"context"
	"encoding/binary"
	"sync"
	"time"
)

// lines are those of the calls of a Limiter that wait for buckets, first come, first served.
type lines struct {
	mu sync.Mutex
	of map[string]*list.List // of *place, by the name of the bucket; none is empty
}

// place is that of one call in a line. It may be nil: the call is in no line.
type place struct {
	lines  *lines
	bucket string
	line   *list.List
	at     *list.Element
	first  chan struct{} // closed when it is the first of its line
	news   chan struct{} // tells the first that its bucket may have room
}

// joinBehind returns a place behind the calls that wait for the bucket of a charge, or nil if there are none.
func (ls *lines) joinBehind(c *Charge) *place {
	var array [128]byte
	bucket := appendBucket(array[:0], c)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if line := ls.of[string(bucket)]; line != nil {
		return ls.add(string(bucket), line)
	}
	return nil
}

// join returns a place in the line for the bucket of a charge.
func (ls *lines) join(c *Charge) *place {
	bucket := string(appendBucket(nil, c))
	ls.mu.Lock()
	defer ls.mu.Unlock()
	line := ls.of[bucket]
	if line == nil {
		line = list.New()
		if ls.of == nil {
			ls.of = map[string]*list.List{}
		}
		ls.of[bucket] = line
	}
	return ls.add(bucket, line)
}

func (ls *lines) add(bucket string, line *list.List) *place {
	p := &place{lines: ls, bucket: bucket, line: line, first: make(chan struct{}), news: make(chan struct{}, 1)}
	p.at = line.PushBack(p)
	if line.Len() == 1 {
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
	wasFirst := p.line.Front() == p.at
	p.line.Remove(p.at)
	switch next := p.line.Front(); {
	case next == nil:
		delete(p.lines.of, p.bucket)
	case wasFirst:
		close(next.Value.(*place).first)
	}
}

// released tells who is first in line for the buckets of the charges that something came back to them.
func (ls *lines) released(charges []Charge) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if len(ls.of) == 0 {
		return
	}
	for i := range charges {
		line := ls.of[string(appendBucket(nil, &charges[i]))]
		if line == nil {
			continue
		}
		select {
		case line.Front().Value.(*place).news <- struct{}{}:
		default: // it was told already
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
