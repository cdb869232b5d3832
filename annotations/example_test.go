package annotations_test

import (
	"errors"
	"fmt"

	"github.com/ratelimitgen/ratelimitgen/annotations"
)

func ExampleParse() {
	a, err := annotations.Parse("//ratelimit:key=user:{req.ID}:{@ip} rate=100/m burst=20")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Count, "calls per", a.Period, "and", a.Burst, "at once, by", a.Algorithm)
	for _, part := range a.Key.Parts {
		switch {
		case part.Expr != nil:
			fmt.Println("expression", part.Expr.Text)
		case part.Caller != "":
			fmt.Println("caller    ", part.Caller)
		default:
			fmt.Println("literal   ", part.Literal)
		}
	}
	// Output:
	// 100 calls per 1m0s and 20 at once, by token-bucket
	// literal    user:
	// expression req.ID
	// literal    :
	// caller     ip
}

func ExampleParse_mistakes() {
	_, err := annotations.Parse("//ratelimit:ipLimit=true count=0")
	var mistakes annotations.Errors
	if errors.As(err, &mistakes) {
		for _, m := range mistakes {
			fmt.Printf("%d: %s\n", m.Offset, m.Message)
		}
	}
	// Output:
	// 12: unknown attribute "ipLimit": did you mean "ip"?
	// 31: count=0: want 1 to 1000000000
}

func ExampleAnnotation_String() {
	a, err := annotations.Parse("//ratelimit:limit   count=\"5\"\tip message=`slow down`")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a)
	// Output: //ratelimit:count=5 ip message="slow down"
}
