// Rewrites the Go files of a tree so that the tests write down which checks they ran, in the form of executed_checks.cjs.
//
//	GO111MODULE=off GOPATH=WORK go run TOOLS/executed_checks_go/main.go WORK/src/PACKAGE...
//	GO111MODULE=off GOPATH=WORK EXECUTED_CHECKS=OUT.jsonl EXECUTED_CHECKS_ROOT=WORK/src/REPOSITORY/ \
//		go test -count=1 -gcflags=-l -vet=off PACKAGE...
//
// WORK/src/executedchecks holds note.go.  Test files are written over, and no line of them moves.  A check is the
// condition that decides whether the test fails, of an `if` or of a `case` without a value, and a call of testify,
// quicktest or gocheck.  What fails a test is asked of go/types, not of names: the methods of testing.T, also behind an
// interface that it satisfies.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

var fails = map[string]bool{"Error": true, "Errorf": true, "Fatal": true, "Fatalf": true, "Fail": true, "FailNow": true}
var failsOfTestify = map[string]bool{"Fail": true, "Failf": true, "FailNow": true, "FailNowf": true}

type insertion struct {
	offset int
	text   string
}

type rewriter struct {
	files   *token.FileSet
	source  types.Importer
	handle  types.Type
	info    *types.Info
	found   []insertion
	unknown int
	// blocks in which the test fails
	decided []ast.Node
}

func main() {
	files := token.NewFileSet()
	own := &rewriter{files: files, source: importer.ForCompiler(files, "source", nil)}
	testing, err := own.source.Import("testing")
	if err != nil {
		panic(err)
	}
	own.handle = types.NewPointer(testing.Scope().Lookup("T").Type())
	for _, folder := range os.Args[1:] {
		found, err := build.ImportDir(folder, 0)
		if err != nil {
			panic(err)
		}
		own.rewrite(folder, found.ImportPath, append(found.GoFiles, found.TestGoFiles...), found.TestGoFiles)
		own.rewrite(folder, found.ImportPath+"_test", found.XTestGoFiles, found.XTestGoFiles)
	}
	fmt.Println("types that were not known:", own.unknown)
}

// rewrite writes over those files of a package that are wanted.
func (own *rewriter) rewrite(folder, path string, names, wanted []string) {
	var parsed []*ast.File
	tests := map[*ast.File]string{}
	for _, name := range names {
		file, err := parser.ParseFile(own.files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		parsed = append(parsed, file)
		for _, one := range wanted {
			if one == name {
				tests[file] = filepath.Join(folder, name)
			}
		}
	}
	own.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	settings := types.Config{Importer: own.source, FakeImportC: true, Error: func(err error) {
		own.unknown++
		fmt.Fprintln(os.Stderr, err)
	}}
	settings.Check(path, own.files, parsed, own.info)
	for file, name := range tests {
		own.found = nil
		ast.Inspect(file, own.visit)
		own.write(file, name)
	}
}

func (own *rewriter) write(file *ast.File, name string) {
	if len(own.found) == 0 {
		return
	}
	own.add(file.Name.End(), `; import executedchecks "executedchecks"`)
	source, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	sort.SliceStable(own.found, func(a, b int) bool { return own.found[a].offset < own.found[b].offset })
	var out bytes.Buffer
	last := 0
	for _, one := range own.found {
		out.Write(source[last:one.offset])
		out.WriteString(one.text)
		last = one.offset
	}
	out.Write(source[last:])
	if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
		panic(err)
	}
}

func (own *rewriter) add(at token.Pos, text string) {
	own.found = append(own.found, insertion{own.files.Position(at).Offset, text})
}

func (own *rewriter) line(at token.Pos) int {
	return own.files.Position(at).Line
}

func (own *rewriter) visit(node ast.Node) bool {
	switch one := node.(type) {
	case *ast.FuncDecl:
		if one.Body != nil {
			own.begin(one.Type, one.Body, one.Pos())
			own.beginOfSuite(one)
		}
	case *ast.FuncLit:
		own.begin(one.Type, one.Body, one.Pos())
	case *ast.IfStmt:
		if other, is := one.Else.(*ast.BlockStmt); own.failing(one.Body.List) {
			own.condition(one.Cond, one, one.Body)
		} else if is && own.failing(other.List) {
			own.condition(one.Cond, one, other)
		}
	case *ast.SwitchStmt:
		for _, each := range one.Body.List {
			if clause := each.(*ast.CaseClause); one.Tag == nil && own.failing(clause.Body) {
				for _, asked := range clause.List {
					own.condition(asked, clause, clause)
				}
			}
		}
	case *ast.CallExpr:
		if own.ofLibrary(one, func(name string) bool { return true }) {
			own.add(one.Fun.Pos(), fmt.Sprintf("executedchecks.Of(%d, ", own.line(one.Pos())))
			own.add(one.Fun.End(), ")")
		}
	}
	return true
}

