// Package executedchecks writes down which checks tests ran: what main.go beside this file puts calls of into tests.
package executedchecks

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var (
	lock sync.Mutex
	// root is where the repository stands
	root = os.Getenv("EXECUTED_CHECKS_ROOT")
	// by function, the outermost of the repository on the stack: what ran below it
	ran = map[string]*run{}
	// functions of which one run failed or was skipped
	left = map[string]bool{}
)

type run struct {
	lines   map[int]int
	through map[int]bool
	count   int
}

type place struct {
	function, file string
	line           int
}

type told struct {
	File    string      `json:"file"`
	Line    int         `json:"line"`
	Name    string      `json:"name"`
	Lines   map[int]int `json:"lines"`
	Through []int       `json:"through"`
	Count   int         `json:"count"`
}

// Note keeps that a condition is about to be asked.
func Note(line int) bool {
	note(line)
	return true
}

// Of keeps that a check is about to run, and gives its function back.
func Of[F any](line int, function F) F {
	note(line)
	return function
}

func note(line int) {
	places := stack()
	lock.Lock()
	defer lock.Unlock()
	if len(places) == 0 {
		return
	}
	test := places[len(places)-1]
	own := ran[test.function]
	if own == nil {
		own = &run{map[int]int{}, map[int]bool{}, 0}
		ran[test.function] = own
	}
	own.count++
	if places[0].file == test.file {
		own.lines[line]++
	}
	for _, one := range places[1:] {
		if one.file == test.file {
			own.through[one.line] = true
		}
	}
}

// Begin asks for what a test ran when it ends, with all of its subtests.  Functions that tests call are passed over.
func Begin(t *testing.T, line int) {
	t.Helper()
	places := stack()
	if len(places) != 1 {
		return
	}
	test := places[0]
	t.Cleanup(func() {
		lock.Lock()
		defer lock.Unlock()
		if left[test.function] = left[test.function] || t.Failed() || t.Skipped(); !left[test.function] {
			tell(test, line, t.Name())
		}
	})
}

func tell(test place, line int, name string) {
	found := told{File: test.file, Line: line, Name: name, Lines: map[int]int{}, Through: []int{}}
	for function, one := range ran {
		if function != test.function && !strings.HasPrefix(function, test.function+".") {
			continue
		}
		found.Count += one.count
		for number, count := range one.lines {
			found.Lines[number] += count
		}
		for number := range one.through {
			found.Through = append(found.Through, number)
		}
	}
	written, _ := json.Marshal(found)
	out, err := os.OpenFile(os.Getenv("EXECUTED_CHECKS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer out.Close()
	out.Write(append(written, '\n'))
}

// stack is where tests of the repository stand, the innermost first: what they test may run in goroutines of its own.
func stack() []place {
	counters := make([]uintptr, 200)
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters)])
	var found []place
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.File, root) && strings.HasSuffix(frame.File, "_test.go") && !strings.Contains(frame.Function, "executedchecks.") {
			found = append(found, place{frame.Function, frame.File, frame.Line})
		}
		if !more {
			return found
		}
	}
}
