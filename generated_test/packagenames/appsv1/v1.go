// Package v1 has another name than its folder, which is what one would import it as.
package v1

type Deployment struct{ Name string }
