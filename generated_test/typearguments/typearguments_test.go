package typearguments_test

import (
	"testing"

	"github.com/ratelimitgen/ratelimitgen/generated_test/limittest"
	"github.com/ratelimitgen/ratelimitgen/generated_test/typearguments"
	"github.com/ratelimitgen/ratelimitgen/generated_test/typearguments/book"
	"github.com/ratelimitgen/ratelimitgen/generated_test/typearguments/page"
)

type (
	notes = page.Of[map[book.Book][]typearguments.Note]
	note  = page.Query[typearguments.Note]
)

type shelf struct{}

func (shelf) List(q page.Query[book.Filter]) (page.Of[book.Book], error) {
	return page.Of[book.Book]{Items: []book.Book{{ISBN: q.Filter.Author}}}, nil
}

func (shelf) Notes(of ...page.Of[*book.Book]) (notes, error) {
	return notes{Items: []map[book.Book][]typearguments.Note{{*of[0].Items[0]: nil}}}, nil
}

func (shelf) Next(after note) (page.Of[note], error) { return page.Of[note]{Items: []note{after}}, nil }

func TestShelf(t *testing.T) {
	s := typearguments.NewRateLimitedShelf(shelf{}, limittest.Limiter(t))
	limittest.Admits(t, 2, "typearguments.Shelf.List", func() error {
		got, err := s.List(page.Query[book.Filter]{Filter: book.Filter{Author: "ann"}})
		if err == nil && got.Items[0].ISBN != "ann" || err != nil && got.Items != nil {
			t.Errorf("List: got %v, %v", got, err)
		}
		return err
	})
	limittest.Admits(t, 2, "typearguments.Shelf.Notes", func() error {
		got, err := s.Notes(page.Of[*book.Book]{Items: []*book.Book{{ISBN: "a"}}})
		if err == nil && len(got.Items[0]) != 1 || err != nil && got.Items != nil {
			t.Errorf("Notes: got %v, %v", got, err)
		}
		return err
	})
	limittest.Admits(t, 2, "typearguments.Shelf.Next", func() error {
		got, err := s.Next(note{Filter: typearguments.Note{Text: "a"}})
		if err == nil && got.Items[0].Filter.Text != "a" || err != nil && got.Items != nil {
			t.Errorf("Next: got %v, %v", got, err)
		}
		return err
	})
}
