package again // want package:`directives on .*`

import "example.com/inherit/base"

// Store is known to who does not import the package that it comes from.
type Store = base.Store