// begin tells of a function that is given a *testing.T, which the runner may have started.
func (own *rewriter) begin(kind *ast.FuncType, body *ast.BlockStmt, at token.Pos) {
	if len(kind.Params.List) == 0 || len(kind.Params.List[0].Names) == 0 {
		return
	}
	first := kind.Params.List[0]
	name := first.Names[0].Name
	if given := own.info.TypeOf(first.Type); name != "_" && given != nil && types.Identical(given, own.handle) {
		own.add(body.Lbrace+1, fmt.Sprintf(" executedchecks.Begin(%s, %d);", name, own.line(at)))
	}
}

// beginOfSuite tells of a method of a suite of testify.
func (own *rewriter) beginOfSuite(function *ast.FuncDecl) {
	if function.Recv == nil || len(function.Recv.List[0].Names) == 0 || !strings.HasPrefix(function.Name.Name, "Test") {
		return
	}
	found, _, _ := types.LookupFieldOrMethod(own.info.TypeOf(function.Recv.List[0].Type), true, nil, "T")
	if method, is := found.(*types.Func); is && strings.HasSuffix(method.Pkg().Path(), "testify/suite") {
		name := function.Recv.List[0].Names[0].Name
		own.add(function.Body.Lbrace+1, fmt.Sprintf(" executedchecks.Begin(%s.T(), %d);", name, own.line(function.Pos())))
	}
}

// condition puts a note before what decides whether the test fails, unless that is decided already.
func (own *rewriter) condition(asked ast.Expr, of, failing ast.Node) {
	for _, one := range own.decided {
		if one.Pos() <= of.Pos() && of.End() <= one.End() && one != of {
			return
		}
	}
	own.add(asked.Pos(), fmt.Sprintf("executedchecks.Note(%d) && (", own.line(of.Pos())))
	own.add(asked.End(), ")")
	own.decided = append(own.decided, failing)
}

// failing says whether statements fail the test whatever is asked among them.
func (own *rewriter) failing(statements []ast.Stmt) bool {
	for _, each := range statements {
		switch one := each.(type) {
		case *ast.ExprStmt:
			if call, is := one.X.(*ast.CallExpr); is && own.fails(call) {
				return true
			}
		case *ast.BlockStmt:
			if own.failing(one.List) {
				return true
			}
		case *ast.IfStmt:
			if one.Else != nil && own.failing(one.Body.List) && own.failing([]ast.Stmt{one.Else}) {
				return true
			}
		}
	}
	return false
}

func (own *rewriter) fails(call *ast.CallExpr) bool {
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	if selection := own.info.Selections[selector]; selection != nil && fails[selector.Sel.Name] {
		behind, isInterface := selection.Recv().Underlying().(*types.Interface)
		isHandle := selection.Obj().Pkg() != nil && selection.Obj().Pkg().Path() == "testing"
		if isHandle || isInterface && types.Implements(own.handle, behind) {
			return true
		}
	}
	return own.ofLibrary(call, func(name string) bool { return failsOfTestify[name] })
}

// ofLibrary says whether a call is a check of testify, quicktest or gocheck whose name is wanted.
func (own *rewriter) ofLibrary(call *ast.CallExpr, isWanted func(string) bool) bool {
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	function, is := own.info.Uses[selector.Sel].(*types.Func)
	if !is || function.Pkg() == nil || !isWanted(function.Name()) {
		return false
	}
	path, shape := function.Pkg().Path(), function.Type().(*types.Signature)
	if path == "github.com/frankban/quicktest" || path == "gopkg.in/check.v1" {
		return shape.Recv() != nil && (function.Name() == "Assert" || function.Name() == "Check")
	}
	if !strings.HasSuffix(path, "testify/assert") && !strings.HasSuffix(path, "testify/require") {
		return false
	}
	if shape.Recv() != nil {
		return strings.HasSuffix(shape.Recv().Type().String(), ".Assertions")
	}
	return shape.Params().Len() > 1 && strings.HasSuffix(shape.Params().At(0).Type().String(), ".TestingT")
}
