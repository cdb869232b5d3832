// Package typearguments has types of one package that are made with those of another.
package typearguments

import (
	"github.com/ratelimitgen/ratelimitgen/generated_test/typearguments/book"
	"github.com/ratelimitgen/ratelimitgen/generated_test/typearguments/page"
)

type Note struct{ Text string }

type Shelf interface {
	//ratelimit:key=list:{q.Filter.Author} count=2 time=1h
	List(q page.Query[book.Filter]) (page.Of[book.Book], error)
	//ratelimit:count=2 time=1h
	Notes(of ...page.Of[*book.Book]) (page.Of[map[book.Book][]Note], error)
	// Next has its type from an embedded instance.
	//
	//ratelimit:count=2 time=1h
	page.Source[page.Query[Note]]
}
