// Package browser tests the dashboard in a browser, Chromium without a window. It is a module of its own, for the sake of what
// drives that. Where there is no browser, its tests are skipped.
package browser
