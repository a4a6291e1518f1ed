r"""Expands what a paper defines, in text and in formulae, reads its files in, and takes the branches of conditions.

Decides: `\iffalse`, `\iftrue`, `\ifmmode` and the switches of \newif are evaluated; of any other condition the \else
branch is taken, since its test cannot be read without TeX. A macro inside itself is expanded MOST_DEPTH times and then
left as it stands. Guarantees: all expansions together push at most GROWTH characters for each of the source and
BUDGET more; past that nothing is expanded any more, and it is said. Costs: 2 MB/s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from danlu.latex.define import DEFINERS, NO_VALUE, Definitions, Macro, Parameter
from danlu.latex.scan import Kind, Token, join_source
from danlu.latex.stream import Stream
from danlu.latex.vocabulary import load_vocabulary

GROWTH = 4
BUDGET = 500_000
MOST_DEPTH = 24
MOST_STYLES = 200
"""Packages named in all, of which each may read the next."""
_MATH_SIGNS = {"(": True, "[": True, ")": False, "]": False}
_OPEN, _CLOSE = Token(Kind.OPEN, "{"), Token(Kind.CLOSE, "}")
_DOLLAR = Token(Kind.MATH, "$")
_SPACE = Token(Kind.SPACE, " ")
_NO_SPACE_BEFORE = ".,'/?;:!~-)*\u201d\u2019"
"""What \\xspace sees as the end of a word (package xspace)."""

FindFile = Callable[[str, str], Sequence[Token] | None]
"""(command, name) -> the tokens of a file that the source reads, or None."""


class Expander:
    """Expands one paper: `run` once. `find_file` gives the files that it reads, by command and name."""

    def __init__(self, find_file: FindFile, source_chars: int) -> None:
        self.definitions = Definitions()
        self.refused: Counter[str] = Counter()
        """Macros that were left as they stand, and how often."""
        self.missing: dict[str, None] = {}
        """Files that were asked for and not found, in order."""
        self._find_file = find_file
        self._budget = GROWTH * source_chars + BUDGET
        self._styles: set[str] = set()
        self._words = load_vocabulary()
        self._math = ""
        self._ends_conditions = True

    def run(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with all that is defined expanded, and the definitions gone."""
        stream = Stream(self._budget)
        stream.put_back(tokens)
        stream.budget = self._budget
        out: list[Token] = []
        while token := stream.next():
            if token.kind is Kind.WORD:
                self._word(token, stream, out)
            elif token.kind is Kind.MATH:
                self._dollar(token, stream, out)
            elif token.kind is Kind.SYMBOL:
                self._symbol(token, stream, out)
            elif token.kind is Kind.BEGIN or token.kind is Kind.END:
                self._environment(token, stream, out)
            else:
                out.append(token)
        self._budget = stream.budget
        return out

    def _word(self, token: Token, stream: Stream, out: list[Token]) -> None:
        name = token.name
        if definer := DEFINERS.get(name):
            definer(stream, self.definitions, token.text[1:])
        elif (macro := self.definitions.macros.get(name)) is not None:
            self._expand(token, macro, stream, out)
        elif name.startswith("if") and self._condition(name, stream):
            return
        elif name in ("else", "fi"):
            # An \else that is met here ends a branch that was taken.
            self._skip_branch(stream, to_else=False) if name == "else" else None
        elif name in ("ensuremath", "xspace"):
            self._by_place(name, stream, out)
        elif name in ("input", "include", "subfile", "InputIfFileExists", "import", "subimport"):
            self._read_file(name, stream)
        elif name in ("usepackage", "RequirePackage"):
            self._read_styles(stream)
        elif not self._switch(name):
            out.append(token)

    def _symbol(self, token: Token, stream: Stream, out: list[Token]) -> None:
        if (macro := self.definitions.macros.get(token.name)) is not None:
            self._expand(token, macro, stream, out)
            return
        if token.name in _MATH_SIGNS:
            self._math = token.name if _MATH_SIGNS[token.name] else ""
        out.append(token)

    def _dollar(self, token: Token, stream: Stream, out: list[Token]) -> None:
        """Two signs in a row are one outside of a formula, and where two of them began it."""
        following = stream.peek()
        is_double = following is not None and following.kind is Kind.MATH and self._math in ("", "$$")
        out.append(token)
        if is_double and following:
            stream.next()
            out.append(following)
        self._math = "" if self._math else "$$" if is_double else "$"

    def _environment(self, token: Token, stream: Stream, out: list[Token]) -> None:
        macro = self.definitions.environments.get(token.name)
        if macro is None:
            if token.name in self._words.groups["mathematics"]:
                self._math = token.name if token.kind is Kind.BEGIN else ""
            out.append(token)
        elif token.kind is Kind.BEGIN:
            self._expand(token, macro, stream, out)
        elif not stream.push(macro.ending, token.name):
            self.refused[token.name] += 1

    def _expand(self, token: Token, macro: Macro, stream: Stream, out: list[Token]) -> None:
        """Pushes what a macro stands for with its arguments, or leaves it as it stands."""
        if token.kind is Kind.WORD and token.text.endswith("*") and not self._takes_star(macro):
            stream.put_back([Token(Kind.TEXT, "*"), *([_SPACE] if token.after else [])])
        if stream.depth(token.name) >= MOST_DEPTH or not self._push_body(token.name, macro, stream):
            self.refused[token.name] += 1
            out.append(token)

    @staticmethod
    def _takes_star(macro: Macro) -> bool:
        return bool(macro.parameters) and macro.parameters[0].is_star

    def _push_body(self, name: str, macro: Macro, stream: Stream) -> bool:
        """Whether the body with its arguments could be pushed; the arguments stay where they are if not."""
        if stream.budget <= 0 or (macro.prefix and stream.until(macro.prefix) is None):
            return False
        arguments: list[Sequence[Token]] = []
        for parameter in macro.parameters:
            argument = self._argument(parameter, stream)
            if argument is None:
                stream.put_back([token for taken in arguments for token in (_OPEN, *taken, _CLOSE)])
                return False
            arguments.append(argument)
        sizes = {str(k): sum(len(token.text) + 1 for token in taken) for k, taken in enumerate(arguments, 1)}
        if (
            sum(sizes.get(token.name, 0) for token in macro.body if token.kind is Kind.PARAMETER)
            > stream.budget
        ):
            stream.put_back([token for taken in arguments for token in (_OPEN, *taken, _CLOSE)])
            stream.budget = 0
            return False
        return stream.push(_substituted(macro.body, arguments), name)

    @staticmethod
    def _argument(parameter: Parameter, stream: Stream) -> Sequence[Token] | None:
        if parameter.is_star:
            return ()
        if parameter.default is not None:
            found = stream.bracket()
            return parameter.default if found is None else found
        return stream.until(parameter.ending) if parameter.ending else stream.argument()

    def _by_place(self, name: str, stream: Stream, out: list[Token]) -> None:
        r"""\ensuremath is nothing within a formula and makes one elsewhere; \xspace is a space before a word."""
        if name == "ensuremath":
            if not self._math and stream.budget > 0:
                stream.put_back([_DOLLAR, *stream.argument(), _DOLLAR])
            return
        following = stream.peek()
        if (
            following is None
            or self._math
            or following.kind in (Kind.SPACE, Kind.PARAGRAPH, Kind.CLOSE, Kind.TIE)
        ):
            return
        is_end = following.kind is Kind.TEXT and following.text[0] in _NO_SPACE_BEFORE
        if not is_end and following.kind not in (Kind.SYMBOL, Kind.ALIGN, Kind.END):
            out.append(_SPACE)

    def _switch(self, name: str) -> bool:
        """Whether a command sets a switch, which is done."""
        for ending, value in (("true", True), ("false", False)):
            if name.endswith(ending) and name.removesuffix(ending) in self.definitions.switches:
                self.definitions.switches[name.removesuffix(ending)] = value
                return True
        return False

    def _condition(self, name: str, stream: Stream) -> bool:
        """Whether a command is a condition; then what is not taken of it is gone."""
        switches = self.definitions.switches
        if name in ("iftrue", "iffalse"):
            is_true = name == "iftrue"
        elif name == "ifmmode":
            is_true = bool(self._math)
        elif name[2:] in switches:
            is_true = switches[name[2:]]
        elif name in self._words.groups["conditions"] or "@" in name:
            is_true = False
        else:
            return False
        if not is_true:
            self._skip_branch(stream, to_else=True)
        return True

    def _skip_branch(self, stream: Stream, to_else: bool) -> None:
        """Takes off what stands up to \\fi, or up to \\else; nothing where neither comes."""
        skipped: list[Token] = []
        level = 0
        while self._ends_conditions and (token := stream.next()):
            skipped.append(token)
            if token.kind is not Kind.WORD:
                continue
            if token.name == "fi":
                if not level:
                    return
                level -= 1
            elif token.name == "else" and to_else and not level:
                return
            elif token.name.startswith("if") and token.name not in self._words.groups["no_conditions"]:
                level += 1
        # Without its end it is not what it seems; that there is none is found out once.
        stream.put_back(skipped)
        self._ends_conditions = False

    def _read_file(self, command: str, stream: Stream) -> None:
        r"""\input{name}, \input name, \import{folder/}{name} and their kin."""
        following = stream.peek()
        if following is not None and following.kind is Kind.TEXT:
            stream.next()
            name = following.text
        else:
            name = "".join(
                join_source(stream.argument()) for _ in range(1 + command.endswith("import"))
            ).strip()
        if command == "InputIfFileExists":
            stream.argument()
            stream.argument()
        mark = f"\\input {name}"
        # What would not be read is not scanned either.
        if stream.depth(mark) or stream.budget <= 0:
            self.refused[f"input {name}"] += 1
            return
        tokens = self._find_file(command, name)
        if tokens is None:
            self.missing[name] = None
        elif not stream.push(tokens, mark):
            # Else every command that names the file would count its length again.
            stream.budget = 0
            self.refused[f"input {name}"] += 1

    def _read_styles(self, stream: Stream) -> None:
        r"""\usepackage[options]{names}: what the paper's own style files define; what they print is not text."""
        stream.bracket()
        names = join_source(stream.argument()).split(",")
        stream.bracket()
        for name in map(str.strip, names):
            is_new = name not in self._styles and len(self._styles) < MOST_STYLES
            tokens = self._find_file("usepackage", name) if is_new else None
            self._styles.add(name)
            if tokens is not None:
                was_in_style, self.definitions.in_style = self.definitions.in_style, True
                self._budget = stream.budget
                self.run(tokens)
                stream.budget, self._math = self._budget, ""
                self.definitions.in_style = was_in_style


def _substituted(body: Sequence[Token], arguments: Sequence[Sequence[Token]]) -> list[Token]:
    """A body with its parameters replaced; `##1` is a parameter of a definition within it."""
    tokens: list[Token] = []
    for token in body:
        if token.kind is not Kind.PARAMETER:
            tokens.append(token)
        elif token.text.startswith("##"):
            tokens.append(token._replace(text=token.text[1:]))
        else:
            number = int(token.name)
            tokens += (
                [t for t in arguments[number - 1] if t is not NO_VALUE] if number <= len(arguments) else ()
            )
    return tokens
