package ratelimit

// GeneratedV1 is named by every generated file, so that a file and a runtime that do not fit together fail to compile
// rather than misbehave. A generator that needs more of the runtime names a later constant; a runtime that no longer
// serves old files drops an earlier one. Either way the mend is to update the module and run go generate again.
const GeneratedV1 = true
