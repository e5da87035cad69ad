"""Mutation operators: the small bugs that can be put into a module, each as an edit of its text."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: the bytes of a module from `start` to `end` are replaced. Its name stays when other code moves lines."""

    name: str  # module, function, what was there and what is there now
    module: str
    line: int
    lines: tuple[int, ...]  # of the statement: a test that runs none of them cannot see the bug
    start: int
    end: int
    replacement: str

    def applied(self, text: str) -> str:
        """Return the text of the module with the bug."""
        data = text.encode()
        return (data[: self.start] + self.replacement.encode() + data[self.end :]).decode()


def mutants_of(module: str, text: str) -> list[Mutant]:
    """Return the bugs of a module, in the order of its text."""
    found = _Finder(module, text)
    found.visit(ast.parse(text))
    return sorted(found.mutants, key=lambda mutant: (mutant.start, mutant.end, mutant.name))


class _Finder(ast.NodeVisitor):
    """Looks at what is executed. Annotations, decorators, patterns, slots and docstrings are not."""

    def __init__(self, module: str, text: str) -> None:
        self._module = module
        self._starts = [0, *accumulate(len(line) for line in text.encode().splitlines(keepends=True))]
        self._scope: list[str] = []
        self._statement: ast.stmt | None = None
        self._names: Counter[str] = Counter()
        self.mutants: list[Mutant] = []

    # --- where to look ------------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        """Look at a node and what it consists of, and remember in which statement it is."""
        before = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node
        super().visit(node)
        self._statement = before

    def _visit_all(self, nodes: Sequence[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node.name, node.body)

    def visit_FunctionDef(self, node: _Function) -> None:
        self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        self._inside(node.name, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  # as ast names them

    def _inside(self, name: str, body: Sequence[ast.stmt]) -> None:
        self._scope.append(name)
        self._visit_all(body)
        self._scope.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if ast.unparse(node.annotation) != "TypeAlias":
            self._visit_all([node.value])

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {each.id for each in node.targets if isinstance(each, ast.Name)}
        if not names & {"__slots__", "__all__", "__match_args__"}:
            self._visit_all([node.value])

    def visit_match_case(self, node: ast.match_case) -> None:
        self._visit_all([node.guard, *node.body])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave it out: before Python 3.12 its parts do not say where they are."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave it out: it says what is always true."""

    # --- what to change -----------------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[place] = _COMPARISONS[type(operator)]()
            self._add(node, changed)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, changed)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _ARITHMETIC and not any(map(_is_text_or_type, (node.left, node.right))):
            changed = copy.deepcopy(node)
            changed.op = _ARITHMETIC[type(node.op)]()
            self._add(node, changed)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._add(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, ast.Constant(not node.value))
        elif isinstance(node.value, int):
            self._add(node, ast.Constant(node.value + 1))

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in _CALLS:
            self._add(node.func, ast.Name(_CALLS[node.func.id]))
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant | ast.NamedExpr):
            self._add(node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_If  # noqa: N815

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._add(node.value, ast.Constant(None))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._add(node, ast.Pass())
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(node, ast.Pass())
        self._visit_all([node.value])

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, ast.Continue())

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, ast.Break())

    def _add(self, node: ast.expr | ast.stmt, changed: ast.AST) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        assert self._statement is not None
        before, after = ast.unparse(node), ast.unparse(changed)
        name = f"{'.'.join([self._module, *self._scope])}: {before} -> {after}"
        self._names[name] += 1
        number = f" ({self._names[name]})" if self._names[name] > 1 else ""
        self.mutants.append(
            Mutant(
                name + number,
                self._module,
                node.lineno,
                tuple(_lines_of(self._statement)),
                self._starts[node.lineno - 1] + node.col_offset,
                self._starts[node.end_lineno - 1] + node.end_col_offset,
                after if isinstance(node, ast.stmt) else f"({after})",
            )
        )


def _is_text_or_type(node: ast.expr) -> bool:
    """Whether it is a text or the name of a class: another operator would end every test with a TypeError."""
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.Name(id=name):
            return name[0].isupper() and not name.isupper()
    return False


def _lines_of(statement: ast.stmt) -> Iterator[int]:
    """Yield the lines of a statement itself, without those of the statements inside it."""
    body: Sequence[ast.AST] = getattr(statement, "body", None) or getattr(statement, "cases", None) or ()
    first = body[0] if body else None
    end = first.lineno if isinstance(first, ast.stmt) else (statement.end_lineno or statement.lineno) + 1
    yield from range(statement.lineno, max(end, statement.lineno + 1))
